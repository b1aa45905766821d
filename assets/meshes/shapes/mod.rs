//! The shapes, a file for each way of making one.

pub mod block;
pub mod rabbit;
pub mod round;
pub mod sphere;
pub mod surface;
pub mod tetrahedra;
pub mod tube;
