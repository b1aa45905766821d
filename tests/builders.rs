//! Builders take any numbers: they answer with a legal world or an error, never with a panic.

use glam::{Quat, Vec3};
use motes::{Backend, Bond, Cloth, Engine, Grains, Lattice, LatticeEdges, Solid, World};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => 0.01f32..1.0,
        2 => -10.0f32..10.0,
        1 => Just(0.0),
        1 => Just(f32::NAN),
        1 => Just(f32::INFINITY),
        1 => any::<f32>(),
    ]
}

fn good() -> impl Strategy<Value = f32> {
    prop_oneof![12 => 0.01f32..1.0, 1 => number()]
}

fn vector() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        8 => (-3.0f32..3.0, -3.0f32..3.0, -3.0f32..3.0).prop_map(|(x, y, z)| Vec3::new(x, y, z)),
        1 => (number(), number(), number()).prop_map(|(x, y, z)| Vec3::new(x, y, z)),
    ]
}

fn material() -> impl Strategy<Value = Bond> {
    (good(), good(), good(), good()).prop_map(|(stiffness, compliance, break_at, yield_at)| Bond {
        stiffness,
        compliance,
        break_at,
        yield_at,
    })
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 1u32..7, 1 => Just(0), 1 => Just(u32::MAX)]
}

fn solid() -> impl Strategy<Value = Solid> {
    prop_oneof![
        Just(Solid::Box),
        Just(Solid::Sphere),
        Just(Solid::Cylinder),
        number().prop_map(|tube| Solid::Torus { tube }),
    ]
}

fn steps_or_is_refused(world: World, built: bool) {
    if built {
        world.validate().unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        for _ in 0..3 {
            engine.step(1.0 / 60.0).unwrap();
            engine.world().validate().unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cloth(
        (origin, along, across) in (vector(), vector(), vector()),
        (columns, rows) in (count(), count()),
        (spacing, mass, radius) in (good(), good(), good()),
        (stretch, shear, bend) in (material(), material(), proptest::option::of(material())),
        self_collide in any::<bool>(),
    ) {
        let mut world = World::new();
        let built = world.add_cloth(&Cloth {
            name: "cloth".into(), origin, along, across, columns, rows, spacing, mass, radius,
            self_collide, stretch, shear, bend,
        });
        steps_or_is_refused(world, built.is_ok());
    }

    #[test]
    fn lattice(
        (center, velocity) in (vector(), vector()),
        (x, y, z) in (count(), count(), count()),
        (spacing, mass, radius) in (good(), good(), good()),
        (stretch, volume) in (material(), proptest::option::of(material())),
        (solid, full, self_collide) in (solid(), any::<bool>(), any::<bool>()),
        turn in number(),
    ) {
        let mut world = World::new();
        let built = world.add_lattice(&Lattice {
            name: "box".into(), center, counts: [x, y, z], spacing, mass, radius, velocity, solid,
            edges: if full { LatticeEdges::Full } else { LatticeEdges::Axis },
            rotation: Quat::from_rotation_x(turn), self_collide, stretch, volume,
        });
        steps_or_is_refused(world, built.is_ok());
    }

    #[test]
    fn grains(
        (origin, velocity) in (vector(), vector()),
        (x, y, z) in (count(), count(), count()),
        (spacing, mass, radius, jitter) in (good(), good(), good(), good()),
        (solid, seed) in (solid(), any::<u64>()),
    ) {
        let mut world = World::new();
        let built = world.add_grains(&Grains {
            name: "grains".into(), origin, counts: [x, y, z], spacing, mass, radius, velocity,
            solid, jitter, seed,
        });
        steps_or_is_refused(world, built.is_ok());
    }
}
