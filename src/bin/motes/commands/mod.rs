//! The commands of `motes`, one file each, and what several of them share.

pub(crate) mod bench;
pub(crate) mod converge;
pub(crate) mod doctor;
pub(crate) mod export;
mod film;
pub(crate) mod render;
pub(crate) mod run;
pub(crate) mod scenes;
pub(crate) mod skeleton;
pub(crate) mod view;
pub(crate) mod voxelize;

// Before a run: what the flags ask for, where results go, and what machine this is.
pub(crate) mod machine;
pub(crate) mod output;
pub(crate) mod setup;

// During and after a run: how far it is, and what it cost.
mod progress;
mod quality;
mod stats;
mod summary;
mod workers;

// How results are shown.
mod plot;
mod table;
