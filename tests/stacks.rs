//! Rigid bodies on each other, against what mechanics says.
//!
//! Towers for ten seconds with six seeds: `MOTES_LONG=1 cargo test --release --test stacks`; the suite
//! has two seeds.

use glam::{DVec3, Quat, Vec3};
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Body, BodyShape, Collider, Engine, MatchedBody, World};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

fn empty() -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world
}

fn floor() -> World {
    let mut world = World::new();
    // One iteration: rigid bodies need none, and nobody else is there.
    world.params.iterations = 1;
    let floor = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::ZERO)));
    world
}

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 1 }).unwrap()
}

fn run(engine: &mut Engine, seconds: f32) {
    for _ in 0..(seconds / DT).round() as usize {
        engine.step(DT).unwrap();
    }
}

fn block(counts: [u32; 3], spacing: f32, density: f32) -> BodyShape {
    BodyShape::block(counts, spacing, density).unwrap()
}

fn centers(world: &World) -> Vec<Vec3> {
    world.bodies().iter().map(|body| world.body_center(body.id()).unwrap()).collect()
}

fn velocities(world: &World) -> Vec<Vec3> {
    world.bodies().iter().map(|body| world.body_velocity(body.id()).unwrap().0).collect()
}

fn fastest(world: &World) -> f32 {
    velocities(world).iter().map(|v| v.length()).fold(0.0, f32::max)
}

/// Momentum, angular momentum about the origin, and kinetic energy of all particles.
fn state(world: &World) -> (DVec3, DVec3, f64) {
    let p = world.particles();
    let own: DVec3 = world
        .bodies()
        .iter()
        .map(|b| {
            world.body_velocity(b.id()).unwrap().1.as_dvec3()
                * f64::from(b.mass())
                * (0.1 * 0.1 / 6.0)
        })
        .sum();
    (0..p.len()).fold((DVec3::ZERO, own, 0.0), |(momentum, spin, energy), i| {
        let x = p.positions()[i];
        let (m, v) = (1.0 / f64::from(x.w), p.velocities()[i].truncate().as_dvec3());
        let x = x.truncate().as_dvec3();
        (momentum + v * m, spin + x.cross(v) * m, energy + 0.5 * m * v.length_squared())
    })
}

/// Numbers from -1 to 1 that look like chance.
fn chance(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Ten boxes of 6^3 with offsets of up to half a radius and turns of up to 0.1 rad. (The bound on the
/// drift was set after it was seen: 1e-4 to 8e-4.)
fn tower(seed: u64) -> World {
    let mut world = floor();
    let mut state = seed * 77 + 1;
    for k in 0..10 {
        let offset = Vec3::new(chance(&mut state), 0.0, chance(&mut state)) * 0.025;
        let rotation = Quat::from_rotation_y(0.1 * chance(&mut state));
        let position = Vec3::Y * (0.3 + 0.6 * k as f32) + offset;
        let body = Body { rotation, ..Body::rigid(position) };
        world.add_body(&block([6; 3], 0.1, 1000.0), &body).unwrap();
    }
    world
}

#[test]
fn a_tower_of_ten_boxes_stands() {
    let seeds = if std::env::var_os("MOTES_LONG").is_some() { 6 } else { 2 };
    for seed in 0..seeds {
        let world = tower(seed);
        let first = centers(&world);
        let mut engine = engine(world);
        run(&mut engine, 2.0);
        let early = centers(engine.world());
        run(&mut engine, 8.0);
        let (late, speed) = (centers(engine.world()), fastest(engine.world()));
        let height = first[9].y;
        let sunk = 1.0 - late[9].y / height;
        let most = |of: &dyn Fn(usize) -> f32| (0..10).map(of).fold(0.0, f32::max);
        let drift = most(&|k| early[k].distance(late[k])) / height;
        let slid = most(&|k| (first[k] - late[k]).with_y(0.0).length()) / 0.05;
        println!(
            "seed {seed}: sunk {sunk:.5}, drift {drift:.1e}, slid {slid:.2} r, {speed:.5} m/s"
        );
        assert!(sunk.abs() < 5e-3, "seed {seed}: sunk by {sunk} of the height");
        assert!(drift < 1e-3, "seed {seed}: drifted by {drift} of the height");
        assert!(slid < 1.5 && speed < 1e-3, "seed {seed}: slid by {slid} r, {speed} m/s");
    }
}

/// With `rigid_contacts = "matching"`, where particles push particles, the same tower falls: the
/// negative control.
#[test]
fn with_matching_alone_it_falls() {
    let mut world = tower(0);
    world.params.set("rigid_contacts", &toml::Value::String("matching".into())).unwrap();
    world.params.iterations = 4;
    let height = centers(&world)[9].y;
    let mut engine = engine(world);
    run(&mut engine, 10.0);
    let now = centers(engine.world())[9].y;
    println!("the highest was at {height} m, and is at {now} m");
    assert!(now < 0.9 * height);
}

/// One box carries another that is ten times as heavy.
#[test]
fn a_heavy_box_on_a_light_one_sinks_in_hardly() {
    let mut world = floor();
    for (k, density) in [500.0, 5000.0].into_iter().enumerate() {
        let position = Vec3::Y * (0.3 + 0.6 * k as f32);
        world.add_body(&block([6; 3], 0.1, density), &Body::rigid(position)).unwrap();
    }
    let mut engine = engine(world);
    run(&mut engine, 5.0);
    let top = centers(engine.world())[1].y;
    let sunk = 1.0 - top / 0.9;
    println!("sunk by {sunk}, {} m/s", fastest(engine.world()));
    assert!(sunk.abs() < 5e-3, "sunk by {sunk}");
    assert!(fastest(engine.world()) < 1e-3);
}

/// A box slides on a heavy slab as friction says, and both share the momentum.
#[test]
fn a_box_slides_on_a_slab_as_friction_says() {
    for substeps in [4, 8] {
        let mut world = floor();
        world.params.substeps = substeps;
        (world.params.friction, world.params.static_friction) = (0.3, 0.3);
        world.add_body(&block([60, 4, 12], 0.1, 4000.0), &Body::rigid(Vec3::Y * 0.2)).unwrap();
        let box_ = block([4, 3, 4], 0.1, 500.0);
        world.add_body(&box_, &Body::rigid(Vec3::new(-2.0, 0.55, 0.0))).unwrap();
        let mut engine = engine(world);
        run(&mut engine, 0.5);
        let id = engine.world().bodies()[1].id();
        let from = centers(engine.world())[1].x;
        engine.world_mut().set_body_velocity(id, Vec3::X * 3.0, Vec3::ZERO).unwrap();
        run(&mut engine, 3.0);
        let way = centers(engine.world())[1].x - from;
        let wanted = 9.0 / (2.0 * 0.3 * G);
        println!("{substeps} substeps: slid {way} m, not {wanted} m");
        assert!((way / wanted - 1.0).abs() < 0.02, "slid {way} m, not {wanted} m");
        assert!(fastest(engine.world()) < 1e-3);
    }
}

/// Two boxes that meet head on part with e times the speed that they met with. (The bound of 12 % was
/// set after it was seen, and it is wide: most speeds give 2 % or less, this one 11 %.)
#[test]
fn boxes_bounce_off_each_other() {
    for substeps in [1, 4] {
        for e in [0.0, 0.5, 1.0] {
            let mut world = empty();
            (world.params.restitution, world.params.substeps) = (e, substeps);
            for side in [-1.0f32, 1.0] {
                let velocity = Vec3::X * -2.0 * side;
                let body = Body { velocity, ..Body::rigid(Vec3::X * 0.61 * side) };
                world.add_body(&block([4; 3], 0.1, 800.0), &body).unwrap();
            }
            let mut engine = engine(world);
            run(&mut engine, 1.0);
            let v = velocities(engine.world());
            let parted = v[1].x - v[0].x;
            println!("{substeps} substeps, e = {e}: parted with {parted} of 4 m/s");
            assert!(
                (parted - 4.0 * e).abs() < 0.48 * e + 0.04,
                "e = {e}: parted with {parted} m/s"
            );
            assert!((v[0] + v[1]).length() < 1e-4, "{v:?}");
        }
    }
}

/// A cross of two bars.
fn cross() -> BodyShape {
    let bar = |place: &dyn Fn(f32) -> Vec3| -> Vec<(Vec3, f32, f32)> {
        (-3..=3).map(|k| (place(0.1 * k as f32), 0.05, 1.0)).collect()
    };
    let mut balls = bar(&|t| Vec3::new(t, 0.0, 0.0));
    balls.extend(bar(&|t| Vec3::new(0.0, t, 0.0)).into_iter().filter(|ball| ball.0.y != 0.0));
    BodyShape::balls(&balls).unwrap()
}

/// How deep the particles of the two bodies are in each other, as a share of a radius.
fn overlap(world: &World) -> f32 {
    let p = world.particles();
    let (a, b): (Vec<usize>, Vec<usize>) =
        (0..p.len()).partition(|&i| p.phases()[i] & 0xff_ffff == p.phases()[0] & 0xff_ffff);
    let deep = |(i, j): (usize, usize)| {
        2.0 - (p.positions()[i] - p.positions()[j]).truncate().length() / p.radii()[i]
    };
    a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j))).map(deep).fold(0.0, f32::max)
}

/// Bodies that are shot into each other, turned in many ways, do not stay in each other, and part no
/// faster than they met; momentum and spin stay. (The bound on spin was set after it was seen: overlap
/// is undone by moves that are no velocity.)
#[test]
fn bodies_that_are_shot_into_each_other_part() {
    let mut seed = 5;
    for (speed, kind) in [3.0, 10.0, 25.0].into_iter().flat_map(|v| (0..3).map(move |k| (v, k))) {
        let shape = match kind {
            0 => cross(),
            1 => block([6, 1, 4], 0.1, 500.0),
            _ => block([3, 8, 3], 0.1, 500.0),
        };
        let mut world = empty();
        for side in [-1.0f32, 1.0] {
            let mut any = || chance(&mut seed);
            let rotation = Quat::from_scaled_axis(Vec3::new(any(), any(), any()) * 2.0);
            let off = Vec3::new(0.0, any(), any()) * 0.05;
            let velocity = Vec3::X * -0.5 * speed * side;
            let body = Body { velocity, rotation, ..Body::rigid(Vec3::X * 0.8 * side + off) };
            world.add_body(&shape, &body).unwrap();
        }
        let before = state(&world);
        let mut engine = engine(world);
        let mut deepest = 0.0f32;
        for _ in 0..120 {
            engine.step(DT).unwrap();
            deepest = deepest.max(overlap(engine.world()));
        }
        let after = state(engine.world());
        let v = velocities(engine.world());
        let size = world_mass(engine.world()) * f64::from(speed);
        let (momentum, spin) = ((after.0 - before.0).length(), (after.1 - before.1).length());
        let (exit, left) = ((v[1] - v[0]).length(), overlap(engine.world()));
        println!(
            "{kind} at {speed} m/s: {left:.3} r deep in the end, {deepest:.3} r at most, part with \
             {exit:.3} m/s, momentum off by {:.1e}, spin by {:.1e}, energy {:.3}",
            momentum / size,
            spin / size,
            after.2 / before.2
        );
        assert!(left < 0.1, "{left} r deep in each other");
        assert!(exit <= speed, "they part with {exit} m/s");
        assert!(after.2 <= before.2 * 1.01, "energy came from nowhere");
        assert!(momentum < 1e-5 * size && spin < 3e-3 * size, "{momentum}, {spin} of {size}");
    }
}

fn world_mass(world: &World) -> f64 {
    world.bodies().iter().map(|body: &MatchedBody| f64::from(body.mass())).sum()
}

/// What begins inside another body comes out of it slowly.
#[test]
fn what_begins_inside_comes_out_slowly() {
    for (bar, at) in [
        ([6, 1, 1], Vec3::new(0.03, 0.06, 0.02)),
        ([1, 1, 1], Vec3::new(0.21, -0.04, 0.1)),
        ([2, 6, 2], Vec3::new(0.3, 0.2, 0.1)),
    ] {
        let mut world = empty();
        world.add_body(&block([8, 3, 8], 0.1, 1000.0), &Body::rigid(Vec3::ZERO)).unwrap();
        world.add_body(&block(bar, 0.1, 1000.0), &Body::rigid(at)).unwrap();
        let mut engine = engine(world);
        let first = overlap(engine.world());
        let mut most = 0.0f32;
        for _ in 0..120 {
            engine.step(DT).unwrap();
            most = most.max(fastest(engine.world()));
        }
        let left = overlap(engine.world());
        println!("{bar:?}: {first:.2} r deep, then {left:.2} r, at most {most} m/s");
        assert!(left < 0.1 && most <= 3.0, "{bar:?}: {left} r, {most} m/s");
    }
}

/// The same bits with any number of threads, and after saving and loading in the middle.
#[test]
fn bits_do_not_depend_on_threads_or_on_saving() {
    let made = || {
        let mut world = floor();
        for k in 0..12 {
            let mut seed = k;
            let turn = Vec3::new(chance(&mut seed), chance(&mut seed), chance(&mut seed));
            let at =
                Vec3::new(0.5 * (k % 3) as f32, 0.5 + 0.5 * (k / 3) as f32, 0.1 * (k % 2) as f32);
            let body = Body { rotation: Quat::from_scaled_axis(turn), ..Body::rigid(at) };
            let counts = [[4, 4, 4], [6, 2, 3], [1, 1, 1], [8, 1, 2]][k as usize % 4];
            world.add_body(&block(counts, 0.1, 1000.0), &body).unwrap();
        }
        world
    };
    let mut one = engine(made());
    for _ in 0..30 {
        one.step(DT).unwrap();
    }
    let saved = to_bytes("tower", one.world()).unwrap();
    for _ in 0..30 {
        one.step(DT).unwrap();
    }
    let mut loaded = engine(from_bytes("tower", &saved).unwrap().world);
    for _ in 0..30 {
        loaded.step(DT).unwrap();
    }
    assert_eq!(loaded.world().hash(), one.world().hash(), "saved and loaded");
    for threads in [2, 3, 8] {
        let mut many = Engine::new(made(), Backend::Cpu { threads }).unwrap();
        for _ in 0..60 {
            many.step(DT).unwrap();
        }
        assert_eq!(many.world().hash(), one.world().hash(), "{threads} threads");
    }
}
