//! Meshes: loading, triangle hierarchies, distances; and how they become particles: voxels, their
//! distances, cubes of several sizes, and the mass of these.

pub mod cache;
pub mod distance_field;
pub mod mass;
pub mod merge;
pub mod mesh;
mod obj;
mod refine;
pub mod sample;
pub mod skin;
pub mod solid;
pub mod triangle_bvh;
pub mod voxel;
