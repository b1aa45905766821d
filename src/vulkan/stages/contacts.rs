//! Stages of the passes over contacts: pairs by tile, by slot or gathered, planes by particle.

use super::{Groups, Stage};
use crate::step::{Dispatch, Part, Pass, Schedule};
use crate::vulkan::plan::Plan;
use crate::world::Solver;

/// Colours of tiles (`cpu/tiles.rs`).
const COLORS: u32 = 27;

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    match dispatch.pass {
        Pass::SolveEnvironment => {
            let entry = if dispatch.part == Part::Start { "start" } else { "main" };
            out.push(Stage::new(entry, Groups::Particles));
        }
        Pass::Restitution if plan.solver == Solver::Jacobi => {
            let obstacles = u32::from(plan.colliders > 0);
            out.push(Stage::new("gather", Groups::Particles).with([obstacles, 0, 0]));
        }
        Pass::Restitution => {
            if plan.pairs_bounce {
                pairs(plan.solver, false, out);
            }
            if plan.colliders > 0 {
                out.push(Stage::new("walls", Groups::Particles));
            }
        }
        pass => pairs(plan.solver, pass == Pass::SolveContacts, out),
    }
}

/// The pairs in the solver's order; only contacts may `race`.
fn pairs(solver: Solver, race: bool, out: &mut Vec<Stage>) {
    match solver {
        Solver::Colored => {
            let tiles = |c| Stage::new("tiles", Groups::TilesOfColor(c)).with([c, 0, 0]);
            out.extend((0..COLORS).map(tiles));
            out.push(Stage::new("apart", Groups::Exactly(1)));
        }
        Solver::Lockfree if race => out.push(Stage::new("lockfree", Groups::Particles)),
        Solver::Seidel | Solver::Lockfree => out.push(Stage::new("serial", Groups::Exactly(1))),
        Solver::Jacobi => out.push(Stage::new("gather", Groups::Particles)),
    }
}

/// Stages that count what touches at the end of a step.
pub(crate) fn count(schedule: &Schedule, _: &Plan, out: &mut Vec<(Pass, Stage)>) {
    let has = |list: &[Dispatch], pass| list.iter().any(|d| d.pass == pass);
    let touching = Stage::new("touching", Groups::Particles);
    if has(&schedule.predict, Pass::Bounds) {
        out.push((Pass::SolveContacts, touching));
    }
    if has(&schedule.collide, Pass::CollideEnvironment) {
        out.push((Pass::SolveEnvironment, touching));
    }
}
