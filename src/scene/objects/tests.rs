//! The pages of the kinds say what the code takes: every key has its row, and no row is stale.

use super::object_kinds;
use crate::Scene;
use std::collections::BTreeSet;

macro_rules! tables {
    ($($table:literal => $field:ident: $object:ty,)+) => { [$($table),+] };
}

fn sources() -> Vec<String> {
    let folder = format!("{}/src/scene/objects", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// What stands between backticks.
fn words(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The keys in the first column of a table of documentation.
fn rows(source: &str) -> BTreeSet<String> {
    let lines = source.lines().filter_map(|line| line.trim().strip_prefix("/// | "));
    lines.flat_map(|line| words(line.split(" | ").next().unwrap_or(""))).collect()
}

/// The keys a table takes, as the message about a wrong one lists them.
fn keys(table: &str) -> BTreeSet<String> {
    let scene = Scene::parse("s.toml", &format!("[[{table}]]\nno_such_key = 1\n"), None, &[]);
    let message = scene.unwrap_err().to_string();
    let known = message.split("known: ").nth(1).expect("the keys it takes");
    known.split(" (column").next().unwrap_or("").split(", ").map(String::from).collect()
}

#[test]
fn every_key_of_every_kind_has_its_row() {
    let sources = sources();
    let page = |mark: &str| {
        let found: Vec<&String> = sources.iter().filter(|text| text.contains(mark)).collect();
        assert_eq!(found.len(), 1, "one file has `{mark}`");
        rows(found[0])
    };
    // The mark is put together, since this file is one of the sources.
    let common = page(concat!("pub struct ", "ObjectKinds;"));
    assert!(common.contains("name") && common.contains("visible"), "{common:?}");
    for table in object_kinds!(tables) {
        let own = page(&format!("&'static str = \"{table}\";"));
        assert!(own.is_disjoint(&common), "{table}");
        assert_eq!(keys(table), &own | &common, "[[{table}]]");
    }
}

#[test]
fn rows_and_words_are_read_as_they_are_written() {
    let text = "    /// | key | unit |\n    /// |---|---|\n    /// | `a`, `b` | `c` |\n";
    assert_eq!(rows(text), ["a", "b"].map(String::from).into());
}
