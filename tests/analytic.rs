//! Physics against answers: each test knows the result from a formula.

use glam::{Quat, Vec3};
use motes::world::collider::{Pose, Shape};
use motes::world::{Integrator, Method};
use motes::{
    Backend, Bond, Cloth, Collider, Engine, Force, ForceKind, Lattice, Particle, ParticleId, Phase,
    Solver, World,
};
use std::f64::consts::PI;

const G: f32 = 9.81;

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 1 }).unwrap()
}

fn particle(position: Vec3, mass: f32, radius: f32) -> Particle {
    Particle { position, velocity: Vec3::ZERO, mass, radius, phase: Phase::group(0) }
}

fn floor(friction: f32) -> Collider {
    let mut floor = Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::IDENTITY);
    floor.coefficients.friction_kinetic = Some(friction);
    floor.coefficients.friction_static = Some(friction);
    floor
}

#[test]
fn free_fall_is_exact() {
    let (n, h) = (240, 1.0 / 64.0);
    for (integrator, expected) in [
        (Integrator::Symplectic, G * h * h * (n * (n + 1)) as f32 / 2.0),
        (Integrator::Verlet, 0.5 * G * (n as f32 * h).powi(2)),
    ] {
        let mut world = World::new();
        world.params.integrator = integrator;
        world.params.substeps = 1;
        let id = world.add_particle(&particle(Vec3::ZERO, 2.0, 0.1)).unwrap();
        let mut engine = engine(world);
        for _ in 0..n {
            engine.step(h).unwrap();
        }
        let fallen = -engine.world().position(id).unwrap().y;
        let error = (fallen - expected).abs() / expected;
        // Each of the 240 steps rounds the position by up to half an ulp (4 um at 64 m): 1.4e-5.
        assert!(error < 1.4e-5, "{integrator}: fell {fallen} m, expected {expected} m");
    }
}

/// Times of upward zero crossings of a signal, refined linearly.
fn crossings(signal: &[f64], dt: f64) -> Vec<f64> {
    signal
        .windows(2)
        .enumerate()
        .filter(|(_, w)| w[0] < 0.0 && w[1] >= 0.0)
        .map(|(i, w)| (i as f64 - w[0] / (w[1] - w[0])) * dt)
        .collect()
}

fn period(signal: &[f64], dt: f64) -> f64 {
    let at = crossings(signal, dt);
    assert!(at.len() >= 3, "only {} crossings", at.len());
    (at[at.len() - 1] - at[0]) / (at.len() - 1) as f64
}

#[test]
fn pendulum_period() {
    let (length, angle) = (1.0f32, 0.1f32);
    let mut world = World::new();
    world.params.substeps = 8;
    let pivot = world.add_particle(&particle(Vec3::ZERO, f32::INFINITY, 0.01)).unwrap();
    let bob = Vec3::new(angle.sin(), -angle.cos(), 0.0) * length;
    let bob = world.add_particle(&particle(bob, 1.0, 0.01)).unwrap();
    world.add_distance(pivot, bob, None, &Bond::default()).unwrap();
    let mut engine = engine(world);
    let dt = 1.0 / 120.0;
    let mut x = Vec::new();
    for _ in 0..1200 {
        engine.step(dt).unwrap();
        x.push(f64::from(engine.world().position(bob).unwrap().x));
    }
    let measured = period(&x, f64::from(dt));
    let expected =
        2.0 * PI * f64::from(length / G).sqrt() * (1.0 + f64::from(angle).powi(2) / 16.0);
    assert!((measured / expected - 1.0).abs() < 0.005, "{measured} s, expected {expected} s");
}

#[test]
fn spring_frequency_of_two_masses() {
    let (k, m1, m2) = (200.0f64, 1.0f64, 3.0f64);
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.method = Method::Xpbd;
    let a = world.add_particle(&particle(Vec3::ZERO, m1 as f32, 0.01)).unwrap();
    let b = world.add_particle(&particle(Vec3::X * 1.1, m2 as f32, 0.01)).unwrap();
    let spring = Bond::compliant((1.0 / k) as f32);
    world.add_distance(a, b, Some(1.0), &spring).unwrap();
    let mut engine = engine(world);
    let dt = 1.0 / 4000.0;
    let mut stretch = Vec::new();
    for _ in 0..12_000 {
        engine.step(dt).unwrap();
        let w = engine.world();
        stretch.push(f64::from(w.position(a).unwrap().distance(w.position(b).unwrap())) - 1.0);
    }
    let measured = 2.0 * PI / period(&stretch, f64::from(dt));
    let expected = (k * (1.0 / m1 + 1.0 / m2)).sqrt();
    assert!((measured / expected - 1.0).abs() < 0.02, "{measured} rad/s, expected {expected}");
}

/// A soft block resting on the floor, moving along x.
fn sliding_block(world: &mut World, speed: f32) -> Vec<ParticleId> {
    let block = Lattice {
        counts: [4, 3, 4],
        spacing: 0.1,
        radius: 0.05,
        mass: 0.1,
        center: Vec3::new(0.0, 0.15, 0.0),
        velocity: Vec3::X * speed,
        ..Lattice::default()
    };
    world.add_lattice(&block).unwrap().particles
}

fn mean_speed_x(world: &World, ids: &[ParticleId]) -> f32 {
    ids.iter().map(|&id| world.velocity(id).unwrap().x).sum::<f32>() / ids.len() as f32
}

#[test]
fn a_sliding_particle_and_a_sliding_block_decelerate_at_mu_g() {
    let mu = 0.3;
    for solver in [Solver::Seidel, Solver::Colored, Solver::Jacobi] {
        let mut world = World::new();
        world.params.solver = solver;
        world.params.iterations = 30;
        world.colliders.push(floor(mu));
        let block = sliding_block(&mut world, 3.0);
        let lone = world
            .add_particle(&Particle {
                velocity: Vec3::X * 3.0,
                phase: Phase::group(77),
                ..particle(Vec3::new(0.0, 0.05, 3.0), 1.0, 0.05)
            })
            .unwrap();
        let mut engine = engine(world);
        let (steps, dt) = (60, 1.0 / 120.0);
        for _ in 0..steps {
            engine.step(dt).unwrap();
        }
        let expected = 3.0 - mu * G * steps as f32 * dt;
        for (name, ids) in [("block", &block[..]), ("particle", &[lone])] {
            let speed = mean_speed_x(engine.world(), ids);
            let (lost, right) = (3.0 - speed, 3.0 - expected);
            assert!(
                (lost / right - 1.0).abs() < 0.02,
                "{solver} {name}: lost {lost} m/s, expected {right}"
            );
        }
    }
}

#[test]
fn static_friction_holds_below_its_angle_and_slips_above() {
    let mu = 0.5f32;
    let limit = mu.atan();
    for (angle, holds) in [(limit * 0.96, true), (limit * 1.04, false)] {
        let mut world = World::new();
        world.params.iterations = 10;
        // Turn gravity instead of the floor: the same slope.
        world.params.gravity = Vec3::new(angle.sin(), -angle.cos(), 0.0) * G;
        world.colliders.push(floor(mu));
        let lone = world.add_particle(&particle(Vec3::new(0.0, 0.05, 0.0), 1.0, 0.05)).unwrap();
        let mut engine = engine(world);
        for _ in 0..240 {
            engine.step(1.0 / 120.0).unwrap();
        }
        let moved = engine.world().position(lone).unwrap().x;
        if holds {
            assert!(moved.abs() < 1e-4, "slipped {moved} m below the limit");
        } else {
            // Above the limit it accelerates at g (sin - mu cos).
            let expected = 0.5 * G * (angle.sin() - mu * angle.cos()) * 4.0;
            assert!((moved / expected - 1.0).abs() < 0.02, "slid {moved} m, expected {expected}");
        }
    }
}

#[test]
fn a_ball_bounces_with_its_restitution() {
    for e in [0.3f32, 0.6, 0.9] {
        let mut world = World::new();
        world.params.restitution = e;
        world.colliders.push(floor(0.0));
        let ball = world.add_particle(&particle(Vec3::Y * 1.05, 1.0, 0.05)).unwrap();
        let mut engine = engine(world);
        let (mut before, mut after) = (0.0f32, 0.0f32);
        for _ in 0..960 {
            engine.step(1.0 / 960.0).unwrap();
            let v = engine.world().velocity(ball).unwrap().y;
            before = before.min(v);
            if v > 0.0 {
                after = v;
                break;
            }
        }
        let measured = -after / before;
        assert!((measured / e - 1.0).abs() < 0.02, "{measured}, expected {e}");
    }
}

#[test]
fn two_balls_bounce_with_their_restitution_and_keep_momentum() {
    let e = 0.7f32;
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.restitution = e;
    world.params.friction = 0.0;
    let a = Particle { velocity: Vec3::X * 2.0, ..particle(Vec3::new(-0.5, 0.0, 0.0), 1.0, 0.1) };
    let b = Particle {
        velocity: Vec3::X * -1.0,
        phase: Phase::group(1),
        ..particle(Vec3::new(0.5, 0.0, 0.0), 3.0, 0.1)
    };
    let (a, b) = (world.add_particle(&a).unwrap(), world.add_particle(&b).unwrap());
    let mut engine = engine(world);
    for _ in 0..120 {
        engine.step(1.0 / 120.0).unwrap();
    }
    let (va, vb) = (engine.world().velocity(a).unwrap().x, engine.world().velocity(b).unwrap().x);
    assert!(((vb - va) / (3.0 * e) - 1.0).abs() < 0.02, "separate at {} m/s", vb - va);
    assert!((va + 3.0 * vb + 1.0).abs() < 1e-3, "momentum {} kg m/s, was -1", va + 3.0 * vb);
}

#[test]
fn an_isolated_cloth_keeps_its_momentum() {
    for solver in [Solver::Seidel, Solver::Colored] {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.params.solver = solver;
        let cloth =
            Cloth { columns: 20, rows: 20, bend: Some(Bond::compliant(0.1)), ..Cloth::default() };
        let ids = world.add_cloth(&cloth).unwrap();
        for (k, &id) in ids.iter().enumerate() {
            let kick = Vec3::new(1.0, (k % 7) as f32 * 0.3, (k % 5) as f32 * -0.2);
            world.set_velocity(id, kick).unwrap();
        }
        let momentum = |world: &World| -> Vec3 {
            ids.iter().map(|&id| world.velocity(id).unwrap() * 0.01).sum()
        };
        let before = momentum(&world);
        let mut engine = engine(world);
        for _ in 0..100 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let drift = (momentum(engine.world()) - before).length() / before.length();
        assert!(drift < 1e-4, "{solver}: momentum drifted by {drift}");
    }
}

#[test]
fn a_pushed_particle_takes_the_speed_of_a_moving_obstacle() {
    // The obstacle's own motion must not count as overlap from before.
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let mut wall = Collider::fixed(Shape::Box { half: Vec3::new(0.1, 1.0, 1.0) }, Pose::IDENTITY);
    let end = Pose::new(Vec3::X * 10.0, Quat::IDENTITY);
    wall.path.push(motes::world::collider::Keyframe { time: 10.0, pose: end });
    world.colliders.push(wall);
    let ball = world.add_particle(&particle(Vec3::X * 0.3, 1.0, 0.1)).unwrap();
    let mut engine = engine(world);
    for _ in 0..120 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let v = engine.world().velocity(ball).unwrap();
    assert!((v - Vec3::X).length() < 0.02, "velocity {v}, expected 1 m/s along x");
}

#[test]
fn an_orbit_keeps_its_radius_with_both_integrators() {
    // A pull that falls linearly with distance: at r = 1 m the acceleration is 45 m/s².
    let pull = ForceKind::Point { center: Vec3::ZERO, strength: 50.0, reach: 10.0 };
    for integrator in [Integrator::Symplectic, Integrator::Verlet] {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.params.integrator = integrator;
        world.forces.push(Force { kind: pull, region: None });
        let orbit = Particle { velocity: Vec3::Z * 45.0f32.sqrt(), ..particle(Vec3::X, 1.0, 0.01) };
        let id = world.add_particle(&orbit).unwrap();
        let mut engine = engine(world);
        for _ in 0..2000 {
            engine.step(1.0 / 240.0).unwrap();
            let radius = engine.world().position(id).unwrap().length();
            assert!((radius - 1.0).abs() < 0.02, "{integrator}: radius {radius} m");
        }
    }
}

/// Two balls at each other, by `lengths` diameters a substep each way together, `beside` diameters
/// off the line. Head-on they never leave faster than they came, wherever on their way the substeps
/// fall. Off the line a push after a turn of up to 30 degrees may add what a little geometry allows:
/// 7 % of the energy, for balls that touched when the substep began.
#[test]
fn balls_that_pass_each_other_in_a_substep_gain_no_energy() {
    let (radius, dt) = (0.1f32, 1.0 / 60.0);
    let mut met = 0;
    for &solver in Solver::ALL {
        for lengths in [0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0f32] {
            for (beside, e) in [(0.0, 0.0), (0.0, 0.8), (0.2, 0.0), (0.45, 0.0)] {
                for phase in 0..16 {
                    let mut world = World::new();
                    world.params.gravity = Vec3::ZERO;
                    world.params.solver = solver;
                    world.params.restitution = e;
                    (world.params.friction, world.params.static_friction) = (0.0, 0.0);
                    let speed = lengths * 2.0 * radius / dt;
                    let apart = (2.0 + lengths + phase as f32 / 16.0 * lengths) * 2.0 * radius;
                    let ids = [1.0f32, -1.0].map(|side| {
                        let at = Vec3::new(apart, beside * 2.0 * radius, 0.0) * (0.5 * side);
                        let velocity = Vec3::X * (-0.5 * side * speed);
                        let phase = Phase::group(u32::from(side > 0.0));
                        let ball = Particle { velocity, phase, ..particle(at, 1.0, radius) };
                        world.add_particle(&ball).unwrap()
                    });
                    let mut engine = engine(world);
                    for _ in 0..6 {
                        engine.step(dt).unwrap();
                    }
                    let v = ids.map(|id| engine.world().velocity(id).unwrap());
                    let energy =
                        (v[0].length_squared() + v[1].length_squared()) / (0.5 * speed * speed);
                    let what = format!("{solver} {lengths} {beside} {e} {phase}: {energy}");
                    let gain = if beside == 0.0 { 1e-4 } else { 0.07 };
                    assert!(energy < 1.0 + gain, "{what}");
                    assert!((v[0] + v[1]).length() < 1e-4 * speed, "{what}");
                    met += usize::from(energy < 0.9);
                }
            }
        }
    }
    assert!(met > 500, "{met}");
}

#[test]
fn a_ball_that_hits_two_at_once_keeps_momentum() {
    for solver in [Solver::Seidel, Solver::Colored] {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.params.restitution = 1.0;
        world.params.friction = 0.0;
        world.params.static_friction = 0.0;
        world.params.solver = solver;
        let ball = |x: f32, z: f32, v: f32, group: u32| Particle {
            velocity: Vec3::X * v,
            phase: Phase::group(group),
            ..particle(Vec3::new(x, 0.0, z), 1.0, 0.1)
        };
        let balls = [ball(-0.5, 0.0, 2.0, 0), ball(0.0, 0.11, 0.0, 1), ball(0.0, -0.11, 0.0, 2)];
        let ids = balls.map(|b| world.add_particle(&b).unwrap());
        let mut engine = engine(world);
        for _ in 0..240 {
            engine.step(1.0 / 240.0).unwrap();
        }
        let v = ids.map(|id| engine.world().velocity(id).unwrap());
        let momentum: Vec3 = v.iter().sum();
        assert!((momentum - Vec3::X * 2.0).length() < 1e-3, "{solver}: momentum {momentum}");
    }
}
