//! How long a sweep over the constraints takes, per kind and solver, and a whole step of a heap.
//! `cargo bench`. The plain scalar loop is the yardstick: compare ratios, not machines.

mod worlds;
mod yardstick;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use motes::world::Acceleration;
use motes::{Backend, Engine, Grains, Kind, Solver, World};
use std::ops::ControlFlow;
use worlds::stretched;
use yardstick::Yardstick;

fn main() {
    divan::main();
}

const SOLVERS: [Solver; 4] = [Solver::Seidel, Solver::Lockfree, Solver::Colored, Solver::Jacobi];

/// 20 iterations over all constraints; items are constraints.
fn iterations(bencher: Bencher, mut world: World, solver: Solver, threads: usize) {
    world.params.solver = solver;
    let count = world.constraint_count();
    let mut engine = Engine::new(world, Backend::Cpu { threads }).expect("legal");
    bencher.counter(ItemsCount::new(20 * count)).bench_local(|| {
        engine.iterate(20, |_, _| ControlFlow::Continue(())).expect("legal");
    });
}

#[divan::bench(args = SOLVERS, consts = [1, 2])]
fn solve_distance<const THREADS: usize>(bencher: Bencher, solver: Solver) {
    iterations(bencher, stretched(100), solver, THREADS);
}

/// A million constraints: more than the caches hold.
#[divan::bench(consts = [1, 2], sample_count = 20)]
fn solve_distance_500<const THREADS: usize>(bencher: Bencher) {
    iterations(bencher, stretched(500), Solver::Colored, THREADS);
}

/// 39 402 edges and 29 205 dihedral hinges.
#[divan::bench(args = SOLVERS, consts = [1, 2])]
fn solve_bend<const THREADS: usize>(bencher: Bencher, solver: Solver) {
    iterations(bencher, worlds::bent(), solver, THREADS);
}

/// A cube of 20 particles a side: 22 800 edges and 41 154 tetrahedra.
#[divan::bench(args = SOLVERS, consts = [1, 2])]
fn solve_volume<const THREADS: usize>(bencher: Bencher, solver: Solver) {
    iterations(bencher, worlds::cube(), solver, THREADS);
}

/// From the stretched cloth of 100 x 100 to a tenth of its residual.
#[divan::bench(args = [Acceleration::None, Acceleration::Chebyshev], consts = [1, 2], sample_count = 10)]
fn to_a_tenth<const THREADS: usize>(bencher: Bencher, acceleration: Acceleration) {
    let mut world = stretched(100);
    world.params.acceleration = acceleration;
    world.params.rho = 0.995;
    let engine = || Engine::new(world.clone(), Backend::Cpu { threads: THREADS }).expect("legal");
    let goal = 0.1 * world.residual(Kind::Distance);
    let mut count = 0;
    let reached = |world: &World| world.residual(Kind::Distance) <= goal;
    engine()
        .iterate(2000, |world, _| {
            count += 1;
            if reached(world) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("legal");
    bencher.with_inputs(engine).bench_local_refs(|engine| {
        engine.iterate(count, |_, _| ControlFlow::Continue(())).expect("legal");
    });
}

/// The yardstick: the same constraints in order of creation, as plainly as it can be written.
#[divan::bench]
fn yardstick_distance(bencher: Bencher) {
    let mut yardstick = Yardstick::of_cloth(&stretched(100), 100);
    bencher.counter(ItemsCount::new(20 * yardstick.len())).bench_local(|| {
        (0..20).for_each(|_| yardstick.iterate());
        black_box(&yardstick);
    });
}

/// A whole step of 27 000 grains falling apart.
#[divan::bench(consts = [1, 2], sample_count = 10)]
fn step_grains<const THREADS: usize>(bencher: Bencher) {
    let mut world = World::new();
    world.add_grains(&Grains { counts: [30; 3], jitter: 0.1, ..Grains::default() }).expect("legal");
    let mut engine = Engine::new(world, Backend::Cpu { threads: THREADS }).expect("legal");
    bencher.bench_local(|| engine.step(1.0 / 60.0).map(|r| r.contacts).expect("legal"));
}
