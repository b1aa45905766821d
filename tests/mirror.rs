//! One name, many places: every pass has its file, its declaration, its row in the README and its
//! name in the map; and the map of the sources in the README names files that exist.

#[cfg(feature = "vulkan")]
#[path = "mirror/spirv.rs"]
mod spirv;

use motes::pass::PASSES;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What stands between `<!-- name -->` and `<!-- /name -->`.
fn section<'a>(readme: &'a str, name: &str) -> &'a str {
    let begin = format!("<!-- {name} -->");
    let end = format!("<!-- /{name} -->");
    let inside = readme.split(&begin).nth(1).and_then(|rest| rest.split(&end).next());
    inside.unwrap_or_else(|| panic!("README has no section {name}"))
}

#[test]
fn every_pass_has_its_file_with_the_five_line_header() {
    for info in PASSES {
        let text = read(&format!("src/cpu/{}.rs", info.name));
        let header: Vec<&str> = text.lines().take_while(|l| l.starts_with("//!")).collect();
        let says = |word: &str| header.iter().any(|l| l.to_lowercase().contains(word));
        assert!(
            header.len() >= 3 && says("reads") && says("writes") && says("order"),
            "src/cpu/{}.rs: the header must say what it reads, writes and in which order",
            info.name
        );
        assert!(text.contains("pub(crate) fn run"), "{}: no run()", info.name);
    }
}

#[test]
fn every_pass_has_its_row_in_the_readme_and_no_row_is_stale() {
    let readme = read("README.md");
    let table = section(&readme, "passes");
    let rows: Vec<&str> = table.lines().filter(|l| l.starts_with("| `")).collect();
    assert_eq!(rows.len(), PASSES.len(), "one row a pass");
    for (row, info) in rows.iter().zip(PASSES) {
        assert_eq!(*row, format!("| `{}` | {} |", info.name, info.doc));
    }
}

#[test]
fn every_pass_has_its_bench_and_no_bench_is_stale() {
    let text = read("benches/passes.rs");
    let ids = |line: &str| Some(line.trim().strip_prefix("(\"")?.split('"').next()?.to_string());
    let benches: Vec<String> = text.lines().filter_map(ids).collect();
    let names: Vec<&str> = PASSES.iter().map(|info| info.name).collect();
    assert_eq!(benches, names, "a row a pass, in the order of a step");
}

#[test]
fn every_parameter_has_its_row_in_the_readme() {
    use motes::world::Params;
    let readme = read("README.md");
    let table = section(&readme, "params");
    let rows: Vec<&str> = table.lines().filter(|l| l.starts_with("| `")).collect();
    let expected: Vec<String> = Params::TABLE.iter().map(row).collect();
    assert_eq!(rows, expected, "expected:\n{}", expected.join("\n"));

    fn row(info: &motes::world::ParamInfo) -> String {
        let default = Params::default().get(info.name).unwrap().to_string().replace('"', "");
        let legal = if info.choices.is_empty() {
            format!("{} to {}", info.min, info.max)
        } else {
            info.choices.join(", ")
        };
        format!("| `{}` | {} | {default} | {legal} | {} |", info.name, info.unit, info.doc.trim())
    }
}

#[test]
fn every_bench_and_scene_and_file_the_readme_names_exists() {
    let readme = read("README.md");
    for word in readme.split(['`', '(', ')', ' ', '\n']) {
        let named =
            ["src/", "assets/", "tests/", "benches/", "spirv/"].iter().any(|p| word.starts_with(p));
        if named && !word.contains(['*', '<', '{']) {
            assert!(root().join(word).exists(), "README names {word}, which is not there");
        }
    }
    let scenes: HashSet<_> = motes::Scene::builtin_names().collect();
    let table = section(&readme, "scenes");
    let rows: HashSet<&str> =
        table.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(rows, scenes, "the README's scenes are the built-in ones");
}
