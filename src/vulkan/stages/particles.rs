//! Stages of the passes that take each particle alone: an invocation each.

use super::{Groups, Stage};
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::plan::Plan;
use crate::world::Kind;

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    let stage = |entry| Stage::new(entry, Groups::Particles);
    let stage = match (dispatch.pass, dispatch.part) {
        (Pass::ApplyDeltas, Part::Of(kind)) => match kind {
            Kind::Distance => stage("of").with([0, 0, 0]),
            Kind::Bend => stage("of").with([1, 0, 0]),
            Kind::Volume => stage("of").with([2, 0, 0]),
            Kind::Pin => return, // pins are solved in place
        },
        (Pass::ApplyDeltas, Part::Start) => stage("start"),
        (Pass::ApplyDeltas, Part::Settle) => stage("settle"),
        (Pass::ApplyDeltas, Part::Velocity) => stage("velocity"),
        (Pass::ApplyDeltas, _) => stage("all"),
        _ => stage("main"),
    };
    out.push(stage);
}
