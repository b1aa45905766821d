//! Characters: limbs are where the clip has them, carry what lies on them, and give the same bits
//! everywhere.

use glam::{DQuat, DVec3, Quat, Vec3};
use motes::skeleton::Rig;
use motes::world::collider::{Collider, Keyframe, Pose, Shape};
use motes::{Backend, Character, Cloth, Engine, Grains, Scene, World, snapshot};
use std::sync::Arc;

const DT: f32 = 1.0 / 60.0;

fn person() -> Arc<Rig> {
    let bytes = Scene::builtin_skeleton("person").unwrap();
    Arc::new(Rig::from_bytes("person", bytes, None).unwrap())
}

/// A person who walks a curve while turning, larger than life.
fn walker(rig: &Arc<Rig>) -> Character {
    let key = |time: f64, x: f32, turn: f32| Keyframe {
        time,
        pose: Pose::new(Vec3::new(x, 0.1, 0.0), Quat::from_rotation_y(turn)),
    };
    Character {
        name: "walker".into(),
        clip: Some(rig.clip("walk").unwrap()),
        start: 0.2,
        speed: 1.5,
        path: vec![key(0.0, 0.0, 0.0), key(0.5, 0.7, 0.6)],
        scale: 1.2,
        ..Character::of(Arc::clone(rig))
    }
}

fn cpu(world: &World, threads: usize) -> Engine {
    Engine::new(world.clone(), Backend::Cpu { threads }).unwrap()
}

fn steps(engine: &mut Engine, count: usize) {
    for _ in 0..count {
        engine.step(DT).unwrap();
    }
}

/// After every step each limb is where the clip, the keyframes and the fit put it, within 1e-5 m, and
/// on the way there it is on the clip at the end of every substep.
#[test]
fn limbs_are_on_the_pose_at_every_substep() {
    let rig = person();
    let mut world = World::new();
    let id = world.add_skeleton(&walker(&rig)).unwrap();
    let mut engine = cpu(&world, 1);
    for step in 0..20 {
        let before = engine.world().time();
        engine.step(DT).unwrap();
        let world = engine.world();
        let limbs = world.limbs(id).unwrap();
        assert_eq!(world.colliders.len(), limbs.len());
        let substeps = world.params.substeps;
        for k in 0..=substeps {
            let time = before + f64::from(k) * f64::from(DT / substeps as f32);
            // Written out: a line and an even turn about y up to half a second, then rest.
            let s = (time / 0.5).min(1.0);
            let clip = &rig.clips[rig.clip("walk").unwrap() as usize];
            let posture = rig.skeleton.pose(Some(clip), (0.2 + 1.5 * time).rem_euclid(1.0));
            for (limb, collider) in limbs.iter().zip(&world.colliders) {
                let bone = limb.bone as usize;
                let centre = posture.world[bone].translation + posture.turn[bone] * limb.centre;
                let axis = posture.turn[bone] * limb.turn * DVec3::Y;
                // Normalised linear between the keyframes: the angle is not quite even.
                let (a, b) = (DQuat::IDENTITY, DQuat::from_rotation_y(0.6));
                let turn = (a * (1.0 - s) + b * s).normalize();
                let right = turn * (1.2 * centre) + DVec3::new(0.7 * s, 0.1, 0.0);
                let found = collider.pose_at(time);
                let apart = (found.translation.as_dvec3() - right).length();
                assert!(apart < 1e-5, "step {step}.{k}: {} is {apart} m off", collider.name);
                let axis = turn * axis - found.apply_vector(Vec3::Y).as_dvec3();
                assert!(axis.length() < 1e-5, "step {step}.{k}: {} is turned", collider.name);
            }
        }
    }
}

/// The capsules are those that the person was made of, and every bone has one.
#[test]
fn limbs_are_fitted_to_the_mesh() {
    let rig = person();
    let limbs = rig.limbs(None);
    let names: Vec<&str> =
        limbs.iter().map(|limb| rig.skeleton.bones[limb.bone as usize].name.as_str()).collect();
    assert_eq!(names.len(), 17);
    // Name, radius, half the length of the straight part: as the generator has them.
    for (name, radius, half) in [
        ("thigh.L", 0.075, 0.2),
        ("forearm.R", 0.04, 0.13),
        ("head", 0.1, 0.035),
        ("foot.R", 0.045, 0.085),
    ] {
        let limb = &limbs[names.iter().position(|other| *other == name).unwrap()];
        assert!((limb.radius / radius - 1.0).abs() < 0.04, "{name}: {limb:?}");
        assert!((limb.half_height - half).abs() < 0.15 * radius, "{name}: {limb:?}");
    }
    // Of motion capture: along the bones, the same joints.
    let bytes = Scene::builtin_skeleton("person_walk").unwrap();
    let capture = Rig::from_bytes("person_walk", bytes, None).unwrap();
    let thigh = capture.skeleton.find("thigh.L").unwrap();
    let limbs = capture.limbs(Some(0.05));
    let limb = limbs.iter().find(|limb| limb.bone == thigh).unwrap();
    assert!((limb.radius - 0.05).abs() < 1e-12 && (limb.half_height - 0.16).abs() < 1e-9);
    assert!((limb.centre - DVec3::NEG_Y * 0.21).length() < 1e-9, "{limb:?}");
}

/// The motion capture and the GLB file that the generator writes are the same walk.
#[test]
fn both_files_of_the_person_walk_alike() {
    let bytes = Scene::builtin_skeleton("person_walk").unwrap();
    let (capture, rig) = (Rig::from_bytes("person_walk", bytes, None).unwrap(), person());
    let clip = &rig.clips[rig.clip("walk").unwrap() as usize];
    for time in [0.0, 0.1, 0.33, 0.9, 1.0] {
        let (a, b) = (
            rig.skeleton.pose(Some(clip), time),
            capture.skeleton.pose(capture.clips.first(), time),
        );
        for (k, bone) in rig.skeleton.bones.iter().enumerate() {
            let other = capture.skeleton.find(&bone.name).unwrap() as usize;
            let apart = (a.world[k].translation - b.world[other].translation).length();
            assert!(apart < 1e-5, "{} is {apart} m off at {time} s", bone.name);
        }
    }
    // What stands on the ground stays there, and nothing goes below it.
    let mesh = rig.mesh.as_ref().unwrap();
    for time in (0..16).map(|k| f64::from(k) / 16.0) {
        let places = mesh.vertices_in(&rig.skeleton.pose(Some(clip), time));
        let low = places.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        assert!((-0.06..0.04).contains(&low), "the lowest vertex is at {low} m at {time} s");
    }
}

/// One bone that goes straight on is an obstacle that goes straight on: grains on it ride along as on a
/// collider with two keyframes.
#[test]
fn what_lies_on_a_limb_rides_along_as_on_a_collider() {
    let text = "HIERARCHY\nROOT log {\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n\
                End Site { OFFSET 4 0 0 } }\nMOTION\nFrames: 2\nFrame Time: 2\n0 0 0\n1 0 0\n";
    let rig = Arc::new(Rig::from_bytes("log.bvh", text.as_bytes(), None).unwrap());
    let log = Character {
        name: "log".into(),
        clip: Some(0),
        looped: false,
        radius: Some(0.5),
        ..Character::of(rig)
    };
    let grains = Grains {
        counts: [3, 1, 1],
        spacing: 0.25,
        radius: 0.1,
        origin: Vec3::new(1.5, 0.6, 0.0),
        ..Grains::default()
    };
    let mut world = World::new();
    world.params.static_friction = 0.8;
    world.params.friction = 0.8;
    world.add_grains(&grains).unwrap();
    let mut other = world.clone();
    world.add_skeleton(&log).unwrap();
    let pose = |x: f32| Pose::new(Vec3::X * x, world.colliders[0].path[0].pose.rotation);
    let shape = Shape::Capsule { radius: 0.5, half_height: 1.5 };
    assert_eq!(world.colliders[0].shape, shape);
    let path =
        vec![Keyframe { time: 0.0, pose: pose(2.0) }, Keyframe { time: 2.0, pose: pose(3.0) }];
    other.colliders.push(Collider { path, ..Collider::fixed(shape, pose(2.0)) });
    let (mut one, mut two) = (cpu(&world, 1), cpu(&other, 1));
    for _ in 0..60 {
        one.step(DT).unwrap();
        two.step(DT).unwrap();
    }
    for (a, b) in one.positions().iter().zip(two.positions()) {
        assert!((a - b).truncate().length() < 1e-4, "{a} and {b}");
    }
    for (slot, at) in one.positions().iter().enumerate() {
        let ride = at.x - (1.5 + 0.25 * slot as f32);
        assert!((0.45..0.51).contains(&ride), "grain {slot} rode {ride} of 0.5 m");
    }
    let v = one.world().particles().velocities()[0];
    assert!((v.x - 0.5).abs() < 0.02, "{v}");
}

/// A person walks through a heap of grains: the same bits for any team, and after a snapshot halfway.
#[test]
fn the_same_bits_for_any_team_and_after_a_snapshot() {
    let mut world = World::new();
    let grains = Grains {
        counts: [14, 5, 6],
        spacing: 0.06,
        radius: 0.03,
        origin: Vec3::new(0.2, 0.1, -0.2),
        ..Grains::default()
    };
    world.add_grains(&grains).unwrap();
    world.colliders.push(Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::IDENTITY));
    world.add_skeleton(&walker(&person())).unwrap();
    let run = |engine: &mut Engine, count: usize| {
        steps(engine, count);
        engine.world().hash()
    };
    let mut first = cpu(&world, 1);
    let start = first.world().hash();
    let right = run(&mut first, 40);
    assert_ne!(start, right);
    for threads in [2, 3, 8] {
        assert_eq!(run(&mut cpu(&world, threads), 40), right, "{threads} threads");
    }
    let mut half = cpu(&world, 2);
    run(&mut half, 17);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("half.motes");
    snapshot::save(&file, "walker", half.world()).unwrap();
    let back = snapshot::load(&file).unwrap();
    assert_eq!(back.world, *half.world());
    assert_eq!(run(&mut cpu(&back.world, 2), 23), right, "after a snapshot");
}

#[test]
fn clips_are_read_set_and_taken_away() {
    let rig = person();
    let mut world = World::new();
    let stands = world.add_skeleton(&Character::of(Arc::clone(&rig))).unwrap();
    let walks = world.add_skeleton(&walker(&rig)).unwrap();
    let mut engine = cpu(&world, 1);
    steps(&mut engine, 30);
    let now = engine.world().time();
    let time = engine.world().skeleton(walks).unwrap().clip_time(now);
    assert!((time - (0.2 + 1.5 * now)).abs() < 1e-9);
    let still = &engine.world().colliders[0];
    assert!(!still.is_moving() && engine.world().colliders[20].is_moving());
    // Another clip, backwards, from its end on: it stops at its beginning.
    let fall = rig.clip("fall").unwrap();
    let character = engine.world_mut().skeleton_mut(walks).unwrap();
    character.play(Some(fall), 0.5, now);
    character.set_speed(-1.0, now);
    character.looped = false;
    assert!((character.clip_time(now + 0.2) - 0.3).abs() < 1e-9);
    steps(&mut engine, 60);
    let now = engine.world().time();
    assert_eq!(engine.world().skeleton(walks).unwrap().clip_time(now), 0.0);
    // What was set to nonsense is refused before anything is done.
    engine.world_mut().skeleton_mut(walks).unwrap().scale = f64::NAN;
    let before = engine.world().hash();
    let message = engine.step(DT).unwrap_err().to_string();
    assert!(message.contains("walker.hips") && message.contains("finite"), "{message}");
    assert_eq!(engine.world().hash(), before);
    engine.world_mut().skeleton_mut(walks).unwrap().scale = 1.0;
    engine.step(DT).unwrap();
    engine.world_mut().remove_skeleton(walks).unwrap();
    assert!(engine.world().skeleton(walks).is_err() && engine.world().limbs(walks).is_err());
    assert_eq!(engine.world().colliders.len(), engine.world().limbs(stands).unwrap().len());
    engine.step(DT).unwrap();
    // Its number is not given again.
    assert_ne!(engine.world_mut().add_skeleton(&walker(&rig)).unwrap(), walks);
}

#[test]
fn characters_that_are_no_good_are_refused_by_field() {
    let rig = person();
    let good = walker(&rig);
    let point = "HIERARCHY\nROOT a { OFFSET 1 2 3 CHANNELS 0 }\nMOTION\nFrames: 0\nFrame Time: 1\n";
    let point = Arc::new(Rig::from_bytes("point.bvh", point.as_bytes(), None).unwrap());
    let mut torn = (*rig).clone();
    torn.skeleton.bones[3].parent = Some(9);
    let cases: [(Character, &str); 7] = [
        (Character { clip: Some(7), ..good.clone() }, "walker.clip: there is no clip 7"),
        (Character { scale: 0.0, ..good.clone() }, "walker.scale: 0 is not legal"),
        (Character { speed: f64::INFINITY, ..good.clone() }, "walker.speed: inf"),
        (Character { radius: Some(-1.0), ..good.clone() }, "walker.radius: -1"),
        (Character { path: Vec::new(), ..good.clone() }, "walker.path: must have"),
        (Character { rig: point, clip: None, ..good.clone() }, "no bone has a length"),
        (Character { rig: torn.into(), ..good.clone() }, "skeleton.bones.3.parent"),
    ];
    for (bad, why) in cases {
        let mut world = World::new();
        let message = world.add_skeleton(&bad).unwrap_err().to_string();
        assert!(message.contains(why), "{message}\nis not\n{why}");
        assert!(world.colliders.is_empty() && world.skeletons().next().is_none());
    }
}

/// The mesh is where the limbs are: every vertex lies in or near the capsule of its bone.
#[test]
fn the_mesh_goes_with_the_limbs() {
    let rig = person();
    let mut world = World::new();
    let id = world.add_skeleton(&walker(&rig)).unwrap();
    let mut engine = cpu(&world, 1);
    steps(&mut engine, 17);
    let (world, now) = (engine.world(), engine.world().time());
    let places = world.skeleton(id).unwrap().mesh_at(now).unwrap();
    let mesh = rig.mesh.as_ref().unwrap();
    assert_eq!(places.triangles, mesh.triangles);
    for (k, place) in places.vertices.iter().enumerate() {
        let bone = mesh.strongest(k).unwrap();
        let limb = world.limbs(id).unwrap().iter().position(|limb| limb.bone == bone).unwrap();
        let collider = &world.colliders[limb];
        let away = collider.shape.distance(collider.pose_at(now).inverse_point(*place)).0;
        assert!(away < 0.02, "vertex {k} is {away} m outside of {}", collider.name);
    }
}

/// Cloth that is held to a bone goes with it, and stays where it is when the skeleton goes.
#[test]
fn what_is_held_to_a_bone_goes_with_it() {
    let rig = person();
    let mut world = World::new();
    let id = world.add_skeleton(&walker(&rig)).unwrap();
    let cloth = Cloth { columns: 4, rows: 4, spacing: 0.05, ..Cloth::default() };
    let cloth = Cloth { origin: Vec3::new(0.0, 1.6, -0.5), ..cloth };
    let cloth = world.add_cloth(&cloth).unwrap();
    let chest = rig.skeleton.find("chest").unwrap();
    let lies = |world: &World, particle: usize| {
        let chest = world.skeleton(id).unwrap().bone_at(chest, world.time()).unwrap();
        chest.inverse_point(world.position(cloth[particle]).unwrap())
    };
    let first: Vec<Vec3> = (0..4).map(|k| lies(&world, k)).collect();
    for k in 0..4 {
        world.hold_on_bone(cloth[k], id, chest, 0.0).unwrap();
    }
    assert!(world.hold_on_bone(cloth[0], id, 99, 0.0).is_err());
    let mut engine = cpu(&world, 2);
    for step in 0..25 {
        engine.step(DT).unwrap();
        for (k, first) in first.iter().enumerate() {
            let apart = (lies(engine.world(), k) - first).length();
            assert!(apart < 1e-3, "step {step}: corner {k} is {apart} m off");
        }
    }
    engine.world_mut().remove_skeleton(id).unwrap();
    let before = engine.world().position(cloth[0]).unwrap();
    steps(&mut engine, 30);
    let after = engine.world().position(cloth[0]).unwrap();
    assert!((after - before).length() < 2e-3, "{before} and {after}");
}

/// Both backends give the obstacles the same places, so what they push goes the same way.
#[test]
#[cfg(all(feature = "vulkan", feature = "harness"))]
fn a_device_sees_the_same_limbs() {
    if motes::vulkan::harness::trial::usable().is_none() {
        eprintln!("no Vulkan device is usable here");
        return;
    }
    let rig = person();
    let mut world = World::new();
    // Apart from each other, in the way of the legs and arms.
    let grains = Grains { counts: [5, 4, 2], spacing: 0.25, radius: 0.04, ..Grains::default() };
    world.add_grains(&Grains { origin: Vec3::new(-0.2, 0.2, 0.1), ..grains }).unwrap();
    let id = world.add_skeleton(&walker(&rig)).unwrap();
    let cloth = Cloth { columns: 4, rows: 6, spacing: 0.05, radius: 0.02, ..Cloth::default() };
    let cloth = world.add_cloth(&Cloth { origin: Vec3::new(-0.1, 1.7, -0.4), ..cloth }).unwrap();
    for k in 0..4 {
        let chest = rig.skeleton.find("chest").unwrap();
        world.hold_on_bone(cloth[k], id, chest, 0.0).unwrap();
    }
    let still = cpu(&world, 1);
    let mut one = cpu(&world, 1);
    let mut two = Engine::new(world, Backend::Vulkan { device: None, from: None }).unwrap();
    for _ in 0..12 {
        one.step(DT).unwrap();
        two.step(DT).unwrap();
    }
    let apart = |a: &Engine, b: &Engine| {
        let pairs = a.positions().iter().zip(b.positions());
        pairs.map(|(a, b)| (a - b).truncate().length()).fold(0.0, f32::max)
    };
    assert!(apart(&still, &one) > 0.3, "the person pushes");
    assert!(apart(&one, &two) < 1e-3, "the backends are {} m apart", apart(&one, &two));
    assert_eq!(one.world().colliders, two.world().colliders);
}
