//! The passes over bodies: `body_predict`, `shape_moments`, `shape_rotation`, `shape_apply` and
//! `body_velocity`.

use super::particles::{Random, unnoticed};
use super::{Close, assert_floats, assert_words, compare, saying, sides};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::{Body, BodyShape, Dispatch, Grains, Matching, Part, Pass, RotationMethod, World};

const PASSES: [Pass; 5] = [
    Pass::BodyPredict,
    Pass::ShapeMoments,
    Pass::ShapeRotation,
    Pass::ShapeApply,
    Pass::BodyVelocity,
];

pub fn ours(dispatch: &Dispatch) -> bool {
    PASSES.contains(&dispatch.pass) && dispatch.part == Part::All
}

pub fn judge(outcome: &Outcome) {
    let bits = Close::Bits;
    match outcome.dispatch.pass {
        Pass::ShapeMoments => {
            let why = "sums and products alone, lane by lane";
            saying(why, || assert_floats(outcome, Buffer::BodySums, bits));
        }
        Pass::ShapeRotation => {
            // Roots and quotients, of which a device may round each its own way (3 and 2.5 units in
            // the last place); how far a body is turned since its base does not amplify them, since
            // each turn of the method starts from the sums again.
            let close = Close::Within { absolute: 3e-6, relative: 3e-6 };
            saying("roots and quotients", || assert_floats(outcome, Buffer::Bodies, close));
        }
        Pass::ShapeApply => {
            // One quotient for each link.
            let close = Close::Within { absolute: 1e-7, relative: 1e-6 };
            saying("a quotient", || assert_floats(outcome, Buffer::Predicted, close));
            saying("a quotient", || assert_floats(outcome, Buffer::BodyPushes, close));
        }
        Pass::BodyPredict => {
            saying("sums and products", || assert_floats(outcome, Buffer::BodySums, bits));
            saying("nothing is left", || assert_words(outcome, Buffer::BodyPushes));
            let close = Close::Within { absolute: 2e-6, relative: 1e-5 };
            let why = "the inverse of an inertia is good to parts of its largest entry";
            saying(why, || assert_floats(outcome, Buffer::Bodies, close));
            let close = Close::Within { absolute: 1e-7, relative: 1e-5 };
            saying(why, || assert_floats(outcome, Buffer::Predicted, close));
        }
        _ => saying("sums and products", || assert_floats(outcome, Buffer::Velocity, bits)),
    }
}

/// Bodies of several sizes that are turned, spin, are pulled about and stretched; two share a
/// particle, others are a line, a plate, a point or upside down; one has a held particle. Grains are
/// in no body.
pub fn bodies(stirred: f32) -> World {
    let mut world = World::new();
    world.params.substeps = 2;
    world.params.iterations = 2;
    world.params.damping = 0.3;
    let mut random = Random(11);
    let kinds: [([u32; 3], Matching, f32); 8] = [
        ([5, 5, 5], Matching::RIGID, 3.0),
        ([9, 4, 3], Matching::soft(1e-5), 9.0),
        ([4, 4, 4], Matching::linear(0.7, 0.0), 2.0),
        ([3, 7, 4], Matching::linear(0.4, 1e-4), 300.0),
        ([6, 1, 1], Matching::RIGID, 5.0),
        ([5, 1, 6], Matching::linear(0.5, 1e-6), 4.0),
        ([1, 1, 1], Matching::RIGID, 4.0),
        ([2, 2, 2], Matching::linear(1.0, 0.0), 1.0),
    ];
    let mut made = Vec::new();
    for (k, (counts, matching, spin)) in kinds.into_iter().enumerate() {
        let shape = BodyShape::block(counts, 0.1, 700.0).unwrap();
        let body = Body {
            rotation: Quat::from_scaled_axis(random.vector(2.0)),
            velocity: random.vector(2.0),
            spin: random.vector(1.0) * spin,
            matching,
            ..Body::rigid(Vec3::new(2.0 * k as f32, 1.0, 0.3))
        };
        let built = world.add_body(&shape, &body).unwrap();
        for &id in &built {
            let at = world.position(id).unwrap();
            world.set_position(id, at + random.vector(0.1 * stirred)).unwrap();
            let v = world.velocity(id).unwrap();
            world.set_velocity(id, v + random.vector(stirred)).unwrap();
        }
        made.push(built);
    }
    // Half a turn further than it knows, about each axis.
    for (at, axis) in [(0, Vec3::X), (2, Vec3::Y), (3, Vec3::Z)] {
        let turn = Quat::from_axis_angle(axis, 3.1);
        let middle = Vec3::new(2.0 * at as f32, 1.0, 0.3);
        let along = world.bodies()[at].rotation();
        for &id in &made[at] {
            let arm = world.position(id).unwrap() - middle;
            let turned = along * (turn * (along.inverse() * arm));
            world.set_position(id, middle + turned).unwrap();
        }
    }
    // Turned inside out.
    for &id in &made[7] {
        let at = world.position(id).unwrap();
        world.set_position(id, Vec3::new(28.0 - at.x, at.y, at.z)).unwrap();
    }
    world.match_shape(&[made[0][3], made[1][5], made[1][6], made[4][2]], &Matching::RIGID).unwrap();
    world.pin(made[1][0]).unwrap();
    let grains = Grains { origin: Vec3::NEG_Y * 3.0, counts: [2; 3], ..Grains::default() };
    world.add_grains(&grains).unwrap();
    world
}

#[test]
fn bodies_of_every_kind_and_every_method() {
    let Some(mut sides) = sides() else { return };
    for &method in RotationMethod::ALL {
        for stirred in [0.02, 0.5] {
            let mut world = bodies(stirred);
            world.params.rotation = method;
            let count = compare(&mut sides, world, 2, ours, judge);
            assert_eq!(count, 2 * 2 * (2 + 2 * 3), "{method}");
        }
    }
}

/// The passes do something.
#[test]
fn the_case_is_not_empty() {
    let Some(mut sides) = sides() else { return };
    let mut changed = [0; 5];
    compare(&mut sides, bodies(0.2), 1, ours, |outcome| {
        let at = PASSES.iter().position(|&p| p == outcome.dispatch.pass).unwrap();
        for words in &outcome.buffers {
            changed[at] += words.before.iter().zip(&words.cpu).filter(|(a, b)| a != b).count();
        }
    });
    assert!(changed.iter().all(|&count| count > 300), "{changed:?}");
}

#[test]
fn any_workgroup() {
    if sides().is_none() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    for workgroup in [1, 48, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        assert!(compare(&mut sides, bodies(0.1), 1, ours, judge) > 0);
    }
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() {
        return;
    }
    for pass in PASSES {
        let (sums, missed) = unnoticed(pass, |sides| {
            let methods: &[RotationMethod] = match pass {
                Pass::ShapeRotation => RotationMethod::ALL,
                _ => &[RotationMethod::Newton],
            };
            for &method in methods {
                let mut world = bodies(0.5);
                world.params.rotation = method;
                compare(sides, world, 1, |d| d.pass == pass && ours(d), judge);
            }
        });
        println!("{}: {sums} sums, missed {missed:?}", pass.name());
        assert!(sums > 3 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}
