//! Meshes: loading, triangle hierarchies, distances.

pub mod mesh;
mod obj;
pub mod triangle_bvh;
