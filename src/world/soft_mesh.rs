//! A soft body that was made from a mesh.

use super::build::{Bond, neighbors};
use super::cells::{Cells, HALF_NEIGHBORS};
use super::particles::Phase;
use super::validate::LONGEST;
use super::{Built, MemoryNeed, Particle, ParticleId, Surface, World};
use crate::error::{Error, Result};
use crate::shape::mesh::TriangleMesh;
use crate::shape::skin::{Bonds, MeshSkin};
use crate::shape::solid::Solid;
use glam::{Quat, Vec3};
use std::sync::Arc;

/// The longest edge of a skin, in voxels: coarse triangles are cut smaller, so that they bend.
const LONGEST_SIDE: f32 = 1.5;

/// A soft body of the voxels of a mesh: every particle is joined with those within the diagonal of
/// its cell.
#[derive(Clone, Debug)]
pub struct SoftMesh {
    /// Name in reports.
    pub name: String,
    /// Where the origin of the mesh is, m.
    pub position: Vec3,
    /// Orientation, about that origin.
    pub rotation: Quat,
    /// kg/m³. The mass of a particle is that of its cube.
    pub density: f32,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Whether the body collides with itself.
    pub self_collide: bool,
    /// How stiff and strong its edges are.
    pub stretch: Bond,
}

impl Default for SoftMesh {
    fn default() -> Self {
        SoftMesh {
            name: "mesh".into(),
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            density: 1000.0,
            velocity: Vec3::ZERO,
            self_collide: false,
            stretch: Bond::default(),
        }
    }
}

impl World {
    /// Adds a soft body of the cubes of `solid`, which was made from `mesh`. The mesh follows its
    /// particles as a skin, and opens where the body tears ([`World::skin`]).
    ///
    /// ```
    /// use motes::shape::mesh::TriangleMesh;
    /// use motes::shape::solid::{Recipe, Solid};
    /// use motes::{Scene, SoftMesh, World};
    ///
    /// let rabbit = Scene::builtin_mesh("rabbit").expect("it is built in");
    /// let (mesh, _) = TriangleMesh::from_obj_bytes("rabbit", rabbit)?;
    /// let solid = Solid::of(&mesh, &Recipe::new(12))?;
    /// assert!(solid.voxels.warnings().is_empty(), "the mesh is closed");
    ///
    /// let mut world = World::new();
    /// let body = world.add_mesh(&mesh, &solid, &SoftMesh::default())?;
    /// assert_eq!(body.len(), solid.cubes.len());
    /// let skin = world.skin_mesh(body.object)?.expect("it has one");
    /// assert!((skin.signed_volume() / mesh.signed_volume() - 1.0).abs() < 1e-3);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a number is out of range, the solid has no cubes or is not that of the mesh, or it needs
    /// more memory than there is.
    pub fn add_mesh(
        &mut self,
        mesh: &TriangleMesh,
        solid: &Solid,
        soft: &SoftMesh,
    ) -> Result<Built> {
        validate(mesh, solid, soft)?;
        let grid = solid.voxels.grid();
        let edge = grid.edge() as f32;
        let mut phase = Phase::group(self.new_group()).shaped();
        if soft.self_collide {
            phase = phase.self_colliding();
        }
        let mut cells = Cells::new(grid.size().map(|n| n as u32));
        let mut points = Vec::with_capacity(solid.cubes.len());
        let mut ids = Vec::with_capacity(solid.cubes.len());
        let first = self.particles.len() as u32;
        for cube in &solid.cubes {
            let slot = self.particles.len() as u32;
            let reach = |k: usize| {
                let low = u32::from(cube.low[k]);
                low..low + cube.width() as u32
            };
            for z in reach(2) {
                for y in reach(1) {
                    reach(0).for_each(|x| cells.set(x, y, z, slot));
                }
            }
            let (local, side) = (cube.centre(grid), cube.width() as f32 * edge);
            points.push(local);
            ids.push(self.add_particle(&Particle {
                position: soft.position + soft.rotation * local,
                velocity: soft.velocity,
                mass: soft.density * side * side * side,
                radius: cube.radius(grid),
                phase,
            })?);
        }
        let before = self.sets.distance.len();
        self.join_cells(&cells, &HALF_NEIGHBORS, &soft.stretch);
        let set = &self.sets.distance;
        let own = || (before..set.len()).map(|k| set.particles(k).map(|slot| slot - first));
        let fine = mesh.refined(LONGEST_SIDE * edge)?;
        let skin = MeshSkin::new(&fine, &points, &Bonds::new(points.len(), own))?;
        let id = |slot: u32| ParticleId(self.particles.id[slot as usize]);
        // Where cubes were merged, corners of a face may be one particle.
        let has_area = |&[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
        let triangles = cells.surface().filter(has_area).map(|t| t.map(id)).collect();
        let surface =
            Surface { triangles, closed: true, outline: None, skin: Some(Arc::new(skin)) };
        Ok(self.built(&soft.name, ids, surface))
    }
}

fn validate(mesh: &TriangleMesh, solid: &Solid, soft: &SoftMesh) -> Result<()> {
    let name = &soft.name;
    let wrong =
        |field: &str, message: String| Err(Error::value(format!("{name}.{field}"), message));
    mesh.validate()?;
    let grid = solid.voxels.grid();
    let edge = grid.edge() as f32;
    for (field, value) in [("density", soft.density), ("mesh", edge)] {
        if !(value.is_finite() && value > 0.0 && value <= LONGEST) {
            return wrong(field, format!("{value} is not legal; expected above 0 and at most 1e9"));
        }
    }
    for (field, value) in [("position", soft.position), ("velocity", soft.velocity)] {
        if !value.is_finite() {
            return wrong(field, format!("{value} is not finite"));
        }
    }
    if !soft.rotation.is_finite() || (soft.rotation.length() - 1.0).abs() > 1e-3 {
        return wrong("rotation", "expected a unit quaternion".into());
    }
    soft.stretch.validate(&format!("{name}.stretch"))?;
    if solid.cubes.is_empty() {
        return wrong(
            "mesh",
            "no centre of a voxel is inside the mesh: raise the resolution".into(),
        );
    }
    // A skin of another mesh would hang somewhere in the air.
    let corners = [grid.centre([0; 3]), grid.centre(grid.size().map(|n| n - 1))];
    let [low, high] = [corners[0] - edge, corners[1] + edge];
    if mesh.bounds().is_none_or(|(a, b)| !(a.cmpge(low).all() && b.cmple(high).all())) {
        return wrong("mesh", "the solid was made from another mesh".into());
    }
    let count = solid.cubes.len() as u128;
    let around = if soft.self_collide { neighbors(count, 0.5 * edge, edge) } else { 0 };
    let need = MemoryNeed { particles: count, edges: 13 * count, corners4: 0, neighbors: around };
    need.check(name)
}
