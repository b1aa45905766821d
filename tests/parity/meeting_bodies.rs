//! Rigid bodies that meet each other: `body_pairs`, `body_contacts`, `color_bodies` and `solve_bodies`.

use super::bodies::{judge, landing, ours};
use super::materials::is_noticed;
use super::particles::{Random, unnoticed};
use super::{Close, assert_words, can_assemble, compare, sides};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::shape::mesh::TriangleMesh;
use motes::shape::solid::Recipe;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::vulkan::layout;
use motes::world::collider::{Pose, Shape};
use motes::{Body, BodyShape, Coefficients, Collider, Matching, Material, Pass, World};
use std::collections::BTreeMap;

/// The passes that find and order what `solve_bodies` solves.
pub const MEETING: [Pass; 3] = [Pass::BodyPairs, Pass::BodyContacts, Pass::ColorBodies];

fn word(name: &str) -> usize {
    layout::word(name).unwrap()
}

/// Pairs in use: how many, then their words.
fn pairs(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let size = word("body_pair_words");
    words[word("pairs_first")..].chunks_exact(size).take(words[word("pairs_count")] as usize)
}

fn replace(outcome: &mut Outcome, buffer: Buffer, change: impl Fn(&[u32]) -> Vec<u32>) {
    for words in outcome.buffers.iter_mut().filter(|words| words.buffer == buffer) {
        (words.cpu, words.device) = (change(&words.cpu), change(&words.device));
    }
}

/// The pairs are the same, word by word. How many colours there are is known once they have them.
pub fn assert_pairs(outcome: &Outcome) {
    let mut outcome = outcome.clone();
    let colored = outcome.dispatch.pass == Pass::ColorBodies;
    replace(&mut outcome, Buffer::BodyPairs, |words| {
        let colors = if colored { words[word("pairs_colors")] } else { 0 };
        let heads = [words[word("pairs_count")], colors];
        heads.into_iter().chain(pairs(words).flatten().copied()).collect()
    });
    assert_words(&outcome, Buffer::BodyPairs);
}

/// The rows of pairs are of the same particles, and close. What is behind those that a pair has comes
/// from another substep.
pub fn assert_pair_rows(outcome: &Outcome, close: Close) {
    let [size, room, slot] = ["walls_row_words", "body_pair_room", "walls_row_slot"].map(word);
    let (rows, counts) = (outcome.of(Buffer::PairRows), &outcome.of(Buffer::BodyPairs).cpu);
    for (number, pair) in pairs(counts).enumerate() {
        for k in 0..pair[word("body_pair_rows_count")] as usize {
            let at = (number * room + k) * size;
            let [cpu, device] = [&rows.cpu, &rows.device].map(|words| &words[at..at + size]);
            let alike = cpu.iter().zip(device).enumerate().all(|(at, (&a, &b))| match at {
                _ if at == slot || at == slot + 1 => a == b,
                _ => close.holds(f32::from_bits(a), f32::from_bits(b)),
            });
            let [cpu, device] = [cpu, device].map(|row| row.iter().map(|&w| f32::from_bits(w)));
            let [cpu, device]: [Vec<f32>; 2] = [cpu.collect(), device.collect()];
            let bodies = &pair[..2];
            assert!(alike, "{bodies:?}, {k}: {cpu:?} on the CPU, {device:?} on the device");
        }
    }
}

/// What bodies press on each other, by their numbers and the key of the contact.
type Pressed = BTreeMap<[u32; 3], Vec<f32>>;

fn pressed(words: &[u32]) -> Pressed {
    let [head, size, row] = ["touching_first", "touching_words", "body_touch_words"].map(word);
    let behind = head + words[word("touching_room")] as usize * size;
    let mut all = Pressed::new();
    let mut last = [0; 2];
    let used = words[head..].chunks_exact(size).take(words[word("touching_count")] as usize);
    for pair in used {
        let [a, b, first, count]: [u32; 4] = pair.try_into().unwrap();
        assert!(a < b && last < [a, b] && count > 0, "{a} and {b} after {last:?}");
        last = [a, b];
        for touch in words[behind + first as usize * row..].chunks_exact(row).take(count as usize) {
            let floats = touch[1..].iter().map(|&word| f32::from_bits(word)).collect();
            assert!(all.insert([a, b, touch[0]], floats).is_none(), "{a}, {b}: one touch twice");
        }
    }
    all
}

/// The same touches press alike. One that hardly presses may be left out.
pub fn assert_touches(outcome: &Outcome, close: Close) {
    let words = outcome.of(Buffer::Touches);
    let [cpu, device] = [&words.cpu, &words.device].map(|words| pressed(words));
    for key in cpu.keys().chain(device.keys()) {
        let alike = match (cpu.get(key), device.get(key)) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(&a, &b)| close.holds(a, b)),
            (Some(alone), None) | (None, Some(alone)) => close.holds(alone[0], 0.0),
            (None, None) => unreachable!(),
        };
        let (a, b) = (cpu.get(key), device.get(key));
        assert!(alike, "{key:?}: {a:?} on the CPU, {b:?} on the device, {close:?}");
    }
}

/// Bodies that land on each other and on the floor: blocks of several sizes, one of them in another a
/// little, one of a mesh, a single ball, a plate and a jelly; two far from all others; and one that
/// carries more than there are colours.
fn meeting(restitution: f32) -> World {
    let mut world = World::new();
    world.params.substeps = 2;
    world.params.iterations = 2;
    world.params.damping = 0.2;
    world.params.restitution = restitution;
    let floor =
        Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::from_translation(Vec3::ZERO));
    world.colliders.push(floor);
    let mut random = Random(7);
    let block = |counts: [u32; 3]| BodyShape::block(counts, 0.1, 700.0).unwrap();
    let rabbit = TriangleMesh::load_obj("assets/meshes/rabbit.obj").unwrap().0;
    let rabbit = rabbit.transformed(Vec3::splat(0.6), Quat::IDENTITY, Vec3::ZERO);
    let (rabbit, _) = BodyShape::of_mesh(&rabbit, &Recipe::new(9), 700.0).unwrap();
    let few = [
        (block([4, 4, 4]), Vec3::new(0.0, 0.2, 0.0), Matching::RIGID),
        (block([3, 3, 3]), Vec3::new(0.05, 0.543, 0.02), Matching::RIGID),
        (rabbit, Vec3::new(0.5, 0.36, 0.0), Matching::RIGID),
        (block([1, 1, 1]), Vec3::new(0.0, 0.74, 0.0), Matching::RIGID),
        (block([6, 1, 4]), Vec3::new(-0.3, 0.46, 0.1), Matching::RIGID),
        (block([2, 3, 2]), Vec3::new(-0.3, 0.15, 0.0), Matching::linear(0.4, 1e-5)),
        (block([3, 2, 3]), Vec3::new(40.0, 0.1, 0.0), Matching::RIGID),
        (block([2, 2, 5]), Vec3::new(40.0, 0.302, 0.1), Matching::RIGID),
        (block([13, 2, 13]), Vec3::new(4.0, 0.1, 0.0), Matching::RIGID),
    ];
    let grid = (0..36).map(|k| Vec3::new(3.5 + 0.2 * (k % 6) as f32, 0.252, 0.2 * (k / 6) as f32));
    let many = grid.map(|at| (block([1, 1, 1]), at - Vec3::Z * 0.5, Matching::RIGID));
    let mut objects = Vec::new();
    for (k, (shape, position, matching)) in few.into_iter().chain(many).enumerate() {
        let rotation = Quat::from_scaled_axis(random.vector(if k == 8 { 0.0 } else { 0.03 }));
        let fall = if k % 3 == 1 { 2.0 } else { 0.3 };
        let velocity = random.vector(0.4) - Vec3::Y * fall;
        let spin = random.vector(2.0);
        let body = Body { rotation, velocity, spin, matching, ..Body::rigid(position) };
        objects.push(world.add_body(&shape, &body).unwrap().object);
    }
    let coefficients = Coefficients {
        friction_static: Some(0.2),
        friction_kinetic: Some(0.1),
        restitution: Some(0.8),
        ..Coefficients::default()
    };
    let slick = world.add_material(&Material { name: String::new(), coefficients }).unwrap();
    world.set_material(objects[1], slick).unwrap();
    world
}

/// Many bodies that fly through each other.
fn crowd() -> World {
    let mut world = World::new();
    world.params.substeps = 2;
    world.params.iterations = 2;
    let mut random = Random(3);
    for k in 0..100 {
        let counts = [1 + k % 4, 1 + k / 4 % 3, 1 + k / 12 % 3];
        let shape = BodyShape::block(counts, 0.1, 700.0).unwrap();
        let rotation = Quat::from_scaled_axis(random.vector(3.0));
        let (velocity, spin) = (random.vector(4.0), random.vector(12.0));
        let body = Body { rotation, velocity, spin, ..Body::rigid(random.vector(0.9)) };
        world.add_body(&shape, &body).unwrap();
    }
    world
}

/// What cases have to have in them.
#[derive(Debug, Default)]
struct Seen {
    pairs: usize,
    colors: u32,
    touches: usize,
    remembered: usize,
    bounces: usize,
    sliding: usize,
}

impl Seen {
    fn look(&mut self, outcome: &Outcome) {
        let of = |buffer| &outcome.of(buffer).cpu;
        match outcome.dispatch.pass {
            Pass::ColorBodies => {
                let words = of(Buffer::BodyPairs);
                let touch = |pair: &&[u32]| pair[word("body_pair_rows_count")] > 0;
                self.pairs = self.pairs.max(pairs(words).filter(touch).count());
                self.colors = self.colors.max(words[word("pairs_colors")]);
            }
            Pass::BodyContacts => {
                let size = word("walls_row_words");
                let rows = of(Buffer::PairRows).chunks_exact(size);
                let at = |row: &[u32], name: &str| f32::from_bits(row[word(name)]);
                self.bounces +=
                    rows.clone().filter(|row| at(row, "walls_row_bounce") > 0.0).count();
                self.remembered += rows.filter(|row| at(row, "walls_row_push") > 0.0).count();
            }
            Pass::SolveBodies => {
                self.touches = self.touches.max(pressed(of(Buffer::Touches)).len());
                let rows = of(Buffer::PairRows).chunks_exact(word("walls_row_words"));
                let [now, kinetic] = ["walls_row_friction", "walls_row_kinetic"].map(word);
                let slides = |row: &&[u32]| row[now] == row[kinetic] && row[kinetic] > 0;
                self.sliding += rows.filter(slides).count();
            }
            _ => {}
        }
    }
}

#[test]
fn bodies_on_each_other() {
    let Some(mut sides) = sides() else { return };
    for restitution in [0.0, 0.6] {
        let mut seen = Seen::default();
        let count = compare(&mut sides, meeting(restitution), 5, ours, |outcome| {
            judge(outcome);
            seen.look(outcome);
        });
        println!("{seen:?}");
        assert_eq!(count, 5 * 2 * (2 + 2 * 3 + 6));
        assert!(seen.pairs > 40 && seen.colors > 32 && seen.touches > 10, "{seen:?}");
        assert!(seen.remembered > 30 && seen.bounces > 10 && seen.sliding > 100, "{seen:?}");
    }
}

#[test]
fn bodies_that_fly_through_each_other() {
    let Some(mut sides) = sides() else { return };
    let mut seen = Seen::default();
    let count = compare(&mut sides, crowd(), 3, ours, |outcome| {
        judge(outcome);
        seen.look(outcome);
    });
    println!("{seen:?}");
    assert_eq!(count, 3 * 2 * (2 + 2 * 3 + 5));
    assert!(seen.pairs > 100, "{seen:?}");
}

/// Bodies that meet each other where there are no obstacles, whose buffers are empty then.
#[test]
fn bodies_on_nothing_but_each_other() {
    let Some(mut sides) = sides() else { return };
    let mut world = meeting(0.3);
    world.colliders.clear();
    let mut seen = Seen::default();
    let count = compare(&mut sides, world, 3, ours, |outcome| {
        judge(outcome);
        seen.look(outcome);
    });
    assert_eq!(count, 3 * 2 * (2 + 2 * 3 + 5));
    assert!(seen.pairs > 40 && seen.touches > 0 && seen.remembered > 0, "{seen:?}");
}

#[test]
fn meeting_bodies_with_any_workgroup() {
    if sides().is_none() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    for workgroup in [1, 48, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        assert!(compare(&mut sides, meeting(0.6), 2, ours, judge) > 0);
    }
}

/// A shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_of_meeting_bodies_is_noticed() {
    if sides().is_none() {
        return;
    }
    for pass in [Pass::BodyPairs, Pass::BodyContacts, Pass::SolveBodies] {
        let (sums, missed) = unnoticed(pass, |sides| {
            compare(sides, meeting(0.6), 3, |d| d.pass == pass, judge);
            if pass == Pass::SolveBodies {
                // What turns by more than a radian at once.
                compare(sides, landing(0.6), 3, |d| d.pass == pass, judge);
            } else {
                compare(sides, crowd(), 1, |d| d.pass == pass, judge);
            }
        });
        println!("{}: {sums} sums, missed {missed:?}", pass.name());
        assert!(sums > 3 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}

/// Of each, the instruction that is changed, what it becomes, and what that leaves out.
const CONTROLS: &[(Pass, &str, &str)] = &[
    // pairs of what is far from each other
    (
        Pass::BodyPairs,
        "%boxes_meet_value = OpLogicalNot %bool %boxes_meet_apart_4",
        "%boxes_meet_value = OpLogicalOr %bool %boxes_meet_apart_4 %boxes_meet_apart_4",
    ),
    // nobody remembers what it pressed
    (
        Pass::BodyContacts,
        "%write_row_before_2 = OpINotEqual %bool %write_row_before %u0",
        "%write_row_before_2 = OpIEqual %bool %write_row_before %none",
    ),
    // what is not chosen any more leaves nothing to others
    (
        Pass::BodyContacts,
        "%hand_over_taker = OpINotEqual %bool %hand_over_heir_now %none",
        "%hand_over_taker = OpINotEqual %bool %hand_over_heir_now %hand_over_heir_now",
    ),
    // the colours of the second body are not asked for
    (
        Pass::ColorBodies,
        "%color_pairs_open = OpBitwiseOr %uint %color_pairs_of_a_5 %color_pairs_of_b_5",
        "%color_pairs_open = OpBitwiseOr %uint %color_pairs_of_a_5 %color_pairs_of_a_5",
    ),
    // pairs that do not touch have colours
    (
        Pass::ColorBodies,
        "%color_pairs_rows_3 = OpINotEqual %bool",
        "%color_pairs_rows_3 = OpUGreaterThanEqual %bool",
    ),
    // one colour less
    (Pass::ColorBodies, "%body_colors = OpConstant %uint 32", "%body_colors = OpConstant %uint 31"),
    // the other body does not turn
    (
        Pass::SolveBodies,
        "%press_other_w_4 = OpFSub %vec3 %press_other_w_now %press_other_w_3",
        "%press_other_w_4 = OpFSub %vec3 %press_other_w_now %vec3_0",
    ),
    // nor does it move
    (
        Pass::SolveBodies,
        "%press_other_v_4 = OpFSub %vec3 %press_other_v_now %press_other_v_3",
        "%press_other_v_4 = OpFSub %vec3 %press_other_v_now %vec3_0",
    ),
    // all colours at once, in every turn but that of the obstacles
    (
        Pass::SolveBodies,
        "%take_is = OpIEqual %bool %take_turn_of %take_turn",
        "%take_is = OpUGreaterThan %bool %take_turn_of %u0",
    ),
    // the last colour is left out
    (Pass::SolveBodies, "%each_more = OpULessThanEqual", "%each_more = OpULessThan"),
    // what the substep before ended with is forgotten
    (
        Pass::SolveBodies,
        "%act_begins = OpIEqual %bool %act_asked %to_begin",
        "%act_begins = OpIEqual %bool %act_asked %to_rest",
    ),
    // what decides how bodies move is not kept
    (
        Pass::SolveBodies,
        "%put_body_v %keep_changes_moves_v %keep_changes_kept",
        "%put_body_v %keep_changes_moves_v %vec3_0",
    ),
    // rows begin with the last
    (Pass::SolveBodies, "%in_turn_odd_3 = OpINotEqual", "%in_turn_odd_3 = OpIEqual"),
    // the world is not told how many press
    (
        Pass::SolveBodies,
        "%remember_pairs_tells = OpIEqual %bool %remember_pairs_lane %u0",
        "%remember_pairs_tells = OpIEqual %bool %remember_pairs_lane %group_size",
    ),
    // all pairs of a block have the same place
    (
        Pass::SolveBodies,
        "%remember_pairs_number = OpISub %uint %remember_pairs_upto %remember_pairs_one",
        "%remember_pairs_number = OpISub %uint %remember_pairs_one %remember_pairs_one",
    ),
    // an impact hands its impulse on
    (Pass::SolveBodies, "%goes_on_value = OpFOrdLessThanEqual", "%goes_on_value = OpFOrdNotEqual"),
];

#[test]
fn a_shader_of_meeting_bodies_with_one_wrong_instruction_is_noticed() {
    if sides().is_none() || !can_assemble() {
        return;
    }
    for &(pass, right, wrong) in CONTROLS {
        let noticed = is_noticed(pass, right, wrong, |sides| {
            compare(sides, meeting(0.6), 3, |dispatch| dispatch.pass == pass, judge);
            compare(sides, crowd(), 2, |dispatch| dispatch.pass == pass, judge);
        });
        assert!(noticed, "{}: {wrong} was not noticed", pass.name());
    }
}
