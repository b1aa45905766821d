//! `[[mesh]]`: a soft body of the voxels of a mesh.

use super::faces::Faces;
use super::fasten::{HoldFile, fasten};
use super::mass::DENSITY;
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::{Error, Result};
use crate::scene::bond::bond;
use crate::scene::build::read_mesh;
use crate::scene::keys::one_of;
use crate::scene::value::{
    AtLeastZero, Count, Pick, Positive, Real, Rotation, Scale, Share, Vector,
};
use crate::shape::mesh::TriangleMesh;
use crate::shape::solid::{Recipe, Solid};
use crate::shape::voxel::{VoxelGrid, Voxels};
use crate::world::{Built, MemoryNeed, SoftMesh, World};
use glam::{Quat, Vec3};

impl ObjectKinds {
    /// `[[mesh]]`: a soft body of the voxels of a mesh.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `mesh` | | needed | an .obj file, relative to the scene's folder, or a built-in mesh |
    /// | `resolution` | 1 | needed | voxels along its longest side, 1 to 2048 |
    /// | `merge` | 1 | none | merges voxels that lie deeper than this signed distance (in voxels): -2, for instance |
    /// | `scale` | 1 | 1 | one factor, or one for each axis |
    /// | `position` | m | [0, 0, 0] | of the origin of the mesh |
    /// | `rotation` | rotation | none | about that origin |
    /// | `mass` | kg | | of the whole body; or |
    /// | `density` | kg/m³ | 1000 | mass = density times the volume of the voxels |
    /// | `compliance`, `stiffness` | m/N, 1 | 0, 1 | edges to all particles within the diagonal of a voxel |
    /// | `break_at`, `yield_at` | strain | never | edges |
    /// | `velocity`, `self_collide`, `pin`, `hold` | | | as for cloth |
    ///
    /// Each particle is a ball that fits into its voxel. The mesh is drawn in their stead: it
    /// follows them, and opens where edges break. Picks know the words of a box, in the mesh's own
    /// frame.
    pub const MESH: &'static str = "mesh";
}

table! {
    pub(crate) struct MeshFile {
        mesh: String,
        resolution: Count,
        merge: Option<Real>,
        scale: Option<Scale>,
        position: Option<Vector>,
        rotation: Option<Rotation>,
        mass: Option<Positive>,
        density: Option<Positive>,
        stiffness: Option<Share>,
        compliance: Option<AtLeastZero>,
        break_at: Option<Positive>,
        yield_at: Option<Positive>,
        velocity: Option<Vector>,
        #[serde(default)]
        self_collide: bool,
        #[serde(default)]
        pin: Vec<Pick>,
        #[serde(default)]
        hold: Vec<HoldFile>,
    }
}

impl MeshFile {
    /// The mesh as large as it is to be.
    fn read(&self, path: &str, site: &Site) -> Result<TriangleMesh> {
        let wrong = |e: Error| Error::value(format!("{path}.mesh"), e.to_string());
        let mesh = read_mesh(&self.mesh, site.folder).map_err(wrong)?;
        let scale = self.scale.map_or(Vec3::ONE, |s| s.0);
        Ok(mesh.transformed(scale, Quat::IDENTITY, Vec3::ZERO))
    }

    fn recipe(&self) -> Recipe {
        let resolution = usize::try_from(self.resolution.0).unwrap_or(usize::MAX);
        Recipe { merge: self.merge.map(|bound| bound.0), ..Recipe::new(resolution) }
    }
}

impl SceneObject for MeshFile {
    /// What a mesh takes is known once it was made into voxels, which look for the memory before they
    /// take it, as the body does then.
    fn need(&self) -> MemoryNeed {
        MemoryNeed::default()
    }

    fn mesh_name(&self) -> Option<&str> {
        Some(&self.mesh)
    }

    fn build(&self, world: &mut World, path: &str, site: &Site) -> Result<Built> {
        one_of(path, [("mass", self.mass.is_some()), ("density", self.density.is_some())])?;
        let mesh = self.read(path, site)?;
        let solid = Solid::of(&mesh, &self.recipe()).map_err(|e| in_file_words(e, path))?;
        let edge = solid.voxels.grid().edge() as f32;
        let volume = solid.voxels.count() as f32 * edge * edge * edge;
        let density = self.density.map_or(DENSITY, |d| d.0);
        let soft = SoftMesh {
            name: path.into(),
            position: self.position.map(|v| v.0).unwrap_or_default(),
            rotation: self.rotation.map_or(Quat::IDENTITY, |r| r.0),
            density: self.mass.map_or(density, |mass| mass.0 / volume),
            velocity: self.velocity.map(|v| v.0).unwrap_or_default(),
            self_collide: self.self_collide,
            stretch: bond(self.compliance, self.stiffness, self.break_at, self.yield_at),
        };
        let built = world.add_mesh(&mesh, &solid, &soft)?;
        let grid = solid.voxels.grid();
        let local = solid.cubes.iter().map(|cube| cube.centre(grid)).collect();
        let layout = Faces { local, spacing: edge };
        fasten(world, path, &built, &layout, &self.pin, &self.hold)?;
        Ok(built)
    }

    fn doubt(&self, site: &Site) -> Option<(&'static str, String)> {
        // What cannot be read is an error of `build`.
        why_not_solid(&self.read("", site).ok()?, &self.recipe())
    }
}

/// What is wrong with a mesh that is to be solid, if anything: the key and the words of the warning.
pub(super) fn why_not_solid(
    mesh: &TriangleMesh,
    recipe: &Recipe,
) -> Option<(&'static str, String)> {
    let grid = VoxelGrid::with_resolution(mesh, recipe.resolution, recipe.padding).ok()?;
    let voxels = Voxels::of(mesh, grid).ok()?;
    voxels.warnings().first().map(|warning| ("mesh", warning.to_string()))
}

/// What the library calls the mesh or its field is the key here; a resolution has its own name.
fn in_file_words(error: Error, path: &str) -> Error {
    match error {
        Error::Value { field, message } => match field.as_str() {
            "resolution" | "merge" => Error::Value { field: format!("{path}.{field}"), message },
            _ => Error::Value {
                field: format!("{path}.mesh"),
                message: format!("{field}: {message}"),
            },
        },
        Error::TooLarge { what, needed, limit } => {
            Error::TooLarge { what: format!("{path}: {what}"), needed, limit }
        }
        other => other,
    }
}
