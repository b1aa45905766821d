//! A sheet is held along its upper edge and pulled at its lower one until it tears. Each bond of
//! the sheet breaks when it is stretched by more than a tenth of its length.

use glam::Vec3;
use motes::{Backend, Bond, Cloth, Engine, Kind, World};

fn main() -> motes::Result<()> {
    let (columns, rows) = (30, 20);
    let weak = Bond { break_at: 0.1, ..Bond::default() };
    let mut world = World::new();
    let sheet = world.add_cloth(&Cloth {
        across: Vec3::NEG_Y,
        columns,
        rows,
        stretch: weak,
        shear: weak,
        ..Cloth::default()
    })?;
    let (upper, lower) = (&sheet[..columns as usize], &sheet[sheet.len() - columns as usize..]);
    for &id in upper {
        world.pin(id)?;
    }
    let whole = world.count(Kind::Distance);
    let mut engine = Engine::new(world, Backend::default())?;

    for step in 1..=120 {
        // The lower edge follows points that sink by half a metre a second; 0 means a rigid pull.
        for &id in lower {
            let world = engine.world_mut();
            let at = world.position(id).expect("the sheet keeps its particles");
            world.drag(id, Vec3::new(at.x, -0.95 - 0.5 * step as f32 / 60.0, at.z), 0.0)?;
        }
        engine.step(1.0 / 60.0)?;
        if step % 30 == 0 {
            let world = engine.world();
            println!("after {:.1} s {} bonds are broken", world.time(), world.broken());
        }
    }
    println!("{} of {whole} bonds are left", engine.world().count(Kind::Distance));
    Ok(())
}
