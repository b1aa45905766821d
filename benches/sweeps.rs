//! How long a sweep over the constraints takes, per kind and solver, and a whole step of a heap.
//! `cargo bench`. The plain scalar loop is the yardstick: compare ratios, not machines.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use glam::Vec3;
use motes::world::{Acceleration, LatticeEdges};
use motes::{Backend, Cloth, Engine, Grains, Kind, Lattice, Material, ParticleId, Solver, World};
use std::ops::ControlFlow;

fn main() {
    divan::main();
}

/// A square cloth stretched 4 x an axis; 39 402 distance constraints for 100, 998 002 for 500.
fn stretched(size: u32, bend: Option<Material>) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let cloth = Cloth { columns: size, rows: size, spacing: 0.1, bend, ..Cloth::default() };
    for id in world.add_cloth(&cloth).expect("a legal cloth") {
        let at = world.position(id).expect("just added") * 4.0;
        world.set_position(id, at).expect("finite");
    }
    world
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
    iterations(bencher, stretched(100, None), solver, THREADS);
}

/// A million constraints: more than the caches hold.
#[divan::bench(consts = [1, 2], sample_count = 20)]
fn solve_distance_500<const THREADS: usize>(bencher: Bencher) {
    iterations(bencher, stretched(500, None), Solver::Colored, THREADS);
}

/// 39 402 edges and 29 205 dihedral hinges.
#[divan::bench(args = SOLVERS, consts = [1, 2])]
fn solve_bend<const THREADS: usize>(bencher: Bencher, solver: Solver) {
    let mut world = stretched(100, Some(Material::compliant(1e-3)));
    // Out of its plane, so that no hinge is flat.
    for id in (0..10_000).map(ParticleId) {
        let at = world.position(id).expect("there");
        let height = 0.2 * (id.0 as f32 * 0.7).sin();
        world.set_position(id, at + Vec3::Y * height).expect("finite");
    }
    iterations(bencher, world, solver, THREADS);
}

/// A cube of 20 particles a side: 22 800 edges and 41 154 tetrahedra.
#[divan::bench(args = SOLVERS, consts = [1, 2])]
fn solve_volume<const THREADS: usize>(bencher: Bencher, solver: Solver) {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let cube = Lattice {
        counts: [20; 3],
        edges: LatticeEdges::Axis,
        volume: Some(Material::default()),
        ..Lattice::default()
    };
    for id in world.add_lattice(&cube).expect("a legal lattice") {
        let at = world.position(id).expect("just added") * Vec3::new(2.0, 0.7, 1.0);
        world.set_position(id, at).expect("finite");
    }
    iterations(bencher, world, solver, THREADS);
}

/// From the stretched cloth of 100 x 100 to a tenth of its residual.
#[divan::bench(args = [Acceleration::None, Acceleration::Chebyshev], consts = [1, 2], sample_count = 10)]
fn to_a_tenth<const THREADS: usize>(bencher: Bencher, acceleration: Acceleration) {
    let mut world = stretched(100, None);
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
    let world = stretched(100, None);
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
