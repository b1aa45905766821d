//! Contacts as a user meets them: self-collision, thin obstacles at speed, sleeping, forces, pins.

use glam::Vec3;
use motes::shape::mesh::TriangleMesh;
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Cloth, Collider, Engine, Force, ForceKind, Grains, Particle, Path, Phase, Solver,
    World,
};

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

fn particle(position: Vec3, velocity: Vec3) -> Particle {
    Particle { position, velocity, mass: 1.0, radius: 0.05, phase: Phase::group(0) }
}

/// Particles that rest closer than their radii keep that distance: a dense cloth that collides
/// with itself stays as it was made.
#[test]
fn a_dense_self_colliding_cloth_stays_at_rest() {
    for &solver in Solver::ALL {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.params.solver = solver;
        let cloth = Cloth { radius: 0.06, spacing: 0.05, self_collide: true, ..Cloth::default() };
        let ids = world.add_cloth(&cloth).unwrap();
        let before: Vec<Vec3> = ids.iter().map(|&id| world.position(id).unwrap()).collect();
        let mut engine = engine(world);
        for _ in 0..60 {
            engine.step(1.0 / 60.0).unwrap();
        }
        for (&id, was) in ids.iter().zip(before) {
            let moved = engine.world().position(id).unwrap().distance(was);
            assert!(moved < 1e-4, "{solver}: particle {} moved {moved} m", id.0);
        }
    }
}

/// Two layers of one cloth that are pressed together do not pass through each other.
#[test]
fn a_folded_cloth_rests_on_itself() {
    let mut world = World::new();
    world.params.substeps = 4;
    world.params.iterations = 15;
    let floor = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(floor, Pose::IDENTITY));
    let cloth = Cloth {
        columns: 20,
        rows: 8,
        spacing: 0.05,
        radius: 0.025,
        origin: Vec3::new(0.0, 0.03, 0.0),
        self_collide: true,
        ..Cloth::default()
    };
    let ids = world.add_cloth(&cloth).unwrap();
    // Fold the right half over the left one, a little above it.
    for row in 0..8 {
        for column in 10..20 {
            let x = (19 - column) as f32 * 0.05;
            let at = Vec3::new(x + 0.012, 0.12, row as f32 * 0.05 + 0.012);
            world.set_position(ids[row * 20 + column], at).unwrap();
        }
    }
    let mut engine = engine(world);
    for _ in 0..180 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let world = engine.world();
    let height = |column: usize| {
        (2..6).map(|row| world.position(ids[row * 20 + column]).unwrap().y).sum::<f32>() / 4.0
    };
    assert!(height(3) < 0.035, "the lower layer lies on the floor: {}", height(3));
    assert!(height(16) > 0.045, "the upper layer lies on the lower one: {}", height(16));
}

/// Bullets at up to 500 m/s do not tunnel through a single sheet of triangles, from either side.
#[test]
fn fast_particles_do_not_tunnel_through_a_thin_mesh() {
    let n = 5u32;
    let vertices =
        (0..=n).flat_map(|z| (0..=n).map(move |x| Vec3::new(x as f32, 0.0, z as f32))).collect();
    let triangles = (0..n)
        .flat_map(|z| {
            (0..n).flat_map(move |x| {
                let a = z * (n + 1) + x;
                [[a, a + n + 1, a + 1], [a + 1, a + n + 1, a + n + 2]]
            })
        })
        .collect();
    let sheet = TriangleMesh { vertices, triangles };
    for side in [1.0f32, -1.0] {
        for speed in [1.0, 20.0, 100.0, 500.0] {
            let mut world = World::new();
            world.params.gravity = Vec3::Y * -9.81 * side;
            let mesh = Shape::mesh(sheet.clone(), false, 0.01).unwrap();
            world.colliders.push(Collider::fixed(mesh, Pose::IDENTITY));
            let ids: Vec<_> = (0..36)
                .map(|k| {
                    // Some of them exactly above vertices and edges.
                    let at = Vec3::new(
                        0.5 + (k % 6) as f32 * 0.5,
                        0.7 * side,
                        1.0 + (k / 6) as f32 * 0.5,
                    );
                    let slant = Vec3::new(0.1, 0.0, -0.05) * (k % 3) as f32;
                    let v = (Vec3::NEG_Y * side + slant) * speed;
                    let mut p = particle(at, v);
                    p.phase = Phase::group(k as u32);
                    world.add_particle(&p).unwrap()
                })
                .collect();
            let mut engine = engine(world);
            for _ in 0..20 {
                engine.step(1.0 / 60.0).unwrap();
                for &id in &ids {
                    let at = engine.world().position(id).unwrap();
                    let inside = at.x > 0.0 && at.x < 5.0 && at.z > 0.0 && at.z < 5.0;
                    assert!(
                        !inside || at.y * side > 0.0,
                        "{speed} m/s from side {side}: particle {} is at {at}",
                        id.0
                    );
                }
            }
        }
    }
}

/// Sleeping keeps positions of particles that hardly move, and no others.
#[test]
fn sleeping_stops_creep_but_not_motion() {
    let run = |substeps: u32, speed: f32| {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.params.sleeping = 0.06;
        world.params.substeps = substeps;
        let id = world.add_particle(&particle(Vec3::ZERO, Vec3::X * speed)).unwrap();
        let mut engine = engine(world);
        for _ in 0..60 {
            engine.step(1.0 / 60.0).unwrap();
        }
        (engine.world().position(id).unwrap().x, engine.world().velocity(id).unwrap().x)
    };
    for substeps in [1, 4, 20] {
        assert_eq!(run(substeps, 0.03), (0.0, 0.03), "slower stays, its velocity left alone");
        assert!((run(substeps, 0.12).0 - 0.12).abs() < 1e-4, "faster moves");
    }
}

#[test]
fn forces_reach_their_answers() {
    let alone = |force: Force, at: Vec3, steps: usize| {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.forces.push(force);
        let id = world.add_particle(&particle(at, Vec3::ZERO)).unwrap();
        let mut engine = engine(world);
        for _ in 0..steps {
            engine.step(1.0 / 240.0).unwrap();
        }
        (engine.world().position(id).unwrap(), engine.world().velocity(id).unwrap())
    };
    // v' = c (u - v) with c = drag / mass: after t seconds u (1 - exp(-c t)).
    let wind = ForceKind::Wind { velocity: Vec3::X * 3.0, drag: 2.0 };
    let (_, v) = alone(Force { kind: wind, region: None }, Vec3::ZERO, 240);
    let expected = 3.0 * (1.0 - (-2.0f32).exp());
    assert!((v.x / expected - 1.0).abs() < 0.01, "{v}, expected {expected}");
    // A uniform field acts inside its box alone.
    let region = Some([Vec3::splat(-1.0), Vec3::splat(1.0)]);
    let push = ForceKind::Gravity { acceleration: Vec3::Z };
    let (_, inside) = alone(Force { kind: push, region }, Vec3::ZERO, 24);
    let (_, outside) = alone(Force { kind: push, region }, Vec3::X * 5.0, 24);
    assert!((inside.z - 0.1).abs() < 1e-4 && outside == Vec3::ZERO);
    // A point pulls or pushes.
    let point = |strength| ForceKind::Point { center: Vec3::ZERO, strength, reach: 10.0 };
    let (near, _) = alone(Force { kind: point(1.0), region: None }, Vec3::X, 60);
    let (far, _) = alone(Force { kind: point(-1.0), region: None }, Vec3::X, 60);
    assert!(near.x < 1.0 && far.x > 1.0);
}

#[test]
fn a_held_particle_follows_its_path() {
    let mut world = World::new();
    let id = world.add_particle(&particle(Vec3::ZERO, Vec3::ZERO)).unwrap();
    let path =
        Path { keys: vec![(0.0, Vec3::ZERO), (1.0, Vec3::new(1.0, 2.0, 0.0))], looped: false };
    world.hold_on_path(id, path, Vec3::Z * 0.5, 0.0).unwrap();
    let mut engine = engine(world);
    for _ in 0..30 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let at = engine.world().position(id).unwrap();
    assert!(at.distance(Vec3::new(0.5, 1.0, 0.5)) < 1e-3, "{at}");
}

/// A particle far away must not blow up memory or lose pairs elsewhere.
#[test]
fn a_particle_far_away_changes_nothing_nearby() {
    let run = |far: bool| {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        world.add_grains(&Grains { counts: [6, 6, 6], jitter: 0.3, ..Grains::default() }).unwrap();
        let ids: Vec<_> = (0..216).map(motes::ParticleId).collect();
        if far {
            let mut p = particle(Vec3::splat(1e7), Vec3::ZERO);
            p.phase = Phase::group(50);
            world.add_particle(&p).unwrap();
        }
        let mut engine = engine(world);
        for _ in 0..30 {
            engine.step(1.0 / 60.0).unwrap();
        }
        ids.iter().map(|&id| engine.world().position(id).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}

/// A constraint that drags a particle across a sheet does not pull it through.
#[test]
fn a_heavy_weight_does_not_pull_its_partner_through_a_sheet() {
    let quad = TriangleMesh {
        vertices: vec![
            Vec3::new(-5.0, 0.0, -5.0),
            Vec3::new(5.0, 0.0, -5.0),
            Vec3::new(5.0, 0.0, 5.0),
            Vec3::new(-5.0, 0.0, 5.0),
        ],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
    };
    let mut world = World::new();
    let mesh = Shape::mesh(quad, false, 0.001).unwrap();
    world.colliders.push(Collider::fixed(mesh, Pose::IDENTITY));
    let light = Particle { mass: 0.01, radius: 0.01, ..particle(Vec3::Y * 0.05, Vec3::ZERO) };
    let heavy = Particle { mass: 1.0, radius: 0.01, ..particle(Vec3::Y * -0.3, Vec3::Y * -8.0) };
    let light = world.add_particle(&light).unwrap();
    let heavy = world.add_particle(&heavy).unwrap();
    world.add_distance(light, heavy, None, &motes::Bond::default()).unwrap();
    let mut engine = engine(world);
    for _ in 0..30 {
        engine.step(1.0 / 60.0).unwrap();
        let y = engine.world().position(light).unwrap().y;
        assert!(y > 0.0, "pulled through to y = {y}");
    }
}

#[test]
fn pairs_joined_by_a_constraint_do_not_collide_whatever_their_groups() {
    for groups in [[1, 1], [1, 2]] {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        let ball = |x: f32, group: u32| Particle {
            radius: 0.1,
            phase: Phase::group(group).self_colliding(),
            ..particle(Vec3::X * x, Vec3::ZERO)
        };
        let a = world.add_particle(&ball(0.0, groups[0])).unwrap();
        let b = world.add_particle(&ball(0.1, groups[1])).unwrap();
        world.add_distance(a, b, None, &motes::Bond::compliant(1e-4)).unwrap();
        let mut engine = engine(world);
        for _ in 0..30 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let w = engine.world();
        let apart = w.position(a).unwrap().distance(w.position(b).unwrap());
        assert!((apart - 0.1).abs() < 1e-3, "groups {groups:?}: {apart} m apart");
    }
}

#[test]
fn strong_wind_on_a_light_particle_is_stable() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let wind = ForceKind::Wind { velocity: Vec3::X * 5.0, drag: 100.0 };
    world.forces.push(Force { kind: wind, region: None });
    let light = Particle { mass: 0.001, ..particle(Vec3::ZERO, Vec3::ZERO) };
    let id = world.add_particle(&light).unwrap();
    let mut engine = engine(world);
    for _ in 0..60 {
        engine.step(1.0 / 60.0).unwrap();
    }
    assert!((engine.world().velocity(id).unwrap().x - 5.0).abs() < 0.01);
}

/// Lists are made again only when a particle has left its margin, and not one contact is missed
/// meanwhile.
#[test]
fn lists_are_kept_while_they_hold() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.margin = 1.5;
    world.params.substeps = 1;
    let left = world.add_particle(&particle(Vec3::ZERO, Vec3::X * 0.06)).unwrap();
    let other = Particle { phase: Phase::group(1), ..particle(Vec3::X * 0.5, Vec3::ZERO) };
    let right = world.add_particle(&other).unwrap();
    let radius = world.particles().radii()[0];
    let mut engine = engine(world);
    // 1 mm a step: the margin of half a radius lasts half a radius long.
    let (mut builds, mut met) = (0, false);
    let steps = 600;
    for _ in 0..steps {
        let report = engine.step(1.0 / 60.0).unwrap();
        builds += report.list_builds;
        let at = |id| engine.world().position(id).unwrap();
        // Two that go on together touch to the last bit, so they may not be counted as contacts.
        met |= at(left).distance(at(right)) < 2.0001 * radius;
        assert!(at(left).distance(at(right)) > 1.999 * radius, "passed through");
    }
    assert!(met, "they never met");
    let expected = f64::from(steps) * 0.001 / (0.5 * f64::from(radius));
    let builds = f64::from(builds);
    assert!((0.5 * expected..1.5 * expected + 1.0).contains(&builds), "{builds}, not {expected}");
}
