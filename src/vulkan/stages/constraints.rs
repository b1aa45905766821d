//! Stages of the passes over constraints, and the layout of `iterates`.

use super::Stage;
use crate::cpu::Scratch;
use crate::step::Dispatch;
use crate::vulkan::plan::Plan;
use crate::world::World;

pub(super) fn stages(_: &Dispatch, _: &Plan, _: &mut Vec<Stage>) {}

/// Stages at the start of a substep, before its first pass (none where nothing accelerates).
pub(crate) fn begin_substep(_: &Plan, _: &mut Vec<(crate::step::Pass, Stage)>) {}

/// Words of `iterates`.
pub(crate) fn iterate_words(_: &Plan) -> usize {
    0
}

/// `iterates` from what the CPU has.
pub(crate) fn encode_iterates(_: &World, _: &Scratch, _: &Plan, _: &mut [u32]) {}

/// What `state` holds of these passes.
pub(crate) fn encode_state(_: &World, _: &Scratch, _: &Plan, _: &mut [u32]) {}
