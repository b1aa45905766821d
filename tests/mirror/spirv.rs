//! The shaders: a file a pass, what it binds, which words it names, that the assembled module is what
//! the text says, and that the driver which assembles them notices what is wrong.

#[allow(dead_code)] // what only the command line of the driver uses
#[path = "../../examples/assemble/assembler/mod.rs"]
mod assembler;

use super::{read, root};
use assembler::lines::Line;
use assembler::parts::Parts;
use motes::pass::PASSES;
use motes::vulkan::layout;
use std::collections::{HashMap, HashSet};
use std::fs;
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
        let known =
            path.is_dir() || stem == "README" || PASSES.iter().any(|info| info.name == stem);
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
    // The sweeps over kinds of constraint are taken from the table of kinds.
    let all = "Kind::ALL.map(Kind::solve)";
    assert!(texts.iter().any(|text| text.contains(all)), "tests/parity sweeps not every kind");
    for info in PASSES.iter().filter(|info| motes::Kind::solved_by(info.pass).is_none()) {
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
    for (info, module) in modules() {
        for (id, name) in &module.names {
            if let Some(&value) = module.constants.get(id) {
                assert_eq!(layout::word(name), Some(value as usize), "{}: {name}", info.name);
            }
        }
    }
}

/// Words that no shader names, and why.
const UNNAMED: &[(&str, &str)] = &[
    ("s_arguments", "the host's, which tells a dispatch where its group counts stand"),
    ("column_serial", "the host's, which puts rows in order of creation"),
    ("pins_column_soft", "one stride behind the slot"),
    ("colliders_substeps", "the host's, which tells how many poses there are"),
    ("collider_triangle_count", "the host's; nodes tell where triangles end"),
];

#[test]
fn no_word_is_forgotten_by_the_shaders() {
    let modules = modules();
    let named: HashSet<&str> =
        modules.iter().flat_map(|(_, module)| module.names.values()).map(String::as_str).collect();
    let is_named = |name: &str| {
        let of_kind = |(kind, _): &(&str, usize)| {
            let column = name.strip_prefix("column_");
            column.is_some_and(|column| named.contains(format!("column_{kind}_{column}").as_str()))
        };
        named.contains(name) || layout::KINDS.iter().any(of_kind)
    };
    let follows = |name: &str| {
        let first = name.strip_suffix("_y").or(name.strip_suffix("_z"));
        first.is_some_and(|first| is_named(&format!("{first}_x")))
    };
    for (number, table) in layout::TABLES.iter().enumerate() {
        for &(name, at) in table.iter() {
            // The first word of a row needs no offset; those of globals and state are no rows.
            let begins = at == 0 && number > 1;
            let excused = UNNAMED.iter().any(|(word, _)| *word == name);
            assert!(
                is_named(name) != excused || begins || follows(name),
                "{name}: either a shader names it, or the test says why none does"
            );
        }
    }
}

#[test]
fn words_have_names_and_places_of_their_own() {
    let mut names = HashSet::new();
    for table in layout::TABLES {
        table.iter().for_each(|(name, _)| assert!(names.insert(*name), "{name} twice"));
    }
    for table in &layout::TABLES[..2] {
        let mut places = HashSet::new();
        table.iter().for_each(|(name, at)| {
            // The counts of groups are the words behind s_arguments.
            assert!(places.insert(*at) || name.starts_with("s_groups_"), "{name} at {at}");
        });
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
    let scratch = tempfile::tempdir().unwrap();
    let shaders = assembler::shaders(&assembler::folder());
    assert_eq!(shaders.len(), PASSES.len() + painters().len());
    for name in shaders {
        let fresh = assembler::assembled(&assembler::folder(), &name, scratch.path());
        let fresh = fresh.unwrap_or_else(|problem| panic!("{problem}"));
        let kept = fs::read(root().join(format!("spirv/{name}.spv"))).unwrap();
        assert!(
            fresh == kept,
            "{name}.spv is not what the text gives: run `cargo run --example assemble`"
        );
    }
}

/// The words of the push constants that a module reads: the last index of each access chain into
/// the variable that is a push constant.
fn pushed_words(bytes: &[u8]) -> Vec<u32> {
    const PUSH_CONSTANT: u32 = 9;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    let (mut at, mut pushed, mut read) = (5, None, Vec::new());
    let constants = module(bytes).constants;
    while at < words.len() {
        let (len, op) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        match op {
            59 if words[at + 3] == PUSH_CONSTANT => pushed = Some(words[at + 2]),
            65 | 66 if Some(words[at + 3]) == pushed => read.push(constants[&words[at + 4]]),
            _ => {}
        }
        at += len;
    }
    read
}

/// A pass that reads the number of the substep and is not listed would do a later substep's work as
/// if it were the first.
#[test]
fn the_passes_that_read_the_substep_are_listed() {
    let reads = |info: &&motes::pass::PassInfo| {
        let bytes = fs::read(root().join(format!("spirv/{}.spv", info.name))).unwrap();
        pushed_words(&bytes).contains(&0)
    };
    let found: Vec<_> = PASSES.iter().filter(reads).map(|info| info.pass).collect();
    assert_eq!(found, layout::READ_SUBSTEP);
}

#[test]
fn every_shared_part_says_what_it_is_for_and_is_used() {
    for entry in fs::read_dir(assembler::folder().join("shared")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("; "), "{}: what is it for?", path.display());
    }
    let unused = assembler::unused(&assembler::folder()).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(unused, Vec::<String>::new());
}

/// A copy of the texts in which `from` is `to` in one file.
fn changed(file: &str, from: &str, to: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for folder in ["", "shared", "paint"] {
        fs::create_dir_all(copy.path().join(folder)).unwrap();
        for entry in fs::read_dir(assembler::folder().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "spvasm") {
                let to = copy.path().join(folder).join(path.file_name().unwrap());
                fs::copy(path, to).unwrap();
            }
        }
    }
    let path = copy.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
    copy
}

/// Controls: whatever is wrong with a text is told with its file, its line and a remedy.
#[test]
fn the_driver_tells_what_is_wrong() {
    let end = "OpReturn\nOpFunctionEnd";
    let cases = [
        // a word that layout.rs does not have
        ("shared/sweeps.spvasm", "%g_omega", "%g_omegas", "solve_bend", "src/vulkan/layout.rs"),
        ("shared/rows.spvasm", "%set_stride", "%set_strides", "solve_bend", "%set_strides"),
        (
            "solve_bend.spvasm",
            "%column_bend_rest",
            "%column_bent_rest",
            "solve_bend",
            "%column_bent",
        ),
        // a name that a word has
        (
            "sleep.spvasm",
            "%predicted_i =",
            "%set_stride =",
            "sleep",
            "is a word of src/vulkan/layout.rs",
        ),
        // a buffer that the pass does not have, or may not write
        ("sleep.spvasm", "%predicted %u0", "%velocity %u0", "sleep", "nothing is called %velocity"),
        (
            "sleep.spvasm",
            end,
            "OpStore %predicted_at %vec4_0\nOpReturn\nOpFunctionEnd",
            "sleep",
            "src/pass.rs",
        ),
        // what is not there, not used, there twice or nothing at all
        ("sleep.spvasm", ";@ use words", ";@ use wards", "sleep", "spirv/shared/wards.spvasm"),
        ("sleep.spvasm", ";@ use words name=global", ";@ use words", "sleep", "braces"),
        ("sleep.spvasm", ";@ entries main", ";@ entries main other", "sleep", "%other"),
        (
            "sleep.spvasm",
            ";@ use words",
            "%spare = OpConstant %uint 7\n;@ use words",
            "sleep",
            "nothing uses",
        ),
        ("sleep.spvasm", ";@ use words", ";@ take words", "sleep", "no directive"),
        (
            "break_constraints.spvasm",
            ":judge",
            ":judged",
            "break_constraints",
            "has no part judged",
        ),
        ("break_constraints.spvasm", "in constraints", "in knots", "break_constraints", "knots"),
        ("predict.spvasm", ";@ end", "", "predict", "no end"),
        ("shared/vectors.spvasm", "%dot_xy ", "%dot_x ", "solve_bend", "already"),
        ("shared/vectors.spvasm", "= OpFMul", "= FMul", "solve_bend", "no instruction"),
    ];
    for (file, from, to, shader, told) in cases {
        let copy = changed(file, from, to);
        let Err(problem) = assembler::expanded(copy.path(), shader) else {
            panic!("{file} with {to} was not noticed");
        };
        let said = problem.to_string();
        assert!(said.contains(told) && !problem.remedy.is_empty(), "{to}: {said}");
        assert!(said.starts_with("spirv/"), "{to}: {said}");
    }
    let copy = changed("shared/names.spvasm", "\n\n", "\n\n%nobody = OpConstant %uint 7\n");
    let unused = assembler::unused(copy.path()).unwrap_or_else(|p| panic!("{p}"));
    assert!(unused.len() == 1 && unused[0].contains("names.spvasm:3"), "{unused:?}");
}

/// A line is what it says, wherever it came from.
#[test]
fn parts_are_found_in_lines() {
    let line = |text: &str| Line { text: text.into(), file: "a text".into(), number: 1 };
    let lines = ["; head", ";@ entries main", "%x = OpConstant %uint 1 ; why", "OpDecorate %x Y"];
    let parts = Parts::of(&lines.map(line)).unwrap();
    assert_eq!(parts.entries, [("main".into(), "%main".into())]);
    assert_eq!((parts.declarations.len(), parts.remarks.len()), (1, 1));
    assert_eq!(parts.declarations[0].instruction.operands, ["%uint", "1"]);
}
