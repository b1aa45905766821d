//! Editing between steps: add, remove, pin, drag, cut, change parameters, on a running engine.

use glam::Vec3;
use motes::{
    Backend, Cloth, Engine, Grains, Kind, Lattice, Material, Particle, Phase, Solver, World,
};

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

fn run(engine: &mut Engine, steps: usize) {
    for _ in 0..steps {
        engine.step(1.0 / 60.0).unwrap();
        engine.world().validate().unwrap();
    }
}

#[test]
fn everything_can_be_edited_while_it_runs() {
    for &solver in Solver::ALL {
        let mut world = World::new();
        world.params.solver = solver;
        let cloth = Cloth {
            columns: 12,
            rows: 12,
            self_collide: true,
            bend: Some(Material::compliant(1e-3)),
            ..Cloth::default()
        };
        let ids = world.add_cloth(&cloth).unwrap();
        world.pin(ids[0]).unwrap();
        world.pin(ids[11]).unwrap();
        let mut engine = engine(world);
        run(&mut engine, 5);

        let world = engine.world_mut();
        let more = Grains { counts: [3, 3, 3], origin: Vec3::Y * 0.5, ..Grains::default() };
        let grains = world.add_grains(&more).unwrap();
        let body = world
            .add_lattice(&Lattice {
                center: Vec3::Y * 2.0,
                counts: [3, 3, 3],
                ..Lattice::default()
            })
            .unwrap();
        world.add_distance(ids[50], body[0], None, &Material::compliant(1e-4)).unwrap();
        run(&mut engine, 5);

        let world = engine.world_mut();
        let before = world.particles().len();
        world.remove_particles(&[ids[30], ids[31], grains[4]]).unwrap();
        assert_eq!(world.particles().len(), before - 3);
        assert!(world.position(ids[30]).is_none() && world.position(ids[32]).is_some());
        assert!(world.remove_particles(&[ids[30]]).is_err(), "removed twice");
        run(&mut engine, 5);

        let world = engine.world_mut();
        let fell = world.position(ids[11]).unwrap();
        world.unpin(ids[11]).unwrap();
        run(&mut engine, 10);
        assert!(engine.world().position(ids[11]).unwrap().y < fell.y, "{solver}: unpinned falls");

        let target = Vec3::new(1.0, 3.0, 1.0);
        engine.world_mut().drag(ids[70], target, 1e-6).unwrap();
        run(&mut engine, 60);
        let near = engine.world().position(ids[70]).unwrap().distance(target);
        assert!(near < 0.15, "{solver}: dragged particle is {near} m away");
        assert!(engine.world_mut().release(ids[70]).unwrap());
        assert!(!engine.world_mut().release(ids[70]).unwrap());

        let edges = engine.world().count(Kind::Distance);
        let cut = engine.world_mut().cut(Kind::Distance, |p| p[0].x < 0.2 && p[1].x >= 0.2);
        assert!(cut > 0);
        assert_eq!(engine.world().count(Kind::Distance), edges - cut);
        run(&mut engine, 5);

        let params = &mut engine.world_mut().params;
        params.iterations = 3;
        params.substeps = 2;
        params.restitution = 0.5;
        params.method = motes::world::Method::Pbd;
        run(&mut engine, 5);
        for &other in Solver::ALL {
            engine.world_mut().params.solver = other;
            run(&mut engine, 2);
        }
        engine.world_mut().params.dt = -1.0;
        assert!(engine.step(1.0 / 60.0).is_err(), "an illegal parameter is refused");
    }
}

#[test]
fn edits_refuse_what_is_not_legal_and_change_nothing() {
    let mut world = World::new();
    let fine = Particle {
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        mass: 1.0,
        radius: 0.1,
        phase: Phase::group(0),
    };
    let a = world.add_particle(&fine).unwrap();
    for bad in [
        Particle { position: Vec3::NAN, ..fine },
        Particle { velocity: Vec3::splat(f32::INFINITY), ..fine },
        Particle { mass: 0.0, ..fine },
        Particle { mass: -1.0, ..fine },
        Particle { mass: f32::NAN, ..fine },
        Particle { radius: 0.0, ..fine },
        Particle { radius: -0.1, ..fine },
        Particle { radius: f32::NAN, ..fine },
    ] {
        assert!(world.add_particle(&bad).is_err(), "{bad:?}");
    }
    let rigid = Material::default();
    assert!(world.add_distance(a, a, None, &rigid).is_err());
    assert!(world.add_distance(a, motes::ParticleId(9), None, &rigid).is_err());
    assert!(world.set_position(a, Vec3::NAN).is_err());
    assert!(world.drag(a, Vec3::ONE, -1.0).is_err());
    assert_eq!(world.particles().len(), 1);
    world.validate().unwrap();
}

#[test]
fn a_cut_cloth_falls_in_two_and_keeps_its_colors() {
    let mut world = World::new();
    let ids = world.add_cloth(&Cloth { columns: 10, rows: 10, ..Cloth::default() }).unwrap();
    (0..10).for_each(|k| world.pin(ids[k]).unwrap());
    let colors = world.distance().color_count();
    let mut engine = engine(world);
    run(&mut engine, 3);
    let cut = engine
        .world_mut()
        .cut(Kind::Distance, |p| (p[0].z - 0.22).signum() != (p[1].z - 0.22).signum());
    assert_eq!(cut, 10 + 9 + 9);
    assert!(engine.world().distance().color_count() <= colors.max(8));
    run(&mut engine, 60);
    assert!(engine.world().position(ids[99]).unwrap().y < -3.0, "the loose part falls freely");
    assert!(engine.world().position(ids[40]).unwrap().y > -0.5, "the pinned part hangs");
}

/// Putting another world into a running engine is the same as starting a new engine with it.
#[test]
fn a_world_put_in_place_of_another_is_stepped_as_in_a_new_engine() {
    let hang = |columns: u32, compliance: f32| {
        let mut world = World::new();
        let soft = Material::compliant(compliance);
        let cloth = Cloth { columns, stretch: soft, self_collide: true, ..Cloth::default() };
        let ids = world.add_cloth(&cloth).unwrap();
        world.pin(ids[0]).unwrap();
        world
    };
    let mut running = engine(hang(12, 0.0));
    run(&mut running, 5);
    let earlier = running.world().clone();
    run(&mut running, 5);
    for other in [earlier, hang(12, 1e-3), hang(20, 0.0), World::new()] {
        *running.world_mut() = other.clone();
        let mut fresh = engine(other);
        run(&mut running, 10);
        run(&mut fresh, 10);
        assert_eq!(running.world().hash(), fresh.world().hash());
    }
}

#[test]
fn iterations_end_early_at_the_residual_or_the_budget() {
    let mut world = World::new();
    let ids = world.add_cloth(&Cloth::default()).unwrap();
    world.pin(ids[0]).unwrap();
    world.params.iterations = 200;
    let mut engine = engine(world);
    assert_eq!(engine.step(1.0 / 60.0).unwrap().iterations, 200);
    engine.world_mut().params.until_residual = 1.0;
    let run = engine.step(1.0 / 60.0).unwrap().iterations;
    assert!(run > 0 && run < 200, "{run} iterations");
    let left = engine.world().residual(Kind::Distance);
    assert!(left <= 1.0, "residual {left} m");
    engine.world_mut().params.until_residual = 0.0;
    engine.world_mut().params.iterations = 100_000;
    engine.world_mut().params.budget_ms = 5.0;
    assert!(engine.step(1.0 / 60.0).unwrap().iterations < 100_000);
}

/// The CPU, and a Vulkan device where there is one.
fn backends() -> Vec<Backend> {
    let cpu = Backend::Cpu { threads: 2 };
    #[cfg(feature = "vulkan")]
    if motes::vulkan::trial::usable().is_some() {
        return vec![cpu, Backend::Vulkan { device: None, from: None }];
    }
    vec![cpu]
}

#[test]
fn particles_of_one_group_pass_through_each_other() {
    for backend in backends() {
        let mut world = World::new();
        let mut add = |y: f32, group: u32| {
            let (position, velocity, phase) = (Vec3::Y * y, Vec3::ZERO, Phase::group(group));
            let particle = Particle { position, velocity, mass: 1.0, radius: 0.1, phase };
            world.add_particle(&particle).unwrap()
        };
        let (below, above) = (add(0.0, 1), add(0.21, 2));
        world.pin(below).unwrap();
        let mut engine = Engine::new(world, backend.clone()).unwrap();
        run(&mut engine, 30);
        let height = |engine: &Engine| engine.world().position(above).unwrap().y;
        let rest = height(&engine);
        assert!((rest - 0.2).abs() < 5e-3, "{backend:?}: it rests at {rest} m");
        engine.world_mut().set_phase(above, Phase::group(1)).unwrap();
        run(&mut engine, 30);
        let end = height(&engine);
        assert!(end < -0.5, "{backend:?}: it is held at {end} m");
        assert!(engine.world_mut().set_phase(motes::ParticleId(99), Phase::group(1)).is_err());
    }
}
