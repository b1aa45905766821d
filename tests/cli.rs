//! The program as a user or a script meets it: exit codes, outputs, and what it says.
#![cfg(feature = "cli")]

#[path = "cli/bench.rs"]
mod bench;
#[path = "cli/export.rs"]
mod export;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/render.rs"]
mod render;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/skeleton.rs"]
mod skeleton;
#[path = "cli/view.rs"]
mod view;
#[path = "cli/voxelize.rs"]
mod voxelize;
#[cfg(feature = "vulkan")]
#[path = "cli/vulkan.rs"]
mod vulkan;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn motes(args: &[&str]) -> Output {
    motes_in(Path::new("."), args)
}

fn motes_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_motes")).args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs what must succeed and returns what it printed.
fn good(args: &[&str]) -> String {
    succeeded(&motes(args))
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Runs what must fail with `code` and returns the message.
fn bad(code: i32, args: &[&str]) -> String {
    let output = motes(args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(message.starts_with("error: "), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A cloth that falls on a sphere, with grains: every kind of pass, and small.
const SCENE: &str = r#"
    title = "a small mixture"
    steps = 20
    [params]
    iterations = 5
    [[cloth]]
    name = "sheet"
    columns = 12
    rows = 12
    spacing = 0.1
    origin = [-0.5, 0.8, -0.5]
    pin = ["top_left"]
    [[granular]]
    name = "grains"
    counts = [4, 4, 4]
    spacing = 0.1
    jitter = 0.2
    origin = [0.0, 1.5, 0.0]
    [[collider]]
    shape = "sphere"
    radius = 0.3
    [[collider]]
    shape = "plane"
    position = [0, -0.5, 0]
    [[check]]
    name = "quarantined_at_most"
    bound = 0
"#;

struct Folder {
    folder: tempfile::TempDir,
    scene: String,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mixture.toml");
        std::fs::write(&path, SCENE).unwrap();
        Folder { scene: path.display().to_string(), folder }
    }
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn hash_line(printed: &str) -> String {
    let line = printed.lines().find(|l| l.starts_with("hash ")).expect(printed);
    let hash = line.trim_start_matches("hash ");
    assert!(hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{line}");
    hash.to_string()
}

#[test]
fn help_and_version_succeed_and_wrong_flags_do_not() {
    assert!(good(&["--help"]).contains("converge"));
    assert!(good(&["run", "--help"]).contains("--until-residual"));
    assert!(good(&["--version"]).starts_with("motes "));
    for args in [
        &["runn"][..],
        &["run"],
        &["run", "cloth_hang", "--nonsense"],
        &["run", "cloth_hang", "--steps", "-1"],
        &["run", "cloth_hang", "--solver", "fast"],
        &["run", "cloth_hang", "--format", "stl"],
        &["run", "cloth_hang", "--threads", "0"],
        &["run", "cloth_hang", "--backend", "opengl"],
        &["run", "cloth_hang", "--every", "0"],
        &["render", "cloth_hang", "--size", "0x10"],
        &["render", "cloth_hang", "--size", "huge"],
        &["converge", "--size", "1"],
        &["converge", "--omega", "nan"],
        &["bench", "--threads", "1,x"],
    ] {
        bad(2, args);
    }
    assert!(bad(2, &["run", "cloth_hang", "--solver", "fast"]).contains("seidel"));
    assert!(bad(2, &["run", "cloth_hang", "--gpu-from", "predict"]).contains("--backend vulkan"));
    assert!(bad(2, &["run", "cloth_hang", "--gpu-from", "nothing"]).contains("solve_distance"));
}

#[test]
fn values_out_of_range_are_named() {
    for (flag, value) in
        [("--dt", "-1"), ("--dt", "nan"), ("--substeps", "0"), ("--budget-ms", "-3")]
    {
        let flag_value = format!("{flag}={value}");
        let message = bad(2, &["run", "cloth_hang", "--steps", "1", &flag_value]);
        assert!(message.contains(flag) && message.contains("expected"), "{message}");
    }
    let message = bad(2, &["run", "cloth_hang", "--set", "cloth.0.columns=-3"]);
    assert!(message.contains("columns"), "{message}");
    assert!(bad(2, &["run", "cloth_hang", "--set", "nonsense"]).contains("PATH=VALUE"));
}

/// Scenes of earlier versions are told what to do.
#[test]
fn a_parameter_that_is_gone_is_told_of_with_the_remedy() {
    let folder = Folder::new();
    let old = SCENE.replace("iterations = 5", "iterations = 5\n    stabilization = 2");
    std::fs::write(&folder.scene, old).unwrap();
    let remedy = "`stabilization` is gone: contacts push old overlap out themselves, no faster than \
                  `push_out` m/s; remove the line";
    let message = bad(2, &["run", &folder.scene, "--steps", "1"]);
    assert!(message.contains("mixture.toml:6: params.stabilization: "), "{message}");
    assert!(message.contains(remedy), "{message}");
    let message = bad(2, &["run", "cloth_hang", "--steps", "1", "--set", "stabilization=0"]);
    assert!(message.contains("--set stabilization=0: "), "{message}");
    assert!(message.contains(remedy), "{message}");
}

#[test]
fn an_unknown_scene_lists_the_known_ones() {
    let message = bad(2, &["run", "cloth_hnag"]);
    assert!(message.contains("cloth_hang") && message.contains("sand_heap"), "{message}");
    assert!(bad(2, &["run", "missing.toml"]).contains("missing.toml"));
}

#[test]
fn scenes_are_listed_as_text_and_json() {
    assert!(good(&["scenes"]).contains("cloth_hang"));
    let list: Value = serde_json::from_str(&good(&["scenes", "--json"])).unwrap();
    let hang = list.as_array().unwrap().iter().find(|s| s["name"] == "cloth_hang").unwrap();
    assert_eq!(hang["particles"], 64 * 64);
    assert!(hang["variants"].as_array().unwrap().iter().any(|v| v == "100"));
    assert!(!hang["title"].as_str().unwrap().is_empty());
}

#[test]
fn the_doctor_says_what_works() {
    let printed = good(&["doctor"]);
    for word in ["cpu", "cores", "memory", "display", "vulkan"] {
        assert!(printed.contains(word), "{printed}");
    }
}
