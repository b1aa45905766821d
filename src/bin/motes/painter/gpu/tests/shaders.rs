//! The members that shaders name stand where `Frame` has them.

use super::super::frame::Frame;
use std::collections::HashMap;
use std::path::Path;

/// The instructions of a module: code and operands.
fn instructions(words: &[u32]) -> Vec<(u32, &[u32])> {
    let (mut made, mut rest) = (Vec::new(), &words[5..]);
    while let Some(&first) = rest.first() {
        let (own, others) = rest.split_at((first >> 16) as usize);
        made.push((first & 0xffff, &own[1..]));
        rest = others;
    }
    made
}

fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.take_while(|byte| *byte != 0).map(char::from).collect()
}

/// Members of the type `frame`, and where the module has them.
fn members(words: &[u32]) -> HashMap<String, usize> {
    const NAME: u32 = 5;
    const MEMBER_NAME: u32 = 6;
    const MEMBER_DECORATE: u32 = 72;
    const OFFSET: u32 = 35;
    let all = instructions(words);
    let frame = all.iter().find(|(code, what)| *code == NAME && text(&what[1..]) == "frame");
    let Some(&(_, frame)) = frame else { return HashMap::new() };
    let of = |code| all.iter().filter(move |(c, what)| *c == code && what[0] == frame[0]);
    let offsets: HashMap<u32, usize> = of(MEMBER_DECORATE)
        .filter(|(_, what)| what[2] == OFFSET)
        .map(|(_, what)| (what[1], what[3] as usize))
        .collect();
    of(MEMBER_NAME).map(|(_, what)| (text(&what[2..]), offsets[&what[1]])).collect()
}

/// The first member that is not where it should be.
fn astray(members: &HashMap<String, usize>) -> Option<String> {
    let right = |(name, at): (&String, &usize)| Frame::MEMBERS.contains(&(name.as_str(), *at));
    members.iter().find(|member| !right(*member)).map(|(name, _)| name.clone())
}

#[test]
fn shaders_name_the_members_of_the_frame() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv/paint");
    let (mut modules, mut named) = (0, HashMap::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "spv") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let members = members(&words);
        assert_eq!(astray(&members), None, "{}", path.display());
        modules += usize::from(!members.is_empty());
        named.extend(members);
    }
    assert_eq!(modules, 14);
    // Every member is for some shader.
    let idle = |(name, _): &&(&str, usize)| !named.contains_key(*name);
    assert_eq!(Frame::MEMBERS.iter().find(idle), None);
    // One that is elsewhere is seen.
    *named.get_mut("near").unwrap() += 4;
    assert_eq!(astray(&named), Some("near".into()));
}
