//! Voxels of several sizes: coarse inside, fine at the surface [J 4.4.3].
//!
//! Eight cubes that all lie deeper than a bound become one of twice the size, level after level. What
//! decides about the next level is the distance of the shallowest of the eight, less the way from its
//! centre to that of the new cube: `phi' = max(phi) - sqrt(3) 2^(l-2)` [J 4.37].

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::distance_field::DistanceField;
use super::voxel::{VoxelGrid, Voxels};
use crate::{Error, Result};

/// A cube of 2^level voxels a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cube {
    /// Its lowest voxel.
    pub low: [u16; 3],
    /// 0 for a voxel of the grid.
    pub level: u8,
}

impl Cube {
    /// Voxels along an edge.
    pub fn width(&self) -> usize {
        1 << self.level
    }

    /// The centre, m.
    pub fn centre(&self, grid: &VoxelGrid) -> Vec3 {
        let half = 0.5 * self.width() as f64;
        grid.place(DVec3::from(self.low.map(f64::from)) + half).as_vec3()
    }

    /// Half of an edge, m: the radius of its particle.
    pub fn radius(&self, grid: &VoxelGrid) -> f32 {
        (0.5 * self.width() as f64 * grid.edge()) as f32
    }
}

/// Every solid voxel as a cube, in the order of the grid.
pub fn unmerged(voxels: &Voxels) -> Vec<Cube> {
    left(voxels.grid().size(), 0, None, |i| voxels.solid()[i])
}

/// Solid voxels merged where they are deeper than `bound`, a signed distance in voxels such as -2;
/// negative infinity merges none. Small cubes come first, each level in the order of the grid. The
/// volume is kept exactly.
///
/// ```
/// # use glam::Vec3;
/// use motes::shape::distance_field::DistanceField;
/// # use motes::shape::mesh::TriangleMesh;
/// use motes::shape::merge::merged;
/// use motes::shape::voxel::{VoxelGrid, Voxels};
/// # let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// # let (mesh, _) = TriangleMesh::from_obj_bytes("tetrahedron", text)?;
///
/// let voxels = Voxels::of(&mesh, VoxelGrid::with_resolution(&mesh, 60, VoxelGrid::PADDING)?)?;
/// let cubes = merged(&voxels, &DistanceField::of(&voxels), -2.0)?;
/// assert!(cubes.len() < voxels.count());
/// # Ok::<(), motes::Error>(())
/// ```
///
/// # Errors
/// When `bound` is above 0 or no number, or the distances are of another grid.
pub fn merged(voxels: &Voxels, field: &DistanceField, bound: f32) -> Result<Vec<Cube>> {
    if bound.is_nan() || bound > 0.0 {
        let message = format!("{bound} is no depth; give a signed distance in voxels such as -2");
        return Err(Error::value("merge", message));
    }
    if voxels.grid() != field.grid() {
        return Err(Error::value("field", "has another grid than the voxels"));
    }
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let (size, depths) = match levels.last() {
            None => (voxels.grid().size(), field.distances()),
            Some(level) => (level.size, &level.depths[..]),
        };
        let next = Level::above(size, depths, levels.len() + 1, bound);
        if next.count == 0 {
            break;
        }
        levels.push(next);
    }
    let mut cubes = left(voxels.grid().size(), 0, levels.first(), |i| voxels.solid()[i]);
    for (l, level) in levels.iter().enumerate() {
        let is_there = |i: usize| level.depths[i] < f32::INFINITY;
        cubes.append(&mut left(level.size, l + 1, levels.get(l + 1), is_there));
    }
    Ok(cubes)
}

/// The cubes of a level that are not part of one above.
fn left(
    [nx, ny, nz]: [usize; 3],
    level: usize,
    above: Option<&Level>,
    is_there: impl Fn(usize) -> bool + Sync,
) -> Vec<Cube> {
    let slice = |z: usize| {
        let mut cubes = Vec::new();
        for y in 0..ny {
            let row = nx * (y + ny * z);
            let is_left = |&x: &usize| {
                is_there(row + x) && !above.is_some_and(|above| above.covers([x, y, z]))
            };
            cubes.extend((0..nx).filter(is_left).map(|x| cube([x, y, z], level)));
        }
        cubes
    };
    (0..nz).into_par_iter().flat_map_iter(slice).collect()
}

fn cube(at: [usize; 3], level: usize) -> Cube {
    Cube { low: at.map(|c| (c << level) as u16), level: level as u8 }
}

/// The cubes of one level: how deep each is, infinity where there is none.
struct Level {
    size: [usize; 3],
    depths: Vec<f32>,
    count: usize,
}

impl Level {
    /// The level above one with these depths.
    fn above(size: [usize; 3], depths: &[f32], level: usize, bound: f32) -> Level {
        let half = size.map(|n| n / 2);
        let shallower = 3f32.sqrt() * 2f32.powi(level as i32 - 2);
        let [nx, ny, _] = size;
        let mut merged = vec![f32::INFINITY; half.iter().product()];
        let fill = |(k, row): (usize, &mut [f32])| {
            let (y, z) = (2 * (k % half[1]), 2 * (k / half[1]));
            // The four rows below this one.
            let below = [[y, z], [y + 1, z], [y, z + 1], [y + 1, z + 1]].map(|[y, z]| {
                let start = nx * (y + ny * z);
                &depths[start..start + 2 * half[0]]
            });
            let mut count = 0;
            for (x, depth) in row.iter_mut().enumerate() {
                let pair = |row: &[f32]| row[2 * x].max(row[2 * x + 1]);
                let shallowest =
                    pair(below[0]).max(pair(below[1])).max(pair(below[2]).max(pair(below[3])));
                if shallowest < bound {
                    *depth = shallowest - shallower;
                    count += 1;
                }
            }
            count
        };
        let row = half[0].max(1);
        let count = merged.par_chunks_mut(row).with_min_len(64).enumerate().map(fill).sum();
        Level { size: half, depths: merged, count }
    }

    /// Whether the cube of the level below is part of one here.
    fn covers(&self, at: [usize; 3]) -> bool {
        let [x, y, z] = at.map(|c| c / 2);
        let [nx, ny, nz] = self.size;
        x < nx && y < ny && z < nz && self.depths[x + nx * (y + ny * z)] < f32::INFINITY
    }
}
