//! Signed distances of voxels.
//!
//! The distance of a voxel is DEFINED as the distance from its centre to the nearest centre of the
//! other class (solid or empty), in voxels, less a half: the surface is thought half-way between the
//! two. It is negative inside. Where three axes are swept in turn, each sweep takes the best of what
//! the one before it found in the same column, so the result is exact (Maurer 2003, [J 4.4]).

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::voxel::{VoxelGrid, Voxels};
use crate::simd::{Kernel, LANES, Simd, fastest};

/// The signed distance at the centre of every voxel of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistanceField {
    grid: VoxelGrid,
    distances: Vec<f32>,
}

impl DistanceField {
    /// The distances of solid voxels. Without any, all are infinite.
    ///
    /// ```
    /// use glam::Vec3;
    /// use motes::shape::distance_field::DistanceField;
    /// use motes::shape::mesh::TriangleMesh;
    /// use motes::shape::voxel::{VoxelGrid, Voxels};
    ///
    /// let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    /// let (mesh, _) = TriangleMesh::from_obj_bytes("tetrahedron", text)?;
    /// let grid = VoxelGrid::with_resolution(&mesh, 60, VoxelGrid::PADDING)?;
    /// let field = DistanceField::of(&Voxels::of(&mesh, grid)?);
    /// // In metres: 0.1 m above the ground, and inside.
    /// let depth = field.at(Vec3::new(0.2, 0.1, 0.2));
    /// assert!((depth + 0.1).abs() < 0.01, "{depth}");
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn of(voxels: &Voxels) -> DistanceField {
        let grid = *voxels.grid();
        let [nx, ny, nz] = grid.size();
        let mut squares = vec![0.0f32; grid.len()];
        // Rows and columns, slice by slice. Squares carry the sign of their class.
        squares.par_chunks_mut(nx * ny).zip(voxels.solid().par_chunks(nx * ny)).for_each(
            |(slice, solid)| {
                for (row, solid) in slice.chunks_mut(nx).zip(solid.chunks(nx)) {
                    sweep_row(row, solid);
                }
                let mut rows: Vec<&mut [f32]> = slice.chunks_mut(nx).collect();
                sweep_rows(&mut rows, |square| square);
            },
        );
        // Aisles: the rows at one y, through all slices.
        let mut aisles: Vec<Vec<&mut [f32]>> = (0..ny).map(|_| Vec::with_capacity(nz)).collect();
        for (k, row) in squares.chunks_mut(nx).enumerate() {
            aisles[k % ny].push(row);
        }
        let signed = |square: f32| (square.abs().sqrt() - 0.5).copysign(square);
        aisles.par_iter_mut().for_each(|rows| sweep_rows(rows, signed));
        DistanceField { grid, distances: squares }
    }

    /// Where the voxels lie.
    pub fn grid(&self) -> &VoxelGrid {
        &self.grid
    }

    /// The distance of every voxel, in voxels; negative inside.
    pub fn distances(&self) -> &[f32] {
        &self.distances
    }

    /// The gradient at the centre of a voxel from its six neighbours, voxels per voxel, which is
    /// outwards. At the border of the grid the voxel itself takes the place of the missing neighbour.
    /// Zero where a solid is symmetric, and where there is none.
    pub fn gradient(&self, voxel: [usize; 3]) -> Vec3 {
        let at = |axis: usize, to: usize| {
            let mut neighbor = voxel;
            neighbor[axis] = to;
            self.distances[self.grid.index(neighbor)]
        };
        let gradient = Vec3::from_array(std::array::from_fn(|axis| {
            let low = voxel[axis].saturating_sub(1);
            let high = (voxel[axis] + 1).min(self.grid.size()[axis] - 1);
            (at(axis, high) - at(axis, low)) / (high - low) as f32
        }));
        if gradient.is_finite() { gradient } else { Vec3::ZERO }
    }

    /// The distance at a place (m), in metres: between centres of voxels it goes over evenly. Beyond
    /// the outermost centres it is that of the nearest place within them.
    pub fn at(&self, point: Vec3) -> f32 {
        let (low, part) = self.cell(self.grid.locate(point.as_dvec3()));
        (self.blend(low, part, |voxel| f64::from(self.distances[self.grid.index(voxel)]))
            * self.grid.edge()) as f32
    }

    /// The gradient at a place (m), blended like [`DistanceField::at`]; it points outwards.
    pub fn gradient_at(&self, point: Vec3) -> Vec3 {
        let (low, part) = self.cell(self.grid.locate(point.as_dvec3()));
        let along = |axis: usize| {
            self.blend(low, part, |voxel| f64::from(self.gradient(voxel)[axis])) as f32
        };
        Vec3::new(along(0), along(1), along(2))
    }

    /// The lowest of the eight centres around a place that is counted in voxels, and how far it is
    /// from there to the highest.
    fn cell(&self, at: DVec3) -> ([usize; 3], [f64; 3]) {
        let mut low = [0; 3];
        let part = std::array::from_fn(|k| {
            let most = self.grid.size()[k] - 1;
            let from_first = (at[k] - 0.5).clamp(0.0, most as f64);
            low[k] = (from_first as usize).min(most - 1);
            from_first - low[k] as f64
        });
        (low, part)
    }

    fn blend(&self, low: [usize; 3], part: [f64; 3], value: impl Fn([usize; 3]) -> f64) -> f64 {
        let corners = 0..8usize;
        let weighted = |corner: usize| {
            let up = [corner & 1, corner >> 1 & 1, corner >> 2];
            let weight: f64 =
                (0..3).map(|k| if up[k] == 1 { part[k] } else { 1.0 - part[k] }).product();
            // Infinite distances would make what is not asked for a NaN.
            if weight == 0.0 {
                return 0.0;
            }
            weight * value([low[0] + up[0], low[1] + up[1], low[2] + up[2]])
        };
        corners.map(weighted).sum()
    }
}

/// The squared distance to the nearest voxel of the other class in the same row, negative inside.
fn sweep_row(row: &mut [f32], solid: &[bool]) {
    let sign = |solid: bool| if solid { -1.0 } else { 1.0 };
    let mut begin = 0;
    for run in solid.chunk_by(|a, b| a == b) {
        let end = begin + run.len();
        let (left, right) = (begin > 0, end < row.len());
        for (i, square) in row[begin..end].iter_mut().enumerate() {
            let to_left = if left { (i + 1) as f32 } else { f32::INFINITY };
            let to_right = if right { (run.len() - i) as f32 } else { f32::INFINITY };
            let nearest = to_left.min(to_right);
            *square = nearest * nearest * sign(run[0]);
        }
        begin = end;
    }
}

/// One sweep across rows: the least of what each row found plus the squared distance to that row.
/// `finish` is applied to what is stored.
fn sweep_rows(rows: &mut [&mut [f32]], finish: impl Fn(f32) -> f32) {
    let Some(length) = rows.first().map(|row| row.len()) else { return };
    let mut found = vec![[0.0; LANES]; rows.len()];
    let mut nearest = found.clone();
    for start in (0..length).step_by(LANES) {
        let count = LANES.min(length - start);
        for (lanes, row) in found.iter_mut().zip(rows.iter()) {
            lanes[..count].copy_from_slice(&row[start..start + count]);
            // Beyond the end of a row there is a voxel beside one of the other class: it does not
            // keep a search going.
            lanes[count..].fill(1.0);
        }
        fastest(Sweep { found: &found, nearest: &mut nearest });
        for (row, lanes) in rows.iter_mut().zip(&nearest) {
            for (to, &square) in row[start..start + count].iter_mut().zip(lanes) {
                *to = finish(square);
            }
        }
    }
}

/// Eight columns side by side: looks from each row outwards, until no row can be nearer than what was
/// found. A voxel of the other class is at the distance of its row; one of the same class adds what
/// its own row found.
struct Sweep<'a> {
    found: &'a [[f32; LANES]],
    nearest: &'a mut [[f32; LANES]],
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let count = self.found.len();
        let zero = S::splat(0.0);
        for (k, nearest) in self.nearest.iter_mut().enumerate() {
            let here = S::read(&self.found[k]);
            let inside = zero.above(here);
            let class = S::select(inside, S::splat(-1.0), S::splat(1.0));
            let mut best = here.abs();
            for away in 1..count.max(1) {
                let step = S::splat((away * away) as f32);
                if !S::any(best.above(step)) {
                    break;
                }
                if let Some(other) = self.found.get(k.wrapping_sub(away)) {
                    best = best.min(step + (class * S::read(other)).max(zero));
                }
                if let Some(other) = self.found.get(k + away) {
                    best = best.min(step + (class * S::read(other)).max(zero));
                }
            }
            (class * best).write(nearest);
        }
    }
}

#[cfg(test)]
mod tests;
