//! Editing between steps: add, remove, pin, drag, cut, change parameters, on a running engine.

use glam::Vec3;
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Collider, Pose, Shape};
use motes::{Backend, Bond, Cloth, Engine, Grains, Kind, Lattice, Particle, Phase, Solver, World};

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
            bend: Some(Bond::compliant(1e-3)),
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
        world.add_distance(ids[50], body[0], None, &Bond::compliant(1e-4)).unwrap();
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
    let rigid = Bond::default();
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
        let soft = Bond::compliant(compliance);
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
    (world.params.substeps, world.params.iterations) = (1, 200);
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
    #[cfg(all(feature = "vulkan", feature = "harness"))]
    if motes::vulkan::harness::trial::usable().is_some() {
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

#[test]
fn a_constraint_of_any_kind_is_added_and_a_wrong_one_is_refused() {
    let mut world = World::new();
    let ids = world.add_lattice(&Lattice { counts: [3; 3], ..Default::default() }).unwrap();
    let bond = Bond::default();
    for kind in Kind::SETS {
        let before = world.count(kind);
        let particles = &[ids[0], ids[1], ids[4], ids[14]][..kind.corners()];
        world.add_constraint(kind, particles, None, &bond).unwrap();
        assert_eq!(world.count(kind), before + 1);
        let rows = world.rows(kind).unwrap();
        assert!(world.residual(kind) < 1e-6, "{kind}: it rests where it was added");
        assert_eq!(rows.corners(), kind.corners());

        let refused = |world: &mut World, particles: &[_], rest, says: &str| {
            let error = world.add_constraint(kind, particles, rest, &bond).unwrap_err();
            assert!(error.to_string().contains(says), "{kind}: {error}");
        };
        let count = ["no", "one", "two", "three", "four"][kind.corners()];
        let few = format!("needs {count} different particles");
        refused(&mut world, &ids[..kind.corners() - 1], None, &few);
        refused(&mut world, &ids[..kind.corners() + 1], None, &few);
        if kind.corners() > 1 {
            refused(&mut world, &vec![ids[0]; kind.corners()], None, &few);
        }
        refused(&mut world, particles, Some(f32::NAN), "not finite");
        assert_eq!(world.count(kind), before + 1, "what was refused was added");
    }
    let error = world.add_constraint(Kind::Pin, &ids[..1], None, &bond).unwrap_err();
    assert!(error.to_string().contains("use World::drag"), "{error}");
    world.validate().unwrap();
}

/// Four loose particles `width` apart.
fn square(width: f32) -> (World, Vec<motes::ParticleId>) {
    let mut world = World::new();
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.3)];
    let add = |corner: Vec3| {
        let (position, phase) = (corner * width, Phase::group(1));
        let ball = Particle { position, velocity: Vec3::ZERO, mass: 1.0, radius: 0.1, phase };
        world.add_particle(&ball).unwrap()
    };
    let ids = corners.into_iter().map(add).collect();
    (world, ids)
}

#[test]
fn a_constraint_whose_measure_overflows_is_refused() {
    for (kind, width) in [(Kind::Distance, 1e30), (Kind::Bend, 1e10), (Kind::Volume, 1e20)] {
        let (mut world, ids) = square(width);
        let corners = &ids[..kind.corners()];
        let before = world.clone();
        let refused = world.add_constraint(kind, corners, None, &Bond::default());
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("rest") && message.contains("too far apart"), "{kind}: {message}");
        assert_eq!(world, before, "{kind}: nothing was added");
    }
    let (mut world, ids) = square(1e8);
    // This hinge is as wide as the one that was found; whether or not it is measured, it is legal.
    let _ = world.add_bend([ids[0], ids[3]], [ids[1], ids[2]], &Bond::default());
    world.validate().unwrap();
}

#[test]
fn a_collider_that_an_edit_made_illegal_is_refused_before_the_step() {
    let ball = || Collider::fixed(Shape::Sphere { radius: 0.5 }, Pose::IDENTITY);
    type Spoil = fn(&mut Collider);
    let spoil: [(&str, Spoil); 6] = [
        ("collider.1.shape.radius", |c| c.shape = Shape::Sphere { radius: 0.0 }),
        ("collider.1.shape.radius", |c| c.shape = Shape::Sphere { radius: f32::NAN }),
        ("collider.1.path.0.translation", |c| c.path[0].pose.translation.x = f32::NAN),
        ("collider.1.path", |c| c.path.clear()),
        ("collider.1.friction_kinetic", |c| c.coefficients.friction_kinetic = Some(f32::NAN)),
        ("collider.1.restitution", |c| c.coefficients.restitution = Some(-1.0)),
    ];
    for backend in backends() {
        for (field, spoil) in spoil {
            for steps_before in [0, 2] {
                let mut world = World::new();
                world.add_cloth(&Cloth::default()).unwrap();
                world.colliders.push(ball());
                let mut engine = Engine::new(world, backend.clone()).unwrap();
                run(&mut engine, steps_before);
                let mut wrong = ball();
                spoil(&mut wrong);
                engine.world_mut().colliders.push(wrong);
                let before = engine.world().hash();
                for _ in 0..2 {
                    let message = engine.step(1.0 / 60.0).unwrap_err().to_string();
                    assert!(message.starts_with(field), "{message}");
                }
                assert_eq!(engine.world().hash(), before, "nothing has moved");
                // One that stands in its place is looked at anew, and the engine goes on.
                engine.world_mut().colliders[1] = ball();
                run(&mut engine, 1);
                spoil(&mut engine.world_mut().colliders[1]);
                assert!(engine.step(1.0 / 60.0).is_err(), "{field} in place");
                engine.world_mut().colliders.truncate(1);
                run(&mut engine, 1);
                let world = engine.world();
                assert_eq!(
                    from_bytes("saved", &to_bytes("", world).unwrap()).unwrap().world,
                    *world
                );
            }
        }
    }
}

#[test]
fn an_illegal_world_in_place_of_another_is_refused() {
    let mut engine = engine(square(1.0).0);
    run(&mut engine, 2);
    let mut other = square(2.0).0;
    other.colliders.push(Collider::fixed(Shape::Sphere { radius: -1.0 }, Pose::IDENTITY));
    *engine.world_mut() = other;
    engine.schedule();
    assert!(engine.step(1.0 / 60.0).is_err());
    engine.world_mut().colliders.clear();
    run(&mut engine, 2);
}

/// A cloth on a tray that the program moves goes with it.
#[test]
fn a_collider_that_is_moved_by_hand_carries_what_lies_on_it() {
    const SPEED: f32 = 0.3;
    let tray = |at: f32| Pose::from_translation(Vec3::new(at, 0.0, 0.0));
    for backend in backends() {
        // By `move_to`; and by a path of its own each step, which jumps.
        let [moved, jumped] = [true, false].map(|by_move| {
            let mut world = World::new();
            world.params.friction = 2.0;
            world.params.static_friction = 2.0;
            let cloth = Cloth { origin: Vec3::new(0.0, 0.111, 0.0), ..Cloth::default() };
            let ids = world.add_cloth(&cloth).unwrap();
            let shape = Shape::Box { half: Vec3::new(5.0, 0.1, 5.0) };
            world.colliders.push(Collider::fixed(shape, tray(0.0)));
            let before = world.position(ids[0]).unwrap().x;
            let mut engine = Engine::new(world, backend.clone()).unwrap();
            let dt = 1.0 / 60.0;
            for step in 1..=60 {
                let to = tray(SPEED * dt * step as f32);
                let world = engine.world_mut();
                let now = world.time();
                match by_move {
                    true => world.colliders[0].move_to(to, now, dt).unwrap(),
                    false => world.colliders[0].path[0].pose = to,
                }
                engine.step(dt).unwrap();
            }
            engine.world().validate().unwrap();
            engine.world().position(ids[0]).unwrap().x - before
        });
        assert!((moved - SPEED).abs() < 0.03, "carried by {moved} m in a second");
        assert!(jumped < 0.1 * SPEED, "a jump has no velocity, yet it went {jumped} m");
    }
}

#[test]
fn a_collider_is_moved_to_legal_places_only() {
    let mut ball = Collider::fixed(Shape::Sphere { radius: 0.5 }, Pose::IDENTITY);
    let before = ball.clone();
    let nowhere = Pose::from_translation(Vec3::NAN);
    assert!(ball.move_to(nowhere, 0.0, 0.1).is_err());
    assert!(ball.move_to(Pose::IDENTITY, 0.0, 0.0).is_err());
    assert!(ball.move_to(Pose::IDENTITY, f64::NAN, 0.1).is_err());
    assert_eq!(ball, before);
    ball.move_to(Pose::from_translation(Vec3::X), 2.0, 0.5).unwrap();
    ball.validate("collider.0").unwrap();
    assert_eq!(ball.pose_at(2.0), Pose::IDENTITY);
    assert_eq!(ball.pose_at(2.25).translation, Vec3::X * 0.5);
    assert_eq!(ball.pose_at(9.0).translation, Vec3::X);
}
