//! Breakable and plastic constraints, and particles that become non-finite.

use glam::Vec3;
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Collider, Pose, Shape};
use motes::{Backend, Bond, Cloth, Engine, Force, ForceKind, Kind, Particle, Phase, World};

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

#[test]
fn four_hundred_thousand_break_in_one_step() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let weak = Bond { break_at: 0.5, ..Bond::default() };
    let cloth = Cloth { columns: 317, rows: 317, stretch: weak, shear: weak, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    assert!(world.count(Kind::Distance) > 400_000);
    for &id in &ids {
        let far = world.position(id).unwrap() * 4.0;
        world.set_position(id, far).unwrap();
    }
    let all = world.count(Kind::Distance);
    let mut engine = engine(world);
    let report = engine.step(1.0 / 60.0).unwrap();
    assert_eq!(report.broken, all);
    assert_eq!(engine.world().broken(), all as u64);
    assert_eq!(engine.world().count(Kind::Distance), 0);
    engine.step(1.0 / 60.0).unwrap();
    engine.world().validate().unwrap();
}

#[test]
fn hinges_and_edges_break_together() {
    let mut world = World::new();
    let weak = Bond { break_at: 0.2, ..Bond::default() };
    let cloth = Cloth {
        columns: 3,
        rows: 3,
        stretch: weak,
        shear: weak,
        bend: Some(Bond::default()),
        ..Cloth::default()
    };
    let ids = world.add_cloth(&cloth).unwrap();
    let hinges = world.count(Kind::Bend);
    let corner = world.position(ids[8]).unwrap();
    world.set_position(ids[8], corner + Vec3::new(1.0, 0.0, 1.0)).unwrap();
    let mut engine = engine(world);
    engine.step(1.0 / 60.0).unwrap();
    assert!(engine.world().broken() > 0);
    let left = engine.world().count(Kind::Bend);
    assert!(left < hinges && left > 0, "{left} of {hinges} hinges left");
}

fn pulled_bar(material: Bond, length: f32) -> (Engine, f32) {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let at = |x: f32| Particle {
        position: Vec3::X * x,
        velocity: Vec3::ZERO,
        mass: 1.0,
        radius: 0.01,
        phase: Phase::group(0),
    };
    let (a, b) = (world.add_particle(&at(0.0)).unwrap(), world.add_particle(&at(1.0)).unwrap());
    world.add_distance(a, b, None, &material).unwrap();
    world.set_position(b, Vec3::X * length).unwrap();
    let mut engine = engine(world);
    engine.step(1.0 / 60.0).unwrap();
    let rest = engine.world().distance().rest().first().copied().unwrap_or(f32::NAN);
    (engine, rest)
}

#[test]
fn a_plastic_bar_keeps_part_of_its_stretch_and_breaks_on_its_original_length() {
    let plastic = Bond { yield_at: 0.1, break_at: 0.5, ..Bond::default() };
    // Within the yield strain: elastic.
    assert_eq!(pulled_bar(plastic, 1.05).1, 1.0);
    // Beyond: the rest length follows until the elastic strain is the yield strain.
    let (_, rest) = pulled_bar(plastic, 1.32);
    assert!((rest - 1.2).abs() < 1e-5, "rest length {rest}, expected 1.2");
    // A second pull from there is judged against the first length: 1.6 > 1.5 breaks.
    let (engine, _) = pulled_bar(plastic, 1.6);
    assert_eq!(engine.world().count(Kind::Distance), 0);
}

#[test]
fn a_particle_that_becomes_non_finite_is_quarantined_and_does_not_spread() {
    let mut world = World::new();
    let cloth = Cloth { columns: 10, rows: 10, self_collide: true, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    // Its speed overflows f32 within a step.
    world.set_velocity(ids[55], Vec3::X * 3e38).unwrap();
    world.forces.push(Force {
        kind: ForceKind::Gravity { acceleration: Vec3::X * 1e38 },
        region: Some([Vec3::splat(0.0), Vec3::splat(0.0)]),
    });
    let before = world.position(ids[55]).unwrap();
    let mut engine = engine(world);
    let mut seen = 0;
    for _ in 0..30 {
        seen += engine.step(1.0).unwrap().quarantined;
        engine.world().validate().unwrap();
    }
    assert!((1..=3).contains(&seen), "{seen} particles quarantined");
    assert_eq!(engine.world().quarantined(), seen);
    let after = engine.world().position(ids[55]).unwrap();
    assert!(after.is_finite() && before.is_finite());
}

#[test]
fn neighbours_quarantined_together_do_not_spread_along_a_chain_of_contacts() {
    for &solver in motes::Solver::ALL {
        let mut world = World::new();
        world.params.solver = solver;
        world.params.gravity = Vec3::ZERO;
        let ids: Vec<_> = (0..6)
            .map(|k| {
                let ball = Particle {
                    position: Vec3::X * (k as f32 * 0.199),
                    velocity: Vec3::ZERO,
                    mass: 1.0,
                    radius: 0.1,
                    phase: Phase::group(k),
                };
                world.add_particle(&ball).unwrap()
            })
            .collect();
        let mut engine = engine(world);
        engine.step(1.0 / 60.0).unwrap();
        // At rest, so that nobody leaves the margin of the lists in a step of a second.
        for &id in &ids {
            engine.world_mut().set_velocity(id, Vec3::ZERO).unwrap();
        }
        for k in [2, 3] {
            let world = engine.world_mut();
            world.set_position(ids[k], Vec3::X * (k as f32 * 0.199)).unwrap();
            world.set_velocity(ids[k], Vec3::Y * 3e38).unwrap();
        }
        // Acts on these two alone, and overflows their speed; the lists of the last step still hold.
        let region = Some([Vec3::new(0.3, -1.0, -1.0), Vec3::new(0.65, 1.0, 1.0)]);
        let kind = ForceKind::Gravity { acceleration: Vec3::Y * 3e38 };
        engine.world_mut().forces.push(Force { kind, region });
        let middle = engine.world().position(ids[2]).unwrap();
        engine.step(1.0).unwrap();
        engine.world_mut().forces.clear();
        for _ in 0..10 {
            engine.world().validate().unwrap();
            engine.step(1.0 / 60.0).unwrap();
        }
        assert_eq!(engine.world().position(ids[2]).unwrap(), middle, "{solver}: kept in place");
        assert_eq!(engine.world().quarantined(), 2, "{solver}: and no others");
    }
}

/// Steps a world with every solver and saves it each time: what is saved must load.
fn stays_loadable(make: impl Fn() -> World, lost: u64) {
    for &solver in motes::Solver::ALL {
        let mut world = make();
        world.params.solver = solver;
        let mut engine = engine(world);
        for step in 0..10 {
            engine.step(1.0 / 60.0).unwrap();
            let world = engine.world();
            world.validate().unwrap_or_else(|e| panic!("{solver}, step {step}: {e}"));
            from_bytes("saved", &to_bytes("", world).unwrap()).unwrap();
        }
        assert_eq!(engine.world().quarantined(), lost, "{solver}");
    }
}

#[test]
fn a_light_particle_high_up_has_a_weight_whose_sums_are_finite() {
    let balls = || {
        let mut world = World::new();
        world.params.mass_scale = 1000.0;
        let heights = [0.0, 1.0, 1.05, 1.1];
        for (k, (y, mass)) in heights.into_iter().zip([1.0, 1e-30, 1e-30, 1.0]).enumerate() {
            let position = Vec3::Y * y;
            let phase = Phase::group(k as u32);
            let ball = Particle { position, velocity: Vec3::ZERO, mass, radius: 0.1, phase };
            world.add_particle(&ball).unwrap();
        }
        world
    };
    stays_loadable(balls, 0);
}

#[test]
fn what_is_far_inside_an_obstacle_is_not_thrown_out_of_range() {
    let far_inside = || {
        let mut world = World::new();
        // The way out of a wall and then of a slope leads beyond the largest number. Old overlap is
        // pushed out no faster than `push_out`, so nobody goes there, and nobody is quarantined.
        for (normal, at) in [(Vec3::X, [3.3e38, 0.0]), (Vec3::ONE.with_z(0.0), [1.15e38; 2])] {
            let pose = Pose::from_translation(Vec3::new(at[0], at[1], 0.0));
            world.colliders.push(Collider::fixed(Shape::Plane { normal }, pose));
        }
        for k in 0..3 {
            let position = match k {
                1 => Vec3::new(0.0, -1.5e38, 0.0),
                _ => Vec3::new(3.35e38, k as f32 * 1e30, 0.0),
            };
            let phase = Phase::group(k);
            let ball = Particle { position, velocity: Vec3::ZERO, mass: 1.0, radius: 0.1, phase };
            world.add_particle(&ball).unwrap();
        }
        world
    };
    stays_loadable(far_inside, 0);
}
