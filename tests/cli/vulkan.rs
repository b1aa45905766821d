//! The program with and without a Vulkan device, as a user or a script meets it. Needs a device, as
//! `tests/vulkan.rs` does.

use super::{Folder, json, motes_in, succeeded, text};
use std::process::Command;

/// A folder with the scene in it, where there is a device.
fn folder() -> Option<Folder> {
    motes::vulkan::harness::trial::usable()?;
    Some(Folder::new())
}

#[test]
fn bench_puts_cpu_and_vulkan_side_by_side() {
    let Some(folder) = folder() else { return };
    let few = ["--steps", "3", "--repeat", "1", "--threads", "1", "--json", "b.json"];
    let args = [&["bench", "mixture.toml"][..], &few].concat();
    let printed = succeeded(&motes_in(folder.folder.path(), &args));
    let list = json(folder.path("b.json").as_ref());
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
        succeeded(&motes_in(folder.folder.path(), &[&args[..], &export, &[to]].concat()));
        let mut files: Vec<_> = std::fs::read_dir(folder.path(to))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        // The obstacles stand beside the frames.
        files.retain(|file| file.file_name().unwrap().to_string_lossy().starts_with("frame_"));
        files.iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    let (all, third, last) = (run("6", "1", "all"), run("3", "3", "third"), run("6", "6", "last"));
    // The first is of the world before its first step.
    assert_eq!((all.len(), third.len(), last.len()), (7, 2, 2));
    assert!(all[3] == third[1] && all[6] == last[1], "frames are not those of their steps");
    assert!(all[0] == third[0] && all[0] != all[3] && all[3] != all[6]);
}

/// Without a driver: errors with a remedy, and everything on the CPU goes on.
#[test]
fn without_a_driver_the_cpu_goes_on() {
    let Some(folder) = folder() else { return };
    let nowhere = folder.path("no_driver.json");
    let motes = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_motes"));
        command.args(args).current_dir(folder.folder.path());
        command.env("VK_ICD_FILENAMES", &nowhere).env("VK_DRIVER_FILES", &nowhere);
        command.output().unwrap()
    };
    for args in [&["run", "mixture.toml"][..], &["bench", "mixture.toml"]] {
        let output = motes(&[args, &["--steps", "2", "--backend", "vulkan"]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("install a driver") && said.contains("--backend cpu"), "{said}");
    }
    succeeded(&motes(&["run", "mixture.toml", "--steps", "2"]));
    let bench = succeeded(&motes(&["bench", "mixture.toml", "--steps", "2", "--repeat", "1"]));
    assert!(bench.contains("cpu x") && !bench.contains("vulkan"), "{bench}");
    let doctor = succeeded(&motes(&["doctor"]));
    let line = doctor.lines().find(|l| l.starts_with("vulkan")).expect(&doctor);
    assert!(line.contains("install a driver"), "{line}");
}
