//! `[[fluid]]`: a fluid that fills a box or a mesh.

use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::{Error, Result};
use crate::scene::build::read_mesh;
use crate::scene::keys::one_of;
use crate::scene::value::{Positive, Rate, Spacing, Vector};
use crate::world::{Built, Coefficients, Fluid, FluidRegion, MemoryNeed, World};
use glam::{Quat, Vec3};
use std::path::Path;

impl ObjectKinds {
    /// `[[fluid]]`: a fluid that fills a box or a mesh.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `low`, `high` | m | | two corners of the box that it fills; or |
    /// | `mesh` | | | the closed mesh that it fills: a built-in one, or a file next to the scene |
    /// | `position` | m | [0, 0, 0] | of the mesh |
    /// | `scale` | 1 | 1 | of the mesh |
    /// | `radius` | m | needed | of a particle; at rest they are two radii apart |
    /// | `density` | kg/m³ | 1000 | at rest |
    /// | `velocity` | m/s | 0 | at the start |
    /// | `fluid_viscosity` | 1/s | of `[params]` | how fast it takes on the velocity of the fluid around it |
    /// | `fluid_tension` | N/m | of `[params]` | its surface tension |
    ///
    /// A fluid without a `material` and without `friction` slides freely on everything. With a
    /// `material`, the numbers of fluids are those of the material.
    pub const FLUID: &'static str = "fluid";
}

table! {
    pub(crate) struct FluidFile {
        low: Option<Vector>,
        high: Option<Vector>,
        mesh: Option<String>,
        position: Option<Vector>,
        scale: Option<Positive>,
        radius: Spacing,
        density: Option<Positive>,
        velocity: Option<Vector>,
        fluid_viscosity: Option<Rate>,
        fluid_tension: Option<Rate>,
    }
}

impl FluidFile {
    fn region(&self, path: &str, folder: Option<&Path>) -> Result<FluidRegion> {
        let wrong = |key: &str, message: &str| Err(Error::value(format!("{path}.{key}"), message));
        one_of(path, [("low", self.low.is_some()), ("mesh", self.mesh.is_some())])?;
        let Some(name) = &self.mesh else {
            return match (self.low, self.high) {
                (Some(low), Some(high)) => Ok(FluidRegion::Box { low: low.0, high: high.0 }),
                (Some(_), None) => wrong("high", "a box has two corners; give `high`, too"),
                _ => wrong("low", "give the two corners of a box, `low` and `high`, or a `mesh`"),
            };
        };
        if self.high.is_some() {
            return wrong("high", "a mesh has no corner; give `low`, too, or leave it out");
        }
        let mesh = match read_mesh(name, folder) {
            Ok(mesh) => mesh,
            Err(error) => return wrong("mesh", &error.to_string()),
        };
        if !mesh.is_closed() {
            return wrong("mesh", "this mesh has open edges, so it has no inside");
        }
        let scale = Vec3::splat(self.scale.map_or(1.0, |scale| scale.0));
        let position = self.position.map(|v| v.0).unwrap_or_default();
        Ok(FluidRegion::Mesh(mesh.transformed(scale, Quat::IDENTITY, position)))
    }

    fn fluid(&self, path: &str, folder: Option<&Path>) -> Result<Fluid> {
        Ok(Fluid {
            name: path.into(),
            region: self.region(path, folder)?,
            radius: self.radius.0,
            density: self.density.map_or(1000.0, |density| density.0),
            velocity: self.velocity.map(|v| v.0).unwrap_or_default(),
            coefficients: Coefficients {
                viscosity: self.fluid_viscosity.map(|rate| rate.0),
                tension: self.fluid_tension.map(|tension| tension.0),
                ..Fluid::default().coefficients
            },
        })
    }
}

impl SceneObject for FluidFile {
    fn need(&self) -> MemoryNeed {
        // A mesh is counted when it is read, and what is wrong is told then.
        let boxed = self.mesh.is_none().then(|| self.fluid("fluid", None));
        boxed.and_then(Result::ok).map_or(MemoryNeed::default(), |fluid| fluid.memory())
    }

    fn build(&self, world: &mut World, path: &str, site: &Site) -> Result<Built> {
        let material = ("material", self.material.is_some());
        one_of(path, [material, ("fluid_viscosity", self.fluid_viscosity.is_some())])?;
        one_of(path, [material, ("fluid_tension", self.fluid_tension.is_some())])?;
        world.add_fluid(&self.fluid(path, site.folder)?)
    }

    fn mesh_name(&self) -> Option<&str> {
        self.mesh.as_deref()
    }
}
