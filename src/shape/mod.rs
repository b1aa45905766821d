//! Meshes: loading, triangle hierarchies, distances.

pub mod mesh;
pub mod triangle_bvh;
