//! Precision does not depend on the distance from the origin, nor on the length of a substep: the
//! solver moves particles by small numbers, counted from where the step began, and what rounding
//! leaves over is kept.
//!
//! These are short runs. In full, 60 s for the free cube and 10 s for the bar:
//! `MOTES_LONG=1 cargo test --release --test far -- --nocapture`.
//!
//! With absolute positions in f32 the bar at 100 m was nine times too stiff, at 1000 m 67 times, and
//! the cube drove 10 to 14 m away in a minute with 12 to 18 times its energy.

use glam::{DVec3, Vec3};
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Collider, Engine, Kind, Particle, Phase, Scene, Solver, World};

fn is_long() -> bool {
    std::env::var("MOTES_LONG").is_ok_and(|v| v == "1")
}

fn scene(text: &str) -> World {
    Scene::parse("far.toml", text, None, &[]).unwrap().build().unwrap()
}

fn run(world: World, seconds: f64) -> World {
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    let dt = engine.world().params.dt;
    while engine.world().time() < seconds - 1e-6 {
        engine.step(dt).unwrap();
    }
    engine.into_world()
}

/// How far a bar of 21 x 4 x 4 particles sinks in the mean that is held at one end and begins at x, m. 40 substeps of 20 iterations: a substep of gravity moves a particle by 1.7e-6 m.
fn sag(x: f32, solver: Solver) -> f64 {
    let text = format!(
        "[params]\ndamping = 3.0\nsubsteps = 40\niterations = 20\nsolver = \"{solver}\"\n\
         [[box]]\nname = \"bar\"\ncounts = [21, 4, 4]\nspacing = 0.05\ncenter = [{}, 0, 0]\n\
         mass = 0.001\nradius = 0.02\ncompliance = 1e-4\npin = [\"left\"]\n",
        x + 0.5
    );
    let world = run(scene(&text), if is_long() { 10.0 } else { 0.5 });
    let heights = world.particles().positions().iter().map(|p| f64::from(p.y));
    -heights.sum::<f64>() / world.particles().len() as f64
}

#[test]
fn a_bar_bends_as_much_far_from_the_origin() {
    let solvers = [Solver::Colored, Solver::Seidel, Solver::Jacobi];
    for solver in &solvers[..if is_long() { 3 } else { 2 }] {
        let (solver, near) = (*solver, sag(0.0, *solver));
        assert!(near > 0.001, "{solver}: it does not bend: {near}");
        for (x, bound) in [(10.0, 0.05), (100.0, 0.05), (1000.0, 0.2)] {
            let there = sag(x, solver);
            println!("{solver}: sag at {x} m over that at 0: {}", there / near);
            assert!((there / near - 1.0).abs() < bound, "{solver}: {} at {x} m", there / near);
        }
    }
}

/// A cube of 4³ particles with edges to all neighbours that turns by so many radians a second.
fn spinning(omega: f32, substeps: u32, iterations: u32, center: Vec3) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.substeps = substeps;
    world.params.iterations = iterations;
    let mut ids = Vec::new();
    for k in 0..64 {
        let at = Vec3::new((k / 16) as f32, (k / 4 % 4) as f32, (k % 4) as f32);
        let at = (at - 1.5) * 0.1;
        let velocity = Vec3::new(at.z, 0.0, -at.x) * omega;
        let (mass, radius, phase) = (0.1, 0.03, Phase::group(1));
        let particle = Particle { position: center + at, velocity, mass, radius, phase };
        ids.push((world.add_particle(&particle).unwrap(), at));
    }
    let bond = motes::Bond { compliance: 1e-6, ..motes::Bond::default() };
    for a in 0..64 {
        for b in a + 1..64 {
            // Along the axes and both sorts of diagonals.
            if ids[a].1.distance(ids[b].1) < 0.18 {
                world.add_constraint(Kind::Distance, &[ids[a].0, ids[b].0], None, &bond).unwrap();
            }
        }
    }
    world
}

/// The centre of mass and the kinetic energy.
fn motion(world: &World) -> (DVec3, f64) {
    let p = world.particles();
    let sum: DVec3 = p.positions().iter().map(|x| x.truncate().as_dvec3()).sum();
    let v = p.velocities().iter().map(|v| v.truncate().as_dvec3().length_squared());
    (sum / p.len() as f64, 0.05 * v.sum::<f64>())
}

#[test]
fn a_free_cube_neither_drives_itself_nor_heats_up() {
    for center in [Vec3::ZERO, Vec3::new(100.0, 30.0, -70.0)] {
        let world = spinning(0.5, 32, 4, center);
        let (start, energy) = motion(&world);
        let (end, left) = motion(&run(world, if is_long() { 60.0 } else { 10.0 }));
        println!("at {center}: drift {} m, energy {}", start.distance(end), left / energy);
        assert!(start.distance(end) < 1e-3, "drift {} m", start.distance(end));
        assert!((left / energy - 1.0).abs() < 0.05, "energy {}", left / energy);
    }
}

/// A grain falls freely, far from the origin, in steps whose first moves are less than the rounding
/// of its place (6e-5 m at 1000 m).
#[test]
fn a_fall_is_exact_a_kilometre_away() {
    for substeps in [1, 8, 100] {
        let mut world = World::new();
        world.params.substeps = substeps;
        let position = Vec3::new(1000.0, 1000.0, 1000.0);
        let (velocity, phase) = (Vec3::ZERO, Phase::group(1));
        let particle = Particle { position, velocity, mass: 1.0, radius: 0.01, phase };
        let id = world.add_particle(&particle).unwrap();
        let (h, steps) = (f64::from(world.params.dt) / f64::from(substeps), 30);
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        for _ in 0..steps {
            engine.step(1.0 / 60.0).unwrap();
        }
        let n = f64::from(steps * substeps);
        let exact = 9.81 * h * h * n * (n + 1.0) / 2.0;
        let fell = 1000.0 - f64::from(engine.world().position(id).unwrap().y);
        assert!((fell - exact).abs() < 1e-4, "{substeps} substeps: {fell} instead of {exact}");
    }
}

/// A heap of a few grains in a corner, and a grain on a ball: what rests at the origin rests a
/// kilometre away.
#[test]
fn what_rests_rests_a_kilometre_away() {
    for at in [Vec3::ZERO, Vec3::new(1000.0, 0.0, -1000.0)] {
        let mut world = World::new();
        world.params.substeps = 8;
        let floor = Shape::Plane { normal: Vec3::Y };
        world.colliders.push(Collider::fixed(floor, Pose::IDENTITY));
        let ball = Shape::Sphere { radius: 0.5 };
        let pose = Pose::new(at - Vec3::Y * 0.3, glam::Quat::IDENTITY);
        world.colliders.push(Collider::fixed(ball, pose));
        let grains = motes::Grains {
            origin: at + Vec3::new(1.0, 0.01, 0.0),
            counts: [3, 2, 3],
            jitter: 0.0,
            ..motes::Grains::default()
        };
        world.add_grains(&grains).unwrap();
        let (velocity, phase) = (Vec3::ZERO, Phase::group(9));
        let position = at + Vec3::new(0.02, 0.2096, 0.0);
        let particle = Particle { position, velocity, mass: 0.01, radius: 0.01, phase };
        world.add_particle(&particle).unwrap();
        let world = run(world, 3.0);
        let fastest = world.particles().velocities().iter().map(|v| v.length()).fold(0.0, f32::max);
        println!("at {at}: fastest {fastest} m/s");
        assert!(fastest < 1e-3, "at {at}: {fastest} m/s");
    }
}
