//! Stages of bounds, grid, lists and contact colours, and the layout of what they leave.

use super::Stage;
use crate::cpu::Scratch;
use crate::pass::Buffer;
use crate::step::Dispatch;
use crate::vulkan::plan::Plan;
use crate::world::World;

pub(super) fn stages(_: &Dispatch, _: &Plan, _: &mut Vec<Stage>) {}

/// Words of `grid_slab`.
pub(crate) fn slab_words(_: &Plan) -> usize {
    0
}

/// Words of `contact_rows` behind the pairs.
pub(crate) fn pair_scratch(_: &Plan) -> usize {
    0
}

/// `grid_bucket`, `grid_start`, `grid_slab`, `neighbors`, `contact_rows` from what the CPU has.
pub(crate) fn encode(_: Buffer, _: &World, _: &Scratch, _: &Plan, _: &mut [u32]) {}

/// What `state` holds of these passes: box, grid, tiles, indirect arguments.
pub(crate) fn encode_state(_: &World, _: &Scratch, _: &Plan, _: &mut [u32]) {}
