//! `motes run`: what it prints, reports and saves.

use super::{Folder, SCENE, bad, good, hash_line, json, motes, text};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn the_report_has_every_key() {
    let folder = Folder::new();
    let path = folder.path("report.json");
    let printed = good(&[
        "run",
        &folder.scene,
        "--steps",
        "15",
        "--threads",
        "2",
        "--substeps",
        "2",
        "--report",
        &path,
        "--hash",
    ]);
    assert!(printed.contains("solve_distance") && printed.contains("quarantined"), "{printed}");
    let report = json(Path::new(&path));
    for key in [
        "scene",
        "backend",
        "device",
        "threads",
        "particles",
        "constraints",
        "contacts",
        "listed",
        "steps",
        "dt",
        "substeps",
        "iterations",
        "wall_ms",
        "ms_per_step",
        "passes",
        "residual",
        "quarantined",
        "hash",
    ] {
        assert!(!report[key].is_null(), "{key} is missing");
    }
    assert_eq!(report["backend"], "cpu");
    assert_eq!(report["threads"], 2);
    assert_eq!(report["particles"], 144 + 64);
    assert_eq!(report["steps"], 15);
    assert_eq!(report["substeps"], 2);
    assert_eq!(report["hash"].as_str().unwrap(), hash_line(&printed));
    for key in ["median", "p95", "min"] {
        assert!(report["ms_per_step"][key].as_f64().unwrap() > 0.0);
    }
    assert!(report["residual"]["distance"].as_f64().unwrap() > 0.0);
    let predict = &report["passes"].as_array().unwrap()[0];
    assert_eq!((&predict["name"], &predict["calls"]), (&"predict".into(), &30.into()));
    assert!(predict["ms_median"].as_f64().unwrap() <= predict["ms_total"].as_f64().unwrap());
}

#[test]
fn the_worker_view_accounts_for_every_worker() {
    let folder = Folder::new();
    let path = folder.path("report.json");
    let args = ["run", &folder.scene, "--threads", "2", "--report", &path];
    assert!(!good(&args).contains("worker 1"), "only when asked for");
    let printed = good(&[&args[..], &["--workers"]].concat());
    let heading = "wall ms  worker 0 ms";
    let table: Vec<&str> = printed.lines().skip_while(|l| !l.contains(heading)).collect();
    let row = |name: &str| table.iter().any(|l| l.starts_with(name) && l.matches('%').count() == 2);
    for name in ["predict", "solve_distance", "find_neighbors_grid", "between passes", "all"] {
        assert!(row(name), "{name}: {printed}");
    }
    assert!(!row("solve_volume"), "it never ran: {printed}");

    let report = json(Path::new(&path));
    let number = |v: &Value| v.as_f64().unwrap();
    let passes = report["passes"].as_array().unwrap();
    let workers = report["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 2);
    for (i, worker) in workers.iter().enumerate() {
        assert_eq!(worker["worker"], i);
        let mut sum = number(&worker["between_ms"]);
        let busy = worker["passes"].as_array().unwrap();
        assert_eq!(busy.len(), passes.len());
        for (mine, pass) in busy.iter().zip(passes) {
            assert_eq!(mine["name"], pass["name"]);
            assert!(number(&mine["busy_ms"]) <= number(&pass["ms_total"]) + 1e-6);
            sum += number(&mine["busy_ms"]);
        }
        assert!((sum - number(&worker["busy_ms"])).abs() < 1e-6);
        assert!(sum <= number(&report["wall_ms"]) + 1e-6);
    }
    assert!(number(&workers[0]["busy_ms"]) > 0.0);
}

#[test]
fn the_hash_is_the_same_for_any_team() {
    let folder = Folder::new();
    for solver in ["seidel", "colored", "jacobi"] {
        let hash = |threads| {
            let args = ["run", &folder.scene, "--solver", solver, "--threads", threads, "--hash"];
            hash_line(&good(&args))
        };
        let one = hash("1");
        assert_eq!(one, hash("2"), "{solver}");
        assert_eq!(one, hash("8"), "{solver}");
    }
    let of = |extra: &[&str]| {
        let args = [&["run", &folder.scene, "--hash"], extra].concat();
        hash_line(&good(&args))
    };
    let plain = of(&[]);
    assert_eq!(plain, of(&["--broad-phase", "brute"]));
    assert_ne!(plain, of(&["--seed", "7"]));
    assert_ne!(plain, of(&["--set", "cloth.0.spacing=0.11"]));
    assert_ne!(plain, of(&["--method", "pbd", "--set", "cloth.0.stretch_stiffness=0.5"]));
}

#[test]
fn a_saved_run_goes_on_with_the_same_bits() {
    let folder = Folder::new();
    let saved = folder.path("half.motes");
    let whole = hash_line(&good(&["run", &folder.scene, "--steps", "40", "--hash"]));
    good(&["run", &folder.scene, "--steps", "20", "--save", &saved]);
    let resumed =
        good(&["run", "--load", &saved, "--steps", "20", "--threads", "1", "--hash", "--check"]);
    assert_eq!(whole, hash_line(&resumed));
    assert!(resumed.contains("quarantined_at_most"), "{resumed}");

    let message = bad(2, &["run", "--load", &saved, "--set", "cloth.0.columns=5"]);
    assert!(message.contains("built already"), "{message}");
    bad(2, &["run", "--load", &saved, "--seed", "3"]);
    good(&["run", "--load", &saved, "--steps", "1", "--set", "iterations=3"]);
    let message = bad(2, &["run", "cloth_hang", "--load", &saved, "--check"]);
    assert!(message.contains("not built from"), "{message}");
    assert!(bad(2, &["run", "--load", &folder.scene]).contains("not a snapshot"));
    assert!(bad(2, &["run", "--load", &folder.path("none")]).contains("none"));
}

#[test]
fn checks_decide_the_exit_code() {
    let folder = Folder::new();
    let printed = good(&["run", &folder.scene, "--check"]);
    assert!(printed.contains("quarantined_at_most"), "{printed}");
    let strict = folder.path("strict.toml");
    let check = "[[check]]\nname = \"max_height\"\nmax = -100.0\n";
    std::fs::write(&strict, format!("{SCENE}\n{check}")).unwrap();
    good(&["run", &strict]);
    let output = motes(&["run", &strict, "--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("FAIL max_height"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("1 of 2 checks failed: max_height"));
}

/// A structure is chosen by name, `auto` says what it chose, and `bench` compares them all.
#[test]
fn the_broad_phase_is_chosen_and_reported() {
    let folder = Folder::new();
    let report = folder.path("report.json");
    for (asked, used) in [("auto", "grid"), ("octree", "octree"), ("bvh", "bvh")] {
        let args = ["run", &folder.scene, "--broad-phase", asked, "--report", &report];
        let printed = good(&args);
        assert_eq!(json(Path::new(&report))["broad_phase"], used);
        assert!(printed.contains(&format!("neighbours by {used}")), "{printed}");
        assert!(printed.contains(&format!("find_neighbors_{used}")), "{printed}");
    }
    let all = ["--broad-phase", "all"];
    let few = ["--steps", "2", "--repeat", "1", "--threads", "1", "--backend", "cpu"];
    let printed = good(&[&["bench", &folder.scene][..], &all, &few].concat());
    for word in ["grid x1", "octree x1", "bvh x1", "octree_build", "bvh_boxes", "radix_scatter"] {
        assert!(printed.contains(word), "{word}: {printed}");
    }
    assert!(bad(2, &["run", &folder.scene, "--broad-phase", "all"]).contains("bench"));
    assert!(bad(2, &["run", &folder.scene, "--broad-phase", "kd"]).contains("octree"));
}

#[test]
fn unknown_instructions_are_refused() {
    let mut motes = Command::new(env!("CARGO_BIN_EXE_motes"));
    let output = motes.args(["run", "stairs", "--steps", "1"]).env("MOTES_SIMD", "mmx");
    let output = output.output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("MOTES_SIMD") && message.contains("wide"), "{message}");
}

#[test]
fn quiet_runs_print_what_was_asked_for_alone() {
    let folder = Folder::new();
    let quiet =
        |more: &[&str]| good(&[&["run", &folder.scene, "--steps", "3", "--quiet"], more].concat());
    assert_eq!(quiet(&[]), "");
    let hash = quiet(&["--hash"]);
    assert!(hash.starts_with("hash ") && hash.lines().count() == 1, "{hash}");
    assert_eq!(quiet(&["--check"]).lines().count(), 1);
}

/// The rows of the passes and what is between them add up to the row of the step.
#[test]
fn the_table_of_times_adds_up() {
    let folder = Folder::new();
    let printed = good(&["run", &folder.scene, "--steps", "50"]);
    let mut lines = printed.lines();
    let heading = lines.next().unwrap();
    assert!(heading.contains("median ms") && heading.contains("mean ms"), "{heading}");
    let rows: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let cell = |row: &str, from_end: usize| -> f64 {
        let cells: Vec<&str> = row.trim_end_matches(" %").split_whitespace().collect();
        cells[cells.len() - from_end].parse().unwrap()
    };
    let (step, passes) = rows.split_last().unwrap();
    assert!(step.starts_with("step ") && passes.last().unwrap().starts_with("(between passes)"));
    for column in [1, 2, 3] {
        let sum: f64 = passes.iter().map(|row| cell(row, column)).sum();
        let whole = cell(step, column);
        // Each of the rows is rounded to three digits.
        assert!((sum - whole).abs() < 0.02 * whole, "column {column}: {sum} of {whole}\n{printed}");
    }
    assert_eq!(cell(step, 1), 100.0);
}

#[test]
fn what_has_no_effect_is_said_and_nothing_else() {
    let folder = Folder::new();
    let scene = folder.path("idle.toml");
    let heard = |text_of: &str, more: &[&str]| {
        std::fs::write(&scene, text_of).unwrap();
        let output = motes(&[&["run", &scene, "--steps", "1", "--quiet"], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let cloth = "[[cloth]]\ncolumns = 4\nrows = 4\nspacing = 0.1\n";
    assert_eq!(heard(cloth, &[]), "");
    let soft = format!("{cloth}stretch_compliance = 1e-5\n");
    assert_eq!(heard(&soft, &[]), "");
    let warning = heard(&soft, &["--method", "pbd"]);
    assert!(
        warning.starts_with("warning: ")
            && warning.contains("idle.toml:5: cloth.0.stretch_compliance: "),
        "{warning}"
    );
    assert!(
        warning.contains("method = \"pbd\"") && warning.contains("`stretch_stiffness`"),
        "{warning}"
    );
    let both = format!("{soft}stretch_stiffness = 0.5\n");
    assert_eq!(heard(&both, &["--method", "pbd"]), "");
    assert_eq!(heard(&both, &[]), "");
    let stiff = format!("{cloth}bend_stiffness = 0.1\n");
    assert!(heard(&stiff, &[]).contains("cloth.0.bend_stiffness: has no effect"));
    let idle = |params: &str| heard(&format!("[params]\n{params}\n{cloth}"), &[]);
    assert!(idle("rho = 0.9").contains(":2: params.rho: has no effect without acceleration"));
    assert_eq!(idle("rho = 0.9\nacceleration = 'chebyshev'"), "");
    assert!(idle("bvh_leaf = 8\nbroad_phase = 'grid'").contains("params.bvh_leaf: has no effect"));
    assert!(idle("static_friction = 0.1").contains("params.static_friction: is below"));
    assert!(idle("restitution_threshold = 0.1").contains("without restitution"));
    assert!(heard("", &[]).contains("the scene has no particles"));
    let wind = |more: &str| heard(&format!("[[force]]\nkind = 'surface_wind'\n{more}"), &[]);
    let said = wind("velocity = [1, 0, 0]\n[[granular]]\ncounts = [2, 2, 2]\nspacing = 0.1\n");
    assert!(
        said.contains("idle.toml:2: force.0.kind: blows on cloth alone")
            && said.contains("kind = \"wind\""),
        "{said}"
    );
    assert_eq!(wind(&format!("velocity = [1, 0, 0]\n{cloth}")), "");
    // A cloth whose particles leave gaps goes through itself.
    let folding = |more: &str| heard(&format!("{cloth}{more}"), &[]);
    let said = folding("radius = 0.04\nself_collide = true\n");
    assert!(said.contains("idle.toml:5: cloth.0.radius: is less than half"), "{said}");
    assert!(said.contains("at least 0.05"), "{said}");
    assert_eq!(folding("radius = 0.05\nself_collide = true\n"), "");
    assert_eq!(folding("radius = 0.04\n"), "");
    // The built-in scenes say nothing without effect.
    for name in ["cloth_hang", "curtain", "flag", "tear", "sand_heap:small"] {
        let output = motes(&["run", name, "--steps", "1", "--quiet"]);
        assert_eq!(text(&output.stderr), "", "{name}");
    }
}

/// The guard of the memory heeds the limit that a shell sets.
#[cfg(target_os = "linux")]
#[test]
fn a_scene_larger_than_the_limit_of_the_process_is_refused() {
    let folder = Folder::new();
    let scene = folder.path("large.toml");
    std::fs::write(&scene, "[[granular]]\nspacing = 0.1\ncounts = [200, 100, 100]\n").unwrap();
    let run =
        format!("ulimit -v 1000000; exec {} run {scene} --steps 1", env!("CARGO_BIN_EXE_motes"));
    let output = Command::new("sh").args(["-c", &run]).output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("2000000 particles") && message.contains("MiB free"), "{message}");
}
