//! The shaders: a file a pass, what it binds, which words it names, and that the assembled module
//! is what the text says.

use super::{read, root};
use motes::pass::PASSES;
use motes::vulkan::layout;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What a module declares.
#[derive(Default)]
struct Module {
    names: HashMap<u32, String>,
    bindings: HashMap<u32, u32>,
    sets: HashMap<u32, u32>,
    constants: HashMap<u32, u32>,
    entries: Vec<String>,
    /// Ids decorated as the specialisation constant 0, and whether a workgroup size is built in.
    special: bool,
    workgroup: bool,
    capabilities: Vec<u32>,
    version: u32,
}

fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Reads the instructions that declare something.
fn module(bytes: &[u8]) -> Module {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(words[0], 0x0723_0203, "not a SPIR-V module");
    let mut module = Module { version: words[1], ..Module::default() };
    let mut at = 5;
    while at < words.len() {
        let (len, op) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        let operands = &words[at + 1..at + len];
        match op {
            5 => _ = module.names.insert(operands[0], text(&operands[1..])),
            15 => module.entries.push(text(&operands[2..])),
            17 => module.capabilities.push(operands[0]),
            43 => _ = module.constants.insert(operands[1], operands[2]),
            71 => match operands[1] {
                1 => module.special |= operands[2] == 0,
                11 => module.workgroup |= operands[2] == 25,
                33 => _ = module.bindings.insert(operands[0], operands[2]),
                34 => _ = module.sets.insert(operands[0], operands[2]),
                _ => {}
            },
            _ => {}
        }
        at += len;
    }
    module
}

fn modules() -> Vec<(&'static motes::pass::PassInfo, Module)> {
    let of = |info: &'static motes::pass::PassInfo| {
        let path = root().join(format!("spirv/{}.spv", info.name));
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("spirv/{}.spv: {e}", info.name));
        (info, module(&bytes))
    };
    PASSES.iter().map(of).collect()
}

#[test]
fn every_pass_has_its_shader_and_no_shader_is_stale() {
    for info in PASSES {
        let source = read(&format!("spirv/{}.spvasm", info.name));
        let header: Vec<&str> = source.lines().take_while(|l| l.starts_with(';')).collect();
        let says = |word: &str| header.iter().any(|l| l.to_lowercase().contains(word));
        assert!(
            says("reads") && says("writes"),
            "spirv/{}.spvasm: the header must say what it reads and writes",
            info.name
        );
    }
    for entry in fs::read_dir(root().join("spirv")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let known = path.is_dir() || PASSES.iter().any(|info| info.name == stem);
        assert!(known, "{stem} is no pass");
    }
}

#[test]
fn every_pass_has_its_parity_case() {
    let folder = root().join("tests/parity");
    let texts: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for info in PASSES {
        let name = format!("Pass::{:?}", info.pass);
        let named = |text: &String| {
            text.match_indices(&name)
                .any(|(at, _)| !text[at + name.len()..].starts_with(char::is_alphanumeric))
        };
        assert!(texts.iter().any(named), "tests/parity names no {name}");
    }
}

#[test]
fn shaders_bind_what_pass_rs_declares() {
    for (info, module) in modules() {
        let mut bound: Vec<(u32, &str)> = module
            .bindings
            .iter()
            .map(|(id, at)| {
                assert_eq!(module.sets.get(id), Some(&0), "{}: set of binding {at}", info.name);
                (*at, module.names.get(id).map_or("", String::as_str))
            })
            .collect();
        bound.sort();
        let own = info.bindings().map(|b| b.name());
        let expected: Vec<String> =
            ["globals".into(), "state".into()].into_iter().chain(own).collect();
        let expected: Vec<(u32, &str)> = (0..).zip(expected.iter().map(String::as_str)).collect();
        assert_eq!(bound, expected, "{}", info.name);
    }
}

#[test]
fn shaders_name_the_words_of_layout_rs() {
    let words: HashMap<&str, usize> =
        layout::globals::GLOBALS.iter().chain(layout::state::STATE).copied().collect();
    for (info, module) in modules() {
        for (id, name) in &module.names {
            let is_word = name.starts_with("g_") || name.starts_with("s_");
            if let Some(&value) = module.constants.get(id).filter(|_| is_word) {
                let declared = words.get(name.as_str()).copied();
                assert_eq!(declared, Some(value as usize), "{}: {name}", info.name);
            }
        }
    }
}

#[test]
fn shaders_are_spirv_1_3_with_a_workgroup_size_to_choose_and_no_exotic_capability() {
    for (info, module) in modules() {
        assert_eq!(module.version, 0x0001_0300, "{}: version", info.name);
        assert!(module.special && module.workgroup, "{}: no workgroup size to set", info.name);
        assert!(
            module.capabilities.iter().all(|&c| c <= 1),
            "{}: {:?}",
            info.name,
            module.capabilities
        );
        assert!(!module.entries.is_empty(), "{}: no entry point", info.name);
    }
}

/// The shaders of the viewer's painter, as they are named below `spirv`.
fn painters() -> Vec<String> {
    let entries = fs::read_dir(root().join("spirv/paint")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let texts = paths.filter(|path| path.extension().is_some_and(|e| e == "spvasm"));
    texts.map(|path| format!("paint/{}", path.file_stem().unwrap().display())).collect()
}

#[test]
fn shaders_of_the_painter_say_what_they_do_and_need_no_exotic_capability() {
    let names = painters();
    assert!(names.len() >= 8, "{names:?}");
    for name in &names {
        let source = read(&format!("spirv/{name}.spvasm"));
        let header: Vec<&str> = source.lines().take_while(|l| l.starts_with(';')).collect();
        let says = |word: &str| header.iter().any(|l| l.contains(word));
        assert!(says("Reads") && says("Writes"), "{name}: what does it read and write?");
        let module = module(&fs::read(root().join(format!("spirv/{name}.spv"))).unwrap());
        assert_eq!(module.version, 0x0001_0300, "{name}: version");
        assert_eq!(module.entries, ["vertex", "fragment"], "{name}");
        assert_eq!(module.capabilities, [1], "{name}");
        assert!(module.sets.values().all(|&set| set == 0), "{name}");
    }
    let all = fs::read_dir(root().join("spirv/paint")).unwrap().count();
    assert_eq!(all, 2 * names.len(), "a module without its text, or a text without its module");
}

/// Whether a tool is here; without it the test is skipped, unless Vulkan is required.
fn has(tool: &str) -> bool {
    let here = Command::new(tool).arg("--version").output().is_ok();
    let required = std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1");
    assert!(here || !required, "MOTES_REQUIRE_VULKAN=1, but {tool} is not here (spirv-tools)");
    if !here {
        eprintln!("skipped: no {tool}");
    }
    here
}

#[test]
fn modules_are_what_the_text_says_and_valid() {
    if !has("spirv-as") || !has("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let passes = PASSES.iter().map(|info| info.name.to_string());
    for name in passes.chain(painters()) {
        let source = root().join(format!("spirv/{name}.spvasm"));
        let fresh: PathBuf = folder.path().join("fresh.spv");
        let run = |tool: &str, args: &[&std::ffi::OsStr]| {
            let out = Command::new(tool).args(["--target-env", "vulkan1.1"]).args(args).output();
            let out = out.unwrap_or_else(|e| panic!("{tool}: {e}"));
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{tool} {name}: {said}");
        };
        run("spirv-as", &["-o".as_ref(), fresh.as_ref(), source.as_ref()]);
        run("spirv-val", &[fresh.as_ref()]);
        let kept = fs::read(root().join(format!("spirv/{name}.spv"))).unwrap();
        assert!(fs::read(&fresh).unwrap() == kept, "{name}.spv is not what the text says");
    }
}
