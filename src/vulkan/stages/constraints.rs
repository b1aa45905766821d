//! Stages of the passes over constraints, and the layout of `iterates`.
//!
//! The words of `iterates` for n particles: first n squared corrections, by group; then two iterates
//! of 3 n words, x y z of each particle; then, for each kind and last for the pins, two iterates of
//! as many words as there are rows. Iteration k, counted from 1 where the acceleration began, finds
//! the iterate before last in place k % 2 and leaves its own there.

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::layout::state as s;
use crate::vulkan::plan::{Plan, SetPlan};
use crate::world::constraints::OVERFLOW_COLOR;
use crate::world::{Kind, Solver, World};

/// How many rows one invocation of `lockfree` takes in order; `%run` in the shaders.
const RUN: usize = 13;
/// How many colours a kind may have. Each is closed up by its own workgroup; `%colors` in
/// `break_constraints`.
const COLORS: u32 = OVERFLOW_COLOR as u32 + 1;

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    match dispatch.pass {
        Pass::Accelerate if dispatch.part == Part::Begin => {
            out.push(Stage::new("begin", Groups::One));
        }
        Pass::Accelerate => {
            let items = most_rows(plan).max(plan.pins).max(plan.particles);
            out.push(Stage::new("carry", Groups::Items(items)));
            out.push(Stage::new("guard", Groups::One));
        }
        Pass::BreakConstraints => {
            let rows = Groups::Items(most_rows(plan));
            out.push(Stage::new("judge", rows));
            let spanning = Kind::SETS.into_iter().zip(&plan.sets);
            let spanning = spanning.filter(|(kind, _)| *kind != Kind::Distance);
            let most = spanning.map(|(_, set)| set.cap).max().unwrap_or(0);
            out.push(Stage::new("torn", Groups::Items(most)));
            out.push(Stage::new("close", Groups::Exactly(plan.sets.len() as u32 * COLORS)));
            out.push(Stage::new("incidence", Groups::Particles));
            out.push(Stage::new("busiest", rows));
            out.push(Stage::new("natural", Groups::Exactly(plan.sets.len() as u32)));
        }
        pass => match Kind::solved_by(pass) {
            Some(Kind::Pin) => out.push(Stage::new("main", Groups::Items(plan.pins))),
            Some(kind) => {
                out.push(sweep(dispatch.part, &plan.sets[kind as usize], plan.solver));
            }
            None => {}
        },
    }
}

/// One sweep over the rows of a kind, or over one colour of them.
fn sweep(part: Part, set: &SetPlan, solver: Solver) -> Stage {
    match (solver, part) {
        (Solver::Seidel, _) => Stage::new("seidel", Groups::One),
        (Solver::Lockfree, _) => Stage::new("lockfree", Groups::Items(set.cap.div_ceil(RUN))),
        (Solver::Colored, Part::Color(color)) => {
            let count = set.colors.get(usize::from(color)).map_or(0, |range| range.len());
            let stage = match usize::from(color) {
                // Rows of this colour share particles, so they are taken one after the other.
                OVERFLOW_COLOR => Stage::new("serial", Groups::One),
                _ => Stage::new("colored", Groups::Items(count)),
            };
            stage.with([u32::from(color), 0, 0])
        }
        (Solver::Jacobi | Solver::Colored, _) => Stage::new("jacobi", Groups::Items(set.cap)),
    }
}

fn most_rows(plan: &Plan) -> usize {
    plan.sets.iter().map(|set| set.cap).max().unwrap_or(0)
}

/// Words of `iterates`.
pub(crate) fn iterate_words(plan: &Plan) -> usize {
    if !plan.accelerated {
        return 0;
    }
    let rows: usize = plan.sets.iter().map(|set| set.cap).sum();
    7 * plan.particles + 2 * (rows + plan.pins)
}

/// Fills `iterates` with what the CPU has, but for the corrections by group, which belong to one
/// iteration.
pub(crate) fn encode_iterates(_: &World, scratch: &Scratch, plan: &Plan, out: &mut [u32]) {
    if !plan.accelerated {
        return;
    }
    let (past, n) = (&scratch.iterates, plan.particles);
    let last = past.count as usize % 2;
    for (turn, iterate) in [(last, &past.position.last), (1 - last, &past.position.before)] {
        let words = &mut out[n + 3 * n * turn..n + 3 * n * (turn + 1)];
        for (place, p) in words.chunks_exact_mut(3).zip(iterate) {
            place.copy_from_slice(&p.truncate().to_array().map(f32::to_bits));
        }
    }
    let caps = plan.sets.iter().map(|set| set.cap).chain([plan.pins]);
    let mut first = 7 * n;
    for (cap, past) in caps.zip(past.rows.iter().chain([&past.pins])) {
        for (turn, iterate) in [(last, &past.last), (1 - last, &past.before)] {
            let words = &mut out[first + cap * turn..first + cap * (turn + 1)];
            for (word, lambda) in words.iter_mut().zip(iterate) {
                *word = lambda.to_bits();
            }
        }
        first += 2 * cap;
    }
}

/// What `state` holds of these passes.
pub(crate) fn encode_state(_: &World, scratch: &Scratch, _: &Plan, out: &mut [u32]) {
    let past = &scratch.iterates;
    out[s::ACCELERATE_COUNT] = past.count;
    out[s::ACCELERATE_OMEGA] = past.omega.to_bits();
    out[s::ACCELERATE_RHO] = past.rho.to_bits();
    out[s::ACCELERATE_LEAST] = (past.least as f32).to_bits();
}
