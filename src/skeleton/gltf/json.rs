//! The fields of a glTF file that are read. Unknown ones are passed over.

use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize)]
pub struct Versioned {
    pub asset: Asset,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    #[serde(default)]
    pub extensions_required: Vec<String>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub skins: Vec<Skin>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub animations: Vec<Animation>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<View>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
pub struct Asset {
    pub version: String,
}

#[derive(Deserialize)]
pub struct Node {
    pub name: Option<String>,
    #[serde(default)]
    pub children: Vec<u32>,
    pub mesh: Option<u32>,
    pub skin: Option<u32>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub matrix: Option<[f64; 16]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    pub joints: Vec<u32>,
    pub inverse_bind_matrices: Option<u32>,
}

#[derive(Deserialize)]
pub struct Mesh {
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub struct Primitive {
    pub attributes: HashMap<String, u32>,
    pub indices: Option<u32>,
    pub mode: Option<u32>,
}

#[derive(Deserialize)]
pub struct Animation {
    pub name: Option<String>,
    pub channels: Vec<AnimationChannel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub struct AnimationChannel {
    pub sampler: u32,
    pub target: Target,
}

#[derive(Deserialize)]
pub struct Target {
    pub node: Option<u32>,
    pub path: String,
}

#[derive(Deserialize)]
pub struct Sampler {
    pub input: u32,
    pub output: u32,
    pub interpolation: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<u32>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    pub buffer: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
}
