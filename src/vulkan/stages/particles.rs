//! Stages of the passes that take each particle alone: an invocation each.

use super::{Groups, Stage};
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::plan::Plan;
use crate::world::Kind;

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    let stage = |entry| Stage::new(entry, Groups::Particles);
    let stage = match (dispatch.pass, dispatch.part) {
        // Pins are solved in place: they have no corrections.
        (Pass::ApplyDeltas, Part::Of(Kind::Pin)) => return,
        (Pass::ApplyDeltas, Part::Of(kind)) => stage("of").with([kind as u32, 0, 0]),
        (Pass::ApplyDeltas, _) => stage("all"),
        _ => stage("main"),
    };
    out.push(stage);
}
