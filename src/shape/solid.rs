//! A mesh made into particles, from start to end.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::distance_field::DistanceField;
use super::merge::{Cube, merged, unmerged};
use super::mesh::TriangleMesh;
use super::voxel::{VoxelGrid, Voxels};
use crate::Result;

/// How a mesh is to be made into particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Voxels along the longest side.
    pub resolution: usize,
    /// Empty layers around the mesh.
    pub padding: usize,
    /// The signed distance, in voxels, below which voxels are merged; none merges none.
    pub merge: Option<f32>,
}

impl Recipe {
    /// So many voxels along the longest side, none of them merged.
    pub fn new(resolution: usize) -> Recipe {
        Recipe { resolution, padding: VoxelGrid::PADDING, merge: None }
    }
}

/// The particles of a mesh, and what they were made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solid {
    /// Which voxels are solid.
    pub voxels: Voxels,
    /// The distance of each voxel.
    pub field: DistanceField,
    /// The particles.
    pub cubes: Vec<Cube>,
    /// What each of the three took, ms.
    pub ms: [f64; 3],
}

impl Solid {
    /// Makes a mesh into particles.
    ///
    /// # Errors
    /// When the mesh or the recipe is not valid, or it needs more memory than there is.
    pub fn of(mesh: &TriangleMesh, recipe: &Recipe) -> Result<Solid> {
        let mut ms = [0.0; 3];
        let mut clock = Instant::now();
        let mut lap = |part: usize| {
            ms[part] = clock.elapsed().as_secs_f64() * 1e3;
            clock = Instant::now();
        };
        let grid = VoxelGrid::with_resolution(mesh, recipe.resolution, recipe.padding)?;
        let voxels = Voxels::of(mesh, grid)?;
        lap(0);
        let field = DistanceField::of(&voxels);
        lap(1);
        let cubes = match recipe.merge {
            Some(bound) => merged(&voxels, &field, bound)?,
            None => unmerged(&voxels),
        };
        lap(2);
        Ok(Solid { voxels, field, cubes, ms })
    }
}
