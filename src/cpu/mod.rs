//! The passes of a step, one file each.

pub mod collide_environment;
