//! A cloth hangs from two of its corners: the shortest program that uses the engine.
use motes::{Backend, Cloth, Engine, World};

fn main() -> motes::Result<()> {
    let mut world = World::new();
    let cloth = world.add_cloth(&Cloth { columns: 20, rows: 20, ..Cloth::default() })?;
    world.pin(cloth[0])?;
    world.pin(cloth[19])?;
    let mut engine = Engine::new(world, Backend::default())?;
    for _ in 0..120 {
        engine.step(1.0 / 60.0)?;
    }
    let lowest = engine.positions().iter().map(|p| p.y).fold(0.0, f32::min);
    println!("after {:.1} s the cloth reaches {:.2} m down", engine.world().time(), -lowest);
    Ok(())
}
