//! One name, many places: every pass has its file, its declaration and its row in the documentation;
//! and what the pages name (files, scenes, parameters, links) is there.

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

/// What stands between `<!-- name -->` and `<!-- /name -->` on a page.
fn section<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = format!("<!-- {name} -->");
    let end = format!("<!-- /{name} -->");
    let inside = page.split(&begin).nth(1).and_then(|rest| rest.split(&end).next());
    inside.unwrap_or_else(|| panic!("the page has no section {name}"))
}

/// The pages of the documentation.
fn pages() -> Vec<String> {
    let folder = fs::read_dir(root().join("docs")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let docs = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .map(String::from)
        .into_iter()
        .chain(docs)
        .collect()
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
fn every_pass_has_its_row_in_the_documentation_and_no_row_is_stale() {
    let page = read("docs/step.md");
    let table = section(&page, "passes");
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
    // The bench takes the passes that solve a kind of constraint from the table of kinds.
    let others = PASSES.iter().filter(|info| motes::Kind::solved_by(info.pass).is_none());
    let names: Vec<&str> = others.map(|info| info.name).collect();
    assert_eq!(benches, names, "a row a pass, in the order of a step");
    assert!(text.contains("Kind::solved_by(info.pass)"), "the passes of kinds are not benched");
}

#[test]
fn every_parameter_has_its_row_in_the_documentation() {
    use motes::world::Params;
    let page = read("docs/parameters.md");
    let table = section(&page, "params");
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
fn every_file_and_link_that_the_pages_name_exists() {
    let folders = ["src/", "assets/", "tests/", "benches/", "spirv/", "docs/", "examples/"];
    for page in pages() {
        let text = read(&page);
        for word in text.split(['`', '(', ')', ' ', '\n', ',', ';']) {
            let word = word.trim_end_matches(['.', ':']);
            let named = folders.iter().any(|folder| word.starts_with(folder));
            if named && !word.contains(['*', '<', '{']) {
                assert!(root().join(word).exists(), "{page} names {word}, which is not there");
            }
        }
        let folder = root().join(&page).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            assert!(folder.join(file).exists(), "{page} links {link}, which is not there");
        }
    }
}

#[test]
fn every_scene_has_its_row_in_the_readme() {
    let readme = read("README.md");
    let scenes: HashSet<_> = motes::Scene::builtin_names().collect();
    let table = section(&readme, "scenes");
    let rows: HashSet<&str> =
        table.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(rows, scenes, "the README's scenes are the built-in ones");
}

/// Every file below a folder whose name ends so.
fn texts(folder: &Path, endings: &[&str], found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, endings, found);
        } else if endings.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
}

/// Keys such as [J 3.39] stand in `docs/sources.md`, and sections of `docs/physics.md` are there.
#[test]
fn citations_resolve_inside_the_repository() {
    let (sources, physics) = (read("docs/sources.md"), read("docs/physics.md"));
    let mut found = Vec::new();
    for folder in ["src", "spirv", "docs"] {
        texts(&root().join(folder), &[".rs", ".spvasm", ".md"], &mut found);
    }
    let mut keys = 0;
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.display();
        for (at, _) in text.match_indices('[') {
            let mut rest = text[at + 1..].chars();
            let (key, then) = (rest.next().unwrap_or(' '), rest.next().unwrap_or(' '));
            let number = rest.next().is_some_and(|c| c.is_ascii_digit());
            if key.is_ascii_uppercase() && (then == ' ' && number) {
                assert!(sources.contains(&format!("- [{key}] ")), "{name}: what is [{key}?");
                keys += 1;
            }
        }
        for part in text.split("docs/physics.md, section ").skip(1) {
            let number: String = part.chars().take_while(char::is_ascii_digit).collect();
            let heading = format!("\n## {number}. ");
            assert!(physics.contains(&heading), "{name}: docs/physics.md has no section {number}");
        }
        let thesis = ["seed 00", "engine.md", "bodies.md"].iter().any(|word| text.contains(word));
        assert!(!thesis, "{name} cites a page that is not in the repository");
    }
    assert!(keys > 10, "the search finds keys: {keys}");
}

/// `docs/level_kind.patch`, the example of a new kind of constraint in CONTRIBUTING, takes eight files
/// (and the module that is assembled from one of them), and still applies: the lines that it takes
/// as given, and those that it takes away, stand in the files in this order.
#[test]
fn the_example_of_a_new_kind_applies_and_is_small() {
    let patch = read("docs/level_kind.patch");
    let mut files = Vec::new();
    for part in patch.split("diff --git a/").skip(1) {
        let name = part.split_whitespace().next().unwrap();
        files.push(name);
        if part.contains("new file mode") {
            assert!(!root().join(name).exists(), "{name} is there already");
            continue;
        }
        let text = read(name);
        let mut rest = &text[..];
        for hunk in part.split("\n@@").skip(1) {
            let given = |line: &str| line.starts_with(' ') || line.starts_with('-');
            let lines = hunk.lines().skip(1).filter(|line| given(line)).map(|line| &line[1..]);
            let wanted: String = lines.map(|line| format!("{line}\n")).collect();
            let at = rest.find(&wanted);
            let at = at.unwrap_or_else(|| panic!("{name} has no longer\n{wanted}"));
            rest = &rest[at..];
        }
    }
    files.retain(|name| !name.ends_with(".spv"));
    assert!(files.len() <= 8, "{files:?}");
}
