//! Reads glTF 2.0 and GLB: nodes, skins, meshes with weights, and animations. The JSON is read into the
//! few fields that matter here (crate `gltf` reads all of them, and took 15 s to build); every number of it
//! is checked where it is used.

use glam::{DAffine3, DMat4, DQuat, DVec3, DVec4, Vec3};
use std::collections::HashMap;
use std::path::Path;

use super::pose::taken_apart;
use super::{
    Bind, Bone, Channel, Clip, Interpolation, Rig, Skeleton, SkinnedMesh, Track, Transform,
};
use crate::{Error, Result};

mod accessor;
mod container;
mod json;

use accessor::Accessors;

/// These change what buffers mean; all others leave skeletons as they are.
const COMPRESSED: [&str; 3] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];

/// How many sets of four weights a vertex may have.
const SETS: usize = 16;

pub(super) fn read(name: &str, bytes: &[u8], folder: Option<&Path>) -> Result<Rig> {
    let (text, binary) = container::open(name, bytes)?;
    let unreadable = |error: serde_json::Error| {
        let message = format!("{error}; export the file again as glTF 2.0");
        Error::input(name, Some(error.line()), "JSON", message)
    };
    // First, since files of version 1 have maps where later ones have lists.
    let json::Versioned { asset } = serde_json::from_slice(text).map_err(unreadable)?;
    if !asset.version.starts_with("2.") {
        let version: String = asset.version.chars().take(40).collect();
        let message = format!("{version:?} is not read; export the file as glTF 2.0");
        return Err(Error::input(name, None, "asset.version", message));
    }
    let root: json::Root = serde_json::from_slice(text).map_err(unreadable)?;
    if let Some(word) = root.extensions_required.iter().find(|w| COMPRESSED.contains(&w.as_str())) {
        let message = format!("{word} is not read; export the file without compression");
        return Err(Error::input(name, None, "extensionsRequired", message));
    }
    let buffers = container::buffers(name, &root, binary, folder)?;
    let accessors = Accessors::new(name, &root, &buffers);
    let file = File { name, root: &root, accessors };
    file.rig()
}

struct File<'a> {
    name: &'a str,
    root: &'a json::Root,
    accessors: Accessors<'a>,
}

impl File<'_> {
    fn fail<T>(&self, field: impl Into<String>, message: impl Into<String>) -> Result<T> {
        Err(Error::input(self.name, None, field, message))
    }

    fn rig(&self) -> Result<Rig> {
        let (root, nodes) = (self.root, &self.root.nodes);
        if root.skins.is_empty() && root.animations.is_empty() {
            let message = "has neither a skin nor an animation; export it with its skeleton";
            return self.fail("skins", message);
        }
        let parents = self.parents()?;
        // Without a skin every node may be moved by a clip.
        let mut wanted = vec![root.skins.is_empty(); nodes.len()];
        for (k, skin) in root.skins.iter().enumerate() {
            for (i, &joint) in skin.joints.iter().enumerate() {
                if joint as usize >= nodes.len() {
                    let count = nodes.len();
                    let message = format!("names node {joint}, but there are {count}");
                    return self.fail(format!("skins.{k}.joints.{i}"), message);
                }
                let mut at = Some(joint as usize);
                while let Some(node) = at.filter(|&node| !wanted[node]) {
                    wanted[node] = true;
                    at = parents[node].map(|parent| parent as usize);
                }
            }
        }
        let mut number = vec![None; nodes.len()];
        let mut bones = Vec::new();
        for node in self.parents_first(&parents)? {
            if !wanted[node] {
                continue;
            }
            number[node] = Some(bones.len() as u32);
            bones.push(Bone {
                name: nodes[node].name.clone().unwrap_or_else(|| format!("node {node}")),
                parent: parents[node].and_then(|parent| number[parent as usize]),
                rest: self.rest(node)?,
                tip: None,
            });
        }
        let mut notes = Vec::new();
        let mut clips = self.clips(&number)?;
        clips.retain(|clip| {
            if clip.tracks.is_empty() {
                notes.push(format!("clip {:?} moves no bone", clip.name));
            }
            !clip.tracks.is_empty()
        });
        let mesh = self.mesh(&number, &mut notes)?;
        Ok(Rig { skeleton: Skeleton { bones }, clips, mesh, notes })
    }

    /// The parent of every node.
    fn parents(&self) -> Result<Vec<Option<u32>>> {
        let nodes = &self.root.nodes;
        let mut parents: Vec<Option<u32>> = vec![None; nodes.len()];
        for (k, node) in nodes.iter().enumerate() {
            for (i, &child) in node.children.iter().enumerate() {
                let field = || format!("nodes.{k}.children.{i}");
                match parents.get_mut(child as usize) {
                    None => {
                        let message = format!("names node {child}, but there are {}", nodes.len());
                        return self.fail(field(), message);
                    }
                    Some(Some(other)) => {
                        let message = format!("node {child} is a child of node {other} already");
                        return self.fail(field(), message);
                    }
                    Some(parent) => *parent = Some(k as u32),
                }
            }
        }
        Ok(parents)
    }

    /// All nodes, parents before their children.
    fn parents_first(&self, parents: &[Option<u32>]) -> Result<Vec<usize>> {
        let mut order = Vec::with_capacity(parents.len());
        let mut next: Vec<usize> =
            (0..parents.len()).rev().filter(|&node| parents[node].is_none()).collect();
        let mut reached = vec![false; parents.len()];
        while let Some(node) = next.pop() {
            reached[node] = true;
            order.push(node);
            next.extend(self.root.nodes[node].children.iter().rev().map(|&child| child as usize));
        }
        match reached.iter().position(|&reached| !reached) {
            Some(node) => {
                let message = "is its own ancestor: a skeleton must not go in a circle";
                self.fail(format!("nodes.{node}"), message)
            }
            None => Ok(order),
        }
    }

    /// Where a node is at rest.
    fn rest(&self, node: usize) -> Result<Transform> {
        let json::Node { translation, rotation, scale, matrix, .. } = &self.root.nodes[node];
        let rest = match matrix {
            Some(matrix) => taken_apart(DAffine3::from_mat4(DMat4::from_cols_array(matrix))),
            None => Some(Transform {
                translation: translation.map_or(DVec3::ZERO, DVec3::from),
                rotation: rotation.map_or(DQuat::IDENTITY, |q| super::clip::unit(DVec4::from(q))),
                scale: scale.map_or(DVec3::ONE, DVec3::from),
            }),
        };
        match rest.filter(Transform::is_finite) {
            Some(rest) => Ok(rest),
            None => {
                let message = "must be a finite place with three axes at right angles";
                self.fail(format!("nodes.{node}"), message)
            }
        }
    }

    fn clips(&self, number: &[Option<u32>]) -> Result<Vec<Clip>> {
        let clip = |(k, animation): (usize, &json::Animation)| {
            let name = animation.name.clone().unwrap_or_else(|| format!("clip {k}"));
            let mut clip = Clip { name, ..Clip::default() };
            // Tracks with the same times share them.
            let mut lists: HashMap<u32, u32> = HashMap::new();
            for (i, channel) in animation.channels.iter().enumerate() {
                let path = format!("animations.{k}.channels.{i}");
                let track =
                    self.track(animation, channel, &path, number, &mut clip.times, &mut lists);
                clip.tracks.extend(track?);
            }
            Ok(clip)
        };
        self.root.animations.iter().enumerate().map(clip).collect()
    }

    /// A channel as a track; none when it moves what is no bone, or weights of shapes.
    fn track(
        &self,
        animation: &json::Animation,
        channel: &json::AnimationChannel,
        path: &str,
        number: &[Option<u32>],
        times: &mut Vec<Vec<f64>>,
        lists: &mut HashMap<u32, u32>,
    ) -> Result<Option<Track>> {
        let (to, width) = match channel.target.path.as_str() {
            "translation" => (Channel::Translation, 3),
            "rotation" => (Channel::Rotation, 4),
            "scale" => (Channel::Scale, 3),
            _ => return Ok(None),
        };
        let Some(node) = channel.target.node else { return Ok(None) };
        let Some(bone) = number.get(node as usize) else {
            let message = format!("names node {node}, but there are {}", number.len());
            return self.fail(format!("{path}.target.node"), message);
        };
        let Some(bone) = *bone else { return Ok(None) };
        let Some(sampler) = animation.samplers.get(channel.sampler as usize) else {
            let (k, count) = (channel.sampler, animation.samplers.len());
            return self.fail(format!("{path}.sampler"), format!("{k} is not one of {count}"));
        };
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::Cubic,
            Some(word) => {
                let word: String = word.chars().take(40).collect();
                let message = format!("{word:?} is not LINEAR, STEP or CUBICSPLINE");
                return self.fail(format!("{path}.sampler"), message);
            }
        };
        let index = match lists.get(&sampler.input) {
            Some(&index) => index,
            None => {
                let read = self.accessors.numbers(sampler.input, 1, &format!("{path}.input"))?;
                times.push(read.into_iter().map(f64::from).collect());
                lists.insert(sampler.input, times.len() as u32 - 1);
                times.len() as u32 - 1
            }
        };
        let keys = &times[index as usize];
        if let Some(key) = keys.windows(2).position(|pair| pair[1] < pair[0]) {
            let (a, b) = (keys[key], keys[key + 1]);
            let message = format!("keyframe {} is at {b} s, before the last at {a} s", key + 1);
            return self.fail(format!("{path}.input"), message);
        }
        let output = format!("{path}.output");
        let read = self.accessors.numbers(sampler.output, width, &output)?;
        let each = if interpolation == Interpolation::Cubic { 3 } else { 1 };
        if read.len() != width * each * keys.len() {
            let (found, needs) = (read.len() / width, each * keys.len());
            let message = format!("has {found} values, but the times need {needs}");
            return self.fail(output, message);
        }
        let value = |v: &[f32]| std::array::from_fn(|c| v.get(c).copied().unwrap_or(0.0));
        let values = read.chunks_exact(width).map(value).collect();
        Ok(Some(Track { bone, channel: to, interpolation, times: index, values }))
    }

    /// All meshes that have a skin, as one; none without any.
    fn mesh(&self, number: &[Option<u32>], notes: &mut Vec<String>) -> Result<Option<SkinnedMesh>> {
        let mut whole = SkinnedMesh { starts: vec![0], ..SkinnedMesh::default() };
        // Where the binds of a skin begin.
        let mut first_bind: HashMap<u32, usize> = HashMap::new();
        for (k, node) in self.root.nodes.iter().enumerate() {
            let Some(mesh) = node.mesh else { continue };
            let Some(skin) = node.skin else {
                notes.push(format!("the mesh of node {k} has no skin and follows no bone"));
                continue;
            };
            let Some(json::Mesh { primitives }) = self.root.meshes.get(mesh as usize) else {
                let count = self.root.meshes.len();
                return self
                    .fail(format!("nodes.{k}.mesh"), format!("{mesh} is not one of {count}"));
            };
            let first = match first_bind.get(&skin) {
                Some(&first) => first,
                None => {
                    let first = whole.binds.len();
                    whole.binds.extend(self.binds(k, skin, number)?);
                    first_bind.insert(skin, first);
                    first
                }
            };
            let joints = self.root.skins[skin as usize].joints.len();
            for (i, primitive) in primitives.iter().enumerate() {
                let path = format!("meshes.{mesh}.primitives.{i}");
                self.primitive(&mut whole, primitive, first..first + joints, &path)?;
            }
        }
        Ok((!whole.triangles.is_empty()).then_some(whole))
    }

    /// The joints of a skin with the way from the mesh to each at rest.
    fn binds(&self, node: usize, skin: u32, number: &[Option<u32>]) -> Result<Vec<Bind>> {
        let Some(found) = self.root.skins.get(skin as usize) else {
            let count = self.root.skins.len();
            return self
                .fail(format!("nodes.{node}.skin"), format!("{skin} is not one of {count}"));
        };
        let field = format!("skins.{skin}.inverseBindMatrices");
        let matrices = match found.inverse_bind_matrices {
            Some(accessor) => self.accessors.numbers(accessor, 16, &field)?,
            // They are the identity then.
            None => Vec::new(),
        };
        if !matrices.is_empty() && matrices.len() < 16 * found.joints.len() {
            let (has, needs) = (matrices.len() / 16, found.joints.len());
            return self
                .fail(field, format!("has {has} matrices, but the skin has {needs} joints"));
        }
        let bind = |(i, &joint): (usize, &u32)| {
            let numbers = matrices.get(16 * i..16 * i + 16).and_then(|m| m.first_chunk::<16>());
            let inverse = numbers.map_or(DAffine3::IDENTITY, |m| {
                DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from)))
            });
            // Joints were looked at when bones were numbered.
            let bone = number.get(joint as usize).copied().flatten().unwrap_or(0);
            Bind { bone, inverse }
        };
        Ok(found.joints.iter().enumerate().map(bind).collect())
    }

    /// Adds triangles with the weights of their vertices; points and lines are left out.
    fn primitive(
        &self,
        whole: &mut SkinnedMesh,
        primitive: &json::Primitive,
        binds: std::ops::Range<usize>,
        path: &str,
    ) -> Result<()> {
        match primitive.mode.unwrap_or(4) {
            4 => {}
            0..=3 => return Ok(()),
            mode => {
                let message = format!("{mode} is not read; export plain triangles (mode 4)");
                return self.fail(format!("{path}.mode"), message);
            }
        }
        let attribute = |word: &str| primitive.attributes.get(word).copied();
        let Some(position) = attribute("POSITION") else {
            return self.fail(format!("{path}.attributes.POSITION"), "is missing");
        };
        let places = self.accessors.numbers(position, 3, &format!("{path}.POSITION"))?;
        let count = places.len() / 3;
        let mut sets = Vec::new();
        for set in 0..SETS {
            let words = [format!("JOINTS_{set}"), format!("WEIGHTS_{set}")];
            let found = words.each_ref().map(|word| attribute(word));
            let [Some(joints), Some(weights)] = found else {
                if set == 0 {
                    let missing = &words[usize::from(found[0].is_some())];
                    let message = "is missing: a mesh with a skin needs joints and weights; bind \
                                   the mesh to its skeleton and export it again";
                    return self.fail(format!("{path}.attributes.{missing}"), message);
                }
                break;
            };
            let joints = self.accessors.numbers(joints, 4, &format!("{path}.{}", words[0]))?;
            let weights = self.accessors.numbers(weights, 4, &format!("{path}.{}", words[1]))?;
            if joints.len() != 4 * count || weights.len() != 4 * count {
                let message = format!("must have one row for each of {count} vertices");
                return self.fail(format!("{path}.{}", words[1]), message);
            }
            sets.push((joints, weights));
        }
        let base = whole.vertices.len();
        for vertex in 0..count {
            let first = whole.weights.len();
            for (joints, weights) in &sets {
                for (&joint, &weight) in
                    joints[4 * vertex..][..4].iter().zip(&weights[4 * vertex..][..4])
                {
                    if weight == 0.0 {
                        continue;
                    }
                    let bind = binds.start + joint as usize;
                    if weight.is_nan() || weight < 0.0 || joint < 0.0 || bind >= binds.end {
                        let message = format!(
                            "vertex {vertex} follows joint {joint} of {} with weight {weight}",
                            binds.len()
                        );
                        return self.fail(format!("{path}.WEIGHTS"), message);
                    }
                    whole.weights.push((bind as u32, weight));
                }
            }
            let sum: f64 = whole.weights[first..].iter().map(|w| f64::from(w.1)).sum();
            if sum <= 0.0 || !sum.is_finite() {
                let message = format!("vertex {vertex} follows no joint; give it a weight");
                return self.fail(format!("{path}.WEIGHTS"), message);
            }
            for (_, weight) in &mut whole.weights[first..] {
                *weight = (f64::from(*weight) / sum) as f32;
            }
            whole.starts.push(whole.weights.len() as u32);
            let [x, y, z] = std::array::from_fn(|c| places[3 * vertex + c]);
            whole.vertices.push(Vec3::new(x, y, z));
        }
        let corners = match primitive.indices {
            Some(indices) => self.accessors.indices(indices, &format!("{path}.indices"))?,
            None => (0..count as u32).collect(),
        };
        if let Some(k) = corners.iter().position(|&corner| corner as usize >= count) {
            let message = format!("index {k} is vertex {}, but there are {count}", corners[k]);
            return self.fail(format!("{path}.indices"), message);
        }
        let triangle = |t: &[u32; 3]| t.map(|corner| base as u32 + corner);
        whole.triangles.extend(corners.as_chunks::<3>().0.iter().map(triangle));
        Ok(())
    }
}
