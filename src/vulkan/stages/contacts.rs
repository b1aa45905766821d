//! Stages of these passes.

use super::Stage;
use crate::step::Dispatch;
use crate::vulkan::plan::Plan;

pub(super) fn stages(_: &Dispatch, _: &Plan, _: &mut Vec<Stage>) {}

/// Stages that count what touches at the end of a step.
pub(crate) fn count(_: &crate::step::Schedule, _: &Plan, _: &mut Vec<(crate::step::Pass, Stage)>) {}
