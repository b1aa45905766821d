//! Impacts that happen at once: rows of touching balls hand on what hits them.

use glam::{DVec3, Vec3, Vec4};
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Collider, Engine, Grains, Particle, ParticleId, Phase, Solver, World};

const RADIUS: f32 = 0.05;

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

fn floor() -> Collider {
    Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::IDENTITY)
}

/// A world of this solver in which nothing rubs and nothing falls.
fn empty(solver: Solver, e: f32) -> World {
    let mut world = World::new();
    world.params.solver = solver;
    world.params.gravity = Vec3::ZERO;
    world.params.restitution = e;
    (world.params.friction, world.params.static_friction) = (0.0, 0.0);
    world
}

fn add(world: &mut World, position: Vec3, velocity: Vec3, mass: f32) -> ParticleId {
    let phase = Phase::group(world.particles().len() as u32);
    world.add_particle(&Particle { position, velocity, mass, radius: RADIUS, phase }).unwrap()
}

/// Balls of 1 kg along x that touch: the first `moving` of them come from further away.
fn row(world: &mut World, count: usize, moving: usize, speed: f32, height: f32) -> Vec<ParticleId> {
    let ball = |k: usize| {
        let comes = k < moving;
        let x = k as f32 * 2.0 * RADIUS - if comes { 0.13 } else { 0.0 };
        let velocity = if comes { Vec3::X * speed } else { Vec3::ZERO };
        add(world, Vec3::new(x, height, 0.0), velocity, 1.0)
    };
    (0..count).map(ball).collect()
}

fn velocities(engine: &Engine, ids: &[ParticleId]) -> Vec<Vec3> {
    ids.iter().map(|&id| engine.world().velocity(id).unwrap()).collect()
}

fn kinetic_energy(world: &World) -> f64 {
    let particles = world.particles();
    let of = |(x, v): (&Vec4, &Vec4)| 0.5 * f64::from(v.length_squared()) / f64::from(x.w);
    particles.positions().iter().zip(particles.velocities()).map(of).sum()
}

fn momentum(world: &World) -> DVec3 {
    let particles = world.particles();
    let of = |(x, v): (&Vec4, &Vec4)| v.truncate().as_dvec3() / f64::from(x.w);
    particles.positions().iter().zip(particles.velocities()).map(of).sum()
}

/// Steps for a time; energy must not rise. The solve rounds positions, over h; and `jacobi` ends its
/// iterations with more overlap left, which later substeps push out.
fn run(engine: &mut Engine, dt: f32, time: f32, what: &str) {
    let gain = if engine.world().params.solver == Solver::Jacobi { 1e-3 } else { 1e-5 };
    let mut energy = kinetic_energy(engine.world());
    for step in 0..(time / dt) as usize {
        engine.step(dt).unwrap();
        let now = kinetic_energy(engine.world());
        assert!(now <= energy * (1.0 + gain), "{what}: {energy} J, then {now} J in step {step}");
        energy = now;
    }
}

/// What a row of touching balls does, in double precision: the pair that closes fastest bounces, until
/// none closes faster than the threshold. The rest does not bounce: it is solved with e = 0.
fn exact(speeds: &mut [f64], e: f64, threshold: f64) {
    let closing = |speeds: &[f64], k: usize| speeds[k] - speeds[k + 1];
    let mut bounce = |e: f64, threshold: f64| loop {
        let pairs = 0..speeds.len() - 1;
        let fastest =
            pairs.max_by(|&a, &b| closing(speeds, a).total_cmp(&closing(speeds, b))).unwrap();
        let speed = closing(speeds, fastest);
        if speed <= threshold {
            break;
        }
        speeds[fastest] -= 0.5 * (1.0 + e) * speed;
        speeds[fastest + 1] += 0.5 * (1.0 + e) * speed;
    };
    bounce(e, threshold);
    bounce(0.0, 1e-9);
}

/// Balls that hit a row at rest, as (balls, those that come, restitution).
const ROWS: [(usize, usize, f32); 7] =
    [(5, 1, 1.0), (5, 2, 1.0), (5, 3, 1.0), (10, 1, 1.0), (10, 2, 1.0), (5, 1, 0.5), (5, 1, 0.9)];

#[test]
fn a_row_of_balls_hands_on_what_hits_it() {
    for &solver in Solver::ALL {
        for (count, moving, e) in ROWS {
            for (dt, substeps) in [(1.0 / 240.0, 1), (1.0 / 60.0, 8), (1.0 / 60.0, 1)] {
                let what = format!("{solver}, {moving} onto {count}, e = {e}, {substeps} substeps");
                let mut world = empty(solver, e);
                world.params.substeps = substeps;
                let ids = row(&mut world, count, moving, 2.0, 0.0);
                let mut wanted: Vec<f64> =
                    (0..count).map(|k| if k < moving { 2.0 } else { 0.0 }).collect();
                exact(&mut wanted, f64::from(e), f64::from(world.params.restitution_threshold));
                let mut engine = engine(world);
                run(&mut engine, dt, 0.25, &what);
                let v = velocities(&engine, &ids);
                let momentum: f64 = v.iter().map(|v| f64::from(v.x)).sum();
                let came = 2.0 * moving as f64;
                // What closes slowly is left to the solve, which rounds positions, over h.
                let bound = if e == 1.0 { 1e-5 } else { 5e-5 };
                assert!((momentum / came - 1.0).abs() < bound, "{what}: {momentum} kg m/s");
                for (v, wanted) in v.iter().zip(&wanted) {
                    let off = (f64::from(v.x) - wanted).abs();
                    assert!(off < 0.02, "{what}: {v} m/s, wanted {wanted}");
                }
            }
        }
    }
}

/// The same where gravity holds the row on a floor.
#[test]
fn a_row_on_a_floor_hands_on_what_hits_it() {
    for &solver in Solver::ALL {
        let mut world = empty(solver, 1.0);
        world.params.gravity = Vec3::NEG_Y * 9.81;
        world.params.substeps = 4;
        world.colliders.push(floor());
        let ids = row(&mut world, 5, 1, 2.0, RADIUS);
        let mut engine = engine(world);
        for _ in 0..30 {
            engine.step(1.0 / 120.0).unwrap();
        }
        let v = velocities(&engine, &ids);
        for (k, v) in v.iter().enumerate() {
            let wanted = if k == 4 { 2.0 } else { 0.0 };
            assert!((v.x - wanted).abs() < 0.02, "{solver}: ball {k} has {v}");
            assert!(v.y.abs() < 0.02, "{solver}: ball {k} has {v}");
        }
    }
}

/// A ball falls on a column that stands on a floor: down to the floor and back again, and the ball
/// leaves as fast as it came.
#[test]
fn a_column_on_a_floor_throws_back_what_falls_on_it() {
    for &solver in Solver::ALL {
        let mut world = empty(solver, 1.0);
        world.colliders.push(floor());
        let mut ids = Vec::new();
        for k in 0..5 {
            let y = RADIUS * (1.0 + 2.0 * k as f32);
            ids.push(add(&mut world, Vec3::Y * y, Vec3::ZERO, 1.0));
        }
        ids.push(add(&mut world, Vec3::Y * 0.7, Vec3::NEG_Y * 2.0, 1.0));
        let mut engine = engine(world);
        run(&mut engine, 1.0 / 240.0, 0.2, &format!("{solver}"));
        for (k, v) in velocities(&engine, &ids).iter().enumerate() {
            let wanted = if k == 5 { Vec3::Y * 2.0 } else { Vec3::ZERO };
            assert!((*v - wanted).length() < 0.02, "{solver}: ball {k} has {v}");
        }
    }
}

/// Two balls of different masses, far from the axes: the laws of one impact, to rounding.
#[test]
fn one_impact_is_exact() {
    for &solver in Solver::ALL {
        for e in [0.3f32, 0.7, 1.0] {
            let mut world = empty(solver, e);
            let way = Vec3::new(0.6, -0.48, 0.64);
            let a = add(&mut world, way * -0.2, way * 2.0, 1.0);
            let b = add(&mut world, way * 0.1, way * -1.0, 3.0);
            let mut engine = engine(world);
            run(&mut engine, 1.0 / 120.0, 0.3, &format!("{solver} {e}"));
            let v = velocities(&engine, &[a, b]);
            let parts = (v[1] - v[0]).dot(way);
            assert!((parts / (3.0 * e) - 1.0).abs() < 1e-4, "{solver} {e}: part at {parts} m/s");
            assert!((v[0] + 3.0 * v[1] + way).length() < 1e-5, "{solver} {e}: {v:?}");
        }
    }
}

/// A ball that is shot into a crowd: momentum is kept, and energy never rises.
#[test]
fn a_shot_into_a_crowd_keeps_momentum() {
    for &solver in Solver::ALL {
        for friction in [0.0, 0.4] {
            for e in [0.5, 1.0] {
                let what = format!("{solver}, friction {friction}, e = {e}");
                let mut world = empty(solver, e);
                (world.params.friction, world.params.static_friction) = (friction, friction);
                world.params.substeps = 4;
                let crowd = Grains {
                    counts: [6, 5, 4],
                    origin: Vec3::ZERO,
                    spacing: 2.0 * RADIUS,
                    radius: RADIUS,
                    jitter: 0.0,
                    mass: 1.0,
                    ..Grains::default()
                };
                world.add_grains(&crowd).unwrap();
                add(&mut world, Vec3::new(-0.4, 0.21, 0.17), Vec3::X * 5.0, 2.0);
                let mut engine = engine(world);
                run(&mut engine, 1.0 / 120.0, 0.5, &what);
                let momentum = momentum(engine.world());
                let off = (momentum - DVec3::X * 10.0).length() / 10.0;
                // The solve rounds positions, over h. Without locks workers may overwrite each
                // other's corrections.
                let bound = match solver {
                    Solver::Seidel | Solver::Colored => 1e-4,
                    Solver::Jacobi => 3e-4,
                    Solver::Lockfree => 0.05,
                };
                assert!(off < bound, "{what}: {momentum}");
            }
        }
    }
}

/// A heap at rest closes slower than the threshold: it does not notice what its material could do.
#[test]
fn a_heap_at_rest_stays_as_it_is() {
    for solver in [Solver::Seidel, Solver::Colored, Solver::Jacobi] {
        let rest = |e: f32| {
            let mut world = empty(solver, e);
            world.params.gravity = Vec3::NEG_Y * 9.81;
            (world.params.friction, world.params.static_friction) = (0.5, 0.6);
            world.params.substeps = 4;
            world.colliders.push(floor());
            let heap = Grains {
                counts: [4, 5, 4],
                origin: Vec3::Y * RADIUS,
                spacing: 2.0 * RADIUS,
                radius: RADIUS,
                jitter: 0.0,
                ..Grains::default()
            };
            world.add_grains(&heap).unwrap();
            let mut engine = engine(world);
            for _ in 0..60 {
                engine.step(1.0 / 60.0).unwrap();
            }
            engine.world().particles().positions().to_vec()
        };
        assert_eq!(rest(0.0), rest(0.8), "{solver}");
    }
}

/// Who bounces first does not depend on the workers.
#[test]
fn impacts_have_the_same_bits_for_any_number_of_threads() {
    for solver in [Solver::Seidel, Solver::Colored, Solver::Jacobi] {
        let hash = |threads: usize| {
            let mut world = empty(solver, 0.8);
            world.params.gravity = Vec3::NEG_Y * 9.81;
            world.colliders.push(floor());
            let heap = Grains {
                counts: [12, 12, 12],
                origin: Vec3::Y,
                spacing: 0.105,
                radius: RADIUS,
                jitter: 0.2,
                velocity: Vec3::new(0.5, -3.0, 0.2),
                ..Grains::default()
            };
            world.add_grains(&heap).unwrap();
            let mut engine = Engine::new(world, Backend::Cpu { threads }).unwrap();
            for _ in 0..60 {
                engine.step(1.0 / 120.0).unwrap();
            }
            engine.world().hash()
        };
        let one = hash(1);
        assert!([2, 3, 8].iter().all(|&threads| hash(threads) == one), "{solver}");
    }
}
