//! motes: a particle physics engine.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod cpu;
pub mod error;
pub mod shape;
pub mod world;

pub use error::{Error, Result};
