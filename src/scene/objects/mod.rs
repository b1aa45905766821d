//! The kinds of objects a scene may hold.
//!
//! Each kind has one file here: the keys of its table and what they mean, how much it will hold,
//! how it is built, and which of its particles a pick names. To add a kind, write its file and put
//! it into the list below.

mod body;
mod cloth;
mod emitter;
mod faces;
mod fasten;
mod fluid;
mod granular;
mod mass;
mod particles;
mod pick;
mod soft_box;
mod soft_mesh;
mod solid;
#[cfg(test)]
mod tests;

pub(super) use body::BodyFile;
pub(super) use cloth::ClothFile;
pub(super) use emitter::EmitterFile;
pub(super) use fluid::FluidFile;
pub(super) use granular::GranularFile;
pub(super) use particles::ParticlesFile;
pub(super) use pick::from_end;
pub(super) use soft_box::BoxFile;
pub(super) use soft_mesh::MeshFile;

use crate::error::Result;
use crate::scene::build::material::coefficients;
use crate::world::{Built, Coefficients, MemoryNeed, World};
use std::path::Path;

/// THE LIST: every kind of object, in the order they are built. `$then` is a macro that takes
/// lines of table, field of the scene file and type.
macro_rules! object_kinds {
    ($then:ident) => {
        $then! {
            "cloth" => cloth: ClothFile,
            "box" => boxes: BoxFile,
            "granular" => granular: GranularFile,
            "particles" => particles: ParticlesFile,
            "mesh" => meshes: MeshFile,
            "body" => bodies: BodyFile,
            "fluid" => fluid: FluidFile,
            "emitter" => emitter: EmitterFile,
        }
    };
}
pub(super) use object_kinds;

/// The kinds of objects a scene may hold: each constant is the name of a table, and stands with the
/// keys that the table takes.
///
/// # Keys of every kind
///
/// | key | unit | default | meaning |
/// |---|---|---|---|
/// | `name` | | its place | what joints, checks and reports call it; names may not repeat or hold a `:` |
/// | `visible` | | true | whether it is drawn; a hidden object is simulated as any other |
/// | `material` | | "default" | the `[[material]]` it is made of; or |
/// | `friction`, `static_friction`, `restitution` | 1 | of `[params]` | a material of its own; `friction` alone sets both |
/// | `fluid_adhesion` | N/m | of `[params]` | how it holds fluids: a number of that material |
///
/// # Values of several keys
///
/// - *Strains* (`break_at`, `yield_at`) are l/l0 - 1 for edges, rad for hinges and V/V0 - 1 for
///   volumes. A constraint whose strain is left out never breaks or yields.
/// - `compliance` counts with `method = "xpbd"` (0 is rigid), `stiffness` (0 to 1, 1 is rigid) with
///   `method = "pbd"`.
/// - *Picks* choose particles of an object: `pin = ["top", [3, -1], 17]`. A number is an index in
///   the order of the particles, a pair is `[column, row]` of a cloth, and negative numbers count
///   from the end. Which words there are depends on the kind; `all` is known to every kind that
///   takes picks.
/// - A *hold* is a soft pin on a path: `hold = [{ at = PICKS, compliance = 0 [m/N], looped = false,
///   keyframes = [{ time = 0, offset = [0, 0, 0] }, { time = 2, offset = [0, 1, 0] }] }]`. Offsets
///   are from where each particle starts; between keyframes they are linear. Without keyframes
///   the particle is held where it starts. `skeleton = NAME, bone = NAME` instead of keyframes holds
///   particles to a bone of a [`[[skeleton]]`](crate::scene): they go with it as they lie to it at
///   first.
pub struct ObjectKinds;

/// The keys that every kind has.
pub(super) struct Common<'a> {
    pub name: Option<&'a str>,
    pub visible: bool,
    pub material: Option<&'a str>,
    /// Of a material of its own.
    pub coefficients: Coefficients,
}

/// A table that has those keys.
pub(super) trait Table {
    /// The keys that every kind has.
    fn common(&self) -> Common<'_>;
}

/// Declares the table of a kind: its own keys behind those that every kind has.
macro_rules! table {
    (
        pub(crate) struct $name:ident {
            $($(#[$meta:meta])* $key:ident: $type:ty,)+
        }
    ) => {
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            name: Option<String>,
            visible: Option<bool>,
            material: Option<String>,
            friction: Option<$crate::scene::value::AtLeastZero>,
            static_friction: Option<$crate::scene::value::AtLeastZero>,
            restitution: Option<$crate::scene::value::Share>,
            fluid_adhesion: Option<$crate::scene::value::Rate>,
            $($(#[$meta])* $key: $type,)+
        }

        impl super::Table for $name {
            fn common(&self) -> super::Common<'_> {
                let Self { friction, static_friction, restitution, fluid_adhesion, .. } = *self;
                super::Common {
                    name: self.name.as_deref(),
                    visible: self.visible.unwrap_or(true),
                    material: self.material.as_deref(),
                    coefficients: super::coefficients(
                        friction,
                        static_friction,
                        restitution,
                        fluid_adhesion,
                    ),
                }
            }
        }
    };
}
use table;

/// What an object is built from besides its own keys.
pub(super) struct Site<'a> {
    /// For what is random.
    pub seed: u64,
    /// Where relative paths of meshes start; none: built-in meshes only.
    pub folder: Option<&'a Path>,
}

/// An object as a scene file writes it: a row of one of the tables.
pub(super) trait SceneObject: Table {
    /// What it will hold at most, counted before anything is allocated.
    fn need(&self) -> MemoryNeed;

    /// Adds it to the world. Messages name the fields of `path`.
    fn build(&self, world: &mut World, path: &str, site: &Site) -> Result<Built>;

    /// The file or the built-in mesh that it is made from.
    fn mesh_name(&self) -> Option<&str> {
        None
    }

    /// A key whose value is legal, but hardly what the author wants, and why.
    fn doubt(&self, _site: &Site) -> Option<(&'static str, String)> {
        None
    }

    /// The index of the particle at `[column, row]`; a kind without rows has none.
    fn cell(&self, _at: [i64; 2]) -> Option<usize> {
        None
    }
}

/// An object of a scene and where it stands.
pub(super) struct Entry<'a> {
    /// Table and number: `cloth.0`.
    pub path: String,
    /// Its number among the objects of its kind.
    pub number: usize,
    pub object: &'a dyn SceneObject,
}

/// The objects of one table.
pub(super) fn entries<'a, T: SceneObject>(
    table: &'static str,
    objects: &'a [T],
) -> impl Iterator<Item = Entry<'a>> {
    objects.iter().enumerate().map(move |(number, object)| Entry {
        path: format!("{table}.{number}"),
        number,
        object,
    })
}
