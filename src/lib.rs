//! motes: a particle physics engine.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod error;
pub mod export;
pub mod file;
pub mod shape;

pub use error::{Error, Result};
