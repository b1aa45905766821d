//! How long a sweep over the constraints of a cloth takes, per solver, and a whole step of a heap.
//! `cargo bench`. The plain scalar loop is the yardstick: compare ratios, not machines.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use glam::Vec3;
use motes::{Backend, Cloth, Engine, Grains, Kind, Solver, World};
use std::ops::ControlFlow;

fn main() {
    divan::main();
}

/// A 100 x 100 cloth stretched 4 x an axis: 39 402 distance constraints.
fn stretched() -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let cloth = Cloth { columns: 100, rows: 100, spacing: 0.1, ..Cloth::default() };
    for id in world.add_cloth(&cloth).expect("a legal cloth") {
        let at = world.position(id).expect("just added") * 4.0;
        world.set_position(id, at).expect("finite");
    }
    world
}

const SOLVERS: [Solver; 4] = [Solver::Seidel, Solver::Lockfree, Solver::Colored, Solver::Jacobi];

/// `solve_distance`, 20 iterations.
#[divan::bench(args = SOLVERS, consts = [1, 2])]
fn solve_distance<const THREADS: usize>(bencher: Bencher, solver: Solver) {
    let mut world = stretched();
    world.params.solver = solver;
    let count = world.count(Kind::Distance);
    let mut engine = Engine::new(world, Backend::Cpu { threads: THREADS }).expect("legal");
    bencher.counter(ItemsCount::new(20 * count)).bench_local(|| {
        engine.iterate(20, |_, _| ControlFlow::Continue(())).expect("legal");
    });
}

/// The yardstick: the same constraints in order of creation, as plainly as it can be written.
#[divan::bench]
fn yardstick_distance(bencher: Bencher) {
    let world = stretched();
    let mut p: Vec<[f32; 4]> = world.particles().positions().iter().map(|p| p.to_array()).collect();
    let set = world.distance();
    let edges: Vec<([u32; 2], f32)> =
        (0..set.len()).map(|i| (set.particles(i), set.rest()[i])).collect();
    bencher.counter(ItemsCount::new(20 * edges.len())).bench_local(|| {
        for _ in 0..20 {
            for &([a, b], rest) in &edges {
                let (pa, pb) = (p[a as usize], p[b as usize]);
                let d = [pa[0] - pb[0], pa[1] - pb[1], pa[2] - pb[2]];
                let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
                let s = (rest - length) / ((pa[3] + pb[3]) * length);
                for k in 0..3 {
                    p[a as usize][k] += d[k] * s * pa[3];
                    p[b as usize][k] -= d[k] * s * pb[3];
                }
            }
        }
        black_box(&p);
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
