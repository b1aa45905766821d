//! The built-in meshes are what their generator makes and load as solids; bad files are refused
//! with a useful message and never a panic.

#[allow(dead_code)]
#[path = "../assets/meshes/make_meshes.rs"]
mod make_meshes;

use std::collections::BTreeSet;

use glam::Vec3;
use make_meshes::path_of;
use motes::Error;
use motes::shape::mesh::TriangleMesh;
use proptest::prelude::*;

const ENVIRONMENT: [&str; 5] = ["axe", "bowl", "ledge", "spike", "stairs"];
const HOLED: [&str; 3] = ["cube_with_hole", "torus", "trefoil"];

#[test]
fn files_are_what_the_generator_makes() {
    let mut made = BTreeSet::new();
    for (name, surface) in make_meshes::meshes() {
        let file = std::fs::read_to_string(path_of(name)).expect(name);
        assert!(
            file == make_meshes::obj_text(name, &surface),
            "{name}.obj differs; run `cargo run --example make_meshes`"
        );
        made.insert(path_of(name));
    }
    let present: BTreeSet<_> = std::fs::read_dir(path_of("torus").parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "obj"))
        .collect();
    assert_eq!(present, made, "there is a mesh that the generator does not make");
}

#[test]
fn skeletons_are_what_the_generator_makes() {
    let mut made = BTreeSet::new();
    for (name, bytes) in make_meshes::skeletons() {
        let path = make_meshes::skeleton_path(name);
        assert!(
            std::fs::read(&path).expect(name) == bytes,
            "{name} differs; run `cargo run --example make_meshes`"
        );
        assert!(bytes.len() < 70_000, "{name}: {} bytes", bytes.len());
        made.insert(path);
    }
    let folder = make_meshes::skeleton_path("");
    let present: BTreeSet<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(present, made, "there is a skeleton that the generator does not make");
}

#[test]
fn every_mesh_is_a_solid_of_sensible_size() {
    for (name, surface) in make_meshes::meshes() {
        let (mesh, report) = TriangleMesh::load_obj(path_of(name)).unwrap();
        mesh.validate().unwrap();
        assert_eq!(report, mesh.report());
        assert_eq!(report.vertices, surface.vertices.len(), "{name}: vertices were welded");
        assert_eq!(report.triangles, surface.triangles.len(), "{name}: triangles were dropped");
        assert_eq!((report.degenerate, report.non_manifold_edges), (0, 0), "{name}");
        assert!(report.triangles <= 6000, "{name}: {} triangles", report.triangles);

        let (low, high) = mesh.bounds().unwrap();
        let size = high - low;
        assert!(size.max_element() >= 0.7 && size.max_element() <= 2.0, "{name}: {size}");
        if ENVIRONMENT.contains(&name) {
            assert_eq!(low.y, 0.0, "{name} does not stand on the ground");
        } else {
            assert!((low + high).abs().max_element() < 1e-5, "{name} is not centred: {low} {high}");
        }
        if name == "bowl" {
            assert!(report.open_edges > 0 && !mesh.is_closed(), "the bowl is open at its rim");
        } else {
            assert_eq!(report.open_edges, 0, "{name} is open");
            assert!(mesh.is_closed(), "{name}");
            assert!(mesh.signed_volume() > 0.0, "{name} is inside out");
            assert_eq!(euler(&mesh), if HOLED.contains(&name) { 0 } else { 2 }, "{name}");
        }
    }
}

/// Vertices - edges + triangles of a closed mesh: 2 for what can be blown up to a ball, 0 with one
/// hole through it, 4 for two pieces.
fn euler(mesh: &TriangleMesh) -> i64 {
    mesh.vertices.len() as i64 - mesh.triangles.len() as i64 / 2
}

#[test]
fn volumes_are_those_of_the_shapes() {
    let pi = std::f64::consts::PI;
    // Polygons in place of circles lose up to 3 %.
    let expected = [
        ("axe", 0.6 * 0.1 + 0.5 * 0.16 * 0.7, 1e-6),
        ("cone", pi / 12.0, 0.01),
        ("cube", 1.0, 1e-9),
        ("cube_with_hole", 1.0 - 0.16, 1e-6),
        ("cylinder", pi / 4.0, 0.01),
        ("ledge", 0.2 + 0.7, 1e-6),
        ("sphere", pi / 6.0, 0.02),
        ("spike", 0.1 + pi * 0.15 * 0.15 * 0.9 / 3.0, 0.01),
        ("stairs", 0.125 * 0.2 * 21.0, 1e-6),
        ("thick_bowl", 2.0 / 3.0 * pi * (0.5f64.powi(3) - 0.42f64.powi(3)), 0.02),
        ("torus", 2.0 * pi * pi * 0.35 * 0.15 * 0.15, 0.03),
    ];
    for (name, volume, tolerance) in expected {
        let (mesh, _) = TriangleMesh::load_obj(path_of(name)).unwrap();
        let relative = mesh.signed_volume() / volume - 1.0;
        assert!(relative.abs() <= tolerance, "{name}: {} for {volume}", mesh.signed_volume());
    }
}

#[test]
fn the_bowl_faces_what_lies_in_it() {
    let (mesh, _) = TriangleMesh::load_obj(path_of("bowl")).unwrap();
    let middle = Vec3::new(0.0, 0.5, 0.0);
    for &triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|i| mesh.vertices[i as usize]);
        assert!((b - a).cross(c - a).dot(middle - a) > 0.0);
    }
}

/// What the error says after the path.
fn refusal(content: Option<&[u8]>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.obj");
    if let Some(bytes) = content {
        std::fs::write(&path, bytes).unwrap();
    }
    let error = TriangleMesh::load_obj(&path).unwrap_err();
    assert!(matches!(error, Error::Input { .. }) && error.is_usage(), "{error:?}");
    let text = error.to_string();
    let rest = text.strip_prefix(&path.display().to_string()).expect("the path comes first");
    assert!(rest.contains("; "), "there is a remedy: {text}");
    rest.to_owned()
}

#[test]
fn bad_files_are_refused_with_file_line_and_remedy() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let refused = |content: &str| refusal(Some(content.as_bytes()));
    assert!(refused(&format!("{square}v 0 NaN 0\nf 1 2 3\n")).starts_with(":5: vertex: \"NaN\""));
    assert!(refused(&format!("# inf\n{square}v -inf 0 0\n")).starts_with(":6: vertex: "));
    assert!(
        refused(&format!("{square}f 1 2 3\nf 1 2 5\n")).starts_with(":6: face: names vertex 5")
    );
    assert!(refused(&format!("{square}f 1 2 99999999999\n")).starts_with(":5: face: "));
    assert!(refused(square).contains("has 4 vertices and no faces"));
    assert!(refused("").contains("no faces"));
    assert!(refusal(Some(b"\x7fELF\0\0\xff")).contains("not text"));
    assert!(refusal(Some(&[0xff; 300])).contains("no faces"));
    assert!(refusal(None).starts_with(": mesh: cannot be opened"));
}

#[test]
fn a_folder_or_a_device_is_not_a_mesh() {
    let folder = tempfile::tempdir().unwrap();
    assert!(TriangleMesh::load_obj(folder.path()).unwrap_err().to_string().contains("not a file"));
    #[cfg(target_os = "linux")]
    assert!(TriangleMesh::load_obj("/dev/zero").unwrap_err().to_string().contains("not a file"));
}

/// Words that stand in OBJ files, and some that should not.
fn word() -> impl Strategy<Value = String> {
    const WORDS: &str = "v f l p o g vt vn vp s usemtl mtllib curv surf # \\ / // nan inf -0 1e39 \
        1e-45 0 1 2 3 -1 -2 1/1 1//1 2/2/2 3/ 9223372036854775807 -9223372036854775808 \
        1/9223372036854775807";
    prop_oneof![
        prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>()).prop_map(str::to_owned),
        any::<f32>().prop_map(|value| value.to_string()),
        (-4_i64..9).prop_map(|value| value.to_string()),
        "\\PC{0,3}",
    ]
}

/// Mostly lines of the right form, so that many files get past the first checks.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => prop::array::uniform3(-2_i8..3).prop_map(|[x, y, z]| format!("v {x} {y} {z}")),
        20 => prop::collection::vec(1_u8..9, 3..6).prop_map(|corners| {
            let words: Vec<String> = corners.iter().map(u8::to_string).collect();
            format!("f {}", words.join(" "))
        }),
        1 => prop::collection::vec(word(), 0..8).prop_map(|words| words.join(" ")),
    ]
}

/// Loads, or fails with a message; a mesh that loads is sound. True when it loaded.
fn sound_or_refused(bytes: &[u8]) -> Result<bool, TestCaseError> {
    match TriangleMesh::from_obj_bytes("random", bytes) {
        Ok((mesh, report)) => {
            prop_assert!(mesh.validate().is_ok());
            prop_assert_eq!(report.triangles, mesh.triangles.len());
            prop_assert_eq!(mesh.report().degenerate, 0);
            prop_assert!(!mesh.is_closed() || report.open_edges == 0);
            Ok(true)
        }
        Err(error) => {
            prop_assert!(error.is_usage());
            prop_assert!(error.to_string().starts_with("random"));
            Ok(false)
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        sound_or_refused(&bytes)?;
    }

    #[test]
    fn random_words_never_panic(lines in prop::collection::vec(
        prop::collection::vec(word(), 0..8).prop_map(|words| words.join(" ")), 0..20))
    {
        sound_or_refused(lines.join("\n").as_bytes())?;
    }

    #[test]
    fn a_damaged_file_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = include_bytes!("../assets/meshes/cube.obj").to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        sound_or_refused(&bytes)?;
    }
}

#[test]
fn random_lines_never_panic_and_often_load() {
    let loaded = std::cell::Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(config(2000));
    runner
        .run(&prop::collection::vec(line(), 0..40), |lines| {
            let did_load = sound_or_refused(lines.join("\n").as_bytes())?;
            loaded.set(loaded.get() + u32::from(did_load));
            Ok(())
        })
        .unwrap();
    // A generator whose every file is refused at its first line would test little.
    assert!(loaded.get() > 200, "only {} of 2000 loaded", loaded.get());
}
