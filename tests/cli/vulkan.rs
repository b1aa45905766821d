//! The program with and without a Vulkan device, as a user or a script meets it. Needs a device, as
//! `tests/vulkan.rs` does.
#![cfg(all(feature = "vulkan", feature = "cli"))]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A cloth that falls on grains and a floor: most passes, and small.
const SCENE: &str = r#"
    title = "a small mixture"
    [params]
    iterations = 4
    [[cloth]]
    columns = 9
    rows = 9
    spacing = 0.1
    origin = [-0.4, 0.5, -0.4]
    [[granular]]
    counts = [4, 3, 4]
    spacing = 0.1
    origin = [-0.2, 0.05, -0.2]
    [[collider]]
    shape = "plane"
"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn motes(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_motes"));
    command.args(args).current_dir(folder);
    command
}

fn good(output: Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// A folder with the scene in it, where there is a device.
fn folder() -> Option<tempfile::TempDir> {
    motes::vulkan::trial::usable()?;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mixture.toml"), SCENE).unwrap();
    Some(folder)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Both backends by pass, side by side, each with its device's name.
#[test]
fn bench_puts_cpu_and_vulkan_side_by_side() {
    let Some(folder) = folder() else { return };
    let few = ["--steps", "3", "--repeat", "1", "--threads", "1", "--json", "b.json"];
    let args = [&["bench", "mixture.toml"][..], &few].concat();
    let printed = good(motes(folder.path(), &args).output().unwrap());
    let list = json(&folder.path().join("b.json"));
    let [cpu, gpu] = &list.as_array().unwrap()[..] else { panic!("{list}") };
    assert_eq!((cpu["backend"].as_str(), gpu["backend"].as_str()), (Some("cpu"), Some("vulkan")));
    let device = gpu["device"].as_str().unwrap();
    let heading = printed.lines().find(|l| l.starts_with("mixture.toml")).expect(&printed);
    assert!(heading.contains("cpu x1 ms") && heading.contains(&format!("vulkan on {device} ms")));
    for pass in ["predict", "grid_count", "solve_distance", "solve_contacts", "update_velocity"] {
        let row = printed.lines().find(|l| l.split(' ').next() == Some(pass)).expect(pass);
        let times: Vec<f64> = row.split_whitespace().skip(1).map(|t| t.parse().unwrap()).collect();
        assert!(times.len() == 2 && times.iter().all(|&t| t > 0.0), "{row}");
    }
}

/// What is exported on the way is what the world was then, though it stays on the device.
#[test]
fn frames_of_a_run_on_the_device_are_those_of_its_steps() {
    let Some(folder) = folder() else { return };
    let export = ["--format", "ply", "--export"];
    let run = |steps: &str, every: &str, to: &str| {
        let args =
            ["run", "mixture.toml", "--backend", "vulkan", "--steps", steps, "--every", every];
        good(motes(folder.path(), &[&args[..], &export, &[to]].concat()).output().unwrap());
        let mut files: Vec<_> = std::fs::read_dir(folder.path().join(to))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files.iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    let (all, third, last) = (run("6", "1", "all"), run("3", "3", "third"), run("6", "6", "last"));
    assert_eq!((all.len(), third.len(), last.len()), (6, 1, 1));
    assert!(all[2] == third[0] && all[5] == last[0], "frames are not those of their steps");
    assert!(all[2] != all[5]);
}

/// Without a driver: errors with a remedy, and everything on the CPU goes on.
#[test]
fn without_a_driver_the_cpu_goes_on() {
    let Some(folder) = folder() else { return };
    let nowhere = folder.path().join("no_driver.json");
    let motes = |args: &[&str]| {
        let mut command = motes(folder.path(), args);
        command.env("VK_ICD_FILENAMES", &nowhere).env("VK_DRIVER_FILES", &nowhere);
        command.output().unwrap()
    };
    for args in [&["run", "mixture.toml"][..], &["bench", "mixture.toml"]] {
        let output = motes(&[args, &["--steps", "2", "--backend", "vulkan"]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("install a driver") && said.contains("--backend cpu"), "{said}");
    }
    good(motes(&["run", "mixture.toml", "--steps", "2"]));
    let bench = good(motes(&["bench", "mixture.toml", "--steps", "2", "--repeat", "1"]));
    assert!(bench.contains("cpu x") && !bench.contains("vulkan"), "{bench}");
    let doctor = good(motes(&["doctor"]));
    let line = doctor.lines().find(|l| l.starts_with("vulkan")).expect(&doctor);
    assert!(line.contains("install a driver"), "{line}");
}
