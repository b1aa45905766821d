//! What is odd about a mesh, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::seams::Gap;

/// What is odd about a mesh that was made into voxels: the result is defined, but may not be what
/// was meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum VoxelWarning {
    /// The surface has holes. A voxel is solid when more of the three lines through its centre,
    /// along x, y and z, find it inside than outside by counting crossings; a line that leaves the
    /// grid inside does not count.
    Open(Gap),
    /// Triangles disagree about which side is outside. A voxel is solid when a line from it crosses
    /// the surface an odd number of times.
    Flipped(Gap),
    /// Triangles face inwards; so many voxels are inside of what is inside out. They are solid.
    InsideOut {
        /// How many voxels.
        voxels: usize,
    },
    /// The surface passes through itself, or solids overlap: so many voxels are inside more than
    /// once. They are solid.
    Overlap {
        /// How many voxels.
        voxels: usize,
    },
    /// No centre of a voxel is inside.
    Nothing,
}

impl fmt::Display for VoxelWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VoxelWarning::Open(gap) => write!(
                f,
                "the mesh is open at {gap}; solid is what most lines along x, y and z find inside: \
                 close the holes to be sure"
            ),
            VoxelWarning::Flipped(gap) => write!(
                f,
                "triangles disagree about what is outside at {gap}; solid is what a line leaves \
                 through an odd number of triangles: let all faces look outwards to be sure"
            ),
            VoxelWarning::InsideOut { voxels } => write!(
                f,
                "triangles face inwards around {voxels} voxels, which are taken as solid: turn the \
                 faces round"
            ),
            VoxelWarning::Overlap { voxels } => write!(
                f,
                "the mesh overlaps itself: {voxels} voxels are inside more than once and taken as \
                 solid"
            ),
            VoxelWarning::Nothing => {
                write!(f, "no centre of a voxel is inside the mesh: raise the resolution")
            }
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = self.first;
        match self.edges {
            1 => write!(f, "one edge, from {from} to {to} m"),
            n => {
                let [low, high] = self.bounds;
                write!(f, "{n} edges between {low} and {high} m, one of them from {from} to {to} m")
            }
        }
    }
}
