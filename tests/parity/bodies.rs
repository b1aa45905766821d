//! The passes over bodies: `body_predict`, `shape_moments`, `shape_rotation`, `shape_apply`,
//! `body_walls`, `solve_bodies`, `place_bodies` and `body_velocity`. Those about bodies that meet each
//! other are in `meeting_bodies.rs`.

use super::contacts::assert_grips;
use super::meeting_bodies::{MEETING, assert_pair_rows, assert_pairs, assert_touches};
use super::particles::{Random, unnoticed};
use super::{Close, assert_floats, assert_words, compare, saying, sides};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::vulkan::layout;
use motes::world::collider::{Keyframe, Pose, Shape};
use motes::{
    Body, BodyShape, Collider, Dispatch, Grains, Matching, Part, Pass, RotationMethod, World,
};

const PASSES: [Pass; 5] = [
    Pass::BodyPredict,
    Pass::ShapeMoments,
    Pass::ShapeRotation,
    Pass::ShapeApply,
    Pass::BodyVelocity,
];

/// Those of bodies on obstacles.
const LANDING: [Pass; 3] = [Pass::BodyWalls, Pass::SolveBodies, Pass::PlaceBodies];

pub fn ours(dispatch: &Dispatch) -> bool {
    let passes = PASSES.iter().chain(&LANDING).chain(&MEETING);
    passes.into_iter().any(|&pass| pass == dispatch.pass) && dispatch.part == Part::All
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
        Pass::BodyWalls => {
            saying("they are counted", || assert_words(outcome, Buffer::Bodies));
            // One quotient for each row, and the inverse of an inertia.
            let close = Close::Within { absolute: 1e-7, relative: 2e-6 };
            let mut outcome = outcome.clone();
            keep_rows(&mut outcome);
            saying("a quotient", || assert_floats(&outcome, Buffer::ImpulseRows, close));
        }
        Pass::SolveBodies => {
            // Row after row hands on what a root and two quotients are off by; a body has hundreds.
            let close = Close::Within { absolute: 2e-5, relative: 2e-4 };
            let why = "row after row, with roots and quotients";
            saying(why, || assert_floats(outcome, Buffer::ImpulseRows, close));
            saying(why, || assert_floats(outcome, Buffer::Bodies, close));
            saying(why, || assert_floats(outcome, Buffer::PairRows, close));
            saying(why, || assert_grips(outcome, outcome.of(Buffer::WallGrips), close));
            saying(why, || assert_touches(outcome, close));
            let gave_up = outcome.state[2][layout::word("s_gave_up").unwrap()];
            assert_eq!(gave_up, 0, "loops are ended before they are done");
        }
        Pass::BodyPairs => {
            saying("boxes alone", || assert_pairs(outcome));
        }
        Pass::BodyContacts => {
            saying("they are counted", || assert_pairs(outcome));
            // Roots and quotients of the gradient and of the mass.
            let close = Close::Within { absolute: 1e-6, relative: 1e-5 };
            saying("roots and quotients", || assert_pair_rows(outcome, close));
        }
        Pass::ColorBodies => saying("they are counted", || assert_pairs(outcome)),
        Pass::PlaceBodies => {
            saying("sums and products", || assert_floats(outcome, Buffer::Predicted, bits));
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

/// Leaves only the rows that bodies have: what is behind them comes from another substep.
fn keep_rows(outcome: &mut Outcome) {
    let word = |name: &str| layout::word(name).unwrap();
    let bodies = &outcome.of(Buffer::Bodies).cpu;
    let rows = bodies[word("bodies_first")..].chunks_exact(word("body_words"));
    let end = |row: &[u32]| row[word("body_first_row")] + row[word("body_rows_count")];
    let used = rows.map(end).max().unwrap_or(0) as usize * word("walls_row_words");
    for words in outcome.buffers.iter_mut().filter(|words| words.buffer == Buffer::ImpulseRows) {
        words.cpu.truncate(used);
        words.device.truncate(used);
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
            assert_eq!(count, 2 * 2 * (2 + 2 * 3 + 5), "{method}");
        }
    }
}

/// Bodies that land, bounce, roll and slide on obstacles of several shapes, one of which moves; two are
/// deep in the floor, one is a ball of grains that is a body, and a jelly is among them.
pub fn landing(restitution: f32) -> World {
    let mut world = World::new();
    world.params.substeps = 2;
    world.params.iterations = 2;
    world.params.damping = 0.2;
    world.params.restitution = restitution;
    let at = |x: f32, y: f32| Pose::from_translation(Vec3::new(x, y, 0.0));
    world.colliders.push(Collider::fixed(Shape::Plane { normal: Vec3::Y }, at(0.0, 0.0)));
    world.colliders.push(Collider::fixed(Shape::Sphere { radius: 0.7 }, at(3.0, 0.3)));
    let mut lift = Collider::fixed(Shape::Box { half: Vec3::new(0.6, 0.2, 0.6) }, at(6.0, 0.3));
    let turned = Pose::new(Vec3::new(6.4, 0.5, 0.1), Quat::from_rotation_y(0.6));
    lift.path.push(Keyframe { time: 0.4, pose: turned });
    world.colliders.push(lift);
    let mut random = Random(5);
    let kinds: [([u32; 3], Matching, Vec3); 9] = [
        ([4, 4, 4], Matching::RIGID, Vec3::new(0.0, 0.19, 0.0)),
        ([5, 2, 3], Matching::RIGID, Vec3::new(1.2, 0.13, 0.1)),
        ([3, 3, 3], Matching::RIGID, Vec3::new(3.1, 1.06, 0.3)),
        ([7, 1, 2], Matching::RIGID, Vec3::new(2.5, 1.01, -0.1)),
        ([3, 2, 4], Matching::RIGID, Vec3::new(6.0, 0.61, 0.1)),
        ([1, 1, 1], Matching::RIGID, Vec3::new(8.0, 0.06, 0.0)),
        ([4, 1, 1], Matching::RIGID, Vec3::new(9.0, 0.05, 0.0)),
        ([3, 3, 3], Matching::linear(0.4, 1e-5), Vec3::new(10.0, 0.16, 0.0)),
        ([3, 3, 3], Matching::RIGID, Vec3::new(11.0, 0.02, 0.0)),
    ];
    for (k, (counts, matching, position)) in kinds.into_iter().enumerate() {
        let shape = BodyShape::block(counts, 0.1, 700.0).unwrap();
        let rotation = Quat::from_scaled_axis(random.vector(if k == 0 { 0.0 } else { 0.1 }));
        // One end of the fourth hits hard: it turns by more than a radian at once.
        let fall = if k == 3 { 60.0 } else { k as f32 };
        let velocity = random.vector(1.5) - Vec3::Y * fall;
        let spin = random.vector(4.0);
        let body = Body { rotation, velocity, spin, matching, ..Body::rigid(position) };
        world.add_body(&shape, &body).unwrap();
    }
    world
}

#[test]
fn bodies_on_obstacles() {
    let Some(mut sides) = sides() else { return };
    for restitution in [0.0, 0.6] {
        let mut rows = 0;
        let world = landing(restitution);
        let count = compare(&mut sides, world, 6, ours, |outcome| {
            judge(outcome);
            if outcome.dispatch.pass == Pass::BodyWalls {
                let words = outcome.of(Buffer::ImpulseRows);
                rows += words.cpu.iter().zip(&words.before).filter(|(a, b)| a != b).count();
            }
        });
        assert_eq!(count, 6 * 2 * (2 + 2 * 3 + 6));
        assert!(rows > 5000, "{rows} words of rows");
    }
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_of_landing_is_noticed() {
    if sides().is_none() {
        return;
    }
    // Those of `solve_bodies` are changed in `meeting_bodies.rs`.
    for pass in [Pass::BodyWalls, Pass::PlaceBodies] {
        let (sums, missed) = unnoticed(pass, |sides| {
            compare(sides, landing(0.6), 3, |d| d.pass == pass, judge);
        });
        println!("{}: {sums} sums, missed {missed:?}", pass.name());
        assert!(sums > 2 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}

/// The passes do something.
#[test]
fn the_case_is_not_empty() {
    let Some(mut sides) = sides() else { return };
    let mut changed = [0; 5];
    let of_matching = |d: &Dispatch| PASSES.contains(&d.pass) && ours(d);
    compare(&mut sides, bodies(0.2), 1, of_matching, |outcome| {
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
            // What obstacles need, and what they gave.
            if matches!(pass, Pass::BodyPredict | Pass::BodyVelocity) {
                compare(sides, landing(0.6), 2, |d| d.pass == pass && ours(d), judge);
            }
        });
        println!("{}: {sums} sums, missed {missed:?}", pass.name());
        assert!(sums > 3 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}
