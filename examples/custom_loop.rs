//! A program that owns the loop: it decides between any two steps what happens to the world. Here
//! it pins a flag over a floor of ice, drags its free corner, cuts the flag in two, and goes back to
//! a snapshot.

use glam::Vec3;
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Cloth, Coefficients, Collider, Engine, Kind, Material, World, snapshot};

const DT: f32 = 1.0 / 60.0;

fn main() -> motes::Result<()> {
    let mut world = World::new();
    let (columns, rows) = (24, 16);
    let flag =
        world.add_cloth(&Cloth { across: Vec3::NEG_Y, columns, rows, ..Cloth::default() })?;
    // The flag is fixed to its pole along its first column.
    for row in 0..rows {
        world.pin(flag[(row * columns) as usize])?;
    }
    // What falls off it slides on the floor.
    let slippery = Coefficients {
        friction_static: Some(0.02),
        friction_kinetic: Some(0.02),
        ..Coefficients::default()
    };
    let ice = world.add_material(&Material { name: "ice".into(), coefficients: slippery })?;
    let floor = Shape::Plane { normal: Vec3::Y };
    let floor = Collider::fixed(floor, Pose::from_translation(Vec3::NEG_Y * 4.0));
    world.colliders.push(Collider { material: ice, ..floor });

    let corner = flag[flag.len() - 1];
    let mut engine = Engine::new(world, Backend::default())?;

    // A hand takes the free corner and leads it up and towards us.
    for step in 0..60 {
        let way = step as f32 / 60.0;
        let target = Vec3::new(0.9, -0.75 + way, 0.5 * way);
        engine.world_mut().drag(corner, target, 1e-4)?;
        engine.step(DT)?;
    }
    println!("dragged: the corner is at {}", place(&engine, corner));

    // The hand lets go. What comes from here on will be tried twice.
    engine.world_mut().release(corner)?;
    let saved = snapshot::to_bytes("the flag, held up", engine.world())?;

    // A blade cuts every bond that crosses the plane x = 0.6 m.
    let crosses = |ends: &[Vec3]| (ends[0].x < 0.6) != (ends[1].x < 0.6);
    let cut = engine.world_mut().cut(Kind::Distance, crosses);
    run(&mut engine, 60)?;
    println!("cut {cut} bonds: the corner falls to {}", place(&engine, corner));

    // The same moment again, without the blade. Any engine can go on from a snapshot.
    let before = snapshot::from_bytes("the flag", &saved)?.world;
    let mut engine = Engine::new(before, Backend::default())?;
    run(&mut engine, 60)?;
    println!("whole again: the corner swings to {}", place(&engine, corner));
    Ok(())
}

fn run(engine: &mut Engine, steps: u32) -> motes::Result<()> {
    for _ in 0..steps {
        engine.step(DT)?;
    }
    Ok(())
}

fn place(engine: &Engine, id: motes::ParticleId) -> String {
    let at = engine.world().position(id).expect("nobody removed it");
    format!("({:.2}, {:.2}, {:.2}) m", at.x, at.y, at.z)
}
