//! Stages of the passes over contacts: pairs by tile, by slot or gathered, planes by particle.

use super::{Groups, Stage};
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::plan::Plan;
use crate::world::Solver;

/// Colours of tiles (`cpu/tiles.rs`).
const COLORS: u32 = 27;

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    let each = |entry| Stage::new(entry, Groups::Particles);
    match (dispatch.pass, dispatch.part) {
        (_, Part::Count) => out.push(each("touching")),
        (Pass::SolveEnvironment, Part::Start) => out.push(each("start")),
        (Pass::SolveEnvironment, _) => out.push(each("main")),
        (Pass::Restitution, part) if plan.solver == Solver::Jacobi => {
            let walls = u32::from(part != Part::Pairs);
            out.push(each("gather").with([walls, 0, 0]));
        }
        (Pass::Restitution, Part::Walls) => out.push(each("walls")),
        (pass, _) => pairs(plan.solver, pass == Pass::SolveContacts, out),
    }
}

/// The pairs in the solver's order; only contacts may `race`.
fn pairs(solver: Solver, race: bool, out: &mut Vec<Stage>) {
    match solver {
        Solver::Colored => {
            let tiles = |c| Stage::new("tiles", Groups::TilesOfColor(c)).with([c, 0, 0]);
            out.extend((0..COLORS).map(tiles));
            out.push(Stage::new("far_pairs", Groups::Exactly(1)));
        }
        Solver::Lockfree if race => out.push(Stage::new("lockfree", Groups::Particles)),
        Solver::Seidel | Solver::Lockfree => out.push(Stage::new("serial", Groups::Exactly(1))),
        Solver::Jacobi => out.push(Stage::new("gather", Groups::Particles)),
    }
}
