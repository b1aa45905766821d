//! Files that are no good: a message with the place, and never a panic.

use super::gltf::{Pack, glb};
use motes::skeleton::Rig;
use proptest::prelude::*;
use serde_json::{Value, json};

const BVH: &str = "HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 3 Xposition Zrotation Yrotation
  JOINT leg
  {
    OFFSET 0 -1 0
    CHANNELS 1 Xrotation
    End Site
    {
      OFFSET 0 -1 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.1
0 1 2 3
4 5 6 7
";

fn message(name: &str, bytes: &[u8]) -> String {
    let error = Rig::from_bytes(name, bytes, None).unwrap_err();
    assert!(error.is_usage(), "{error}");
    error.to_string()
}

#[test]
fn wrong_motion_capture_is_refused_with_its_line() {
    Rig::from_bytes("a.bvh", BVH.as_bytes(), None).unwrap();
    let cases = [
        ("Frames: 2", "Frames: 1000000000", "a.bvh:17: Frames: 1000000000 are declared, but 2"),
        ("Frames: 2", "Frames: 2.5", "a.bvh:17: Frames: 2.5 is no number"),
        ("Frames: 2", "Frames: -1", "a.bvh:17: Frames: -1"),
        ("Frames: 2", "Frames: many", "a.bvh:17: Frames: \"many\" is not a number"),
        ("Frames: 2\n", "", "a.bvh:17: Frames: expected `Frames: NUMBER` here"),
        ("Frame Time: 0.1", "Frame Time: 0", "a.bvh:18: Frame Time: 0 s is not more than 0"),
        ("Frame Time: 0.1", "Frame Time: NaN", "a.bvh:18: Frame Time: \"NaN\" is not finite"),
        ("4 5 6 7", "4 5 6", "a.bvh:20: frame 1: has 3 numbers, but the joints have 4 channels"),
        ("4 5 6 7", "4 5 6 7 8", "a.bvh:20: frame 1: has 5 numbers"),
        ("4 5 6 7", "4 5 inf 7", "a.bvh:20: frame 1: \"inf\" is not finite"),
        ("4 5 6 7", "4 5 x 7", "a.bvh:20: frame 1: \"x\" is not a number"),
        (
            "OFFSET 0 -1 0\n    C",
            "OFFSET 0 -1\n    C",
            "a.bvh:9: OFFSET: \"CHANNELS\" is not a number",
        ),
        ("OFFSET 0 0 0", "", "a.bvh:5: CHANNELS: stands where OFFSET should be"),
        ("CHANNELS 1", "CHANNELS 2", "a.bvh:10: CHANNELS: \"End\" is no channel"),
        ("CHANNELS 1", "CHANNELS 4000000000", "a.bvh:9: CHANNELS: \"4000000000\" is no number"),
        ("Zrotation", "Wrotation", "a.bvh:5: CHANNELS: \"Wrotation\" is no channel"),
        ("Zrotation", "Yrotation", "a.bvh:5: CHANNELS: has Yrotation twice"),
        ("}\nMOTION", "MOTION", "a.bvh:14: MOTION: comes before the } of joint \"hip\""),
        ("}\nMOTION", "}\n}\nMOTION", "a.bvh:16: }: stands where ROOT should be"),
        ("JOINT leg", "ROOT leg", "a.bvh:6: ROOT: stands inside joint \"hip\"; write JOINT"),
        ("JOINT leg", "BONE leg", "a.bvh:6: BONE: is not known here"),
        ("MOTION", "", "there is no line MOTION"),
        ("hip", "h\0p", "a.bvh:2: BVH: holds a zero byte"),
    ];
    for (from, to, why) in cases {
        let found = message("a.bvh", BVH.replacen(from, to, 1).as_bytes());
        assert!(found.contains(why), "{found}\nis not\n{why}");
    }
    let found = message("a.bvh", b"HIERARCHY\nROOT \xff");
    assert!(found.starts_with("a.bvh:2: BVH: is not text"), "{found}");
    assert!(message("a.bvh", b"HIERARCHY\nMOTION\n").contains("has no ROOT"));
    assert!(message("a.bvh", b"").contains("give a BVH file"));
    assert!(message("a.bvh", b"\x7fELF\x02\x01\x01").contains("give a BVH file"));
}

/// A triangle on one bone that turns.
fn whole() -> (Value, Pack) {
    let mut pack = Pack::default();
    let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let attributes = json!({
        "POSITION": pack.floats("VEC3", &corners),
        "JOINTS_0": pack.bytes("VEC4", &[[0; 4]; 3], false),
        "WEIGHTS_0": pack.floats("VEC4", &[[1.0, 0.0, 0.0, 0.0]; 3]),
    });
    let indices = pack.shorts("SCALAR", &[[0], [1], [2]], false);
    let input = pack.floats("SCALAR", &[[0.0], [1.0]]);
    let output = pack.floats("VEC4", &[[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]);
    let one = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let root = json!({
        "asset": { "version": "2.0" },
        "nodes": [{ "name": "bone", "children": [1] }, {}, { "mesh": 0, "skin": 0 }],
        "skins": [{ "joints": [0], "inverseBindMatrices": pack.floats("MAT4", &[one]) }],
        "meshes": [{ "primitives": [{ "attributes": attributes, "indices": indices }] }],
        "animations": [{ "name": "turn",
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "rotation" } }],
            "samplers": [{ "input": input, "output": output }] }],
    });
    (root, pack)
}

#[test]
fn wrong_gltf_is_refused_with_its_field() {
    let (root, pack) = whole();
    Rig::from_bytes("a.glb", &glb(root.clone(), &pack), None).unwrap();
    // Where, what stands there instead, and the message.
    let cases = [
        ("/nodes/1/children", json!([0]), "its own ancestor"),
        ("/nodes/1/children", json!([1]), "nodes.1.children.0: node 1 is a child of node 0"),
        ("/nodes/1/children", json!([77]), "nodes.1.children.0: names node 77"),
        ("/nodes/0/rotation", json!([0, 0, 0, "x"]), "a.glb:1: JSON: invalid type"),
        (
            "/nodes/0/matrix",
            json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            "nodes.0: must be",
        ),
        ("/nodes/2/skin", json!(3), "nodes.2.skin: 3 is not one of 1"),
        ("/nodes/2/mesh", json!(3), "nodes.2.mesh: 3 is not one of 1"),
        ("/skins/0/joints", json!([9]), "skins.0.joints.0: names node 9"),
        ("/skins/0/joints", json!([0, 1]), "has 1 matrices, but the skin has 2 joints"),
        ("/skins/0/inverseBindMatrices", json!(0), "16 numbers a row are needed"),
        ("/meshes/0/primitives/0/attributes/WEIGHTS_0", Value::Null, "WEIGHTS_0: is missing"),
        ("/meshes/0/primitives/0/attributes/JOINTS_0", Value::Null, "JOINTS_0: is missing"),
        ("/meshes/0/primitives/0/attributes/POSITION", Value::Null, "POSITION: is missing"),
        ("/meshes/0/primitives/0/mode", json!(5), "mode: 5 is not read"),
        ("/meshes/0/primitives/0/indices", json!(0), "1 numbers a row are needed"),
        ("/meshes/0/primitives/0/indices", json!(4), "is not that of an index"),
        ("/animations/0/samplers/0/interpolation", json!("SMOOTH"), "\"SMOOTH\" is not LINEAR"),
        (
            "/animations/0/samplers/0/interpolation",
            json!("CUBICSPLINE"),
            "has 2 values, but the times need 6",
        ),
        ("/animations/0/samplers/0/input", json!(3), "times need 3"),
        ("/animations/0/channels/0/sampler", json!(4), "sampler: 4 is not one of 1"),
        ("/animations/0/channels/0/target/node", json!(44), "target.node: names node 44"),
        ("/asset/version", json!("1.0"), "asset.version: \"1.0\" is not read"),
        ("/extensionsRequired", json!(["KHR_draco_mesh_compression"]), "without compression"),
    ];
    for (at, value, why) in cases {
        let mut root = root.clone();
        let (parent, key) = at.rsplit_once('/').unwrap();
        let parent = root.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match value {
            Value::Null => drop(parent.remove(key)),
            value => drop(parent.insert(key.into(), value)),
        }
        let found = message("a.glb", &glb(root, &pack));
        assert!(found.starts_with("a.glb") && found.contains(why), "{found}\nis not\n{why}");
    }
}

#[test]
fn buffers_that_do_not_hold_what_is_declared_are_refused() {
    let accessors = [
        ("count", json!(1_000_000_000u64), "beyond the end of its buffer"),
        ("count", json!(u64::MAX), "beyond the end"),
        ("byteOffset", json!(u64::MAX), "beyond the end"),
        ("componentType", json!(5124), "component type 5124"),
        ("bufferView", Value::Null, "no bufferView"),
        ("bufferView", json!(55), "bufferView 55"),
        ("sparse", json!({}), "is sparse"),
        ("type", json!("VEC2"), "\"VEC2\""),
    ];
    for (key, value, why) in accessors {
        let (root, mut pack) = whole();
        let accessor = pack.accessors[2].as_object_mut().unwrap();
        match value {
            Value::Null => drop(accessor.remove(key)),
            value => drop(accessor.insert(key.into(), value)),
        }
        let found = message("a.glb", &glb(root, &pack));
        assert!(found.contains(why) && found.contains("WEIGHTS_0"), "{found}\nis not\n{why}");
    }
    for (key, value) in [("byteLength", json!(8)), ("byteStride", json!(1)), ("buffer", json!(1))] {
        let (root, mut pack) = whole();
        pack.views[2][key] = value;
        assert!(message("a.glb", &glb(root, &pack)).contains("accessor 2"), "{key}");
    }
    // Numbers that are none, times that go back, and vertices that hang on nothing.
    let numbers: [(usize, usize, f32, &str); 6] = [
        (5, 4, f32::NAN, "output: row 1 of accessor 5 is not finite"),
        (4, 1, f32::INFINITY, "input: row 1 of accessor 4 is not finite"),
        (4, 1, -1.0, "keyframe 1 is at -1 s, before the last at 0 s"),
        (2, 4, 0.0, "vertex 1 follows no joint"),
        (2, 4, -1.0, "vertex 1 follows joint 0 of 1 with weight -1"),
        (6, 0, f32::NAN, "inverseBindMatrices: row 0"),
    ];
    for (accessor, number, value, why) in numbers {
        let (root, mut pack) = whole();
        let at = pack.views[accessor]["byteOffset"].as_u64().unwrap() as usize + 4 * number;
        pack.bytes[at..][..4].copy_from_slice(&value.to_le_bytes());
        let found = message("a.glb", &glb(root, &pack));
        assert!(found.contains(why), "{found}\nis not\n{why}");
    }
    let (root, mut pack) = whole();
    let at = pack.views[1]["byteOffset"].as_u64().unwrap() as usize;
    pack.bytes[at] = 7;
    assert!(message("a.glb", &glb(root, &pack)).contains("vertex 0 follows joint 7 of 1"));
    let (root, mut pack) = whole();
    let at = pack.views[3]["byteOffset"].as_u64().unwrap() as usize;
    pack.bytes[at] = 7;
    assert!(message("a.glb", &glb(root, &pack)).contains("index 0 is vertex 7, but there are 3"));
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let (root, pack) = whole();
    let bytes = glb(root, &pack);
    for length in 0..bytes.len() {
        message("cut.glb", &bytes[..length]);
    }
    assert!(message("cut.glb", &bytes[..40]).contains("cut short"));
    assert!(message("old.glb", b"glTF\x01\0\0\0\x14\0\0\0").contains("version 1"));
    for length in 0..BVH.len() - 8 {
        message("cut.bvh", &BVH.as_bytes()[..length]);
    }
}

/// The same buffer named a thousand times must not become a thousand buffers.
#[test]
fn a_small_file_does_not_become_a_large_one() {
    let (mut root, mut pack) = whole();
    let rows = vec![[0.0, 0.0, 0.0]; 100_000];
    let places = pack.floats("VEC3", &rows);
    let joints = pack.bytes("VEC4", &vec![[0; 4]; 100_000], false);
    let weights = pack.floats("VEC4", &vec![[1.0, 0.0, 0.0, 0.0]; 100_000]);
    let attributes = json!({ "POSITION": places, "JOINTS_0": joints, "WEIGHTS_0": weights });
    root["meshes"][0]["primitives"] = vec![json!({ "attributes": attributes }); 1000].into();
    assert!(message("many.glb", &glb(root, &pack)).contains("256 MiB"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes changed anywhere give a rig that is whole, or a message.
    #[test]
    fn changed_bytes_do_no_harm(changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..8)) {
        let (root, pack) = whole();
        for bytes in [glb(root, &pack), BVH.as_bytes().to_vec()] {
            let mut bytes = bytes;
            for &(at, byte) in &changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            if let Ok(rig) = Rig::from_bytes("changed", &bytes, None) {
                rig.validate().unwrap();
                let pose = rig.skeleton.pose(rig.clips.first(), 0.5);
                if let Some(mesh) = &rig.mesh {
                    prop_assert_eq!(mesh.vertices_in(&pose).len(), mesh.vertices.len());
                }
            }
        }
    }
}
