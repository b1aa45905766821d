//! `motes voxelize` from the command line.

use super::{Folder, bad, good, json, motes, succeeded, text};
use std::process::Command;

#[test]
fn a_mesh_becomes_particles_with_counts_and_times() {
    let folder = Folder::new();
    let (report, cloud) = (folder.path("cube.json"), folder.path("cube.ply"));
    for (merge, particles) in [(None, 1728), (Some("--merge=-2"), 1224), (Some("--merge=2"), 1224)]
    {
        let mut args = vec!["voxelize", "cube", "--no-cache", "--resolution", "12"];
        args.extend(["--json", &report]);
        args.extend(["-o", &cloud]);
        args.extend(merge);
        let printed = good(&args);
        assert!(printed.contains("12 x 12 x 12 voxels"), "{printed}");
        assert!(printed.contains("distance field"), "{printed}");
        let found = json(report.as_ref());
        assert_eq!(found["mesh"], "cube");
        assert_eq!(found["triangles"], 12);
        assert_eq!(found["grid"], serde_json::json!([12, 12, 12]));
        assert_eq!((&found["voxels"], &found["particles"]), (&1728.into(), &particles.into()));
        for part in ["voxelize_ms", "distance_ms", "merge_ms"] {
            assert!(found[part].as_f64().unwrap() >= 0.0, "{part}");
        }
        let header = std::fs::read(&cloud).unwrap();
        let header = text(&header[..200]);
        assert!(header.contains(&format!("element vertex {particles}\n")), "{header}");
    }
    let apart = ["voxelize", "cube", "--no-cache", "--resolution", "12", "--merge", "-2"];
    assert!(good(&apart).contains("1224 particles"));
}

#[test]
fn particles_are_kept_in_the_cache_folder_and_a_damaged_file_is_mended() {
    let folder = Folder::new();
    let run = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_motes"));
        command.args(["voxelize", "torus", "--resolution", "20"]).args(flags);
        succeeded(&command.env("XDG_CACHE_HOME", folder.path("")).output().unwrap())
    };
    let from_disk = |printed: &str| printed.contains("read from the disk");
    let kept = std::path::PathBuf::from(folder.path("motes/solids"));
    assert!(!from_disk(&run(&["--no-cache"])) && !kept.exists());
    if !cfg!(target_os = "linux") {
        return;
    }
    assert!(!from_disk(&run(&[])) && from_disk(&run(&[])));
    let file = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "rubbish").unwrap();
    assert!(!from_disk(&run(&[])) && from_disk(&run(&[])));
    // Neither another recipe nor a wish for a new one is served the old.
    assert!(!from_disk(&run(&["--merge", "2"])) && !from_disk(&run(&["--no-cache"])));
}

#[test]
fn files_are_read_and_open_ones_told_of() {
    let folder = Folder::new();
    let open = folder.path("open.obj");
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
    std::fs::write(&open, tetrahedron).unwrap();
    let output = motes(&["voxelize", &open, "--no-cache", "--resolution", "16"]);
    let warning = text(&output.stderr);
    assert!(output.status.success() && warning.starts_with("warning: "), "{warning}");
    assert!(warning.contains("open at 3 edges between [0, 0, 0] and [1, 1, 1]"), "{warning}");
}

#[test]
fn what_cannot_be_is_refused_and_nothing_written() {
    let folder = Folder::new();
    let before = folder.names();
    let cloud = folder.path("cloud.stl");
    let refused = [
        (vec!["voxelize", "cube"], "--resolution"),
        (vec!["voxelize", "cube", "--resolution", "0"], "1..=2048"),
        (vec!["voxelize", "cube", "--resolution", "8", "--merge", "nan"], "depth"),
        (vec!["voxelize", "cub", "--resolution", "8"], "rabbit"),
        (vec!["voxelize", "none.obj", "--resolution", "8"], "none.obj"),
        (vec!["voxelize", "cube", "--resolution", "8", "-o", &cloud], ".ply"),
    ];
    for (args, why) in refused {
        let message = bad(2, &args);
        assert!(message.contains(why), "{message}");
    }
    let rubbish: [(&str, &[u8], &str); 7] = [
        ("empty", b"", "no faces"),
        ("nan", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
        ("flat", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "no area"),
        ("index", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4000000000\n", "there are 3"),
        ("huge", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n", "huge.obj:4"),
        ("zero", b"v 0 0 0\n\0\0\0", "zero byte"),
        ("declared", b"# 100000000 faces\nv 0 0 0\n", "no faces"),
    ];
    for (name, bytes, why) in rubbish {
        let path = folder.path(&format!("{name}.obj"));
        std::fs::write(&path, bytes).unwrap();
        let out = folder.path("out.ply");
        let message = bad(2, &["voxelize", &path, "--no-cache", "--resolution", "8", "-o", &out]);
        assert!(message.contains(why), "{name}: {message}");
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(folder.names(), before);
    // The mesh itself is not written over.
    let own = folder.path("own.obj");
    std::fs::write(&own, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let message = bad(2, &["voxelize", &own, "--resolution", "8", "-o", &own]);
    assert!(message.contains("the mesh"), "{message}");
}
