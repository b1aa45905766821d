//! Solid voxels of a mesh.

mod columns;
mod grid;
mod seams;
mod snapped;
mod warning;

pub use grid::VoxelGrid;
pub use seams::Gap;
pub use warning::VoxelWarning;

use rayon::prelude::*;
use seams::Seams;
use serde::{Deserialize, Serialize};
use snapped::Snapped;

use super::mesh::TriangleMesh;
use crate::world::MemoryNeed;
use crate::{Error, Result};

/// Which voxels of a grid have their centres inside a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Voxels {
    grid: VoxelGrid,
    solid: Vec<bool>,
    count: usize,
    warnings: Vec<VoxelWarning>,
}

impl Voxels {
    /// The voxels whose centres are inside the mesh: where it winds around them once or more, either
    /// way. A centre on the surface belongs to one side, always the same.
    ///
    /// ```
    /// use motes::shape::mesh::TriangleMesh;
    /// use motes::shape::voxel::{VoxelGrid, Voxels};
    ///
    /// let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    /// let (mesh, _) = TriangleMesh::from_obj_bytes("tetrahedron", text)?;
    /// let grid = VoxelGrid::with_resolution(&mesh, 60, VoxelGrid::PADDING)?;
    /// let voxels = Voxels::of(&mesh, grid)?;
    /// let volume = voxels.count() as f64 * grid.edge().powi(3);
    /// assert!(voxels.warnings().is_empty() && (volume - 1.0 / 6.0).abs() < 0.01);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the mesh is not valid or not within the grid, or the voxels need more memory than there is.
    pub fn of(mesh: &TriangleMesh, grid: VoxelGrid) -> Result<Voxels> {
        mesh.validate()?;
        let snapped = Snapped::new(mesh, &grid)?;
        check_memory(&snapped, &grid)?;
        let seams = Seams::of(&snapped);
        let mut warnings = Vec::new();
        let solid = match seams {
            Seams::Closed => {
                let (solid, odd) = by_winding(&snapped, &grid);
                let Odd { inside_out, overlap } = odd;
                let told = [
                    (inside_out, VoxelWarning::InsideOut { voxels: inside_out }),
                    (overlap, VoxelWarning::Overlap { voxels: overlap }),
                ];
                warnings.extend(told.into_iter().filter(|(count, _)| *count > 0).map(|(_, w)| w));
                solid
            }
            Seams::Flipped => {
                let gap = seams::gap(&snapped, &grid, true);
                warnings.extend(gap.map(VoxelWarning::Flipped));
                by_votes(&snapped, &grid)
            }
            Seams::Open => {
                let gap = seams::gap(&snapped, &grid, false);
                warnings.extend(gap.map(VoxelWarning::Open));
                by_votes(&snapped, &grid)
            }
        };
        let count = count(&solid);
        if count == 0 {
            warnings.push(VoxelWarning::Nothing);
        }
        Ok(Voxels { grid, solid, count, warnings })
    }

    /// Voxels that were made in another way, x fastest, then y, then z.
    ///
    /// # Errors
    /// When `solid` has not one entry for each voxel of the grid, or is solid in the padding.
    pub fn from_solid(grid: VoxelGrid, solid: Vec<bool>) -> Result<Voxels> {
        if solid.len() != grid.len() {
            let message = format!("has {} entries; the grid has {}", solid.len(), grid.len());
            return Err(Error::value("solid", message));
        }
        let is_outside = |at: [usize; 3]| {
            let inside = |k: usize| (grid.padding..grid.size[k] - grid.padding).contains(&at[k]);
            !(0..3).all(inside)
        };
        if let Some(i) = (0..solid.len()).find(|&i| solid[i] && is_outside(grid.voxel(i))) {
            let message = format!("voxel {:?} lies in the padding, which is empty", grid.voxel(i));
            return Err(Error::value("solid", message));
        }
        let count = count(&solid);
        Ok(Voxels { grid, solid, count, warnings: Vec::new() })
    }

    /// Where the voxels lie.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// For every voxel of the grid whether it is solid.
    pub fn solid(&self) -> &[bool] {
        &self.solid
    }

    /// How many voxels are solid.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What was odd about the mesh.
    pub fn warnings(&self) -> &[VoxelWarning] {
        &self.warnings
    }
}

fn count(solid: &[bool]) -> usize {
    solid.par_chunks(1 << 16).map(|part| part.iter().filter(|&&solid| solid).count()).sum()
}

/// Voxels that a plain surface would not have.
#[derive(Clone, Copy, Default)]
struct Odd {
    /// Wound around the wrong way.
    inside_out: usize,
    /// Wound around more than once.
    overlap: usize,
}

/// Solid is what the mesh winds around.
fn by_winding(mesh: &Snapped, grid: &VoxelGrid) -> (Vec<bool>, Odd) {
    let crossings = columns::crossings(mesh, grid, 0);
    let mut solid = vec![false; grid.len()];
    let slice = grid.size[0] * grid.size[1];
    let fill = |(k, solid): (usize, &mut [bool])| {
        let begin = k * slice;
        let first = crossings.partition_point(|&c| columns::place(c) < begin);
        let count = crossings[first..].partition_point(|&c| columns::place(c) < begin + slice);
        let mut odd = Odd::default();
        let mut winding = 0;
        // Every column of a closed mesh ends with a winding number of zero, so the rows of a slice
        // can be gone through as one.
        for pair in crossings[first..first + count].windows(2) {
            winding += columns::step(pair[0]);
            let run = columns::place(pair[0]) - begin..columns::place(pair[1]) - begin;
            if winding != 0 {
                odd.inside_out += if winding < 0 { run.len() } else { 0 };
                odd.overlap += if winding.abs() > 1 { run.len() } else { 0 };
                solid[run].fill(true);
            }
        }
        odd
    };
    let add = |a: Odd, b: Odd| Odd {
        inside_out: a.inside_out + b.inside_out,
        overlap: a.overlap + b.overlap,
    };
    let odd = solid.par_chunks_mut(slice).enumerate().map(fill).reduce(Odd::default, add);
    (solid, odd)
}

/// Solid is what most axes find inside by counting crossings. A column that is crossed an odd number
/// of times has gone through a hole and says nothing.
fn by_votes(mesh: &Snapped, grid: &VoxelGrid) -> Vec<bool> {
    let mut votes = vec![0i8; grid.len()];
    for axis in 0..3 {
        let crossings = columns::crossings(mesh, grid, axis);
        let size = columns::turned(grid.size, axis);
        // A step along the column, to the next row and to the next slice.
        let [nx, ny, _] = grid.size;
        let strides = columns::turned([1, nx, nx * ny], axis);
        let mut rest = &crossings[..];
        for w in 0..size[2] {
            for v in 0..size[1] {
                let begin = size[0] * (v + size[1] * w);
                let end = rest.partition_point(|&c| columns::place(c) < begin + size[0]);
                let (column, after) = rest.split_at(end);
                rest = after;
                if column.len().is_multiple_of(2) {
                    let mut ends = column.iter().map(|&c| columns::place(c) - begin).peekable();
                    let mut vote = -1;
                    for u in 0..size[0] {
                        while ends.next_if_eq(&u).is_some() {
                            vote = -vote;
                        }
                        votes[u * strides[0] + v * strides[1] + w * strides[2]] += vote;
                    }
                }
            }
        }
    }
    votes.into_iter().map(|vote| vote > 0).collect()
}

/// Refuses what does not fit: the voxels, their distances later, and the crossings.
fn check_memory(mesh: &Snapped, grid: &VoxelGrid) -> Result<()> {
    const EACH: usize = size_of::<bool>() + 2 * size_of::<f32>();
    let crossings = columns::most(mesh, 0) as usize;
    let bytes = grid.len() * EACH + crossings.saturating_mul(size_of::<columns::Crossing>());
    match MemoryNeed::free_for(bytes) {
        None => Ok(()),
        Some(free) => {
            let [x, y, z] = grid.inner();
            Err(Error::TooLarge {
                what: format!(
                    "a mesh of {} triangles in {x} x {y} x {z} voxels",
                    mesh.triangles.len()
                ),
                needed: format!("{} MiB", bytes >> 20),
                limit: format!("this machine has {} MiB free; take fewer voxels", free >> 20),
            })
        }
    }
}

#[cfg(test)]
mod tests;
