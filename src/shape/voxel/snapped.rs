//! A mesh in whole numbers: corners rounded to a small fraction of a voxel, so that every question
//! about them has an exact answer.

use rayon::prelude::*;

use super::grid::VoxelGrid;
use crate::shape::mesh::TriangleMesh;
use crate::{Error, Result};

/// A corner in units of the grid.
pub(super) type Corner = [i32; 3];

/// The corners of a mesh as whole numbers of units.
pub(super) struct Snapped<'a> {
    pub(super) corners: Vec<Corner>,
    pub(super) triangles: &'a [[u32; 3]],
    /// Units along the edge of a voxel, a power of two.
    pub(super) unit: i64,
}

impl<'a> Snapped<'a> {
    /// Coordinates stay below 2^30, so that the product of two differences fits into 64 bits. A
    /// grid of 100 voxels leaves 2^23 units for each.
    ///
    /// # Errors
    /// When the mesh reaches out of the grid.
    pub(super) fn new(mesh: &'a TriangleMesh, grid: &VoxelGrid) -> Result<Self> {
        let longest = grid.size.iter().max().copied().unwrap_or(1) as u32;
        let unit = 1i64 << (30 - (u32::BITS - longest.leading_zeros()));
        let snap = |v: &glam::Vec3| {
            let at = grid.locate(v.as_dvec3()) * unit as f64;
            // A vertex that no triangle has may be anywhere; `as` keeps it in bounds.
            at.to_array().map(|c| c.round() as i32)
        };
        let corners = mesh.vertices.par_iter().with_min_len(1024).map(snap).collect();
        let snapped = Snapped { corners, triangles: &mesh.triangles, unit };
        // What lies below the last layer of centres crosses a column within the grid.
        let most = grid.size.map(|n| (n as i64 - 1) * unit);
        let is_inside = |i: &u32| {
            let corner = snapped.corners[*i as usize].map(i64::from);
            (0..3).all(|k| (0..=most[k]).contains(&corner[k]))
        };
        let inside = |triangle: &[u32; 3]| triangle.iter().all(is_inside);
        if !mesh.triangles.par_iter().with_min_len(1024).all(inside) {
            return Err(Error::value("grid", "does not hold the mesh; make it for this mesh"));
        }
        Ok(snapped)
    }

    pub(super) fn triangle(&self, index: usize) -> [Corner; 3] {
        self.triangles[index].map(|i| self.corners[i as usize])
    }

    /// The place of a corner in metres.
    pub(super) fn metres(&self, grid: &VoxelGrid, corner: Corner) -> glam::Vec3 {
        let at = glam::DVec3::from(corner.map(f64::from)) / self.unit as f64;
        grid.place(at).as_vec3()
    }
}
