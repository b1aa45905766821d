//! Skeletons: bones that hang on each other, clips that move them, and meshes that follow them; read
//! from BVH motion capture, glTF 2.0 and GLB.
//!
//! All of it is computed in f64, with the same operations on every machine: where a bone is drives
//! obstacles, and results must have the same bits everywhere.

mod bvh;
mod clip;
mod gltf;
mod limb;
mod pose;
mod rig;
mod skinned;

pub use clip::{Channel, Clip, Interpolation, Track};
pub use limb::Limb;
pub use pose::{Bone, Pose, Skeleton, Transform};
pub use rig::Rig;
pub use skinned::{Bind, SkinnedMesh};
