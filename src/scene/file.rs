//! The scene file as it is written: one struct for each table. The page of the module says what
//! every key means; defaults are applied where the world is built. The tables of objects are in
//! [`super::objects`].

use super::objects::{
    BodyFile, BoxFile, ClothFile, EmitterFile, Entry, FluidFile, GranularFile, MeshFile,
    ParticlesFile, entries, object_kinds,
};
use super::value::{
    Angle, AtLeastZero, Count, Direction, Exactly, Positive, Rate, Real, Real64, Rotation, Scale,
    Share, Vector,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Declares the scene file, with a list for every kind of object.
macro_rules! scene_file {
    ($($table:literal => $field:ident: $object:ty,)+) => {
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
            pub material: Vec<MaterialFile>,
            #[serde(default)]
            pub material_pair: Vec<MaterialPairFile>,
            #[serde(default)]
            pub skeleton: Vec<SkeletonFile>,
            $(#[serde(default, rename = $table)]
            pub $field: Vec<$object>,)+
            #[serde(default)]
            pub joint: Vec<JointFile>,
            #[serde(default)]
            pub collider: Vec<ColliderFile>,
            /// Shapes as those of colliders.
            #[serde(default)]
            pub sink: Vec<ColliderFile>,
            #[serde(default)]
            pub force: Vec<ForceFile>,
            #[serde(default)]
            pub camera: CameraFile,
            #[serde(default)]
            pub check: Vec<CheckFile>,
        }

        impl SceneFile {
            /// Every object, in the order they are built.
            pub fn objects(&self) -> impl Iterator<Item = Entry<'_>> {
                std::iter::empty()$(.chain(entries($table, &self.$field)))+
            }
        }
    };
}
object_kinds!(scene_file);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaterialFile {
    pub name: String,
    pub friction: Option<AtLeastZero>,
    pub static_friction: Option<AtLeastZero>,
    pub restitution: Option<Share>,
    pub fluid_viscosity: Option<Rate>,
    pub fluid_tension: Option<Rate>,
    pub fluid_adhesion: Option<Rate>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaterialPairFile {
    pub materials: Exactly<String, 2>,
    pub friction: Option<AtLeastZero>,
    pub static_friction: Option<AtLeastZero>,
    pub restitution: Option<Share>,
    pub fluid_viscosity: Option<Rate>,
    pub fluid_adhesion: Option<Rate>,
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
    pub material: Option<String>,
    pub friction: Option<AtLeastZero>,
    pub static_friction: Option<AtLeastZero>,
    pub restitution: Option<Share>,
    pub fluid_adhesion: Option<Rate>,
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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkeletonFile {
    pub name: Option<String>,
    pub file: String,
    pub clip: Option<String>,
    pub position: Option<Vector>,
    pub rotation: Option<Rotation>,
    pub scale: Option<Positive>,
    pub speed: Option<Real64>,
    pub looped: Option<bool>,
    pub start: Option<Real64>,
    pub radius: Option<Positive>,
    pub material: Option<String>,
    pub friction: Option<AtLeastZero>,
    pub static_friction: Option<AtLeastZero>,
    pub restitution: Option<Share>,
    #[serde(default)]
    pub keyframes: Vec<ColliderKeyFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ForceWord {
    Gravity,
    Wind,
    Point,
    #[serde(rename = "surface_wind")]
    SurfaceWind,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForceFile {
    pub kind: ForceWord,
    pub acceleration: Option<Vector>,
    pub velocity: Option<Vector>,
    pub drag: Option<AtLeastZero>,
    pub density: Option<AtLeastZero>,
    pub drag_coefficient: Option<AtLeastZero>,
    pub lift_coefficient: Option<AtLeastZero>,
    pub gust: Option<AtLeastZero>,
    pub gust_length: Option<Positive>,
    pub gust_time: Option<Positive>,
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
