//! Stages of these passes.

use super::Stage;
use crate::step::Dispatch;
use crate::vulkan::plan::Plan;

pub(super) fn stages(_: &Dispatch, _: &Plan, _: &mut Vec<Stage>) {}
