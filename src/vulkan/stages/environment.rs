//! Stages of `collide_environment`, and the layout of `colliders`.

use super::Stage;
use crate::step::Dispatch;
use crate::vulkan::plan::Plan;
use crate::world::World;

pub(super) fn stages(_: &Dispatch, _: &Plan, _: &mut Vec<Stage>) {}

/// Words of `colliders` for a world.
pub(crate) fn words(_: &World) -> usize {
    0
}

/// `colliders` for a step of substeps of `h` seconds from the world's time on.
pub(crate) fn encode(_: &World, _: f32, _: &mut [u32]) {}
