//! Where the voxels of a mesh lie: a box of cubes of one size around it.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::shape::mesh::TriangleMesh;
use crate::{Error, Result};

/// Cubes in rows, x fastest, then y, then z.
///
/// The middle of the grid is the middle of the mesh, and `padding` layers of cubes around the box of
/// the mesh are always empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoxelGrid {
    /// The lowest corner, m.
    pub(crate) origin: DVec3,
    /// The edge of a cube, m.
    pub(crate) edge: f64,
    /// Cubes along x, y and z, with those of the padding.
    pub(crate) size: [usize; 3],
    /// Empty layers on each side.
    pub(crate) padding: usize,
}

impl VoxelGrid {
    /// Most voxels along an axis: squares of distances are then exact in `f32`.
    pub const MOST: usize = 2048;
    /// Layers that merged voxels are counted with.
    pub const PADDING: usize = 2;

    /// A grid without a mesh: `inner` voxels from `low` (m) on, and the padding around them.
    ///
    /// # Errors
    /// When a size or the padding is out of range.
    pub fn new(low: DVec3, edge: f64, inner: [usize; 3], padding: usize) -> Result<VoxelGrid> {
        if !inner.iter().all(|n| (1..=Self::MOST).contains(n)) {
            let message = format!("{inner:?} are not 1 to {} voxels each", Self::MOST);
            return Err(Error::value("inner", message));
        }
        if !(low.is_finite() && edge.is_finite() && edge > 0.0) {
            return Err(Error::value("edge", format!("{edge} m from {low} on is no voxel")));
        }
        let cubes = DVec3::from(inner.map(|n| n as f64));
        Self::around(low, low + cubes * edge, edge, padding)
    }

    /// `resolution` voxels along the longest side of the mesh.
    ///
    /// # Errors
    /// When the mesh is not valid or has no size, or the resolution is not 1 to [`VoxelGrid::MOST`].
    pub fn with_resolution(
        mesh: &TriangleMesh,
        resolution: usize,
        padding: usize,
    ) -> Result<VoxelGrid> {
        if !(1..=Self::MOST).contains(&resolution) {
            let message = format!("{resolution} is not 1 to {}", Self::MOST);
            return Err(Error::value("resolution", message));
        }
        let (low, high) = bounds(mesh)?;
        Self::around(low, high, (high - low).max_element() / resolution as f64, padding)
    }

    /// Voxels with edges of `edge` metres, so that particles of several meshes have one size.
    ///
    /// # Errors
    /// When the mesh is not valid or has no size, or the voxels are too many.
    pub fn with_edge(mesh: &TriangleMesh, edge: f64, padding: usize) -> Result<VoxelGrid> {
        let (low, high) = bounds(mesh)?;
        if !(edge.is_finite() && edge > 0.0) {
            return Err(Error::value("edge", format!("{edge} m is not above 0")));
        }
        let along = ((high - low).max_element() / edge).ceil();
        if along > Self::MOST as f64 {
            let message = format!(
                "{edge} m gives {along} voxels along the longest side; at most {} fit",
                Self::MOST
            );
            return Err(Error::value("edge", message));
        }
        Self::around(low, high, edge, padding)
    }

    fn around(low: DVec3, high: DVec3, edge: f64, padding: usize) -> Result<VoxelGrid> {
        if !(1..=64).contains(&padding) {
            return Err(Error::value("padding", format!("{padding} is not 1 to 64 voxels")));
        }
        // Corners are rounded numbers: a box of 12 voxels must not get a thirteenth for a hair's
        // breadth. What then sticks out lies in the padding.
        const HAIR: f64 = 1e-3;
        let inner = ((high - low) / edge - HAIR).ceil().max(DVec3::ONE);
        let size = inner.to_array().map(|n| n as usize + 2 * padding);
        let cubes = inner + 2.0 * padding as f64;
        let origin = low.midpoint(high) - cubes * (0.5 * edge);
        Ok(VoxelGrid { origin, edge, size, padding })
    }

    /// The edge of a voxel, m.
    pub fn edge(&self) -> f64 {
        self.edge
    }

    /// Voxels along x, y and z, with those of the padding.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Voxels along x, y and z without the padding.
    pub fn inner(&self) -> [usize; 3] {
        self.size.map(|n| n - 2 * self.padding)
    }

    /// Empty layers on each side.
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// All voxels.
    pub fn len(&self) -> usize {
        self.size.iter().product()
    }

    /// Never true: a grid has at least its padding.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of a voxel in arrays.
    #[inline]
    pub fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }

    /// The voxel at a place in arrays.
    #[inline]
    pub fn voxel(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.size;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    /// The centre of a voxel, m.
    pub fn centre(&self, voxel: [usize; 3]) -> Vec3 {
        self.place(voxel.map(|v| v as f64 + 0.5).into()).as_vec3()
    }

    /// A place in the grid, counted in voxels from its lowest corner, in metres.
    pub(crate) fn place(&self, at: DVec3) -> DVec3 {
        self.origin + at * self.edge
    }

    /// A place in metres, counted in voxels from the lowest corner of the grid.
    pub(crate) fn locate(&self, point: DVec3) -> DVec3 {
        (point - self.origin) / self.edge
    }
}

/// The box of all corners of triangles; a vertex that no triangle has does not count.
fn bounds(mesh: &TriangleMesh) -> Result<(DVec3, DVec3)> {
    mesh.validate()?;
    let corners = mesh.triangles.iter().flatten().map(|&i| mesh.vertices[i as usize].as_dvec3());
    let (low, high) = corners
        .fold((DVec3::MAX, DVec3::MIN), |(low, high), corner| (low.min(corner), high.max(corner)));
    // Below this, squares of edges are lost in f32.
    const SMALLEST: f64 = 1e-15;
    if (high - low).max_element() < SMALLEST {
        let message = "all corners are in one place; check the coordinates and the unit (metres)";
        return Err(Error::value("mesh.vertices", message));
    }
    Ok((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(size: Vec3) -> TriangleMesh {
        let (vertices, triangles) = (vec![Vec3::ZERO, size, size * Vec3::X], vec![[0, 1, 2]]);
        TriangleMesh { vertices, triangles }
    }

    #[test]
    fn the_grid_is_as_fine_as_asked_and_sits_in_the_middle() {
        for n in [1, 6, 12, 32, 96, 1000] {
            let grid = VoxelGrid::with_resolution(&block(Vec3::new(0.1, 0.3, 0.7)), n, 2).unwrap();
            assert_eq!(grid.inner()[2], n);
            assert_eq!(grid.size()[2], n + 4);
            let (first, last) = (grid.voxel(0), grid.voxel(grid.len() - 1));
            assert_eq!((grid.index(first), grid.index(last)), (0, grid.len() - 1));
            let middle = grid.centre(first).midpoint(grid.centre(last));
            assert!(middle.distance(Vec3::new(0.05, 0.15, 0.35)) < 1e-6, "{middle}");
        }
        let grid = VoxelGrid::with_edge(&block(Vec3::ONE * 0.6), 0.1, 1).unwrap();
        assert_eq!(grid.inner(), [6; 3]);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let mesh = block(Vec3::ONE);
        let says = |e: Result<VoxelGrid>, word: &str| {
            assert!(e.unwrap_err().to_string().starts_with(word));
        };
        says(VoxelGrid::with_resolution(&mesh, 0, 2), "resolution: ");
        says(VoxelGrid::with_resolution(&mesh, 4096, 2), "resolution: ");
        says(VoxelGrid::with_resolution(&mesh, 8, 0), "padding: ");
        says(VoxelGrid::with_edge(&mesh, f64::NAN, 2), "edge: ");
        says(VoxelGrid::with_edge(&mesh, 1e-6, 2), "edge: ");
        says(VoxelGrid::with_resolution(&block(Vec3::ZERO), 8, 2), "mesh.vertices: ");
        says(VoxelGrid::with_resolution(&block(Vec3::NAN), 8, 2), "mesh.vertices.1: ");
        says(VoxelGrid::with_resolution(&TriangleMesh::default(), 8, 2), "mesh.triangles: ");
    }
}
