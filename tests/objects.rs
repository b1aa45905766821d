//! Objects and their handles: what is added can be found, hidden, shared and removed as a whole.

use glam::Vec3;
use motes::{
    Backend, Bond, Built, Cloth, Engine, Grains, Kind, Lattice, Object, Particle, ParticleId,
    Phase, World, snapshot,
};

fn cloth(world: &mut World, y: f32) -> Built {
    let bend = Some(Bond::default());
    let origin = Vec3::Y * y;
    world.add_cloth(&Cloth { columns: 4, rows: 3, origin, bend, ..Cloth::default() }).unwrap()
}

fn body(world: &mut World, y: f32) -> Built {
    let (center, volume) = (Vec3::Y * y, Some(Bond::default()));
    world.add_lattice(&Lattice { center, counts: [3; 3], volume, ..Lattice::default() }).unwrap()
}

fn run(world: World, steps: usize) -> World {
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..steps {
        engine.step(1.0 / 60.0).unwrap();
    }
    engine.into_world()
}

fn names(world: &World) -> Vec<&str> {
    world.objects().map(|(_, object)| object.name.as_str()).collect()
}

#[test]
fn every_builder_gives_a_handle_that_leads_to_its_particles() {
    let mut world = World::new();
    let sheet = cloth(&mut world, 0.0);
    let block = body(&mut world, 1.0);
    let sand = world.add_grains(&Grains { counts: [2; 3], ..Grains::default() }).unwrap();
    for built in [&sheet, &block, &sand] {
        let object = world.object(built.object).unwrap();
        assert!(object.particles().eq(built.iter().copied()));
        assert_eq!((object.len(), object.made_of()), (built.len(), built.len()));
        assert_eq!(object.particle(3), Some(built[3]));
        assert_eq!(object.particle(built.len()), None);
        assert!(object.visible && object.user_data == 0 && !object.is_empty());
    }
    assert_eq!(names(&world), ["cloth", "box", "grains"]);
    let handles: Vec<_> = world.objects().map(|(id, _)| id).collect();
    assert_eq!(handles, [sheet.object, block.object, sand.object]);
    assert!(world.object(block.object).unwrap().surface().is_closed());
    assert_eq!(world.object(sheet.object).unwrap().surface().triangles().len(), 12);
    assert!(world.object(sand.object).unwrap().surface().triangles().is_empty());
}

#[test]
fn a_stale_handle_is_an_error_also_when_its_place_is_taken_again() {
    let mut world = World::new();
    let first = cloth(&mut world, 0.0);
    let other = cloth(&mut world, 1.0);
    world.remove_object(first.object).unwrap();
    let next = body(&mut world, 2.0);
    assert_eq!(world.objects().count(), 2, "its place is taken again");
    assert_ne!(next.object, first.object);
    for said in [
        world.object(first.object).unwrap_err(),
        world.object_mut(first.object).unwrap_err(),
        world.constraints_of(first.object, Kind::Distance).unwrap_err(),
        world.remove_object(first.object).unwrap_err(),
    ] {
        assert!(said.to_string().contains("no object 0.0 (removed?)"), "{said}");
    }
    assert_eq!(world.object(next.object).unwrap().name, "box");
    assert_eq!(world.object(other.object).unwrap().len(), 12);
    world.validate().unwrap();
}

#[test]
fn removal_takes_particles_constraints_and_pins_and_leaves_the_rest() {
    let mut world = World::new();
    let sheet = cloth(&mut world, 0.0);
    let block = body(&mut world, 1.0);
    world.add_distance(sheet[0], block[0], None, &Bond::default()).unwrap();
    world.drag(sheet[1], Vec3::Y, 1e-3).unwrap();
    world.drag(block[1], Vec3::Y, 1e-3).unwrap();
    let mut alone = World::new();
    body(&mut alone, 1.0);
    let counts = |world: &World| Kind::ALL.map(|kind| world.count(kind));
    world.remove_object(sheet.object).unwrap();
    assert_eq!(counts(&world)[..3], counts(&alone)[..3]);
    assert_eq!(world.pins().len(), 1);
    assert_eq!(names(&world), ["box"]);
    assert!(world.position(sheet[0]).is_none() && world.position(block[0]).is_some());
    let world = run(world, 3);
    world.validate().unwrap();
    assert!(world.object(block.object).unwrap().particles().eq(block.iter().copied()));
}

#[test]
fn an_object_without_some_of_its_particles_is_sound() {
    let mut world = World::new();
    let sheet = cloth(&mut world, 0.0);
    let all = world.object(sheet.object).unwrap().surface().triangles().to_vec();
    world.remove_particles(&[sheet[5], sheet[11]]).unwrap();
    world.validate().unwrap();
    let object = world.object(sheet.object).unwrap();
    let left: Vec<ParticleId> =
        sheet.iter().copied().filter(|id| ![sheet[5], sheet[11]].contains(id)).collect();
    assert!(object.particles().eq(left.iter().copied()));
    assert_eq!((object.len(), object.made_of()), (10, 12));
    assert_eq!(object.particle(5), Some(sheet[6]));
    let whole: Vec<_> =
        all.iter().copied().filter(|t| t.iter().all(|id| left.contains(id))).collect();
    assert!(whole.len() < all.len() && !whole.is_empty());
    assert_eq!(object.surface().triangles(), whole);
    world.remove_particles(&left).unwrap();
    world.validate().unwrap();
    let object: &Object = world.object(sheet.object).unwrap();
    assert!(object.is_empty() && object.surface().triangles().is_empty());
    world.remove_object(sheet.object).unwrap();
    world.validate().unwrap();
}

#[test]
fn two_objects_may_share_particles() {
    let mut world = World::new();
    let sheet = cloth(&mut world, 0.0);
    let ball = world
        .add_particle(&Particle {
            position: Vec3::Y,
            velocity: Vec3::ZERO,
            mass: 1.0,
            radius: 0.1,
            phase: Phase::group(9),
        })
        .unwrap();
    let part = [ball, sheet[7], sheet[2], sheet[3]];
    let crew = world.add_object("crew", &part).unwrap();
    assert!(world.object(crew).unwrap().particles().eq(part), "in the order they were given");
    world.validate().unwrap();
    world.remove_object(crew).unwrap();
    assert!(world.position(ball).is_none(), "it was of this object alone");
    assert!(world.position(sheet[7]).is_some(), "the cloth still holds it");
    assert_eq!(world.object(sheet.object).unwrap().len(), 12);

    let crew = world.add_object("crew", &sheet[..2]).unwrap();
    world.remove_object(sheet.object).unwrap();
    assert!(world.object(crew).unwrap().particles().eq(sheet[..2].iter().copied()));
    assert_eq!(world.particles().len(), 2);
    world.validate().unwrap();

    let twice = world.add_object("twice", &[sheet[0], sheet[1], sheet[0]]).unwrap_err();
    assert!(twice.to_string().contains("named twice"), "{twice}");
    let gone = world.add_object("gone", &[sheet[0], sheet[9]]).unwrap_err();
    assert!(gone.to_string().contains("no particle 9"), "{gone}");
    assert_eq!(world.objects().count(), 1, "what was refused was not added");
}

#[test]
fn the_constraints_of_an_object_are_those_between_its_own_particles() {
    let mut world = World::new();
    let sheet = cloth(&mut world, 0.0);
    let block = body(&mut world, 1.0);
    world.add_distance(sheet[0], block[0], None, &Bond::default()).unwrap();
    world.drag(block[3], Vec3::Y, 1e-3).unwrap();
    let world = run(world, 2);
    let count = |built: &Built, kind| world.constraints_of(built.object, kind).unwrap().len();
    let of_sheet = Kind::ALL.map(|kind| count(&sheet, kind));
    let of_block = Kind::ALL.map(|kind| count(&block, kind));
    assert_eq!(of_sheet[2..], [0, 0]);
    assert_eq!(of_block[1..], [0, 48, 1]);
    assert_eq!(
        of_sheet[0] + of_block[0] + 1,
        world.count(Kind::Distance),
        "the joint is neither's"
    );
    for row in world.constraints_of(sheet.object, Kind::Distance).unwrap() {
        for slot in world.distance().particles(row) {
            assert!(sheet.contains(&ParticleId(world.particles().ids()[slot as usize])));
        }
    }
}

#[test]
fn a_hidden_object_is_simulated_and_a_snapshot_keeps_what_it_was_given() {
    let make = |visible: bool| {
        let mut world = World::new();
        let sheet = cloth(&mut world, 0.0);
        let gone = body(&mut world, 2.0);
        let block = body(&mut world, 1.0);
        world.remove_object(gone.object).unwrap();
        let object = world.object_mut(sheet.object).unwrap();
        (object.visible, object.user_data) = (visible, u64::MAX - 3);
        object.name = "sail".into();
        (run(world, 10), sheet, block, gone)
    };
    let (world, sheet, block, gone) = make(false);
    assert_eq!(world.hash(), make(true).0.hash());
    let bytes = snapshot::to_bytes("", &world).unwrap();
    let mut back = snapshot::from_bytes("bytes", &bytes).unwrap().world;
    assert_eq!(back, world);
    let object = back.object(sheet.object).unwrap();
    assert_eq!((object.visible, object.user_data), (false, u64::MAX - 3));
    assert_eq!(object.name, "sail");
    assert_eq!(back.object(block.object).unwrap().len(), 27);
    assert!(back.object(gone.object).is_err());
    // The place of what was removed is taken again, by another generation.
    let more = cloth(&mut back, 3.0);
    assert_ne!(more.object, gone.object);
    assert!(back.object(gone.object).is_err());
}
