//! A run that is killed at any moment leaves the old file or the whole new one.
#![cfg(all(feature = "cli", unix))]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often a run is killed; `MOTES_KILLS=1000` looks longer.
fn kills() -> u32 {
    std::env::var("MOTES_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(50)
}

#[test]
fn a_killed_run_leaves_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_motes"));
        command.args(["run", "cloth_hang", "--steps", "3", "--quiet", "--format", "obj"]);
        command.args(["--set", "cloth.0.columns=20", "--set", "cloth.0.rows=20"]);
        command.arg("--save").arg(path("end.motes")).arg("--report").arg(path("report.json"));
        command.arg("--export").arg(path("frames"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    // How long a whole run takes here, so that the kills fall on all of it. The machine may be
    // quicker afterwards: whenever a run ends before it is killed, it is taken to be.
    let started = Instant::now();
    assert!(run().status().unwrap().success());
    let mut whole = started.elapsed();
    let expected = motes::snapshot::load(path("end.motes")).unwrap().world.hash();
    let mut killed = 0;
    for k in 0..kills() {
        let mut child = run().spawn().unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(k % 25) / 24.0) + Duration::from_micros(300));
        child.kill().unwrap();
        match child.wait().unwrap().success() {
            true => whole = whole.mul_f64(0.8),
            false => killed += 1,
        }
        let saved = motes::snapshot::load(path("end.motes")).unwrap();
        assert_eq!(saved.world.hash(), expected, "after kill {k}");
        let report = std::fs::read(path("report.json")).unwrap();
        let _: serde_json::Value = serde_json::from_slice(&report).unwrap();
        for entry in std::fs::read_dir(path("frames")).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with("frame") {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                let points = text.lines().filter(|line| line.starts_with("v ")).count();
                assert_eq!(points, 400, "{name} after kill {k}");
            }
        }
    }
    assert!(killed > kills() / 4, "only {killed} of the runs were still going");
}
