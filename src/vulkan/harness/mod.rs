//! For tests alone, behind the feature `harness`: each pass on both backends side by side, and
//! tests that open a device taking turns.

#[cfg(feature = "harness")]
pub mod parity;
pub mod trial;
