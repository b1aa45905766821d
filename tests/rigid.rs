//! Rigid bodies on obstacles, against what mechanics says.

use glam::{Quat, Vec3};
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Body, BodyShape, Collider, Engine, World};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

/// A floor at height 0, with gravity that leans by an angle towards x.
fn slope(degrees: f32) -> World {
    let mut world = World::new();
    let angle = degrees.to_radians();
    world.params.gravity = Vec3::new(angle.sin(), -angle.cos(), 0.0) * G;
    let floor = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::ZERO)));
    world
}

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 1 }).unwrap()
}

/// Adds a block of balls with its lowest ones at a height over the floor.
fn add(world: &mut World, counts: [u32; 3], lowest: f32, body: Body) {
    let shape = BodyShape::block(counts, 0.1, 1000.0).unwrap();
    let position = Vec3::new(0.0, lowest + 0.05 * counts[1] as f32, 0.0) + body.position;
    world.add_body(&shape, &Body { position, ..body }).unwrap();
}

fn center(engine: &Engine) -> Vec3 {
    let world = engine.world();
    world.body_center(world.bodies()[0].id()).unwrap()
}

fn velocity(engine: &Engine) -> Vec3 {
    let p = engine.world().particles();
    let sum: Vec3 = p.velocities().iter().map(|v| v.truncate()).sum();
    sum / p.len() as f32
}

/// Static friction 0.5 holds up to 26.6 degrees; above that the box slides by g (sin - 0.4 cos).
#[test]
fn a_box_sticks_below_and_slides_above_the_angle_of_friction() {
    for substeps in [4, 8] {
        for counts in [[4, 4, 4], [8, 3, 5]] {
            let mut world = slope(25.5);
            world.params.substeps = substeps;
            add(&mut world, counts, 0.0, Body::default());
            let mut engine = engine(world);
            for _ in 0..600 {
                engine.step(DT).unwrap();
            }
            let (at, v) = (center(&engine), velocity(&engine));
            println!("{substeps} substeps, {counts:?}: crept {} m, {v}", at.x);
            assert!(at.x.abs() < 2e-3 && at.z.abs() < 1e-3, "crept to {at}");

            let mut world = slope(28.0);
            world.params.substeps = substeps;
            add(&mut world, counts, 0.0, Body::default());
            let mut engine = self::engine(world);
            for _ in 0..60 {
                engine.step(DT).unwrap();
            }
            let (before, wanted) = (
                velocity(&engine),
                G * (28f32.to_radians().sin() - 0.4 * 28f32.to_radians().cos()),
            );
            for _ in 0..120 {
                engine.step(DT).unwrap();
            }
            let a = (velocity(&engine) - before) / 2.0;
            println!("slides by {a}, not {wanted}");
            assert!((a.x / wanted - 1.0).abs() < 0.03 && a.z.abs() < 0.03 * wanted, "{a}");
        }
    }
}

/// A box that falls flat from 1 m, or a little turned, comes up again to e^2 of that.
#[test]
fn a_dropped_box_bounces() {
    for substeps in [2, 4, 8] {
        for e in [0.3, 0.5, 0.8] {
            let mut world = slope(0.0);
            world.params.substeps = substeps;
            world.params.restitution = e;
            add(&mut world, [4, 4, 4], 1.0, Body::default());
            let start = 0.2;
            let mut engine = engine(world);
            let (mut fell, mut top) = (false, 0.0f32);
            for _ in 0..120 {
                engine.step(DT).unwrap();
                let y = center(&engine).y - start;
                fell |= velocity(&engine).y > 0.0;
                if fell {
                    top = top.max(y);
                }
                if fell && velocity(&engine).y < 0.0 {
                    break;
                }
            }
            let side = velocity(&engine) * Vec3::new(1.0, 0.0, 1.0);
            println!("{substeps} substeps, e {e}: {top} of {}, sideways {}", e * e, side.length());
            assert!((top / (e * e) - 1.0).abs() < 0.1, "{top}");
            assert!(side.length() < 0.02, "{side}");
        }
    }
}

/// A tall box that leans stands up again below its balance, and falls above it.
#[test]
fn a_leaning_box_falls_past_its_balance() {
    // It leans on balls whose centres are 0.15 m beside its own and 0.45 m below.
    let balance = (0.15f32 / 0.45).atan().to_degrees();
    for substeps in [2, 4, 8] {
        for (off, falls) in [(-1.0, false), (1.0, true)] {
            let mut world = slope(0.0);
            world.params.substeps = substeps;
            let lean = (balance + off).to_radians();
            let rotation = Quat::from_rotation_z(-lean);
            let shape = BodyShape::block([4, 10, 4], 0.1, 1000.0).unwrap();
            // Its lowest balls touch the floor.
            let lowest = rotation * Vec3::new(0.15, -0.45, 0.0);
            let position = Vec3::Y * (0.05 - lowest.y);
            world.add_body(&shape, &Body { rotation, ..Body::rigid(position) }).unwrap();
            let mut engine = engine(world);
            for _ in 0..240 {
                engine.step(DT).unwrap();
            }
            let y = center(&engine).y;
            println!("{substeps} substeps, {off} degrees: ends at {y} m");
            assert!((y - if falls { 0.2 } else { 0.5 }).abs() < 0.01, "{off}: ends at {y} m");
        }
    }
}

/// What lies on the floor stays there: no drift, no sinking, no turning.
#[test]
fn a_box_at_rest_stays() {
    for (counts, turn) in [([6, 6, 6], 0.0), ([12, 3, 5], 0.4)] {
        let mut world = slope(0.0);
        let rotation = Quat::from_rotation_y(turn);
        add(&mut world, counts, 0.02, Body { rotation, ..Body::default() });
        let mut engine = engine(world);
        for _ in 0..120 {
            engine.step(DT).unwrap();
        }
        let before = center(&engine);
        for _ in 0..480 {
            engine.step(DT).unwrap();
        }
        let (after, v) = (center(&engine), velocity(&engine));
        println!("{counts:?}: from {before} to {after}, {v}");
        assert!(after.distance(before) < 1e-4 && v.length() < 1e-3);
        assert!((after.y - 0.05 * counts[1] as f32).abs() < 1e-3, "{after}");
        assert!(after.x.abs() < 2e-3 && after.z.abs() < 2e-3, "{after}");
    }
}

/// What is set is what is read, and it is what the next steps begin with.
#[test]
fn poses_and_velocities_are_set_and_read() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let shape = BodyShape::block([3, 5, 4], 0.1, 800.0).unwrap();
    world.add_body(&shape, &Body::rigid(Vec3::ONE)).unwrap();
    let id = world.bodies()[0].id();
    let (place, turn) =
        (Vec3::new(-1.0, 2.0, 0.5), Quat::from_scaled_axis(Vec3::new(1.0, 2.0, -0.5)));
    let (v, w) = (Vec3::new(1.0, -0.5, 0.25), Vec3::new(0.0, 0.0, 3.0));
    world.set_body_velocity(id, v, w).unwrap();
    world.set_body_pose(id, place, turn).unwrap();
    let (read_v, read_w) = world.body_velocity(id).unwrap();
    assert!(read_v.distance(v) < 1e-5 && read_w.distance(w) < 1e-4, "{read_v}, {read_w}");
    assert!(world.body_center(id).unwrap().distance(place) < 1e-6);
    assert!(world.body(id).unwrap().rotation().angle_between(turn) < 1e-3);
    let mut engine = engine(world);
    for _ in 0..30 {
        engine.step(DT).unwrap();
    }
    let at = center(&engine);
    assert!(at.distance(place + v * 0.5) < 1e-4, "{at}");
}

/// An impulse beside the centre of a cube moves and turns it as a whole cube: by J / M, and by
/// r J / (M a^2 / 6).
#[test]
fn an_impulse_moves_and_turns_a_body() {
    let mut world = World::new();
    add(&mut world, [4, 4, 4], 0.0, Body::default());
    let id = world.bodies()[0].id();
    let (mass, at) = (64.0f32, world.body_center(id).unwrap());
    world.push_body(id, Vec3::Y * mass, at + Vec3::X * 0.2).unwrap();
    let (v, w) = world.body_velocity(id).unwrap();
    assert!(v.distance(Vec3::Y) < 1e-5, "{v}");
    let wanted = 0.2 / (0.4f32 * 0.4 / 6.0);
    assert!(w.distance(Vec3::Z * wanted) < 1e-3 * wanted, "{w}, not {wanted}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut world = World::new();
    add(&mut world, [2, 2, 2], 0.0, Body::default());
    let id = world.bodies()[0].id();
    let before = world.clone();
    let wrong = [
        world.set_body_velocity(id, Vec3::NAN, Vec3::ZERO),
        world.set_body_velocity(id, Vec3::ZERO, Vec3::INFINITY),
        world.set_body_pose(id, Vec3::NAN, Quat::IDENTITY),
        world.set_body_pose(id, Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
        world.push_body(id, Vec3::NAN, Vec3::ZERO),
    ];
    for result in wrong {
        assert!(result.unwrap_err().to_string().contains("body."));
    }
    assert!(world == before, "nothing has changed");
    world.remove_body(id).unwrap();
    assert!(world.push_body(id, Vec3::X, Vec3::ZERO).is_err());
}

/// With `rigid_contacts = "matching"`, where a particle is held, and where bodies share one, obstacles
/// meet particles.
#[test]
fn matching_is_there_to_compare() {
    let heights = [true, false].map(|impulses| {
        let mut world = slope(0.0);
        if !impulses {
            world.params.set("rigid_contacts", &toml::Value::String("matching".into())).unwrap();
        }
        world.params.restitution = 0.5;
        add(&mut world, [4, 4, 4], 1.0, Body::default());
        let mut engine = engine(world);
        for _ in 0..27 {
            engine.step(DT).unwrap();
        }
        let landed = engine.schedule().to_string().contains("solve_bodies");
        assert_eq!(landed, impulses);
        for _ in 0..20 {
            engine.step(DT).unwrap();
        }
        center(&engine).y
    });
    println!("after the bounce: {heights:?}");
    assert!(heights[0] > heights[1] + 0.1, "matching does not dilute a bounce: {heights:?}");
}
