//! Meshes made into particles, against brute force and exact counts.

#[path = "shape/merged.rs"]
mod merged;
#[path = "shape/skins.rs"]
mod skins;
#[path = "shape/solids.rs"]
mod solids;
#[path = "shape/soups.rs"]
mod soups;
#[path = "shape/surface.rs"]
mod surface;
#[path = "shape/voxels.rs"]
mod voxels;
