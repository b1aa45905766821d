//! The worlds that benches are run on.
#![allow(dead_code)] // each bench uses some of them

use glam::Vec3;
use motes::world::LatticeEdges;
use motes::{Backend, Bond, Cloth, Engine, Lattice, ParticleId, Scene, World};

/// A square cloth stretched 4 x an axis; 39 402 distance constraints for 100, 998 002 for 500.
pub fn stretched(size: u32) -> World {
    cloth(size, None, Bond::default())
}

/// The cloth of 100 x 100 with 29 205 dihedral hinges, none of them flat.
pub fn bent() -> World {
    let mut world = cloth(100, Some(Bond::compliant(1e-3)), Bond::default());
    crumple(&mut world);
    world
}

/// The cloth of `bent`, all of whose constraints may break, though none does.
pub fn breakable() -> World {
    let tough = |material| Bond { break_at: 1e4, ..material };
    let mut world = cloth(100, Some(tough(Bond::compliant(1e-3))), tough(Bond::default()));
    crumple(&mut world);
    world
}

/// Waves across the cloth.
fn crumple(world: &mut World) {
    for id in (0..world.particles().len() as u64).map(ParticleId) {
        let at = world.position(id).expect("there");
        let height = 0.2 * (id.0 as f32 * 0.7).sin();
        world.set_position(id, at + Vec3::Y * height).expect("finite");
    }
}

fn cloth(size: u32, bend: Option<Bond>, stretch: Bond) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let cloth =
        Cloth { columns: size, rows: size, spacing: 0.1, bend, stretch, ..Cloth::default() };
    for id in world.add_cloth(&cloth).expect("a legal cloth") {
        let at = world.position(id).expect("just added") * 4.0;
        world.set_position(id, at).expect("finite");
    }
    world
}

/// A cube of 20 particles a side, pulled out of shape: 22 800 edges and 41 154 tetrahedra.
pub fn cube() -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let cube = Lattice {
        counts: [20; 3],
        edges: LatticeEdges::Axis,
        volume: Some(Bond::default()),
        ..Lattice::default()
    };
    for id in world.add_lattice(&cube).expect("a legal lattice") {
        let at = world.position(id).expect("just added") * Vec3::new(2.0, 0.7, 1.0);
        world.set_position(id, at).expect("finite");
    }
    world
}

/// A scene after so many of its steps, a pile that has come to rest, and the ms a step took on
/// average.
pub fn settled(scene: &str, steps: u32, threads: usize) -> (World, f64) {
    let scene = Scene::load(scene).expect("a built-in scene");
    let world = scene.build().expect("a legal scene");
    let mut engine = Engine::new(world, Backend::Cpu { threads }).expect("legal");
    let mut ms = 0.0;
    for _ in 0..steps {
        ms += engine.step(scene.params().dt).expect("legal").wall_ms;
    }
    (engine.into_world(), ms / f64::from(steps))
}

/// How many pairs the neighbour lists of a world hold; a report counts the planes of obstacles
/// with them.
pub fn listed_pairs(world: &World) -> usize {
    let mut world = world.clone();
    world.colliders.clear();
    world.params.iterations = 0;
    let mut engine = Engine::new(world, Backend::default()).expect("legal");
    engine.step(1e-6).expect("legal").listed
}

/// The processor's name, or its architecture where the system does not tell, with what is used of it.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':'));
    let name = name.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!("{name}, {cores} cores, {}", motes::instructions().unwrap_or("unknown instructions"))
}
