//! Fluids as closed surfaces, for programs that render them. The surfaces are those of
//! `splashsurf_lib` (Löschner 2023), smoothed.

use std::path::Path;

use glam::Vec3;
use splashsurf_lib::mesh::TriMesh3d;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::postprocessing::par_laplacian_smoothing_inplace;
use splashsurf_lib::sph_interpolation::SphInterpolator;
use splashsurf_lib::{Parameters, SurfaceReconstruction, reconstruct_surface};

use super::world::{frame_name, series};
use super::{Format, Frame, Group, write_frame};
use crate::world::{Object, Phase, World};
use crate::{Error, Result};

/// How far a particle is felt, in radii: as far as the fluid itself sees.
const SUPPORT: f32 = 4.0;
/// Side of the cells that the surface is cut from, in radii.
const CELL: f32 = 0.75;
/// The share of the rest density at which the surface lies.
const LEVEL: f32 = 0.6;
/// Each round of smoothing draws vertices to their neighbours and pushes them back by a little more,
/// which keeps the volume (Taubin 1995).
const DRAW: f32 = 0.5;
const PUSH: f32 = -0.53;

/// The surface of one fluid: a closed mesh whose triangles face outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidSurface {
    /// Corners, m.
    pub positions: Vec<Vec3>,
    /// Velocity of the fluid at each corner, m/s.
    pub velocities: Vec<Vec3>,
    /// Corners of triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl World {
    /// The surfaces of all objects that are fluid and have particles left, each with its object, after
    /// so many rounds of smoothing. They do not depend on the number of threads.
    ///
    /// ```
    /// use motes::{Fluid, FluidRegion, World};
    /// use glam::Vec3;
    /// let mut world = World::new();
    /// let region = FluidRegion::Box { low: Vec3::ZERO, high: Vec3::splat(0.1) };
    /// world.add_fluid(&Fluid { region, radius: 0.01, ..Fluid::default() })?;
    /// let surfaces = world.fluid_surfaces(10)?;
    /// let (water, surface) = &surfaces[0];
    /// assert!(water.name == "fluid" && !surface.triangles.is_empty());
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the fluid is spread too far for its surface to be found.
    pub fn fluid_surfaces(&self, smoothing: u32) -> Result<Vec<(&Object, FluidSurface)>> {
        let mut surfaces = Vec::new();
        for (_, object) in self.objects() {
            let surface = self.fluid_surface(object, smoothing)?;
            surfaces.extend(surface.map(|surface| (object, surface)));
        }
        Ok(surfaces)
    }

    fn fluid_surface(&self, object: &Object, smoothing: u32) -> Result<Option<FluidSurface>> {
        let p = self.particles();
        // In the order of their names: sums are then the same however particles are sorted.
        let is_drop =
            |&slot: &usize| p.phases()[slot] & Phase::FLUID != 0 && p.positions()[slot].is_finite();
        let slots = object.particles().filter_map(|id| p.slot(id)).filter(is_drop);
        let slots: Vec<usize> = slots.collect();
        let Some(&first) = slots.first() else { return Ok(None) };
        let radius = p.radii()[first];
        let vector = |v: glam::Vec4| Vector3::new(v.x, v.y, v.z);
        let positions: Vec<_> = slots.iter().map(|&slot| vector(p.positions()[slot])).collect();
        let mut parameters = Parameters::new_relative(radius, SUPPORT, CELL);
        parameters.iso_surface_threshold = LEVEL;
        // Fused instructions, where a machine has them, would give other bits.
        parameters.enable_simd = false;
        let refuse = |why: String| {
            let message = format!("has no surface: {why}; export its particles alone");
            Error::value(object.name.clone(), message)
        };
        let found = reconstruct_surface::<i64, f32>(&positions, &parameters);
        let found = found.map_err(|why| refuse(why.to_string()))?;
        let SurfaceReconstruction { mut mesh, particle_densities, .. } = found;
        order(&mut mesh);
        let around = neighbours(&mesh);
        let weights = vec![1.0; mesh.vertices.len()];
        for _ in 0..smoothing {
            for share in [DRAW, PUSH] {
                par_laplacian_smoothing_inplace(&mut mesh, &around, 1, share, &weights);
            }
        }
        let velocities = match particle_densities.filter(|found| found.len() == slots.len()) {
            Some(densities) => {
                let mass = parameters.rest_density * (2.0 * radius).powi(3);
                let reach = parameters.compact_support_radius;
                let field = SphInterpolator::new(&positions, &densities, mass, reach);
                let moves: Vec<_> = slots.iter().map(|&s| vector(p.velocities()[s])).collect();
                field.interpolate_vector_quantity(&moves, &mesh.vertices, true)
            }
            None => return Err(refuse("its densities were not found".into())),
        };
        let back = |v: &Vector3<f32>| Vec3::new(v.x, v.y, v.z);
        Ok(Some(FluidSurface {
            positions: mesh.vertices.iter().map(back).collect(),
            velocities: velocities.iter().map(back).collect(),
            triangles: mesh.triangles.iter().map(|t| t.map(|corner| corner as u32)).collect(),
        }))
    }
}

/// Puts corners and triangles in the order of their places: which thread finished first does not show,
/// nor in what is summed up over them later.
fn order(mesh: &mut TriMesh3d<f32>) {
    let mut order: Vec<usize> = (0..mesh.vertices.len()).collect();
    order.sort_by_key(|&i| {
        let at = mesh.vertices[i];
        [at.x, at.y, at.z].map(sortable)
    });
    let mut place = vec![0; order.len()];
    for (k, &i) in order.iter().enumerate() {
        place[i] = k;
    }
    mesh.vertices = order.iter().map(|&i| mesh.vertices[i]).collect();
    for triangle in &mut mesh.triangles {
        let [a, b, c] = triangle.map(|corner| place[corner]);
        *triangle = match a.min(b).min(c) {
            least if least == a => [a, b, c],
            least if least == b => [b, c, a],
            _ => [c, a, b],
        };
    }
    mesh.triangles.sort_unstable();
}

/// The corners around each corner, in their order.
fn neighbours(mesh: &TriMesh3d<f32>) -> Vec<Vec<usize>> {
    let mut around = vec![Vec::new(); mesh.vertices.len()];
    for &[a, b, c] in &mesh.triangles {
        for (corner, others) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
            around[corner].extend(others);
        }
    }
    for others in &mut around {
        others.sort_unstable();
        others.dedup();
    }
    around
}

/// A word in the order of numbers.
fn sortable(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// Writes the surfaces of all fluids into `folder` as `surface_NNNNNN.EXT`, whole or not at all: each
/// fluid a group, after so many rounds of smoothing. False, and no file, where there is no fluid.
///
/// # Errors
/// When a surface cannot be found or the file cannot be written.
pub fn write_surfaces(
    folder: impl AsRef<Path>,
    format: Format,
    world: &World,
    smoothing: u32,
) -> Result<bool> {
    let surfaces = world.fluid_surfaces(smoothing)?;
    if surfaces.is_empty() {
        return Ok(false);
    }
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    let (mut triangles, mut parts) = (Vec::new(), Vec::new());
    for (object, surface) in &surfaces {
        let (first, start) = (positions.len() as u32, triangles.len());
        positions.extend_from_slice(&surface.positions);
        velocities.extend_from_slice(&surface.velocities);
        triangles.extend(surface.triangles.iter().map(|t| t.map(|corner| corner + first)));
        parts.push((object.name.as_str(), start..triangles.len()));
    }
    let groups: Vec<Group> = parts
        .iter()
        .map(|(name, triangles)| Group { name, triangles: triangles.clone(), points: &[] })
        .collect();
    let count = positions.len();
    let frame = Frame {
        positions: &positions,
        velocities: &velocities,
        radii: &vec![0.0; count],
        phases: &vec![0; count],
        ids: &(0..count as u32).collect::<Vec<_>>(),
        edges: &[],
        triangles: &triangles,
        groups: &groups,
    };
    let name = frame_name("surface", world.step_count(), format);
    write_frame(folder.as_ref().join(name), format, &frame)?;
    Ok(true)
}

/// The list of the files that [`write_surfaces`] wrote, as [`write_series`](super::write_series)
/// writes that of particles: `surface.EXT.series`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_surface_series(
    folder: impl AsRef<Path>,
    format: Format,
    frames: &[(u64, f64)],
) -> Result<()> {
    series("surface", folder.as_ref(), format, frames)
}
