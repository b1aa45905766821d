//! Programs without a device: they run what the tree says, and they stay short.

use super::*;
use crate::step::schedule;
use crate::world::collider::{Pose, Shape};
use crate::world::{
    BroadPhase, Cloth, Collider, Grains, ListDescription, ListReach, Solver, World,
};
use glam::Vec3;
use std::convert::Infallible;

/// A world that has every kind of node: loops, lists, a sort, passes that read the substep's number.
fn world(solver: Solver) -> World {
    let mut world = World::new();
    let ids = world.add_cloth(&Cloth { columns: 6, rows: 6, ..Cloth::default() }).unwrap();
    world.drag(ids[0], Vec3::Y, 1e-3).unwrap();
    world.add_grains(&Grains { counts: [3; 3], ..Grains::default() }).unwrap();
    world.colliders.push(Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::IDENTITY));
    world.params.solver = solver;
    world.params.broad_phase = BroadPhase::Grid;
    world.params.restitution = 0.2;
    world.params.substeps = 5;
    world.params.iterations = 7;
    let list = ListDescription::new("kernel", ListReach::Radii(2.0));
    world.add_list(list).unwrap();
    world.commit();
    world
}

/// The turns of a step, straight from the tree.
fn turns(nodes: &[Node], substep: u32, list: ListId, when_stale: bool, out: &mut Vec<Turn>) {
    for node in nodes {
        match node {
            Node::Run(dispatch) => {
                let substep = match dispatch.pass {
                    Pass::Bounds => substep.min(1),
                    Pass::CollideEnvironment | Pass::SolvePin => substep,
                    _ => 0,
                };
                out.push(Turn { substep, list, dispatch: *dispatch, when_stale });
            }
            Node::When { condition, body } => {
                turns(body, substep, list, *condition == Condition::ListIsStale, out);
            }
            Node::ForList { list, body, .. } => turns(body, substep, *list, when_stale, out),
            Node::Times { what, count, body } => {
                for k in 0..*count {
                    let substep = if *what == Loop::Substeps { k } else { substep };
                    turns(body, substep, list, when_stale, out);
                }
            }
        }
    }
}

fn played(program: &Program) -> Vec<Turn> {
    let mut out = Vec::new();
    let done: Result<(), Infallible> = program.each(true, &mut |chunk| {
        out.extend_from_slice(&program.chunks[chunk]);
        Ok(())
    });
    done.unwrap();
    out
}

#[test]
fn a_program_does_what_the_tree_says_however_little_is_unrolled() {
    for &solver in Solver::ALL {
        let world = world(solver);
        let (schedule, plan) = (schedule(&world), Plan::of(&world, None, 64));
        let mut expected = Vec::new();
        turns(&schedule.nodes, 0, ListId::CONTACTS, false, &mut expected);
        for unrolled in [0, 1, 10, 100, 1000, UNROLLED] {
            let program = Program::of(&schedule, &plan, unrolled);
            assert!(played(&program) == expected, "{solver}, {unrolled}");
        }
        let whole = Program::of(&schedule, &plan, UNROLLED);
        assert!(matches!(whole.plays[..], [Play::Sort(_), Play::Chunk(_)]), "one piece and a sort");
        // The control: a dispatch that is left out is missed.
        let mut short = schedule.clone();
        let Some(Node::Times { body, .. }) =
            short.nodes.iter_mut().find(|node| matches!(node, Node::Times { .. }))
        else {
            panic!("there are substeps")
        };
        body.pop();
        assert!(played(&Program::of(&short, &plan, 10)) != expected);
    }
}

#[test]
fn a_program_stays_short_however_long_its_loops_are() {
    let of = |substeps: u32, iterations: u32| {
        let mut world = world(Solver::Colored);
        world.params.substeps = substeps;
        world.params.iterations = iterations;
        let plan = Plan::of(&world, None, 64);
        let program = Program::of(&schedule(&world), &plan, UNROLLED);
        let kernels = |turn: &Turn| kernels(&turn.dispatch, &plan).len();
        let recorded: usize = program.chunks.iter().flatten().map(kernels).sum();
        (recorded, program.plays.len())
    };
    let (some, many) = (of(1, 5000), of(1, 100_000));
    assert!(some.0 < 1000, "{some:?}");
    assert_eq!(some, many);
    // A substep adds what reads its number: two times obstacles, and a pin.
    let (some, many) = (of(500, 5000), of(1000, 5000));
    let obstacles = 2 * kernels_of_obstacles();
    assert_eq!(many.0 - some.0, 500 * (obstacles + 1), "{some:?} {many:?}");
}

/// Kernels of a dispatch of `collide_environment`.
fn kernels_of_obstacles() -> usize {
    let world = world(Solver::Colored);
    let all = Dispatch { pass: Pass::CollideEnvironment, part: crate::step::Part::All };
    kernels(&all, &Plan::of(&world, None, 64)).len()
}
