//! The scene file as it is written: one struct for each table. The module's page says what every
//! key means; defaults are applied where the world is built.

use super::value::{
    Angle, AtLeastZero, Count, Direction, Exactly, Pick, Positive, Real, Real64, Rotation, Scale,
    Share, Spacing, Tube, Vector,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A whole scene, with variants already laid over it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SceneFile {
    pub name: Option<String>,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub source: String,
    pub seed: Option<Count>,
    pub steps: Option<Count>,
    #[serde(default)]
    pub params: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub cloth: Vec<ClothFile>,
    #[serde(default, rename = "box")]
    pub boxes: Vec<BoxFile>,
    #[serde(default)]
    pub granular: Vec<GranularFile>,
    #[serde(default)]
    pub particles: Vec<ParticlesFile>,
    #[serde(default)]
    pub joint: Vec<JointFile>,
    #[serde(default)]
    pub collider: Vec<ColliderFile>,
    #[serde(default)]
    pub force: Vec<ForceFile>,
    #[serde(default)]
    pub camera: CameraFile,
    #[serde(default)]
    pub check: Vec<CheckFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClothFile {
    pub name: Option<String>,
    pub origin: Option<Vector>,
    pub along: Option<Direction>,
    pub across: Option<Direction>,
    pub columns: Count,
    pub rows: Count,
    pub spacing: Spacing,
    pub mass: Option<Positive>,
    pub area_density: Option<Positive>,
    pub radius: Option<Positive>,
    pub velocity: Option<Vector>,
    #[serde(default)]
    pub self_collide: bool,
    pub stretch_compliance: Option<AtLeastZero>,
    pub stretch_stiffness: Option<Share>,
    pub shear_compliance: Option<AtLeastZero>,
    pub shear_stiffness: Option<Share>,
    pub bend_compliance: Option<AtLeastZero>,
    pub bend_stiffness: Option<Share>,
    pub break_at: Option<Positive>,
    pub yield_at: Option<Positive>,
    pub bend_break_at: Option<Positive>,
    pub bend_yield_at: Option<Positive>,
    #[serde(default)]
    pub pin: Vec<Pick>,
    #[serde(default)]
    pub hold: Vec<HoldFile>,
    pub stretch: Option<Exactly<Positive, 2>>,
}

/// The shape cut out of a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SolidWord {
    #[default]
    Box,
    Sphere,
    Cylinder,
    Torus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EdgesWord {
    #[default]
    Full,
    Axis,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxFile {
    pub name: Option<String>,
    pub counts: Exactly<Count, 3>,
    pub spacing: Spacing,
    pub center: Option<Vector>,
    pub rotation: Option<Rotation>,
    #[serde(default)]
    pub solid: SolidWord,
    pub tube: Option<Tube>,
    #[serde(default)]
    pub edges: EdgesWord,
    pub stiffness: Option<Share>,
    pub compliance: Option<AtLeastZero>,
    pub break_at: Option<Positive>,
    pub yield_at: Option<Positive>,
    pub volume_compliance: Option<AtLeastZero>,
    pub volume_stiffness: Option<Share>,
    pub volume_break_at: Option<Positive>,
    pub volume_yield_at: Option<Positive>,
    pub mass: Option<Positive>,
    pub density: Option<Positive>,
    pub radius: Option<Positive>,
    pub velocity: Option<Vector>,
    #[serde(default)]
    pub self_collide: bool,
    #[serde(default)]
    pub pin: Vec<Pick>,
    #[serde(default)]
    pub hold: Vec<HoldFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GranularFile {
    pub name: Option<String>,
    pub origin: Option<Vector>,
    pub counts: Exactly<Count, 3>,
    pub spacing: Spacing,
    pub radius: Option<Positive>,
    pub mass: Option<Positive>,
    pub density: Option<Positive>,
    pub jitter: Option<Share>,
    pub seed: Option<Count>,
    #[serde(default)]
    pub solid: SolidWord,
    pub tube: Option<Tube>,
    pub velocity: Option<Vector>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParticlesFile {
    pub name: Option<String>,
    pub positions: Vec<Vector>,
    pub velocity: Option<Vector>,
    pub mass: Option<Positive>,
    pub density: Option<Positive>,
    pub radius: Positive,
    #[serde(default)]
    pub self_collide: bool,
    #[serde(default)]
    pub chain: bool,
    pub compliance: Option<AtLeastZero>,
    pub stiffness: Option<Share>,
    pub break_at: Option<Positive>,
    pub yield_at: Option<Positive>,
    #[serde(default)]
    pub pin: Vec<Pick>,
    #[serde(default)]
    pub hold: Vec<HoldFile>,
}

/// Soft pins that follow a path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldFile {
    pub at: Vec<Pick>,
    pub compliance: Option<AtLeastZero>,
    #[serde(default)]
    pub looped: bool,
    #[serde(default)]
    pub keyframes: Vec<HoldKeyFile>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldKeyFile {
    pub time: Real64,
    pub offset: Vector,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JointFile {
    pub a: String,
    pub b: String,
    pub rest: Option<AtLeastZero>,
    pub compliance: Option<AtLeastZero>,
    pub stiffness: Option<Share>,
    pub break_at: Option<Positive>,
    pub yield_at: Option<Positive>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ShapeWord {
    Plane,
    Sphere,
    Box,
    Capsule,
    Cylinder,
    Cone,
    Mesh,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColliderFile {
    pub name: Option<String>,
    pub shape: ShapeWord,
    pub normal: Option<Direction>,
    pub radius: Option<Positive>,
    pub half: Option<Exactly<Positive, 3>>,
    pub half_height: Option<Positive>,
    pub height: Option<Positive>,
    pub mesh: Option<String>,
    pub scale: Option<Scale>,
    pub closed: Option<bool>,
    pub thickness: Option<AtLeastZero>,
    pub position: Option<Vector>,
    pub rotation: Option<Rotation>,
    pub friction: Option<AtLeastZero>,
    pub static_friction: Option<AtLeastZero>,
    pub restitution: Option<Share>,
    #[serde(default)]
    pub keyframes: Vec<ColliderKeyFile>,
    #[serde(default)]
    pub looped: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColliderKeyFile {
    pub time: Real64,
    pub position: Option<Vector>,
    pub rotation: Option<Rotation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ForceWord {
    Gravity,
    Wind,
    Point,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForceFile {
    pub kind: ForceWord,
    pub acceleration: Option<Vector>,
    pub velocity: Option<Vector>,
    pub drag: Option<AtLeastZero>,
    pub center: Option<Vector>,
    pub strength: Option<Real>,
    pub reach: Option<Positive>,
    pub region: Option<Exactly<Vector, 2>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CameraFile {
    pub eye: Option<Vector>,
    pub target: Option<Vector>,
    pub fov: Option<Angle>,
}

/// A check with every key that any check takes; [`super::check`] knows which take which.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckFile {
    pub name: String,
    pub of: Option<String>,
    pub through: Option<String>,
    pub min: Option<Real64>,
    pub max: Option<Real64>,
    pub bound: Option<Real64>,
    pub after: Option<Real64>,
    pub tolerance: Option<Real64>,
    pub axis: Option<Direction>,
    pub kind: Option<String>,
    pub floor: Option<Real64>,
    pub size: Option<Count>,
}
