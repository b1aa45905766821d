//! glTF and GLB files made here, against matrices and splines written out.

use super::matrix::{
    Chance, M, ONE, apply, assert_close, between, moved, mul, of_quaternion, scaled,
};
use motes::skeleton::Rig;
use serde_json::{Value, json};

/// Puts numbers into one buffer, and accessors into a list.
#[derive(Default)]
pub struct Pack {
    pub bytes: Vec<u8>,
    pub views: Vec<Value>,
    pub accessors: Vec<Value>,
}

impl Pack {
    fn add(
        &mut self,
        bytes: &[u8],
        count: usize,
        component: u32,
        kind: &str,
        normal: bool,
    ) -> usize {
        let at = self.bytes.len();
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": at, "byteLength": bytes.len() }));
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1, "componentType": component, "count": count,
            "type": kind, "normalized": normal
        }));
        self.accessors.len() - 1
    }
    pub fn floats<const N: usize>(&mut self, kind: &str, rows: &[[f64; N]]) -> usize {
        let bytes: Vec<u8> =
            rows.iter().flatten().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        self.add(&bytes, rows.len(), 5126, kind, false)
    }
    pub fn bytes<const N: usize>(&mut self, kind: &str, rows: &[[u8; N]], normal: bool) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().copied().collect();
        self.add(&bytes, rows.len(), 5121, kind, normal)
    }
    pub fn shorts<const N: usize>(&mut self, kind: &str, rows: &[[u16; N]], normal: bool) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        self.add(&bytes, rows.len(), 5123, kind, normal)
    }
    pub fn put(&self, root: &mut Value, buffer: Value) {
        root["bufferViews"] = self.views.clone().into();
        root["accessors"] = self.accessors.clone().into();
        root["buffers"] = json!([buffer]);
    }
}

pub fn glb(mut root: Value, pack: &Pack) -> Vec<u8> {
    pack.put(&mut root, json!({ "byteLength": pack.bytes.len() }));
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() + 8 + pack.bytes.len();
    let mut out = b"glTF".to_vec();
    let words = [2, total as u32, text.len() as u32, 0x4e4f_534a];
    out.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    out.extend(text);
    out.extend([pack.bytes.len() as u32, 0x004e_4942].iter().flat_map(|w| w.to_le_bytes()));
    out.extend(&pack.bytes);
    out
}

pub fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |b, i| b << 8 | u32::from(*three.get(i).unwrap_or(&0)));
        for k in 0..4 {
            let letter = letters[(bits >> (18 - 6 * k) & 63) as usize] as char;
            out.push(if k <= three.len() { letter } else { '=' });
        }
    }
    out
}

const TIMES: [f64; 4] = [0.25, 0.5, 1.25, 2.0];
const PATHS: [&str; 3] = ["translation", "rotation", "scale"];

/// Keyframes of a node: for each path three values a key (slope in, value, slope out).
type Keys = [Vec<[[f64; 4]; 3]>; 3];

/// Three nodes in a row below an armature that is no joint, with a skin and a clip for each way to
/// interpolate; nodes are listed children first.
struct Arm {
    rest: [([f64; 3], [f64; 4], [f64; 3]); 4],
    keys: [Keys; 4],
    vertices: Vec<[f64; 3]>,
    joints: Vec<[u8; 4]>,
    weights: Vec<[f64; 4]>,
    inverse: [M; 3],
    root: Value,
    pack: Pack,
}

const WAYS: [&str; 3] = ["STEP", "LINEAR", "CUBICSPLINE"];

fn arm(chance: &mut Chance) -> Arm {
    let f = |v: f64| f64::from(v as f32);
    let scale = |c: &mut Chance| c.some().map(|v: f64| f(1.0 + 0.3 * v));
    let rest = std::array::from_fn(|_| (chance.some(), chance.some(), scale(chance)));
    let keys: [Keys; 4] = std::array::from_fn(|_| {
        std::array::from_fn(|path| {
            let value = |chance: &mut Chance| match path {
                2 => scale(chance).map(f),
                _ => [chance.next(), chance.next(), chance.next()],
            };
            (0..4)
                .map(|_| {
                    std::array::from_fn(|_| {
                        let [x, y, z] = value(chance);
                        [x, y, z, if path == 1 { chance.next() } else { 0.0 }]
                    })
                })
                .collect()
        })
    });
    let mut pack = Pack::default();
    let times = pack.floats("SCALAR", &TIMES.map(|t| [t]));
    let mut animations = Vec::new();
    for (w, way) in WAYS.iter().enumerate() {
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (bone, keys) in keys.iter().enumerate() {
            for (path, keys) in PATHS.iter().zip(keys) {
                let rows: Vec<[f64; 4]> = match w {
                    2 => keys.iter().flatten().copied().collect(),
                    _ => keys.iter().map(|key| key[1]).collect(),
                };
                let output = match *path {
                    "rotation" => pack.floats("VEC4", &rows),
                    _ => pack.floats(
                        "VEC3",
                        &rows.iter().map(|r| [r[0], r[1], r[2]]).collect::<Vec<_>>(),
                    ),
                };
                channels.push(json!({ "sampler": samplers.len(),
                    "target": { "node": 3 - bone, "path": path } }));
                samplers.push(json!({ "input": times, "output": output, "interpolation": way }));
            }
        }
        animations.push(json!({ "name": way, "channels": channels, "samplers": samplers }));
    }
    let vertices: Vec<[f64; 3]> = (0..20).map(|_| chance.some()).collect();
    let joints: Vec<[u8; 4]> = (0..20).map(|k| [k % 3, (k / 3) % 3, 2, 0]).collect();
    let weights: Vec<[f64; 4]> =
        (0..20).map(|_| chance.some().map(|v: f64| f(v.abs() + 0.01))).collect();
    let inverse = std::array::from_fn(|_| {
        let q = of_quaternion(chance.some());
        let mut m = mul(&moved(chance.some()), &q);
        m.iter_mut().flatten().for_each(|v| *v = f(*v));
        m
    });
    let columns: Vec<[f64; 16]> =
        inverse.iter().map(|m: &M| std::array::from_fn(|k| m[k % 4][k / 4])).collect();
    let attributes = json!({
        "POSITION": pack.floats("VEC3", &vertices),
        "JOINTS_0": pack.bytes("VEC4", &joints, false),
        "WEIGHTS_0": pack.floats("VEC4", &weights),
    });
    let triangles: Vec<[u16; 1]> = (0..18).map(|k| [k]).collect();
    let indices = pack.shorts("SCALAR", &triangles, false);
    let node = |bone: usize, name: &str| {
        let (t, r, s): ([f64; 3], [f64; 4], [f64; 3]) = rest[bone];
        json!({ "name": name, "translation": t, "rotation": r, "scale": s,
            "children": if bone < 3 { vec![3 - bone - 1] } else { vec![] } })
    };
    let root = json!({
        "asset": { "version": "2.0" },
        "nodes": [node(3, "hand"), node(2, "lower"), node(1, "upper"), node(0, "armature"),
            { "mesh": 0, "skin": 0, "translation": [9, 9, 9] }],
        "skins": [{ "joints": [2, 1, 0], "inverseBindMatrices": pack.floats("MAT4", &columns) }],
        "meshes": [{ "primitives": [{ "attributes": attributes, "indices": indices }] }],
        "animations": animations,
    });
    Arm { rest, keys, vertices, joints, weights, inverse, root, pack }
}

impl Arm {
    /// Where the four nodes are, by the definition of glTF.
    fn world(&self, way: &str, time: f64) -> Vec<M> {
        let t = time.clamp(TIMES[0], TIMES[3]);
        let k = (0..3).rev().find(|&k| TIMES[k] <= t).unwrap_or(0);
        let td = TIMES[k + 1] - TIMES[k];
        let s = (t - TIMES[k]) / td;
        let mut world = vec![ONE];
        for keys in &self.keys {
            let value = |path: usize| -> [f64; 4] {
                let (a, b) = (&keys[path][k], &keys[path][k + 1]);
                std::array::from_fn(|c| match way {
                    "STEP" => [a[1][c], b[1][c]][usize::from(s >= 1.0)],
                    "LINEAR" => a[1][c] * (1.0 - s) + b[1][c] * s,
                    _ => {
                        let (p, m) = (a[1][c], td * a[2][c]);
                        let (q, n) = (b[1][c], td * b[0][c]);
                        (2.0 * s.powi(3) - 3.0 * s.powi(2) + 1.0) * p
                            + (s.powi(3) - 2.0 * s.powi(2) + s) * m
                            + (-2.0 * s.powi(3) + 3.0 * s.powi(2)) * q
                            + (s.powi(3) - s.powi(2)) * n
                    }
                })
            };
            let three = |v: [f64; 4]| [v[0], v[1], v[2]];
            let turn = match way {
                "LINEAR" => {
                    let ends = [k, k + 1].map(|k| of_quaternion(keys[1][k][1]));
                    between(&ends[0], &ends[1], s)
                }
                _ => of_quaternion(value(1)),
            };
            let own = mul(&mul(&moved(three(value(0))), &turn), &scaled(three(value(2))));
            world.push(mul(&world[world.len() - 1], &own));
        }
        world.split_off(1)
    }
}

fn size(m: &M) -> f64 {
    m[..3].iter().flatten().map(|v| v * v).sum::<f64>().sqrt().max(1.0)
}

#[test]
fn poses_and_skins_are_right_in_every_interpolation() {
    for seed in 0..5 {
        let arm = arm(&mut Chance(seed));
        let rig = Rig::from_bytes("arm.glb", &glb(arm.root.clone(), &arm.pack), None).unwrap();
        let names: Vec<&str> = rig.skeleton.bones.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["armature", "upper", "lower", "hand"]);
        let mesh = rig.mesh.as_ref().unwrap();
        assert_eq!(mesh.triangles[5], [15, 16, 17]);
        for way in WAYS {
            let clip = &rig.clips[rig.clip(way).unwrap() as usize];
            assert_eq!((clip.start(), clip.duration()), (0.25, 1.75));
            for time in [0.0, 0.25, 0.3, 0.4999, 0.5, 0.77, 1.2, 1.25, 1.9, 2.0, 3.0] {
                let pose = rig.skeleton.pose(Some(clip), time);
                let world = arm.world(way, time);
                for (bone, right) in world.iter().enumerate() {
                    let what = format!("seed {seed}, {way} at {time} s, bone {bone}");
                    for p in [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
                        let found = pose.world[bone].transform_point3(p.into()).to_array();
                        assert_close(found, apply(right, p), size(right), &what);
                    }
                }
                let places = mesh.vertices_in(&pose);
                for (k, found) in places.iter().enumerate() {
                    let sum: f64 = arm.weights[k].iter().sum();
                    let mut right = [0.0; 3];
                    let mut most = 1.0f64;
                    for (&joint, weight) in arm.joints[k].iter().zip(&arm.weights[k]) {
                        let joint = joint as usize;
                        let m = mul(&world[joint + 1], &arm.inverse[joint]);
                        let p = apply(&m, arm.vertices[k]);
                        (0..3).for_each(|i| right[i] += p[i] * weight / sum);
                        most = most.max(size(&m));
                    }
                    let what = format!("seed {seed}, {way} at {time} s, vertex {k}");
                    assert_close(found.to_array(), right, most, &what);
                }
            }
        }
        let rest = rig.skeleton.pose(None, 0.0);
        let mut right = ONE;
        for (bone, (t, r, s)) in arm.rest.iter().enumerate() {
            right = mul(&right, &mul(&mul(&moved(*t), &of_quaternion(*r)), &scaled(*s)));
            let found = rest.world[bone].translation.to_array();
            assert_close(found, apply(&right, [0.0; 3]), size(&right), "rest");
        }
    }
}

/// GLB, text with the buffer inside and text with the buffer beside it are the same rig.
#[test]
fn every_container_gives_the_same() {
    let arm = arm(&mut Chance(7));
    let rig = Rig::from_bytes("arm.glb", &glb(arm.root.clone(), &arm.pack), None).unwrap();
    let count = arm.pack.bytes.len();
    let text = |uri: String| {
        let mut root = arm.root.clone();
        arm.pack.put(&mut root, json!({ "byteLength": count, "uri": uri }));
        root.to_string()
    };
    let inside = text(format!("data:application/octet-stream;base64,{}", base64(&arm.pack.bytes)));
    assert_eq!(Rig::from_bytes("arm.gltf", inside.as_bytes(), None).unwrap(), rig);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.gltf");
    std::fs::write(&path, text("the%20arm.bin".into())).unwrap();
    std::fs::write(folder.path().join("the arm.bin"), &arm.pack.bytes).unwrap();
    assert_eq!(Rig::load(&path).unwrap(), rig);
    let alone = std::fs::read(&path).unwrap();
    let message = Rig::from_bytes("arm.gltf", &alone, None).unwrap_err().to_string();
    assert!(message.contains("buffers.0") && message.contains("embed"), "{message}");
    std::fs::write(folder.path().join("the arm.bin"), &arm.pack.bytes[..count - 1]).unwrap();
    let message = Rig::load(&path).unwrap_err().to_string();
    assert!(message.contains("buffers.0") && message.contains("cut short"), "{message}");
}

/// Whole numbers stand for shares of one, and rows may lie apart.
#[test]
fn weights_and_turns_may_be_whole_numbers_and_rows_lie_apart() {
    let mut pack = Pack::default();
    let weights = [[51, 204, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0]];
    let attributes = json!({
        "POSITION": pack.floats("VEC3", &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        "JOINTS_0": pack.shorts("VEC4", &[[0, 1, 0, 0], [0; 4], [1, 1, 0, 0]], false),
        "WEIGHTS_0": pack.bytes("VEC4", &weights, true),
    });
    // Every other row of eight bytes.
    let first = pack.floats("VEC2", &[[0.0, 9.0], [1.0, 9.0]]);
    pack.views[first]["byteStride"] = 8.into();
    pack.accessors[first]["type"] = "SCALAR".into();
    let half = (32767.0 * 0.5f64.sqrt()).round() as u16;
    let turns = pack.shorts("VEC4", &[[0, 0, 0, 32767], [0, 0, half, half]], true);
    pack.accessors[turns]["componentType"] = 5122.into();
    let root = json!({
        "asset": { "version": "2.0" },
        "nodes": [{ "mesh": 0, "skin": 0 }, { "matrix":
            [0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1] }, {}],
        "skins": [{ "joints": [1, 2] }],
        "meshes": [{ "primitives": [{ "attributes": attributes }, { "attributes": {}, "mode": 1 }] }],
        "animations": [{ "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } },
                { "sampler": 0, "target": { "node": 2, "path": "weights" } }],
            "samplers": [{ "input": first, "output": turns }] }],
    });
    let rig = Rig::from_bytes("small.glb", &glb(root, &pack), None).unwrap();
    let mesh = rig.mesh.as_ref().unwrap();
    let share = |k: usize| mesh.weights(0)[k].1;
    assert!((share(0) - 0.2).abs() < 1e-6 && (share(1) - 0.8).abs() < 1e-6);
    assert_eq!(
        (mesh.strongest(0), mesh.strongest(1), mesh.strongest(2)),
        (Some(1), Some(0), Some(1))
    );
    let pose = rig.skeleton.pose(rig.clips.first(), 1.0);
    // A matrix is what was done one after the other: twice as large, a quarter turn, moved.
    let at = pose.world[0].transform_point3(glam::DVec3::X).to_array();
    assert_close(at, [5.0, 8.0, 7.0], 1.0, "matrix");
    let at = pose.world[1].transform_point3(glam::DVec3::X).to_array();
    assert_close(at, [0.0, 1.0, 0.0], 1.0, "a quarter turn in 16 bits");
}
