//! Stages of the trees and of sorting, and the layout of what they leave.

use super::Stage;
use crate::cpu::Scratch;
use crate::pass::Buffer;
use crate::step::Dispatch;
use crate::vulkan::plan::Plan;
use crate::world::World;

pub(super) fn stages(_: &Dispatch, _: &Plan, _: &mut Vec<Stage>) {}

/// Words of `octree_nodes`.
pub(crate) fn octree_words(_: &Plan) -> usize {
    0
}

/// Words of `bvh_nodes`.
pub(crate) fn bvh_words(_: &Plan) -> usize {
    0
}

/// `codes`, `radix_next`, `octree_nodes`, `bvh_nodes` from what the CPU has.
pub(crate) fn encode(_: Buffer, _: &World, _: &Scratch, _: &Plan, _: &mut [u32]) {}

/// What `state` holds of these passes.
pub(crate) fn encode_state(_: &World, _: &Scratch, _: &Plan, _: &mut [u32]) {}
