//! The program as a user or a script meets it: exit codes, outputs, and what it says.
#![cfg(feature = "cli")]

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
fn exported_files_hold_every_particle() {
    let folder = Folder::new();
    for format in ["ply", "vtk", "obj"] {
        let into = folder.path(&format!("out/{format}"));
        let args = [
            "run",
            &folder.scene,
            "--steps",
            "6",
            "--export",
            &into,
            "--format",
            format,
            "--every",
            "3",
        ];
        good(&args);
        let mut names: Vec<_> =
            std::fs::read_dir(&into).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        // The first moment, too; obstacles that stand still once; and a list for ParaView.
        let mut expected: Vec<_> = [0, 3, 6].map(|k| format!("frame_{k:06}.{format}")).into();
        expected.push(format!("obstacles.{format}"));
        if format == "vtk" {
            let series = json(&Path::new(&into).join("frame.vtk.series"));
            let files = series["files"].as_array().unwrap();
            let listed: Vec<_> = files.iter().map(|f| f["name"].as_str().unwrap()).collect();
            assert_eq!(listed, expected[..3]);
            assert_eq!(files[0]["time"], 0.0);
            assert!((files[2]["time"].as_f64().unwrap() - 0.1).abs() < 1e-6, "{series}");
            expected.push("frame.vtk.series".into());
        }
        expected.sort();
        assert_eq!(names, expected.iter().map(std::ffi::OsString::from).collect::<Vec<_>>());
        let bytes = std::fs::read(Path::new(&into).join(format!("frame_000006.{format}"))).unwrap();
        let start = text(&bytes[..bytes.len().min(400)]);
        match format {
            "ply" => {
                assert!(start.starts_with("ply\n") && start.contains("element vertex 208"));
                let body = start.find("end_header\n").unwrap() + "end_header\n".len();
                let faces = 2 * 11 * 11;
                assert!(start.contains(&format!("element face {faces}\n")), "{start}");
                assert_eq!(bytes.len() - body, 208 * 36 + faces * 13);
            }
            "vtk" => assert!(start.starts_with("# vtk") && start.contains("POINTS 208"), "{start}"),
            _ => {
                let all = text(&bytes);
                let count = |mark: &str| all.lines().filter(|l| l.starts_with(mark)).count();
                assert_eq!((count("v "), count("f ")), (208, 2 * 11 * 11));
                let groups: Vec<_> = all.lines().filter_map(|l| l.strip_prefix("g ")).collect();
                assert_eq!(groups, ["edges", "sheet", "grains"]);
                assert_eq!(count("p "), 64, "grains have no skin");
                let obstacles = std::fs::read(Path::new(&into).join("obstacles.obj")).unwrap();
                let all = text(&obstacles);
                let groups: Vec<_> = all.lines().filter_map(|l| l.strip_prefix("g ")).collect();
                assert_eq!(groups, ["collider.0", "collider.1"]);
                assert!(all.lines().filter(|l| l.starts_with("f ")).count() > 100);
            }
        }
    }
    let file = folder.path("file");
    std::fs::write(&file, "").unwrap();
    assert!(bad(2, &["run", &folder.scene, "--export", &file]).contains("is a file"));
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
fn pictures_are_png_of_the_asked_size() {
    let folder = Folder::new();
    let path = folder.path("end.png");
    good(&["render", &folder.scene, "--steps", "3", "--size", "160x90", "--lines", "-o", &path]);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&bytes[16..24], &[0, 0, 0, 160, 0, 0, 0, 90]);
}

/// A picture every so many steps, numbered as the world counts them, also from a snapshot on.
#[test]
fn a_film_has_a_picture_every_so_many_steps() {
    let folder = Folder::new();
    let (film, again, half) =
        (folder.path("film.png"), folder.path("again.png"), folder.path("half.motes"));
    let look = ["--size", "80x45", "--eye", "2,1.5,-3", "--target", "-0.1,0.5,0", "--fov", "50"];
    let render = |args: &[&str]| good(&[&["render"], args, &look].concat());
    let every = |from, to| ["--every", "4", "--from", from, "--to", to];
    let said = render(&[&[folder.scene.as_str(), "-o", &film][..], &every("6", "15")].concat());
    assert!(said.contains("3 pictures"), "{said}");
    let names = ["film_000006.png", "film_000010.png", "film_000014.png", "mixture.toml"];
    assert_eq!(folder.names(), names);
    good(&["run", &folder.scene, "--steps", "8", "--save", &half, "--quiet"]);
    render(&[&["--load", &half, "-o", &again][..], &every("10", "14")].concat());
    let film = |name: &str, step: u32| pixels(&folder.path(&format!("{name}_{step:06}.png")));
    assert!(film("film", 14) == film("again", 14), "a film goes on from a snapshot");
    assert!(film("film", 6) != film("film", 10), "it moves");
    let picture = folder.path("half.png");
    assert!(render(&["--load", &half, "-o", &picture]).contains("after 8 steps"));
    let plain = pixels(&picture);
    render(&["--load", &half, "--color", "speed", "-o", &picture]);
    assert!(pixels(&picture) != plain, "colours tell something else");
    good(&["render", "--load", &half, "--size", "80x45", "-o", &picture]);
    assert!(pixels(&picture) != plain, "the camera stands elsewhere");

    let wrong = |args: &[&str], says: &str| {
        let message = bad(2, &[&["render", "--load", &half][..], args].concat());
        assert!(message.contains(says), "{args:?}: {message}");
    };
    wrong(&["--every", "1", "--from", "3", "--to", "9"], "at step 8 already");
    wrong(&["--every", "1", "--from", "12", "--to", "9"], "ends at step 9");
    wrong(&["--from", "9"], "--every");
    wrong(&["--every", "0"], "0");
    wrong(&["--eye", "1,2"], "three numbers");
    wrong(&["--fov", "0"], "from 1 to 170");
    wrong(&["--color", "red"], "speed");
    wrong(&["--every", "1", "--steps", "2", "-o", "nowhere/film.png"], "folder");
}

/// The colours of a PNG.
fn pixels(path: &str) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgb).unwrap();
    rgb
}

/// One grain is drawn as a sphere, and the sheet beside it as a skin: floor, shadow and light are
/// those of the whole scene and not of the grain.
#[test]
fn a_grain_beside_a_sheet_leaves_the_floor_as_it_is() {
    let folder = Folder::new();
    let scene = |grain: &str| {
        format!(
            r#"
            title = "a sheet"
            [[cloth]]
            columns = 20
            rows = 20
            spacing = 0.1
            origin = [-1.0, 0.8, -1.0]
            {grain}
            [[collider]]
            shape = "plane"
            [camera]
            eye = [3.0, 2.5, 3.5]
            target = [0.0, 0.3, 0.0]
            "#
        )
    };
    let grain = "[[granular]]\ncounts = [1, 1, 1]\nspacing = 0.08\nradius = 0.04\norigin = [1.2, 0.04, 0.6]";
    let [without, with] = [("without", ""), ("with", grain)].map(|(name, grain)| {
        let (file, picture) = (folder.path(&format!("{name}.toml")), folder.path("grain.png"));
        std::fs::write(&file, scene(grain)).unwrap();
        good(&["render", &file, "--steps", "1", "--size", "320x180", "-o", &picture]);
        pixels(&picture)
    });
    let other = |(a, b): &(&[u8; 3], &[u8; 3])| (0..3).any(|k| a[k].abs_diff(b[k]) > 12);
    let pairs = without.as_chunks().0.iter().zip(with.as_chunks().0);
    let changed = pairs.filter(other).count() as f64 / f64::from(320 * 180);
    assert!(changed > 0.0002, "the grain is not to be seen");
    assert!(changed < 0.02, "{changed} of the picture has other colours");
}

#[test]
fn without_a_viewer_the_first_command_shows_something() {
    let folder = Folder::new();
    for args in [&["view", "mixture.toml"][..], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_motes"))
            .args(args)
            .current_dir(folder.folder.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(printed.contains("no display") && printed.contains("motes.png"), "{printed}");
        assert_eq!(folder.names(), ["mixture.toml", "motes.png"]);
        std::fs::remove_file(folder.folder.path().join("motes.png")).unwrap();
    }
}

/// `motes view` where there is no display.
fn view(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_motes"));
    command.arg("view").args(args).current_dir(folder.folder.path());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap()
}

/// Who asks for a painter or a backend wants a window, not a picture of the end.
#[test]
fn a_painter_without_a_window_is_an_error() {
    for flag in [["--painter", "vulkan"], ["--backend", "cpu"]] {
        let output = view(&Folder::new(), &["cloth_hang", flag[0], flag[1]]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let begins = format!("error: {}", flag[0]);
        assert!(said.starts_with(&begins) && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn view_takes_keys_and_threads_and_refuses_what_is_not_there() {
    let folder = Folder::new();
    let output = view(&folder, &["mixture.toml", "--set", "params.iterations=3", "--threads", "1"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(printed.contains("3 iterations") && printed.contains("on 1 thread"), "{printed}");
    for args in [&["missing.motes"][..], &["mixture.toml", "--set", "nothing.0=1"]] {
        let output = view(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn bench_writes_json_and_csv() {
    let folder = Folder::new();
    let (as_json, as_csv) = (folder.path("b.json"), folder.path("b.csv"));
    let printed = good(&[
        "bench",
        &folder.scene,
        "--threads",
        "1,2",
        "--backend",
        "cpu",
        "--steps",
        "5",
        "--repeat",
        "2",
        "--json",
        &as_json,
        "--csv",
        &as_csv,
    ]);
    assert!(printed.contains("cpu x1 ms") && printed.contains("cpu x2 ms"), "{printed}");
    let list = json(Path::new(&as_json));
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert_eq!(list[0]["hash"], list[1]["hash"]);
    let csv = std::fs::read_to_string(&as_csv).unwrap();
    assert!(csv.lines().all(|l| l.split(',').count() == 8), "{csv}");
    assert_eq!(csv.lines().filter(|l| l.contains(",step,")).count(), 2);
}

#[test]
fn converge_prints_draws_and_writes() {
    let folder = Folder::new();
    let (as_json, svg, png) = (folder.path("c.json"), folder.path("c.svg"), folder.path("c.png"));
    let printed = good(&[
        "converge",
        "--size",
        "12",
        "--iterations",
        "400",
        "--threads",
        "1,2",
        "--omega",
        "1,1.9",
        "--json",
        &as_json,
        "--plot",
        &svg,
    ]);
    assert!(printed.contains("not reached") && printed.contains("jacobi"), "{printed}");
    let report = json(Path::new(&as_json));
    assert_eq!(report["constraints"], 2 * 12 * 11 + 2 * 11 * 11);
    let curves = report["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 2 + 3 * 2 * 2);
    for curve in curves {
        let lengths = ["residual", "ms"].map(|k| curve[k].as_array().unwrap().len());
        assert_eq!(lengths[0], lengths[1]);
    }
    assert!(std::fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
    good(&["converge", "--size", "6", "--iterations", "5", "--plot", &png]);
    assert_eq!(&std::fs::read(&png).unwrap()[..4], b"\x89PNG");
}

#[test]
fn the_doctor_says_what_works() {
    let printed = good(&["doctor"]);
    for word in ["cpu", "cores", "memory", "display", "vulkan"] {
        assert!(printed.contains(word), "{printed}");
    }
}

/// The rows of passes and of what is between them add up to the mean step, in every column.
#[test]
fn the_table_of_bench_adds_up() {
    let folder = Folder::new();
    let few = ["--steps", "9", "--repeat", "1", "--backend", "cpu", "--threads", "1,2"];
    let printed = good(&[&["bench", folder.scene.as_str()], &few[..]].concat());
    for column in [1, 2] {
        let number = |line: &str| -> Option<f64> {
            // From the right: names have blanks.
            line.split_whitespace().rev().nth(2 - column)?.replace(',', "").parse().ok()
        };
        let mut lines = printed.lines().skip_while(|line| !line.contains("predict"));
        let parts: Vec<f64> = lines
            .by_ref()
            .take_while(|line| !line.contains("(between passes)"))
            .map(|line| number(line).unwrap_or(0.0))
            .collect();
        assert!(parts.len() > 5, "{printed}");
        let value = |name: &str| {
            number(printed.lines().find(|line| line.contains(name)).expect(name)).unwrap()
        };
        let (sum, step) =
            (parts.iter().sum::<f64>() + value("(between passes)"), value("step, mean"));
        // Three digits of each are shown.
        assert!((sum / step - 1.0).abs() < 0.02, "{sum} {step}\n{printed}");
    }
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

/// The scene `tear` falls apart; its exported surface has no triangle across the gap.
#[test]
fn a_torn_body_is_exported_torn() {
    let folder = Folder::new();
    let into = folder.path("torn");
    let args = ["run", "tear", "--steps", "120", "--every", "120", "--export", &into, "--format"];
    good(&[&args[..], &["obj", "--quiet"]].concat());
    let faces = |name: &str| {
        let all = text(&std::fs::read(Path::new(&into).join(name)).unwrap());
        let rows = |mark: &'static str| -> Vec<Vec<f32>> {
            let rows = all.lines().filter_map(move |line| line.strip_prefix(mark));
            rows.map(|row| row.split(' ').map(|word| word.parse().unwrap()).collect()).collect()
        };
        let (points, faces) = (rows("v "), rows("f "));
        let distance = |a: f32, b: f32| {
            let (a, b) = (&points[a as usize - 1], &points[b as usize - 1]);
            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
        };
        let longest = faces.iter().map(|f| distance(f[0], f[1]).max(distance(f[1], f[2])));
        (faces.len(), longest.fold(0.0, f32::max))
    };
    let (whole, before) = faces("frame_000000.obj");
    let (torn, after) = faces("frame_000120.obj");
    assert!(before < 0.1, "a side is at most a diagonal of 0.05 m: {before} m");
    assert!(torn < whole && torn > whole / 2, "{torn} of {whole} triangles are left");
    assert!(after < 0.3, "a triangle across the gap is {after} m long");
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
    // The built-in scenes say nothing without effect.
    for name in ["cloth_hang", "curtain", "tear", "sand_heap:small"] {
        let output = motes(&["run", name, "--steps", "1", "--quiet"]);
        assert_eq!(text(&output.stderr), "", "{name}");
    }
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
    let report: Value = serde_json::from_slice(&std::fs::read(&pipe).unwrap()).unwrap();
    assert_eq!(report["steps"], 1);
    assert!(run.wait_with_output().unwrap().status.success());
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

#[test]
fn the_meshes_of_a_scene_are_inputs_too() {
    let folder = Folder::new();
    let frames = Path::new(&folder.path("frames")).to_path_buf();
    std::fs::create_dir(&frames).unwrap();
    let rock = include_bytes!("../assets/meshes/axe.obj");
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
        assert!(message.contains("the file of a mesh of the scene"), "{message}");
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
