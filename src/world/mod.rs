//! What is simulated.

pub mod collider;
