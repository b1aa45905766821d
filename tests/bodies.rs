//! Bodies that keep their shape, against what mechanics says.

use glam::{DVec3, Quat, Vec3};
use motes::shape::mesh::TriangleMesh;
use motes::shape::solid::Recipe;
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Body, BodyShape, Bond, Collider, Engine, Matching, ObjectId, Particle, ParticleId,
    Phase, RotationMethod, World,
};
use std::f32::consts::TAU;

const DT: f32 = 1.0 / 60.0;

fn empty() -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world
}

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 1 }).unwrap()
}

fn run(engine: &mut Engine, seconds: f32) {
    for _ in 0..(seconds / DT).round() as usize {
        engine.step(DT).unwrap();
    }
}

/// Momentum, angular momentum about the centre, kinetic energy about the centre, and the centre.
struct State {
    momentum: DVec3,
    spin: DVec3,
    energy: f64,
    center: DVec3,
}

fn state(world: &World) -> State {
    let p = world.particles();
    let rows: Vec<(f64, DVec3, DVec3)> = (0..p.len())
        .map(|i| {
            let x = p.positions()[i];
            (1.0 / f64::from(x.w), x.truncate().as_dvec3(), p.velocities()[i].truncate().as_dvec3())
        })
        .collect();
    let mass: f64 = rows.iter().map(|r| r.0).sum();
    let momentum = rows.iter().map(|&(m, _, v)| v * m).sum::<DVec3>();
    let center = rows.iter().map(|&(m, x, _)| x * m).sum::<DVec3>() / mass;
    let mean = momentum / mass;
    let spin = rows.iter().map(|&(m, x, v)| (x - center).cross(v - mean) * m).sum();
    let energy = rows.iter().map(|&(m, _, v)| 0.5 * m * (v - mean).length_squared()).sum();
    State { momentum, spin, energy, center }
}

/// How far particles are from the shape they had in the beginning, wherever that is now, m.
fn bent(world: &World, first: &[Vec3]) -> f64 {
    let at: Vec<DVec3> = world
        .particles()
        .slots_by_id()
        .map(|s| world.particles().positions()[s].truncate().as_dvec3())
        .collect();
    let mut worst = 0.0f64;
    for i in (0..at.len()).step_by(3) {
        for j in (0..i).step_by(5) {
            let rest = first[i].as_dvec3().distance(first[j].as_dvec3());
            worst = worst.max((at[i].distance(at[j]) - rest).abs());
        }
    }
    worst
}

fn places(world: &World) -> Vec<Vec3> {
    world.particles().slots_by_id().map(|s| world.particles().positions()[s].truncate()).collect()
}

/// A free body that spins, also about an axis that it wobbles about, keeps spin and energy for ten
/// seconds, and stays a body.
#[test]
fn a_free_body_keeps_its_spin() {
    let shapes: [(&str, [u32; 3], Vec3); 4] = [
        ("cube", [4; 3], Vec3::new(0.0, TAU, 0.0)),
        ("bar", [3, 3, 12], Vec3::new(0.0, TAU, 0.0)),
        ("plate, wobbling", [6, 1, 4], Vec3::new(4.0, 3.0, 2.0)),
        ("box, about its middle axis", [3, 5, 8], Vec3::new(0.01, TAU, 0.0)),
    ];
    for (name, counts, spin) in shapes {
        for substeps in [1, 4, 8] {
            let mut world = empty();
            world.params.substeps = substeps;
            let shape = BodyShape::block(counts, 0.1, 1000.0).unwrap();
            let body = Body { spin, velocity: Vec3::new(0.3, 0.0, 0.1), ..Body::rigid(Vec3::ONE) };
            world.add_body(&shape, &body).unwrap();
            let (before, first) = (state(&world), places(&world));
            let mut engine = engine(world);
            run(&mut engine, 10.0);
            let after = state(engine.world());
            let spin = (after.spin - before.spin).length() / before.spin.length();
            let energy = (after.energy / before.energy - 1.0).abs();
            let momentum = (after.momentum - before.momentum).length() / before.momentum.length();
            let bent = bent(engine.world(), &first);
            println!(
                "{name}, {substeps} substeps: spin off by {spin:.1e}, energy by {energy:.1e}, \
                 momentum by {momentum:.1e}, shape by {bent:.1e} m"
            );
            assert!(spin < 5e-3, "{name}: the spin is off by {spin}");
            assert!(energy < 1e-2, "{name}: the energy is off by {energy}");
            assert!(momentum < 1e-4, "{name}: the momentum is off by {momentum}");
            assert!(bent < 1e-4, "{name}: the shape is off by {bent} m");
        }
    }
}

/// A body at rest where nothing pulls stays where it is, bit by bit, also far from the origin.
#[test]
fn a_body_at_rest_stays() {
    for place in [Vec3::ZERO, Vec3::new(1000.0, 3.0, -700.0)] {
        let mut world = empty();
        let rotation = Quat::from_rotation_x(0.7) * Quat::from_rotation_y(0.4);
        let body = Body { rotation, ..Body::rigid(place) };
        world.add_body(&BodyShape::block([3, 4, 5], 0.1, 1000.0).unwrap(), &body).unwrap();
        let first = places(&world);
        let mut engine = engine(world);
        run(&mut engine, 10.0);
        let now = places(engine.world());
        let moved = now.iter().zip(&first).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        let speed = state(engine.world()).energy;
        println!("at {place}: moved by {moved} m, energy {speed} J");
        // The places that it is given are rounded by 6e-5 m at a kilometre: it takes its shape.
        let rounded = place.length() * 1.2e-7;
        assert!(moved <= rounded + 1e-6 && speed < 1e-9, "{moved} m, {speed} J");
    }
}

/// What a body with compliance does when it is pulled long and let go: it swings with the period
/// 2 pi sqrt(compliance x mass), whatever the step and the iterations.
#[test]
fn the_period_depends_neither_on_the_step_nor_on_the_iterations() {
    let mut periods = Vec::new();
    for (substeps, iterations) in [(4, 1), (4, 8), (8, 2), (16, 2), (32, 2)] {
        let mut world = empty();
        (world.params.substeps, world.params.iterations) = (substeps, iterations);
        let shape = BodyShape::block([4; 3], 0.1, 1000.0).unwrap();
        // 64 kg; a period of half a second.
        let compliance = (0.5 / TAU).powi(2) / 64.0;
        let built = world.add_body(&shape, &Body::soft(Vec3::ZERO, compliance)).unwrap();
        for &id in &built {
            let p = world.position(id).unwrap();
            world.set_position(id, p * Vec3::new(1.2, 1.0, 1.0)).unwrap();
        }
        let (low, high) = (built[0], built[3]);
        let width =
            |world: &World| world.position(high).unwrap().x - world.position(low).unwrap().x;
        let mut engine = engine(world);
        // From above to below the width at rest, twice.
        let (mut crossings, mut before) = (Vec::new(), width(engine.world()) - 0.3);
        for step in 0..90 {
            engine.step(DT).unwrap();
            let now = width(engine.world()) - 0.3;
            if before > 0.0 && now <= 0.0 {
                crossings.push((step as f32 + before / (before - now)) * DT);
            }
            before = now;
        }
        let period = crossings[1] - crossings[0];
        println!("{substeps} x {iterations}: {period} s");
        periods.push(period);
    }
    for period in periods {
        assert!((period / 0.5 - 1.0).abs() < 0.03, "{period} s, not 0.5 s");
    }
}

/// Pulling two bodies that share a particle about keeps momentum and spin, whatever the stiffness.
#[test]
fn joined_bodies_keep_momentum() {
    for matching in [Matching::RIGID, Matching::soft(1e-5), Matching::linear(0.6, 1e-5)] {
        let mut world = empty();
        let balls: Vec<(Vec3, f32, f32)> = (0..7)
            .flat_map(|x| (0..9).map(move |k| (x, k % 3, k / 3)))
            .map(|(x, y, z)| {
                let place = Vec3::new(x as f32, y as f32, z as f32) * 0.1;
                (place, 0.05, 1.0 + x as f32)
            })
            .collect();
        let all =
            world.add_body(&BodyShape::balls(&balls).unwrap(), &Body::rigid(Vec3::ONE)).unwrap();
        let whole = world.bodies()[0].id();
        world.remove_body(whole).unwrap();
        // The middle layer is in both.
        world.match_shape(&all[..36], &matching).unwrap();
        world.match_shape(&all[27..], &matching).unwrap();
        for (k, &id) in all.iter().enumerate() {
            let v = Vec3::new((k % 5) as f32 - 2.0, (k % 7) as f32 - 3.0, (k % 3) as f32) * 0.3;
            world.set_velocity(id, v).unwrap();
        }
        let before = state(&world);
        let mut engine = engine(world);
        run(&mut engine, 5.0);
        let after = state(engine.world());
        let size = before.momentum.length();
        let off = (after.momentum - before.momentum).length() / size;
        let spin = (after.spin - before.spin).length() / before.spin.length();
        println!("{matching:?}: momentum off by {off:.1e}, spin by {spin:.1e}");
        assert!(off < 1e-4, "{matching:?}: momentum is off by {off}");
        assert!(spin < 0.02, "{matching:?}: spin is off by {spin}");
        assert!(after.energy < before.energy * 1.001, "energy came from nowhere");
    }
}

/// A rigid box falls, lands and stands, with every way to find the rotation.
#[test]
fn a_box_lands_and_stands() {
    for &method in RotationMethod::ALL {
        let mut world = World::new();
        world.params.rotation = method;
        let floor = Shape::Plane { normal: Vec3::Y };
        world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::ZERO)));
        let rotation = Quat::from_rotation_z(0.3);
        let body = Body { rotation, ..Body::rigid(Vec3::Y) };
        world.add_body(&BodyShape::block([4; 3], 0.1, 1000.0).unwrap(), &body).unwrap();
        let first = places(&world);
        let mut engine = engine(world);
        run(&mut engine, 6.0);
        let after = state(engine.world());
        let bent = bent(engine.world(), &first);
        println!(
            "{method}: at {}, bent by {bent:.1e} m, energy {:.1e} J",
            after.center, after.energy
        );
        assert!((after.center.y - 0.2).abs() < 0.005, "{method}: {}", after.center);
        assert!(bent < 1e-3 && after.energy < 1e-3, "{method}: {bent} m, {} J", after.energy);
    }
}

/// The same bits with any number of threads, and after saving and loading in the middle.
#[test]
fn bits_do_not_depend_on_threads_or_on_saving() {
    let made = || {
        let mut world = World::new();
        let floor = Shape::Plane { normal: Vec3::Y };
        world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::ZERO)));
        let shapes = [[9, 9, 9], [3, 3, 3], [1, 1, 1], [12, 2, 5]];
        for (k, counts) in shapes.into_iter().enumerate() {
            let shape = BodyShape::block(counts, 0.1, 1000.0).unwrap();
            let compliance = if k == 1 { 1e-6 } else { 0.0 };
            let body = Body {
                spin: Vec3::new(1.0, k as f32, 2.0),
                matching: Matching::linear(0.3 * (k % 2) as f32, compliance),
                ..Body::rigid(Vec3::new(0.2 * k as f32, 1.0 + k as f32, 0.0))
            };
            world.add_body(&shape, &body).unwrap();
        }
        world
    };
    let hash = |threads: usize| {
        let mut engine = Engine::new(made(), Backend::Cpu { threads }).unwrap();
        run(&mut engine, 1.0);
        engine.world().hash()
    };
    let one = hash(1);
    for threads in [2, 3, 8] {
        assert_eq!(hash(threads), one, "{threads} threads");
    }
    let mut first = engine(made());
    run(&mut first, 0.5);
    let bytes = motes::snapshot::to_bytes("", first.world()).unwrap();
    let mut second = engine(motes::snapshot::from_bytes("saved", &bytes).unwrap().world);
    run(&mut second, 0.5);
    assert_eq!(second.world().hash(), one, "saved and loaded");
}

/// Removing particles leaves a smaller body, with its own centre; the last particle takes it along.
#[test]
fn a_body_follows_its_particles() {
    let mut world = empty();
    let shape = BodyShape::block([4, 2, 2], 0.1, 1000.0).unwrap();
    let built = world.add_body(&shape, &Body::rigid(Vec3::ZERO)).unwrap();
    let id = world.bodies()[0].id();
    let gone: Vec<ParticleId> =
        built.iter().copied().filter(|&p| world.position(p).unwrap().x > 0.0).collect();
    world.remove_particles(&gone).unwrap();
    world.validate().unwrap();
    assert!((world.body(id).unwrap().mass() - 8.0).abs() < 1e-4);
    assert!(world.body_center(id).unwrap().distance(Vec3::new(-0.1, 0.0, 0.0)) < 1e-5);
    let mut engine = engine(world);
    run(&mut engine, 0.5);
    let mut world = engine.into_world();
    assert!(world.body_center(id).unwrap().distance(Vec3::new(-0.1, 0.0, 0.0)) < 1e-5);
    world.remove_object(built.object).unwrap();
    assert!(world.bodies().is_empty() && world.body(id).is_err());
    world.validate().unwrap();
}

/// What a program may get wrong is an error that names the field.
#[test]
fn illegal_bodies_are_refused() {
    let mut world = World::new();
    let shape = BodyShape::block([2; 3], 0.1, 1000.0).unwrap();
    let wrong = [
        Body { position: Vec3::NAN, ..Body::default() },
        Body { spin: Vec3::INFINITY, ..Body::default() },
        Body { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 2.0), ..Body::default() },
        Body { matching: Matching::soft(-1.0), ..Body::default() },
        Body { matching: Matching::linear(2.0, 0.0), ..Body::default() },
    ];
    for body in wrong {
        let error = world.add_body(&shape, &body).unwrap_err().to_string();
        assert!(error.contains("body."), "{error}");
    }
    assert!(BodyShape::block([0, 1, 1], 0.1, 1.0).is_err());
    assert!(BodyShape::block([1; 3], -0.1, 1.0).is_err());
    assert!(BodyShape::balls(&[]).is_err());
    assert!(world.match_shape(&[], &Matching::RIGID).is_err());
    assert!(world.match_shape(&[ParticleId(7)], &Matching::RIGID).is_err());
    assert!(world.particles().is_empty(), "nothing was added");
}

/// How far the mesh that an object wears is from another one, vertex by vertex.
fn off(world: &World, object: ObjectId, mesh: &TriangleMesh) -> f32 {
    let skin = world.skin_mesh(object).unwrap().expect("it wears a mesh");
    assert_eq!(skin.triangles, mesh.triangles);
    let pairs = skin.vertices.iter().zip(&mesh.vertices);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// A body is seen as the mesh or the block that it was made of, wherever it flies and turns.
#[test]
fn a_body_wears_what_it_was_made_of() {
    let (rabbit, _) = TriangleMesh::load_obj("assets/meshes/rabbit.obj").unwrap();
    let (voxels, middle) = BodyShape::of_mesh(&rabbit, &Recipe::new(12), 900.0).unwrap();
    let rabbit = rabbit.transformed(Vec3::ONE, Quat::IDENTITY, -middle);
    let block = BodyShape::block([5, 2, 3], 0.1, 600.0).unwrap();
    let cases = [
        ("rabbit", voxels, rabbit),
        ("block", block, TriangleMesh::cuboid(Vec3::new(0.5, 0.2, 0.3))),
        (
            "plate",
            BodyShape::block([6, 1, 4], 0.1, 600.0).unwrap(),
            TriangleMesh::cuboid(Vec3::new(0.6, 0.1, 0.4)),
        ),
    ];
    for (name, shape, mesh) in cases {
        let mut world = empty();
        let body = Body {
            rotation: Quat::from_rotation_x(0.7),
            velocity: Vec3::new(1.0, 2.0, -3.0),
            spin: Vec3::new(0.3, 2.0, -1.0),
            ..Body::rigid(Vec3::new(10.0, 4.0, -7.0))
        };
        let object = world.add_body(&shape, &body).unwrap().object;
        let placed = |world: &World| {
            let body = &world.bodies()[0];
            let at = world.body_center(body.id()).unwrap();
            mesh.transformed(Vec3::ONE, body.rotation(), at)
        };
        assert!(off(&world, object, &placed(&world)) < 1e-5, "{name}, before the first step");
        let mut engine = engine(world);
        run(&mut engine, 1.0);
        let far = off(engine.world(), object, &placed(engine.world()));
        println!("{name}: {far:.1e} m from where the body has it");
        assert!(far < 1e-4, "{name}: {far}");
    }
    let mut world = empty();
    let balls = [(Vec3::ZERO, 0.1, 1.0), (Vec3::X, 0.1, 1.0)];
    let balls = world.add_body(&BodyShape::balls(&balls).unwrap(), &Body::default()).unwrap();
    let row = world.add_body(&BodyShape::block([1, 1, 7], 0.1, 600.0).unwrap(), &Body::default());
    for object in [balls.object, row.unwrap().object] {
        assert!(world.skin(object).unwrap().is_none(), "balls are drawn as balls");
    }
}

/// Its shape keeps a body together and not its bonds: a rope that is tied to it tears nothing, and
/// what hung on a removed particle goes on hanging on others.
#[test]
fn the_mesh_of_a_body_stays_whole() {
    let mut world = empty();
    let shape = BodyShape::block([4, 3, 3], 0.1, 600.0).unwrap();
    let body = world.add_body(&shape, &Body::default()).unwrap();
    let post = Particle {
        position: Vec3::X,
        velocity: Vec3::ZERO,
        mass: 1.0,
        radius: 0.05,
        phase: Phase::group(99),
    };
    let post = world.add_particle(&post).unwrap();
    world.add_distance(body[0], post, None, &Bond::default()).unwrap();
    let whole = TriangleMesh::cuboid(Vec3::new(0.4, 0.3, 0.3));
    let worn = |world: &World| world.skin(body.object).unwrap().unwrap();
    assert!(off(&world, body.object, &whole) < 1e-6 && !worn(&world).is_torn());
    world.remove_particles(&[body[13]]).unwrap();
    assert!(off(&world, body.object, &whole) < 1e-6, "one from the inside");
    let bytes = to_bytes("body", &world).unwrap();
    let back = from_bytes("body", &bytes).unwrap().world;
    assert_eq!(back.skin_mesh(body.object).unwrap(), world.skin_mesh(body.object).unwrap());
}
