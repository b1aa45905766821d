//! Outputs of every command: what cannot be written is told before the run, and nothing that is
//! there is lost.

use super::{Folder, bad, good, motes, text};
use std::path::Path;
use std::process::Command;

#[test]
fn outputs_that_cannot_be_are_refused_before_the_run() {
    let folder = Folder::new();
    let before = folder.names();
    let here = folder.path("");
    let nowhere = folder.path("none/file");
    for flag in ["--report", "--save"] {
        for (target, why) in [(&here, "is a folder"), (&nowhere, "does not exist")] {
            let message = bad(2, &["run", &folder.scene, flag, target]);
            assert!(message.contains(why) && message.contains(flag), "{message}");
        }
    }
    bad(2, &["render", &folder.scene, "-o", &here]);
    bad(2, &["bench", &folder.scene, "--json", &here]);
    assert!(bad(2, &["converge", "--size", "4", "--plot", "a.pdf"]).contains(".svg or .png"));
    assert_eq!(folder.names(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    for flag in ["--report", "--save"] {
        let message = bad(1, &["run", &folder.scene, "--steps", "2", flag, "/dev/full"]);
        assert!(message.contains("/dev/full") && message.contains("space"), "{message}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_motes")).args(["scenes"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("standard output"));
    assert_eq!(folder.names(), ["mixture.toml"]);
    let leftovers: Vec<_> = std::fs::read_dir("/dev").unwrap().filter_map(Result::ok).collect();
    assert!(!leftovers.iter().any(|e| e.file_name().to_string_lossy().starts_with(".motes")));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_motes"))
        .args(["run", "cloth_hang", "--steps", "2"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    assert!(output.status.success());
}

#[test]
fn an_output_is_neither_an_input_nor_another_output() {
    let folder = Folder::new();
    let (state, other) = (folder.path("a.motes"), folder.path("b.motes"));
    good(&["run", &folder.scene, "--steps", "2", "--save", &state]);
    let bytes = std::fs::read(&state).unwrap();
    let refused = |args: &[&str], of: &str| {
        let message = bad(2, args);
        assert!(message.contains("is the file of") && message.contains(of), "{message}");
    };
    let scene = std::fs::read(&folder.scene).unwrap();
    refused(&["run", &folder.scene, "--save", &folder.scene], "the scene");
    refused(&["run", &folder.scene, "--report", &folder.scene], "the scene");
    refused(&["run", "--load", &state, "--save", &state], "--load");
    let same = folder.path("./b.motes");
    refused(&["run", &folder.scene, "--save", &other, "--report", &same], "--save");
    refused(&["bench", &folder.scene, "--json", &other, "--csv", &other], "--json");
    assert_eq!(std::fs::read(&state).unwrap(), bytes);
    assert_eq!(std::fs::read(&folder.scene).unwrap(), scene);
    assert!(!Path::new(&other).exists());
    let null =
        ["run", &folder.scene, "--steps", "1", "--save", "/dev/null", "--report", "/dev/null"];
    good(&null);
}

/// Every output against every target that cannot be written: each is told before the first step,
/// so that these runs, which would take hours, end at once.
#[cfg(target_os = "linux")]
#[test]
fn a_target_that_cannot_be_written_is_found_before_the_first_step() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let (read_only, dangling) = (folder.path("read_only"), folder.path("dangling"));
    std::fs::write(&read_only, "old").unwrap();
    std::fs::set_permissions(&read_only, std::fs::Permissions::from_mode(0o444)).unwrap();
    symlink(folder.path("nothing"), &dangling).unwrap();
    let long = "n".repeat(300);
    let targets = [
        folder.path(""),
        folder.path("none/file"),
        folder.path("slash/"),
        read_only,
        dangling,
        "/proc/motes".to_string(),
        folder.path(&long),
        format!("{}/file", folder.scene),
    ];
    let before = folder.names();
    let scene = folder.scene.as_str();
    let long_run = ["run", scene, "--steps", "100000000"];
    for target in &targets {
        let outputs: [&[&str]; 6] = [
            &[&long_run[..], &["--save", target]].concat(),
            &[&long_run[..], &["--report", target]].concat(),
            &["bench", scene, "--steps", "100000000", "--json", target],
            &["bench", scene, "--steps", "100000000", "--csv", target],
            &["render", scene, "--steps", "100000000", "-o", target],
            &["converge", "--size", "2000", "--iterations", "1000000", "--json", target],
        ];
        for args in outputs {
            let output = motes(args);
            let message = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}: {message}");
            assert!(message.starts_with("error: ") && !message.contains("panicked"), "{message}");
        }
    }
    for target in ["/proc/motes", &format!("{scene}/folder"), scene] {
        let output = motes(&[&long_run[..], &["--export", target]].concat());
        assert!(matches!(output.status.code(), Some(1 | 2)), "{target}: {}", text(&output.stderr));
    }
    assert_eq!(folder.names(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_no_input_and_a_picture_is_what_its_name_says() {
    let folder = Folder::new();
    let pipe = folder.path("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(bad(2, &["run", &pipe]).contains("is not a file"));
    assert!(bad(2, &["run", "--load", &pipe]).contains("is not a file"));
    let picture = folder.path("end.jpg");
    let message = bad(2, &["render", &folder.scene, "-o", &picture]);
    assert!(message.contains("PNG, not jpg"), "{message}");
    // Into a pipe it is written directly.
    let args = ["run", &folder.scene, "--steps", "1", "--quiet", "--report", &pipe];
    let run = Command::new(env!("CARGO_BIN_EXE_motes")).args(args).spawn().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&pipe).unwrap()).unwrap();
    assert_eq!(report["steps"], 1);
    assert!(run.wait_with_output().unwrap().status.success());
}

#[test]
fn the_meshes_of_a_scene_are_inputs_too() {
    let folder = Folder::new();
    let frames = Path::new(&folder.path("frames")).to_path_buf();
    std::fs::create_dir(&frames).unwrap();
    let rock = include_bytes!("../../assets/meshes/axe.obj");
    let (mesh, frame) = (folder.path("rock.obj"), frames.join("frame_000000.obj"));
    std::fs::write(&mesh, rock).unwrap();
    std::fs::write(&frame, rock).unwrap();
    let scene = folder.path("rocks.toml");
    let collider = |file: &str| format!("[[collider]]\nshape = 'mesh'\nmesh = '{file}'\n");
    let text_of = collider("rock.obj") + &collider("frames/frame_000000.obj");
    std::fs::write(
        &scene,
        format!("{text_of}[[particles]]\npositions = [[0, 9, 0]]\nradius = 0.1\n"),
    )
    .unwrap();
    let refused = |args: &[&str]| {
        let message = bad(2, args);
        assert!(message.contains("the file of a mesh"), "{message}");
    };
    refused(&["run", &scene, "--steps", "1", "--save", &mesh]);
    refused(&["run", &scene, "--steps", "1", "--report", &folder.path("./rock.obj")]);
    refused(&["bench", &scene, "--steps", "1", "--csv", &mesh]);
    let frames = folder.path("frames");
    refused(&["run", &scene, "--steps", "1", "--format", "obj", "--export", &frames]);
    for path in [Path::new(&mesh), &frame] {
        assert_eq!(std::fs::read(path).unwrap(), rock);
    }
    // PLY files have other names, and a mesh that the scene no longer has is not its own.
    good(&["run", &scene, "--steps", "1", "--format", "ply", "--export", &frames]);
    let other = ["--set", "collider=[]", "--save", &mesh];
    good(&[&["run", &scene, "--steps", "1"][..], &other].concat());
}

#[cfg(unix)]
#[test]
fn another_name_of_an_input_is_that_input() {
    let folder = Folder::new();
    let (state, hard, soft) = (folder.path("a.motes"), folder.path("hard"), folder.path("soft"));
    good(&["run", &folder.scene, "--steps", "2", "--save", &state]);
    std::fs::hard_link(&state, &hard).unwrap();
    std::os::unix::fs::symlink(&state, &soft).unwrap();
    for name in [&hard, &soft] {
        let message = bad(2, &["run", "--load", &state, "--steps", "1", "--save", name]);
        assert!(message.contains("is the file of --load"), "{message}");
    }
    let message = bad(2, &["run", &folder.scene, "--save", &hard, "--report", &state]);
    assert!(message.contains("is the file of"), "{message}");
}

/// Every option that takes a name answers alike to one that is not Unicode.
#[cfg(unix)]
#[test]
fn names_that_are_not_unicode_are_refused_alike() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let odd = OsStr::from_bytes(b"odd\xff.toml");
    std::fs::copy(&folder.scene, Path::new(&folder.path("")).join(odd)).unwrap();
    let before = folder.names();
    let scene = folder.scene.as_str();
    for args in [
        &["run"][..],
        &["view"],
        &["render"],
        &["bench"],
        &["run", "--load"],
        &["run", scene, "--steps", "1", "--save"],
        &["run", scene, "--steps", "1", "--report"],
        &["run", scene, "--steps", "1", "--export"],
        &["render", scene, "--steps", "1", "-o"],
        &["bench", scene, "--steps", "1", "--json"],
        &["bench", scene, "--steps", "1", "--csv"],
        &["converge", "--plot"],
        &["view", "--script"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_motes"))
            .args(args)
            .arg(odd)
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains("is not Unicode") && message.contains("rename it"), "{message}");
    }
    assert_eq!(folder.names(), before);
}
