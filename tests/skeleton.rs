//! Skeletons: what is read from BVH, glTF and GLB files, against an evaluation of its own; and files
//! that are no good.

#[path = "skeleton/bad.rs"]
mod bad;
#[path = "skeleton/bvh.rs"]
mod bvh;
#[path = "skeleton/gltf.rs"]
mod gltf;
#[path = "skeleton/matrix.rs"]
mod matrix;
