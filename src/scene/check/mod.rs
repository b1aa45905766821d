//! Checks: what a scene promises of its run. [`Checker`] watches a run and says which held.

mod fluid;
mod measure;
mod overlap;
mod slope;
mod table;
mod tunnel;
mod watch;

pub(super) use table::{Check, read};
pub use watch::{CheckResult, Checker};
