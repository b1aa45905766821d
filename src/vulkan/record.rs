//! A step as one command buffer: every stage of every dispatch of the schedule, with a timestamp
//! after each dispatch. It is recorded when the schedule or a buffer changes, not otherwise.

use super::layout::state;
use super::plan::Plan;
use super::stages::{Groups, Stage, constraints, contacts, stages};
use crate::step::{Dispatch, Part, Pass, Schedule};

/// Where in a step a dispatch stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    pub substep: u32,
    pub dispatch: Dispatch,
    /// Only when the lists are stale: its groups are counted by the device.
    pub when_stale: bool,
}

/// The dispatches of a step in order, but for those that sort particles.
pub(crate) fn turns(schedule: &Schedule) -> Vec<Turn> {
    let mut out = Vec::new();
    let mut add = |substep, list: &[Dispatch], when_stale| {
        out.extend(list.iter().map(|&dispatch| Turn { substep, dispatch, when_stale }));
    };
    add(0, &schedule.begin, false);
    for substep in 0..schedule.substeps {
        add(substep, &schedule.predict, false);
        add(substep, &schedule.lists, true);
        add(substep, &schedule.collide, false);
        (0..schedule.stabilization).for_each(|_| add(substep, &schedule.stabilize, false));
        add(substep, &schedule.settle, false);
        (0..schedule.iterations).for_each(|_| add(substep, &schedule.iterate, false));
        add(substep, &schedule.finish, false);
    }
    out
}

/// The dispatches that put particles in order of place.
pub(crate) fn sorting(schedule: &Schedule) -> Vec<Turn> {
    let turn = |&dispatch| Turn { substep: 0, dispatch, when_stale: false };
    schedule.sort.iter().map(turn).collect()
}

/// What the device does for a turn.
pub(crate) fn work(turn: &Turn, plan: &Plan) -> Vec<(Pass, Stage)> {
    let (pass, mut list) = (turn.dispatch.pass, Vec::new());
    stages(&turn.dispatch, plan, &mut list);
    let mut work: Vec<_> = list.into_iter().map(|stage| (pass, stage)).collect();
    // Every substep begins its acceleration anew.
    if pass == Pass::Predict && turn.dispatch.part == Part::All {
        constraints::begin_substep(plan, &mut work);
    }
    work
}

/// What the device does at the end of a step: counts contacts for the report.
pub(crate) fn ending(schedule: &Schedule, plan: &Plan) -> Vec<(Pass, Stage)> {
    let mut work = Vec::new();
    contacts::count(schedule, plan, &mut work);
    work
}

/// How many workgroups a stage takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    Fixed(u32),
    /// In this slot of the indirect arguments.
    Indirect(u32),
}

/// The size of a stage; `when_stale`, what the device counts.
pub(crate) fn size(groups: Groups, plan: &Plan, when_stale: bool) -> Size {
    use state::slot;
    let each = |items: usize| Size::Fixed(items.div_ceil(plan.workgroup as usize) as u32);
    let counted =
        |at: u32, otherwise: Size| if when_stale { Size::Indirect(at) } else { otherwise };
    match groups {
        Groups::Particles => counted(slot::PARTICLES, each(plan.particles)),
        Groups::One => counted(slot::ONE, Size::Fixed(1)),
        Groups::Blocks => {
            let blocks = plan.particles.div_ceil(super::layout::COUNTED) as u32;
            counted(slot::BLOCKS, Size::Fixed(blocks))
        }
        Groups::Buckets => Size::Indirect(slot::BUCKETS),
        Groups::TilesOfColor(color) => Size::Indirect(slot::TILE_COLOR + color),
        Groups::Tiles => Size::Indirect(slot::TILES),
        Groups::Nodes => Size::Indirect(slot::NODES),
        Groups::Items(items) => each(items),
        Groups::Exactly(count) => Size::Fixed(count),
    }
}
