//! Edits between the steps of a device: what changed is uploaded and nothing else, and the steps are
//! those of a device that was given everything.
#![cfg(feature = "vulkan")]

#[path = "vulkan/device.rs"]
mod device;

use device::on_device;
use glam::Vec3;
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Bond, Cloth, Coefficients, Collider, Engine, Force, ForceKind, Grains, Kind, Material,
    MaterialId, Particle, ParticleId, Phase, SurfaceWind, World,
};

const DT: f32 = 1.0 / 60.0;

/// Bytes given to the device so far, and how often a step was recorded.
fn counts(engine: &Engine) -> (u64, u64) {
    let view = engine.vulkan().unwrap();
    (view.uploaded(), view.recorded())
}

/// Bytes and recordings of one step after an edit.
fn cost(engine: &mut Engine, edit: impl FnOnce(&mut World)) -> (u64, u64) {
    let before = counts(engine);
    edit(engine.world_mut());
    engine.step(DT).unwrap();
    let after = counts(engine);
    (after.0 - before.0, after.1 - before.1)
}

/// A cloth of 100 000 particles, held at two corners.
fn large() -> (World, Vec<ParticleId>) {
    let mut world = World::new();
    (world.params.substeps, world.params.iterations) = (2, 1);
    let cloth = Cloth { columns: 316, rows: 317, spacing: 0.01, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    world.pin(ids[315]).unwrap();
    assert!(world.particles().len() >= 100_000);
    (world, ids.to_vec())
}

#[test]
fn a_drag_of_100_000_particles_uploads_less_than_a_megabyte_a_frame() {
    let (world, ids) = large();
    let Some(mut gpu) = on_device(world.clone()) else { return };
    let Some(mut everything) = on_device(world.clone()) else { return };
    let mut cpu = Engine::new(world, Backend::default()).unwrap();
    for engine in [&mut gpu, &mut everything, &mut cpu] {
        engine.step(DT).unwrap();
    }
    let middle = ids[ids.len() / 2];
    let start = gpu.world().position(middle).unwrap();
    for frame in 1..=4 {
        let target = start + Vec3::new(0.0, 0.02, 0.01) * frame as f32;
        let drag = |world: &mut World| {
            world.drag(middle, target, 1e-4).unwrap();
            // A fixed particle is moved by hand.
            let corner = world.position(ids[0]).unwrap();
            world.set_position(ids[0], corner + Vec3::Y * 1e-3).unwrap();
        };
        let (bytes, recordings) = cost(&mut gpu, drag);
        assert!(bytes < 4096, "{bytes} bytes in frame {frame}");
        // The first pull brings a pass into the schedule.
        assert_eq!(recordings, u64::from(frame == 1), "frame {frame}");
        everything.reload();
        let (bytes, _) = cost(&mut everything, drag);
        assert!(bytes > 8 << 20, "{bytes} bytes are not everything");
        assert_eq!(gpu.world().hash(), everything.world().hash(), "frame {frame}");
        drag(cpu.world_mut());
        cpu.step(DT).unwrap();
    }
    let apart = ids.iter().map(|&id| {
        let at = |engine: &Engine| engine.world().position(id).unwrap();
        at(&cpu).distance(at(&gpu))
    });
    assert!(apart.fold(0.0, f32::max) < 1e-4);

    let (bytes, recordings) = cost(&mut gpu, |world| world.params.friction = 0.9);
    assert!(bytes < 1024 && recordings == 0, "a knob: {bytes} bytes, {recordings} recordings");
    assert!(bytes > 0);
    let (bytes, recordings) = cost(&mut gpu, |world| world.drag(ids[9], start, 1e-3).unwrap());
    assert!(bytes < 4096 && recordings == 0, "a pin: {bytes} bytes, {recordings} recordings");
    assert_eq!(cost(&mut gpu, |_| {}), (0, 0), "nothing changed");
}

/// A material that is edited goes to the device alone, and acts there as on the CPU.
#[test]
fn a_material_edited_live_uploads_little() {
    let mut world = World::new();
    let cloth = Cloth { columns: 100, rows: 100, spacing: 0.01, ..Cloth::default() };
    let cloth = world.add_cloth(&cloth).unwrap();
    let patch = world.add_object("patch", &cloth[..100]).unwrap();
    let ice = Material { name: "ice".into(), ..Material::default() };
    let ice = world.add_material(&ice).unwrap();
    world.set_material(cloth.object, ice).unwrap();
    let floor = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::NEG_Y * 1e-3)));
    world.params.gravity.x = 3.0;
    world.params.push_out = 0.0; // it stays on the floor, a little deep
    let Some(mut gpu) = on_device(world.clone()) else { return };
    let mut cpu = Engine::new(world, Backend::default()).unwrap();
    for engine in [&mut gpu, &mut cpu] {
        engine.step(DT).unwrap();
    }
    type Edit<'a> = (&'a str, u64, Box<dyn Fn(&mut World) + 'a>);
    // Two pairs, each way, and the floor; then a word for each particle of a row.
    let edits: [Edit; 5] = [
        (
            "friction",
            64,
            Box::new(|world| {
                world.material_mut(ice).unwrap().coefficients.friction_kinetic = Some(0.02);
                world.material_mut(ice).unwrap().coefficients.friction_static = Some(0.02);
            }),
        ),
        (
            "a pair",
            64,
            Box::new(|world| {
                let own = Coefficients { friction_kinetic: Some(0.9), ..Coefficients::default() };
                world.set_material_pair(ice, MaterialId::DEFAULT, own).unwrap();
            }),
        ),
        (
            "a patch",
            512,
            Box::new(|world| {
                world.set_material(patch, MaterialId::DEFAULT).unwrap();
            }),
        ),
        ("the floor", 64, Box::new(|world| world.colliders[0].material = ice)),
        ("the parameters", 64, Box::new(|world| world.params.friction = 0.1)),
    ];
    for (name, most, edit) in edits {
        let (bytes, recordings) = cost(&mut gpu, &edit);
        assert!(bytes > 0 && bytes <= most, "{name}: {bytes} bytes");
        assert_eq!(recordings, 0, "{name}");
        edit(cpu.world_mut());
        cpu.step(DT).unwrap();
        let apart = cloth.iter().map(|&id| {
            let at = |engine: &Engine| engine.world().position(id).unwrap();
            at(&cpu).distance(at(&gpu))
        });
        let apart = apart.fold(0.0, f32::max);
        assert!(apart < 1e-5, "{name}: {apart} m apart");
    }
    // The control: they are at different places when one of them is not told.
    cpu.world_mut().params.friction = 2.0;
    cpu.world_mut().material_mut(ice).unwrap().coefficients.friction_kinetic = Some(2.0);
    for engine in [&mut gpu, &mut cpu] {
        engine.step(DT).unwrap();
    }
    let at = |engine: &Engine| engine.world().position(cloth[5000]).unwrap();
    assert!(at(&cpu).distance(at(&gpu)) > 1e-5);
    assert_eq!(gpu.vulkan().unwrap().messages(), Vec::<String>::new());
}

/// Whoever leaves the world on the device may still pull at it: it is fetched and not loaded again.
#[test]
fn a_world_that_stays_on_the_device_is_edited_there() {
    let mut world = World::new();
    let ids = world.add_cloth(&Cloth { columns: 40, rows: 40, ..Cloth::default() }).unwrap();
    world.pin(ids[0]).unwrap();
    world.drag(ids[39], Vec3::Y, 1e-3).unwrap();
    let Some(mut kept) = on_device(world.clone()) else { return };
    let Some(mut shown) = on_device(world) else { return };
    kept.keep_on_device(true);
    for engine in [&mut kept, &mut shown] {
        engine.step(DT).unwrap();
    }
    for frame in 0..6 {
        let pull = |world: &mut World| {
            world.drag(ids[39], Vec3::Y * (1.0 + 0.1 * frame as f32), 1e-3).unwrap();
        };
        let (bytes, recordings) = cost(&mut kept, pull);
        assert!(bytes < 1024 && recordings == 0, "{bytes} bytes, {recordings} recordings");
        cost(&mut shown, pull);
    }
    // A copy of what was seen before the fetch is another world, and comes back whole.
    let stale = kept.world().clone();
    kept.fetch().unwrap();
    assert_eq!(kept.world().hash(), shown.world().hash());
    let seen = stale.hash();
    for engine in [&mut kept, &mut shown] {
        *engine.world_mut() = stale.clone();
        assert_eq!(engine.world().hash(), seen);
        engine.step(DT).unwrap();
        engine.fetch().unwrap();
    }
    assert_eq!(kept.world().hash(), shown.world().hash());
}

/// A generator of numbers: the same ones every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }
    fn vector(&mut self) -> Vec3 {
        let mut number = || self.roll(2001) as f32 / 1000.0 - 1.0;
        Vec3::new(number(), number(), number())
    }
    fn particle(&mut self, world: &World) -> ParticleId {
        let ids = world.particles().ids();
        ParticleId(ids[self.roll(ids.len())])
    }
}

/// One edit out of all there are; the answer says which. Edits that are refused change nothing.
fn edit(world: &mut World, dice: &mut Dice) -> String {
    let kind = dice.roll(23);
    let (id, v) = (dice.particle(world), dice.vector());
    let said = match kind {
        0 | 1 => {
            let at = world.position(id).unwrap() + 0.02 * v;
            format!("{:?}", world.set_position(id, at))
        }
        2 | 3 => format!("{:?}", world.set_velocity(id, v)),
        4 => format!("{:?}", world.pin(id)),
        5 => format!("{:?}", world.unpin(id)),
        6 | 7 => format!("{:?}", world.drag(id, v, 1e-3)),
        8 => format!("{:?}", world.release(id)),
        9 => {
            let mut left = 3;
            let cut = |_: &[Vec3]| {
                left -= i32::from(left > 0);
                left > 0
            };
            format!("{}", world.cut([Kind::Distance, Kind::Bend][dice.roll(2)], cut))
        }
        10 => format!("{:?}", world.remove_particles(&[id])),
        11 => {
            // One goes and one comes: as many as before, but not the same.
            world.remove_particles(&[id]).unwrap();
            let phase = Phase::group(1);
            let new = Particle { position: 2.0 * v, velocity: v, mass: 1.0, radius: 0.02, phase };
            format!("{:?}", world.add_particle(&new))
        }
        12 => format!("{:?}", world.set_phase(id, Phase::group(1 + dice.roll(2) as u32))),
        13 => {
            world.params.friction = dice.roll(10) as f32 / 10.0;
            "friction".into()
        }
        14 => {
            world.params.iterations = 1 + dice.roll(6) as u32;
            world.params.substeps = 1 + dice.roll(3) as u32;
            "iterations".into()
        }
        15 => {
            world.params.method =
                [motes::world::Method::Xpbd, motes::world::Method::Pbd][dice.roll(2)];
            "method".into()
        }
        16 => {
            let velocity = 3.0 * v;
            let kind = match dice.roll(2) {
                0 => ForceKind::Wind { velocity, drag: 0.1 },
                _ => {
                    let wind = SurfaceWind { velocity, gust: 0.5, ..SurfaceWind::default() };
                    ForceKind::SurfaceWind(wind)
                }
            };
            world.forces.push(Force { kind, region: None });
            "wind".into()
        }
        17 => {
            world.colliders.clear();
            let shape = match dice.roll(3) {
                0 => Shape::Sphere { radius: 0.2 },
                1 => Shape::Plane { normal: Vec3::Y },
                _ => Shape::Box { half: Vec3::splat(0.2) },
            };
            let pose = Pose::from_translation(Vec3::new(0.2, -0.6, 0.2));
            world.colliders.push(Collider::fixed(shape, pose));
            "collider".into()
        }
        18 => {
            let ids = [id, dice.particle(world)];
            format!("{:?}", world.add_distance(ids[0], ids[1], None, &Bond::compliant(1e-4)))
        }
        19 => {
            let coefficients = Coefficients {
                friction_kinetic: Some(dice.roll(10) as f32 / 10.0),
                restitution: Some(dice.roll(10) as f32 / 10.0),
                ..Coefficients::default()
            };
            let material = world.materials().map(|(id, _)| id).nth(dice.roll(4));
            match material {
                Some(id) => world.material_mut(id).unwrap().coefficients = coefficients,
                None => _ = world.add_material(&Material { name: "new".into(), coefficients }),
            }
            "material".into()
        }
        20 => {
            let material = world.materials().map(|(id, _)| id).last();
            let objects: Vec<_> = world.objects().map(|(id, _)| id).collect();
            let object = objects[dice.roll(objects.len())];
            format!("{:?}", world.set_material(object, material.unwrap_or_default()))
        }
        21 => {
            let material = world.materials().map(|(id, _)| id).last().unwrap_or_default();
            let coefficients =
                Coefficients { restitution: Some(dice.roll(2) as f32), ..Coefficients::default() };
            let set = world.set_material_pair(material, MaterialId::DEFAULT, coefficients);
            if let Some(collider) = world.colliders.first_mut() {
                collider.material = material;
            }
            format!("{set:?}")
        }
        _ => "nothing".into(),
    };
    format!("{kind}: {said}")
}

/// Whatever is edited: the device that is given what changed steps as one that is given everything.
#[test]
fn what_changed_is_as_good_as_everything() {
    for touching in [false, true] {
        let mut world = World::new();
        world.params.iterations = 3;
        let bend = Some(Bond::compliant(1e-3));
        let stretch = Bond { break_at: 1.5, ..Bond::default() };
        let cloth = Cloth { columns: 14, rows: 14, bend, stretch, ..Cloth::default() };
        let ids = world.add_cloth(&cloth).unwrap();
        world.pin(ids[0]).unwrap();
        if touching {
            let origin = Vec3::new(0.1, 0.2, 0.1);
            world.add_grains(&Grains { origin, counts: [4, 4, 4], ..Grains::default() }).unwrap();
        }
        let Some(mut gpu) = on_device(world.clone()) else { return };
        let Some(mut everything) = on_device(world.clone()) else { return };
        let Some(mut fresh) = on_device(world) else { return };
        let seed = 7 + u64::from(touching);
        let (mut dice, mut same) = (Dice(seed), Dice(seed));
        let mut less = 0;
        for turn in 0..40 {
            let mut said = String::new();
            for _ in 0..dice.roll(3) {
                said = edit(gpu.world_mut(), &mut dice);
            }
            for _ in 0..same.roll(3) {
                edit(everything.world_mut(), &mut same);
            }
            everything.reload();
            let dt = if turn % 20 == 19 { DT / 2.0 } else { DT };
            let before = [&gpu, &everything].map(|engine| counts(engine).0);
            if !touching {
                // Lists are made anew for another world, and pairs come in another order then.
                *fresh.world_mut() = gpu.world().clone();
                fresh.step(dt).unwrap();
            }
            gpu.step(dt).unwrap();
            everything.step(dt).unwrap();
            let hash = gpu.world().hash();
            assert_eq!(hash, everything.world().hash(), "turn {turn}, {said}");
            assert!(touching || hash == fresh.world().hash(), "turn {turn}, {said}");
            let [some, all] = [(&gpu, before[0]), (&everything, before[1])]
                .map(|(engine, before)| counts(engine).0 - before);
            less += u32::from(4 * some < all);
        }
        assert!(less > 12, "{less} turns uploaded much less than everything");
        assert_eq!(gpu.vulkan().unwrap().messages(), Vec::<String>::new());
    }
}
