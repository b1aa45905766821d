//! A character with its skin and its clips as a GLB file.

use super::{Character, Joint, Point, Surface, quaternion, rounded, sin_cos};
use std::fmt::Write;

/// Corners around a capsule, and rings of each of its round ends.
const AROUND: usize = 12;
const RINGS: usize = 3;
/// Up to this share of its length a bone shares its skin with its parent.
const SHARED: f64 = 0.25;

/// Numbers in one buffer, and the JSON of views and accessors.
#[derive(Default)]
struct Pack {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Pack {
    fn add(
        &mut self,
        bytes: Vec<u8>,
        count: usize,
        component: u32,
        kind: &str,
        more: &str,
    ) -> usize {
        let (at, length) = (self.bytes.len(), bytes.len());
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(format!(r#"{{"buffer":0,"byteOffset":{at},"byteLength":{length}}}"#));
        let view = self.views.len() - 1;
        self.accessors.push(format!(
            r#"{{"bufferView":{view},"componentType":{component},"count":{count},"type":"{kind}"{more}}}"#
        ));
        self.accessors.len() - 1
    }

    fn floats<const N: usize>(&mut self, rows: &[[f64; N]], kind: &str, more: &str) -> usize {
        let numbers = rows.iter().flatten();
        let bytes = numbers.flat_map(|&v| (rounded(v) as f32).to_le_bytes()).collect();
        self.add(bytes, rows.len(), 5126, kind, more)
    }
}

/// The file.
pub fn bytes(character: &Character) -> Vec<u8> {
    let mut pack = Pack::default();
    let joints = &character.joints;
    let (primitive, skin) = (skin(joints, &mut pack), inverses(joints, &mut pack));
    let animations = animations(character, &mut pack);
    let mut nodes: Vec<String> = joints
        .iter()
        .enumerate()
        .map(|(k, joint)| {
            let from = joint.parent.map_or([0.0; 3], |parent| joints[parent].head);
            let [x, y, z]: Point = std::array::from_fn(|c| rounded(joint.head[c] - from[c]));
            let children: Vec<String> = (0..joints.len())
                .filter(|&child| joints[child].parent == Some(k))
                .map(|child| child.to_string())
                .collect();
            let children = match children.is_empty() {
                true => String::new(),
                false => format!(r#","children":[{}]"#, children.join(",")),
            };
            format!(r#"{{"name":"{}","translation":[{x},{y},{z}]{children}}}"#, joint.name)
        })
        .collect();
    nodes.push(r#"{"name":"skin","mesh":0,"skin":0}"#.into());
    let numbers: Vec<String> = (0..joints.len()).map(|k| k.to_string()).collect();
    let mut text = format!(
        r#"{{"asset":{{"version":"2.0","generator":"motes make_meshes"}},"scene":0,"scenes":[{{"nodes":[0,{last}]}}],"nodes":[{nodes}],"skins":[{{"inverseBindMatrices":{skin},"joints":[{numbers}]}}],"meshes":[{{"primitives":[{primitive}]}}],"animations":[{animations}],"accessors":[{accessors}],"bufferViews":[{views}],"buffers":[{{"byteLength":{length}}}]}}"#,
        last = joints.len(),
        nodes = nodes.join(","),
        numbers = numbers.join(","),
        animations = animations.join(","),
        accessors = pack.accessors.join(","),
        views = pack.views.join(","),
        length = pack.bytes.len(),
    )
    .into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() + 8 + pack.bytes.len();
    let mut file = b"glTF".to_vec();
    let words = |file: &mut Vec<u8>, words: &[u32]| {
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    };
    words(&mut file, &[2, total as u32, text.len() as u32, 0x4e4f_534a]);
    file.extend(text);
    words(&mut file, &[pack.bytes.len() as u32, 0x004e_4942]);
    file.extend(pack.bytes);
    file
}

/// From the character to each joint: joints are not turned at rest.
fn inverses(joints: &[Joint], pack: &mut Pack) -> usize {
    let rows: Vec<[f64; 16]> = joints
        .iter()
        .map(|joint| {
            let [x, y, z] = joint.head;
            [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., -x, -y, -z, 1.]
        })
        .collect();
    pack.floats(&rows, "MAT4", "")
}

/// A closed capsule around each bone, as the JSON of the primitive.
fn skin(joints: &[Joint], pack: &mut Pack) -> String {
    let mut surface = Surface::default();
    let (mut followed, mut weights): (Vec<u8>, Vec<u8>) = Default::default();
    for (k, joint) in joints.iter().enumerate() {
        let first = surface.vertices.len();
        capsule(&mut surface, joint);
        for vertex in &surface.vertices[first..] {
            let (along, length) = along(joint, *vertex);
            let near = 0.5 * (1.0 - along / (SHARED * length)).clamp(0.0, 1.0);
            let share = if joint.parent.is_some() { (255.0 * near) as u8 } else { 0 };
            followed.extend([k as u8, joint.parent.unwrap_or(0) as u8, 0, 0]);
            weights.extend([255 - share, share, 0, 0]);
        }
    }
    let count = surface.vertices.len();
    let bound = |pick: fn(f64, f64) -> f64, from: f64| {
        let at = |c: usize| {
            let values = surface.vertices.iter().map(|v| f64::from(rounded(v[c]) as f32));
            values.fold(from, pick).to_string()
        };
        [at(0), at(1), at(2)].join(",")
    };
    let bounds = format!(
        r#","min":[{}],"max":[{}]"#,
        bound(f64::min, f64::INFINITY),
        bound(f64::max, f64::NEG_INFINITY)
    );
    let position = pack.floats(&surface.vertices, "VEC3", &bounds);
    let followed = pack.add(followed, count, 5121, "VEC4", "");
    let weights = pack.add(weights, count, 5121, "VEC4", r#","normalized":true"#);
    let corners = surface.triangles.iter().flatten();
    let bytes = corners.flat_map(|&corner| (corner as u16).to_le_bytes()).collect();
    let indices = pack.add(bytes, 3 * surface.triangles.len(), 5123, "SCALAR", "");
    format!(
        r#"{{"attributes":{{"POSITION":{position},"JOINTS_0":{followed},"WEIGHTS_0":{weights}}},"indices":{indices}}}"#
    )
}

fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|c| a[c] - b[c])
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// How far a point is from the head of a bone, on the way to where its capsule ends, and how far that is.
fn along(joint: &Joint, point: Point) -> (f64, f64) {
    let way = minus(joint.ends[1], joint.head);
    let length = dot(way, way).sqrt();
    (dot(minus(point, joint.head), way) / length, length)
}

fn capsule(surface: &mut Surface, joint: &Joint) {
    let [a, b] = joint.ends;
    let way = minus(b, a);
    let length = dot(way, way).sqrt();
    let up = way.map(|c| c / length);
    // Two directions across.
    let least = if up[1].abs() < 0.9 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let cross = |a: Point, b: Point| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let side = cross(up, least);
    let size = dot(side, side).sqrt();
    let side = side.map(|c| c / size);
    let front = cross(side, up);
    let place = |middle: Point, height: f64, width: f64, turn: f64| -> Point {
        let (sin, cos) = sin_cos(turn);
        std::array::from_fn(|c| {
            middle[c] + height * up[c] + width * (cos * side[c] + sin * front[c])
        })
    };
    // Heights and widths of the rings from one end to the other.
    let mut rings: Vec<(Point, f64, f64)> = Vec::new();
    for k in 1..=RINGS {
        let (sin, cos) = sin_cos(0.5 * std::f64::consts::PI * k as f64 / RINGS as f64);
        rings.push((a, -joint.radius * cos, joint.radius * sin));
    }
    let middle = std::array::from_fn(|c| 0.5 * (a[c] + b[c]));
    rings.push((middle, 0.0, joint.radius));
    for k in 0..RINGS {
        let (sin, cos) = sin_cos(0.5 * std::f64::consts::PI * k as f64 / RINGS as f64);
        rings.push((b, joint.radius * sin, joint.radius * cos));
    }
    let low = surface.vertex(place(a, -joint.radius, 0.0, 0.0));
    let high = surface.vertex(place(b, joint.radius, 0.0, 0.0));
    let around = |i: usize| -std::f64::consts::TAU * i as f64 / AROUND as f64;
    let rings: Vec<Vec<u32>> = rings
        .into_iter()
        .map(|(middle, height, width)| {
            surface.ring(AROUND, |i| place(middle, height, width, around(i)))
        })
        .collect();
    let backwards: Vec<u32> = rings[0].iter().rev().copied().collect();
    surface.cap(&backwards, low);
    rings.windows(2).for_each(|pair| surface.band(&pair[0], &pair[1]));
    surface.cap(&rings[rings.len() - 1], high);
}

/// The JSON of every clip. What does not move has no channel.
fn animations(character: &Character, pack: &mut Pack) -> Vec<String> {
    let mut all = Vec::new();
    for motion in &character.motions {
        let steps = motion.stances.len() - 1;
        let times: Vec<[f64; 1]> =
            (0..=steps).map(|k| [motion.seconds * k as f64 / steps as f64]).collect();
        let bounds = format!(r#","min":[0],"max":[{}]"#, motion.seconds);
        let input = pack.floats(&times, "SCALAR", &bounds);
        let (mut channels, mut samplers): (Vec<String>, Vec<String>) = Default::default();
        let mut add = |node: usize, path: &str, output: usize| {
            let sampler = samplers.len();
            channels.push(format!(
                r#"{{"sampler":{sampler},"target":{{"node":{node},"path":"{path}"}}}}"#
            ));
            samplers.push(format!(r#"{{"input":{input},"output":{output}}}"#));
        };
        let head = character.joints[0].head;
        if motion.stances.iter().any(|stance| stance.root != head) {
            let rows: Vec<Point> = motion.stances.iter().map(|stance| stance.root).collect();
            add(0, "translation", pack.floats(&rows, "VEC3", ""));
        }
        for k in 0..character.joints.len() {
            if motion.stances.iter().any(|stance| stance.turns[k] != [0.0; 3]) {
                let rows: Vec<[f64; 4]> =
                    motion.stances.iter().map(|stance| quaternion(stance.turns[k])).collect();
                add(k, "rotation", pack.floats(&rows, "VEC4", ""));
            }
        }
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            r#"{{"name":"{}","channels":[{}],"samplers":[{}]}}"#,
            motion.name,
            channels.join(","),
            samplers.join(",")
        );
        all.push(text);
    }
    all
}
