//! An indexed triangle mesh, loaded from OBJ and checked once at the boundary.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Triangles over shared vertices, in metres.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TriangleMesh {
    /// Vertex positions, m.
    pub vertices: Vec<Vec3>,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}
