//! Rigid bodies on each other, against what mechanics says.

use glam::{Quat, Vec3};
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Body, BodyShape, Collider, Engine, World};

const DT: f32 = 1.0 / 60.0;

fn floor() -> World {
    let mut world = World::new();
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

fn centers(engine: &Engine) -> Vec<Vec3> {
    let world = engine.world();
    world.bodies().iter().map(|body| world.body_center(body.id()).unwrap()).collect()
}

fn speed(engine: &Engine) -> f32 {
    let world = engine.world();
    let of = |body: &motes::MatchedBody| world.body_velocity(body.id()).unwrap().0.length();
    world.bodies().iter().map(of).fold(0.0, f32::max)
}

/// Numbers from -1 to 1 that look like chance.
fn chance(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*seed >> 40) as f32 / (1u64 << 23) as f32) - 1.0
}

/// Ten boxes of 6^3 with offsets of half a radius and turns of 0.1 rad stand, as a tower of boxes does.
#[test]
fn a_stack_of_ten_boxes_stands() {
    let r = 0.05f32;
    for seed in 0..6u64 {
        let mut world = floor();
        let mut state = seed * 77 + 1;
        for k in 0..10 {
            let shape = BodyShape::block(
                [std::env::var("K7").map_or(6, |v| v.parse().unwrap()); 3],
                0.6 / std::env::var("K7").map_or(6.0, |v| v.parse().unwrap()),
                1000.0,
            )
            .unwrap();
            let offset = Vec3::new(chance(&mut state), 0.0, chance(&mut state)) * (0.5 * r);
            let rotation = Quat::from_rotation_y(0.1 * chance(&mut state));
            let position = Vec3::Y * (0.3 + 0.6 * k as f32) + offset;
            world.add_body(&shape, &Body { rotation, ..Body::rigid(position) }).unwrap();
        }
        let first: Vec<Vec3> =
            world.bodies().iter().map(|b| world.body_center(b.id()).unwrap()).collect();
        let mut engine = engine(world);
        for k in 0..4 {
            run(&mut engine, 0.5);
            println!("   {k}: {:.4}", speed(&engine));
        }
        let early = centers(&engine);
        run(&mut engine, 8.0);
        let late = centers(&engine);
        let top = late[9].y / first[9].y;
        let drift =
            early.iter().zip(&late).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) / first[9].y;
        let slide = first
            .iter()
            .zip(&late)
            .map(|(a, b)| (*a - *b).with_y(0.0).length())
            .fold(0.0, f32::max);
        println!(
            "seed {seed}: top at {top:.5} of its height, drift {drift:.1e}, slid {:.2} r, {:.4} m/s",
            slide / r,
            speed(&engine)
        );
    }
}
