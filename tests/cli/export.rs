//! `motes run --export`: files for other programs.

use super::{Folder, bad, good, json, text};
use std::path::Path;

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

/// Surfaces of water as OBJ and PLY, a file a frame, with a list for ParaView.
#[test]
#[cfg(feature = "surface")]
fn surfaces_of_fluids_are_exported() {
    let folder = Folder::new();
    for format in ["obj", "ply", "vtk"] {
        let into = folder.path(format);
        let args = ["run", "hydrostatic", "--steps", "2", "--every", "2", "--quiet"];
        good(&[&args[..], &["--export", &into, "--surface", "--format", format]].concat());
        let path = |step: u32| Path::new(&into).join(format!("surface_{step:06}.{format}"));
        assert!(path(0).exists() && path(2).exists() && !path(1).exists());
        let series = Path::new(&into).join("surface.vtk.series");
        assert_eq!(series.exists(), format == "vtk");
        if format == "obj" {
            let all = text(&std::fs::read(path(2)).unwrap());
            let groups: Vec<_> = all.lines().filter_map(|l| l.strip_prefix("g ")).collect();
            assert_eq!(groups, ["water"]);
            assert!(all.lines().filter(|l| l.starts_with("f ")).count() > 1000);
            // Smoother, and so another one.
            let again = ["--export", &into, "--surface", "--format", format, "--smoothing", "0"];
            good(&[&args[..], &again].concat());
            assert!(text(&std::fs::read(path(2)).unwrap()) != all);
        }
    }
    let into = folder.path("dry");
    good(&["run", &folder.scene, "--steps", "1", "--export", &into, "--surface", "--quiet"]);
    assert!(!Path::new(&into).join("surface_000000.ply").exists(), "there is no fluid");
}

#[test]
fn surfaces_need_an_export_and_a_legal_smoothing() {
    let folder = Folder::new();
    let into = folder.path("out");
    let wrong = |args: &[&str], says: &str| {
        let message = bad(2, &[&["run", "hydrostatic", "--steps", "0"], args].concat());
        assert!(message.contains(says), "{args:?}: {message}");
    };
    wrong(&["--surface"], "--export");
    wrong(&["--export", &into, "--smoothing", "3"], "--surface");
    wrong(&["--export", &into, "--surface", "--smoothing", "1001"], "1001");
    #[cfg(not(feature = "surface"))]
    wrong(&["--export", &into, "--surface"], "--features surface");
    assert!(!Path::new(&into).exists());
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
