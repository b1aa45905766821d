//! Parity of the passes of the trees and of sorting. Integers are exact; of floats:
//!
//! | what | how close | why |
//! |---|---|---|
//! | boxes of both trees, sorted points, particles moved | same bits | sums, products, minima, copies |
//! | box of the Morton codes | 1e-4 of its side | sums in f32 by workgroup, the CPU has f64 |
//! | codes | exact where the box is, else a cell | see above; a code is exact for a given box |
//! | spheres of the tree | 1e-3 of the radius | joined in f32 and rounded up, the CPU has f64 |
//! | contact distance | 2e-6 | a square root, which Vulkan promises to a few last places only |

use super::{Close, assert_floats, assert_words, compare, scene, sides};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from, shaders_with};
use motes::vulkan::layout::{globals::GLOBALS, state::STATE};
use motes::world::{BroadPhase, BvhStart, BvhVolume, BvhWalk};
use motes::{
    Backend, Body, BodyShape, Bond, Cloth, Dispatch, Engine, Force, ForceKind, Grains, Lattice,
    Matching, Material, Particle, ParticleId, Pass, Phase, Scene, Solver, SurfaceWind, World,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The passes judged here.
const OURS: [Pass; 10] = [
    Pass::SortParticles,
    Pass::MortonCodes,
    Pass::RadixCount,
    Pass::RadixScan,
    Pass::RadixScatter,
    Pass::OctreeBuild,
    Pass::BvhBuild,
    Pass::BvhBoxes,
    Pass::FindNeighborsOctree,
    Pass::FindNeighborsBvh,
];

pub(super) fn ours(dispatch: &Dispatch) -> bool {
    OURS.contains(&dispatch.pass)
}

/// Judges any of them.
pub(super) fn judge(outcome: &Outcome) {
    match outcome.dispatch.pass {
        Pass::MortonCodes => judge_codes(outcome),
        Pass::RadixCount | Pass::RadixScan => assert_words(outcome, Buffer::RadixNext),
        Pass::RadixScatter => {
            assert_words(outcome, Buffer::Codes);
            assert_words(outcome, Buffer::Sorted);
        }
        Pass::OctreeBuild => judge_octree(outcome),
        Pass::BvhBuild => judge_bvh(outcome),
        Pass::BvhBoxes => judge_volumes(outcome),
        Pass::SortParticles => judge_sort(outcome),
        _ => judge_lists(outcome),
    }
}

fn place(table: &[(&str, usize)], name: &str) -> usize {
    table.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no word {name}")).1
}

/// A word of `state` after the pass, on the CPU and on the device.
fn state(outcome: &Outcome, name: &str) -> (u32, u32) {
    let at = place(STATE, name);
    (outcome.state[1][at], outcome.state[2][at])
}

fn global(outcome: &Outcome, name: &str) -> u32 {
    outcome.globals[place(GLOBALS, name)]
}

/// The cell of a code: every third bit.
fn cell(code: u32) -> [i32; 3] {
    std::array::from_fn(|axis| {
        (0..10).fold(0, |sum, k| sum | ((code >> (3 * k + axis) & 1) << k) as i32)
    })
}

fn judge_codes(outcome: &Outcome) {
    let boxes: Vec<(u32, u32)> =
        ["s_morton_low_x", "s_morton_low_y", "s_morton_low_z", "s_morton_scale"]
            .into_iter()
            .map(|name| state(outcome, name))
            .collect();
    let exact = boxes.iter().all(|(a, b)| a == b);
    let scale = f32::from_bits(boxes[3].0);
    let side = if scale > 0.0 { 1024.0 / scale } else { 0.0 };
    for &(a, b) in &boxes[..3] {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        assert!(a == b || (a - b).abs() <= 1e-4 * side, "{a} on the CPU, {b} on the device");
    }
    let close = Close::Within { absolute: 0.0, relative: 1e-4 };
    assert!(close.holds(scale, f32::from_bits(boxes[3].1)), "{boxes:?}");
    let (n, words) = (outcome.particles, outcome.of(Buffer::Codes));
    for k in 0..n {
        assert_eq!(words.device[2 * k + 1], k as u32, "slot");
        let (a, b) = (words.cpu[2 * k], words.device[2 * k]);
        let near = cell(a).into_iter().zip(cell(b)).all(|(a, b)| (a - b).abs() <= 1);
        assert!(a == b || (!exact && near), "particle {k}: {a:#x} on the CPU, {b:#x}");
    }
}

fn judge_octree(outcome: &Outcome) {
    let (cpu_count, count) = state(outcome, "s_octree_nodes");
    assert_eq!(state(outcome, "s_overflow_nodes").1, 0, "there was room");
    assert_eq!(cpu_count, count, "nodes");
    let words = outcome.of(Buffer::OctreeNodes);
    for node in 0..count as usize {
        let [cpu, device] = [&words.cpu, &words.device].map(|w| &w[12 * node..12 * (node + 1)]);
        assert_eq!(cpu[..8], device[..8], "box and places of node {node}");
        assert_eq!(cpu[9], device[9], "children of node {node}");
        assert_eq!(cpu[10], device[10], "parent of node {node}");
        if cpu[9] > 0 {
            assert_eq!(cpu[8], device[8], "first child of node {node}");
            assert_eq!(device[9], device[11], "all children of node {node} have arrived");
        }
    }
}

fn judge_bvh(outcome: &Outcome) {
    let (n, words) = (outcome.particles, outcome.of(Buffer::BvhNodes));
    for node in 0..n.saturating_sub(1) {
        let at = 16 * node + 12;
        assert_eq!(words.cpu[at..at + 3], words.device[at..at + 3], "node {node}");
        assert_eq!(words.device[at + 3], 0, "nobody has arrived at node {node}");
        assert_eq!(words.cpu[16 * n + node], words.device[16 * n + node], "parent of node {node}");
    }
    for k in 17 * n..18 * n {
        assert_eq!(words.cpu[k], words.device[k], "parent of place {}", k - 17 * n);
    }
}

fn judge_volumes(outcome: &Outcome) {
    let (n, words) = (outcome.particles, outcome.of(Buffer::BvhNodes));
    let spheres = global(outcome, "g_bvh_volume") != 0;
    let number = |words: &[u32], at: usize| f32::from_bits(words[at]);
    for node in 0..n.saturating_sub(1) {
        let at = 16 * node;
        assert_eq!(words.device[at + 15], 2, "both subtrees of node {node} have arrived");
        if !spheres {
            assert_eq!(words.cpu[at..at + 15], words.device[at..at + 15], "node {node}");
            continue;
        }
        for side in [at, at + 4] {
            let radius = number(&words.cpu, side + 3);
            let close = match radius.is_finite() {
                true => Close::Within { absolute: 1e-3 * radius, relative: 0.0 },
                false => Close::Bits,
            };
            for k in side..side + 4 {
                let (a, b) = (number(&words.cpu, k), number(&words.device, k));
                assert!(close.holds(a, b), "node {node}: {a} on the CPU, {b} on the device");
            }
        }
    }
    // Where all collide with all the CPU keeps no phases.
    let [cpu, device] = [&words.cpu, &words.device].map(|w| &w[18 * n..][..2 * n.max(1) - 2]);
    if cpu.iter().any(|&body| body != u32::MAX) {
        assert_eq!(cpu, device, "phases of the subtrees");
    }
}

fn judge_lists(outcome: &Outcome) {
    let (n, words) = (outcome.particles, outcome.of(Buffer::Neighbors));
    assert_eq!(state(outcome, "s_overflow_neighbors").1, 0, "there was room");
    let list = |words: &[u32], i: usize| -> Vec<(u32, f32)> {
        let (first, length) = (words[2 * i] as usize, words[2 * i + 1] as usize);
        let entry = |k: usize| (words[2 * (n + k)], f32::from_bits(words[2 * (n + k) + 1]));
        (first..first + length).map(entry).collect()
    };
    let close = Close::Within { absolute: 0.0, relative: 2e-6 };
    for i in 0..n {
        let (cpu, device) = (list(&words.cpu, i), list(&words.device, i));
        let slots = |list: &[(u32, f32)]| list.iter().map(|e| e.0).collect::<Vec<_>>();
        assert_eq!(slots(&cpu), slots(&device), "{}: list of {i}", outcome.dispatch);
        for (a, b) in cpu.iter().zip(&device) {
            assert!(close.holds(a.1, b.1), "{i} and {}: {} on the CPU, {}", a.0, a.1, b.1);
        }
    }
}

fn judge_sort(outcome: &Outcome) {
    let moved = [Buffer::Position, Buffer::Start, Buffer::Predicted, Buffer::Velocity];
    for buffer in moved.into_iter().chain([Buffer::Radius, Buffer::Rest]) {
        assert_floats(outcome, buffer, Close::Bits);
    }
    assert_words(outcome, Buffer::Phase);
    assert_words(outcome, Buffer::Material);
    assert_words(outcome, Buffer::Pins);
    assert_eq!(state(outcome, "s_lists_since_sort"), (0, 0));
    let n = outcome.particles;
    let sorted = outcome.of(Buffer::Sorted);
    assert_eq!(sorted.before[4 * n..], sorted.device[4 * n..], "the order is left to the host");
    let fans = outcome.of(Buffer::Surfaces);
    assert_eq!(fans.cpu[0], fans.device[0], "triangles");
    let fan = |words: &[u32], p: usize| -> Vec<u32> {
        let (start, count) = (words[4 + p] as usize, words[4 + n + p] as usize);
        words[4 + 2 * n + 2 * start..][..2 * count].to_vec()
    };
    for p in (0..n).filter(|_| fans.cpu[0] > 0) {
        assert_eq!(fan(&fans.cpu, p), fan(&fans.device, p), "triangles around {p}");
    }
    // Who each link is of, its place at rest and its shares, and the links of each particle.
    let links = outcome.of(Buffer::Links);
    let count = links.cpu[0] as usize;
    assert_eq!(links.cpu[0], links.device[0], "links");
    let rows = 4 + 2 * n + 2 * count;
    if count > 0 {
        assert_eq!(links.cpu[rows..], links.device[rows..], "links and chunks");
    }
    let own = |words: &[u32], p: usize| -> Vec<u32> {
        let (start, count) = (words[4 + p] as usize, words[4 + n + p] as usize);
        words[4 + 2 * n + 2 * start..][..2 * count].to_vec()
    };
    for p in (0..n).filter(|_| count > 0) {
        assert_eq!(own(&links.cpu, p), own(&links.device, p), "links of {p}");
    }
    for buffer in [Buffer::Distance, Buffer::Bend, Buffer::Volume] {
        let words = outcome.of(buffer);
        let [starts, entries, lives, natural] = [3, 4, 5, 6].map(|w| words.cpu[w] as usize);
        assert_eq!(words.cpu[..starts], words.device[..starts], "{buffer:?}");
        assert_eq!(words.cpu[natural..], words.device[natural..], "natural order, {buffer:?}");
        let list = |words: &[u32], p: usize| -> Vec<u32> {
            let (start, live) = (words[starts + p] as usize, words[lives + p] as usize);
            words[entries + start..][..live].to_vec()
        };
        for p in 0..n {
            assert_eq!(list(&words.cpu, p), list(&words.device, p), "{buffer:?} of {p}");
        }
    }
}

/// A cheap random number in 0..1.
fn random(seed: &mut u32) -> f32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) as f32 / (1 << 24) as f32
}

/// Particles of a radius given by a function of a random number, in a cube.
fn cloud(count: usize, side: f32, seed: u32, radius: impl Fn(f32) -> f32) -> World {
    let mut world = World::new();
    let mut seed = seed;
    for _ in 0..count {
        let [x, y, z, r] = std::array::from_fn(|_| random(&mut seed));
        let particle = Particle {
            position: (Vec3::new(x, y, z) - 0.5) * side,
            velocity: Vec3::new(z, x, y),
            mass: 1.0,
            radius: radius(r),
            phase: Phase::group(1).self_colliding(),
        };
        world.add_particle(&particle).unwrap();
    }
    world
}

/// Cloth, a soft body and grains, some of them held, some gone: every kind of constraint and pair.
fn things(grains: u32) -> World {
    let mut world = World::new();
    let bend = Some(Bond::compliant(1e-3));
    let cloth =
        world.add_cloth(&Cloth { columns: 17, rows: 13, bend, ..Cloth::default() }).unwrap();
    let soft = Lattice { counts: [5; 3], volume: Some(Bond::default()), ..Lattice::default() };
    world.add_lattice(&soft).unwrap();
    let heap = Grains { counts: [grains; 3], jitter: 0.4, ..Grains::default() };
    let heap = world.add_grains(&heap).unwrap();
    let some: Vec<ParticleId> = heap.iter().copied().step_by(3).collect();
    let some = world.add_object("some", &some).unwrap();
    for object in [heap.object, some] {
        let material = world.add_material(&Material::default()).unwrap();
        world.set_material(object, material).unwrap();
    }
    for k in [0, 3, 16] {
        world.pin(cloth[k]).unwrap();
    }
    world.drag(cloth[5], Vec3::Y, 1e-3).unwrap();
    world.remove_particles(&[cloth[20], cloth[21]]).unwrap();
    let body = Body::rigid(Vec3::new(0.3, 0.7, 0.2));
    let body = world.add_body(&BodyShape::block([4; 3], 0.1, 900.0).unwrap(), &body).unwrap();
    world.match_shape(&[body[3], cloth[7], cloth[8]], &Matching::RIGID).unwrap();
    let wind = SurfaceWind { velocity: Vec3::X, ..SurfaceWind::default() };
    world.forces.push(Force { kind: ForceKind::SurfaceWind(wind), region: None });
    world
}

/// Ordinary and hostile worlds.
fn worlds() -> Vec<(&'static str, World)> {
    let alike = |_| 0.05;
    let mut flyers = cloud(500, 2.0, 5, alike);
    for (k, far) in [1e4, -1e9, 1e19, 1e30].into_iter().enumerate() {
        let id = ParticleId(7 * k as u64 + 3);
        flyers.set_position(id, Vec3::new(far, -far, 0.5)).unwrap();
    }
    let mut lost = cloud(300, 1.0, 6, alike);
    lost.params.dt = 1.0;
    lost.forces.push(Force {
        kind: ForceKind::Gravity { acceleration: Vec3::new(3e38, 0.0, -3e38) },
        region: Some([Vec3::ZERO, Vec3::ONE]),
    });
    for k in 0..300 {
        let velocity = Vec3::new(if k % 3 == 0 { 0.0 } else { 3e38 }, 0.0, 0.0);
        lost.set_velocity(ParticleId(k), velocity).unwrap();
    }
    let mut held = cloud(400, 1.0, 7, alike);
    for k in 0..200 {
        held.pin(ParticleId(2 * k)).unwrap();
    }
    let mut phases = cloud(50, 1.0, 8, alike);
    let mut seed = 3;
    for k in 0..450u32 {
        let [x, y, z, _] = std::array::from_fn(|_| random(&mut seed));
        let group = Phase::group(1 + k / 60);
        let phase = if k % 120 < 60 { group } else { group.self_colliding() };
        let position = Vec3::new(x + (k / 60) as f32 * 0.3, y, z);
        let velocity = Vec3::ZERO;
        let particle = Particle { position, velocity, mass: 1.0, radius: 0.06, phase };
        phases.add_particle(&particle).unwrap();
    }
    vec![
        ("one", cloud(1, 1.0, 1, alike)),
        ("two", cloud(2, 0.01, 1, alike)),
        ("63", cloud(63, 0.5, 2, alike)),
        ("64", cloud(64, 0.5, 2, alike)),
        ("65", cloud(65, 0.5, 3, alike)),
        ("in a cell", cloud(200, 1e-6, 4, alike)),
        ("in a point", cloud(150, 0.0, 4, alike)),
        ("flyers", flyers),
        ("at the end of the floats", lost),
        ("held", held),
        ("phases", phases),
        ("radii 1 to 1000", cloud(600, 10.0, 9, |r| 1e-3 * 1000f32.powf(r * r))),
        ("things", things(6)),
    ]
}

/// Runs a world through a structure for some steps; says how often each pass was judged.
fn run(sides: &mut SideBySide, name: &str, mut world: World, steps: usize) -> usize {
    world.params.iterations = 2;
    let count = catch_unwind(AssertUnwindSafe(|| compare(sides, world, steps, ours, judge)));
    count.unwrap_or_else(|why| {
        eprintln!("in the world `{name}`");
        std::panic::resume_unwind(why)
    })
}

#[test]
fn octrees_and_their_lists_are_the_cpus() {
    let Some(mut sides) = sides() else { return };
    for (name, world) in worlds() {
        for (leaf, depth) in [(64, 10), (1, 10), (5, 3)] {
            let mut world = world.clone();
            world.params.broad_phase = BroadPhase::Octree;
            (world.params.octree_leaf, world.params.octree_depth) = (leaf, depth);
            assert!(run(&mut sides, name, world, 2) >= 12, "{name}");
        }
    }
}

#[test]
fn trees_of_volumes_and_their_lists_are_the_cpus() {
    let Some(mut sides) = sides() else { return };
    for (name, world) in worlds() {
        for (volume, leaf) in [(BvhVolume::Aabb, 16), (BvhVolume::Aabb, 1), (BvhVolume::Sphere, 4)]
        {
            let mut world = world.clone();
            world.params.broad_phase = BroadPhase::Bvh;
            (world.params.bvh_volume, world.params.bvh_leaf) = (volume, leaf);
            assert!(run(&mut sides, name, world, 2) >= 13, "{name}");
        }
    }
}

#[test]
fn lists_are_the_same_for_every_walk_and_for_solvers_that_gather() {
    let Some(mut sides) = sides() else { return };
    for walk in [BvhWalk::Stack, BvhWalk::Sparse, BvhWalk::Mbvh2] {
        for start in [BvhStart::Root, BvhStart::Leaf] {
            let mut world = things(5);
            world.params.broad_phase = BroadPhase::Bvh;
            (world.params.bvh_walk, world.params.bvh_start) = (walk, start);
            assert!(run(&mut sides, "walks", world, 1) >= 13);
        }
    }
    for broad_phase in [BroadPhase::Octree, BroadPhase::Bvh] {
        let mut world = things(5);
        world.params.broad_phase = broad_phase;
        world.params.solver = Solver::Jacobi;
        assert!(run(&mut sides, "gathers", world, 1) >= 12);
    }
}

/// A cloud ends well within eight mean deviations: its box is the extent, on both sides.
#[test]
fn codes_are_exact_where_the_box_is() {
    let Some(mut sides) = sides() else { return };
    let mut world = cloud(5000, 3.0, 11, |r| 0.01 + 0.02 * r);
    world.params.broad_phase = BroadPhase::Octree;
    let codes = |dispatch: &Dispatch| dispatch.pass == Pass::MortonCodes;
    let count = compare(&mut sides, world, 3, codes, |outcome| {
        for name in ["s_morton_low_x", "s_morton_low_y", "s_morton_low_z", "s_morton_scale"] {
            let (cpu, device) = state(outcome, name);
            assert_eq!(cpu, device, "{name}");
        }
        assert_words(outcome, Buffer::Codes);
    });
    assert!(count > 0);
}

/// More than two blocks of the radix sort, and the particles put in order.
#[test]
fn many_are_sorted_as_on_the_cpu() {
    let Some(mut sides) = sides() else { return };
    let mut sorted = 0;
    for broad_phase in [BroadPhase::Octree, BroadPhase::Bvh] {
        let mut world = things(26);
        world.params.broad_phase = broad_phase;
        let sorts = |outcome: &Outcome| {
            if outcome.dispatch.pass == Pass::SortParticles {
                sorted += 1;
                assert!(outcome.of(Buffer::Surfaces).cpu[0] > 900, "triangles follow");
                assert_eq!(outcome.of(Buffer::Links).cpu[0], 67, "links follow");
            }
            judge(outcome);
        };
        world.params.iterations = 1;
        compare(&mut sides, world, 1, ours, sorts);
    }
    assert_eq!(sorted, 2);
}

#[test]
fn any_size_of_workgroup_gives_the_same() {
    if sides().is_none() {
        return;
    }
    for workgroup in [1, 7, 33, 128, 256] {
        let mut sides = SideBySide::with(shaders_from("spirv"), workgroup).unwrap();
        for broad_phase in [BroadPhase::Octree, BroadPhase::Bvh] {
            let mut world = things(5);
            world.params.broad_phase = broad_phase;
            assert!(run(&mut sides, "workgroups", world, 1) >= 12);
        }
    }
}

/// Whole steps through the trees, particles put in order on the device: everything said by id is as
/// on the CPU, wherever the device takes over.
#[test]
fn ids_follow_particles_that_the_device_sorts() {
    if sides().is_none() {
        return;
    }
    let mut world = things(21);
    world.params.broad_phase = BroadPhase::Bvh;
    let dt = world.params.dt;
    let stepped = |backend: Backend| {
        let mut engine = Engine::new(world.clone(), backend).unwrap();
        engine.step(dt).unwrap();
        engine.step(dt).unwrap();
        engine.into_world()
    };
    let expected = stepped(Backend::Cpu { threads: 1 });
    let ids = (0..expected.particles().len() as u64).map(ParticleId);
    assert!(ids.clone().any(|id| expected.particles().slot(id) != world.particles().slot(id)));
    for from in [None, Some(Pass::Bounds), Some(Pass::MortonCodes), Some(Pass::FindNeighborsBvh)] {
        let found = stepped(Backend::Vulkan { device: None, from });
        for id in ids.clone() {
            let (a, b) = (expected.position(id), found.position(id));
            let apart = a.zip(b).map_or(0.0, |(a, b)| a.distance(b));
            assert!(a.is_some() == b.is_some() && apart < 1e-4, "{from:?}: {id:?}: {a:?} {b:?}");
        }
    }
}

/// A list or a tree that does not fit says how much it needs, and then it does.
#[test]
fn what_has_no_room_is_counted_and_made_again() {
    let attempts = |pass: Pass, world: World| {
        let mut attempts = 0;
        let mut sides = sides()?;
        compare(
            &mut sides,
            world,
            1,
            |dispatch| dispatch.pass == pass,
            |outcome| {
                attempts = attempts.max(outcome.attempts);
                judge(outcome);
            },
        );
        Some(attempts)
    };
    for (broad_phase, pass) in
        [(BroadPhase::Octree, Pass::FindNeighborsOctree), (BroadPhase::Bvh, Pass::FindNeighborsBvh)]
    {
        let mut crowd = cloud(150, 0.0, 4, |_| 0.05);
        crowd.params.broad_phase = broad_phase;
        let Some(attempts) = attempts(pass, crowd) else { return };
        assert_eq!(attempts, 2, "{}", pass.name());
    }
    // Twins keep together down to the last level: a chain of nodes each.
    let mut twins = cloud(400, 1.0, 10, |_| 1e-4);
    for k in 0..200 {
        let beside = twins.position(ParticleId(2 * k)).unwrap() + Vec3::splat(1e-5);
        twins.set_position(ParticleId(2 * k + 1), beside).unwrap();
    }
    twins.params.broad_phase = BroadPhase::Octree;
    twins.params.octree_leaf = 1;
    assert_eq!(attempts(Pass::OctreeBuild, twins), Some(2));
}

/// Every built-in scene that has contacts, through both trees.
#[test]
fn scenes_have_the_cpus_trees() {
    let Some(mut sides) = sides() else { return };
    for name in Scene::builtin_names() {
        for broad_phase in [BroadPhase::Octree, BroadPhase::Bvh] {
            let mut world = scene(name);
            // The largest shows nothing that the others do not, for two thirds of the time.
            if world.particles().len() > 150_000 {
                continue;
            }
            world.params.broad_phase = broad_phase;
            world.params.substeps = 1;
            run(&mut sides, name, world, 1);
        }
    }
}

/// Replaces the nth instruction of one kind by another of the same form.
fn broken(pass: Pass, (from, to, nth): (u32, u32, usize)) -> Vec<u8> {
    let bytes = std::fs::read(format!("spirv/{}.spv", pass.name())).unwrap();
    let mut words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let (mut at, mut seen) = (5, 0);
    while at < words.len() {
        if words[at] & 0xffff == from {
            if seen == nth {
                words[at] = words[at] & 0xffff_0000 | to;
                return words.iter().flat_map(|w| w.to_le_bytes()).collect();
            }
            seen += 1;
        }
        at += (words[at] >> 16) as usize;
    }
    panic!("{} has no such instruction", pass.name());
}

/// A shader with one instruction changed is found out.
#[test]
fn broken_shaders_are_seen() {
    if sides().is_none() {
        return;
    }
    const SHIFT_RIGHT: u32 = 194;
    const XOR: u32 = 198;
    const FSUB: u32 = 131;
    const FADD: u32 = 129;
    const LESS: u32 = 176;
    const GREATER: u32 = 172;
    const GREATER_EQUAL: u32 = 174;
    const NOT_EQUAL: u32 = 171;
    const EQUAL: u32 = 170;
    const SIGNED_GREATER: u32 = 173;
    const SIGNED_GREATER_EQUAL: u32 = 175;
    const FLESS: u32 = 184;
    const FGREATER: u32 = 186;
    const FLESS_EQUAL: u32 = 188;
    const FGREATER_EQUAL: u32 = 190;
    let changes = [
        // the place in the box
        (Pass::MortonCodes, (FSUB, FADD, 3)),
        // the digit
        (Pass::RadixCount, (SHIFT_RIGHT, XOR, 0)),
        // whether places are written
        (Pass::RadixScan, (NOT_EQUAL, EQUAL, 0)),
        // which of equal values come first
        (Pass::RadixScatter, (LESS, GREATER, 6)),
        // the low corner of a join
        (Pass::OctreeBuild, (FLESS, FGREATER, 0)),
        // where a node splits
        (Pass::BvhBuild, (SIGNED_GREATER, SIGNED_GREATER_EQUAL, 5)),
        // the low corner of a join
        (Pass::BvhBoxes, (FLESS, FGREATER, 1)),
        // the distance test
        (Pass::FindNeighborsOctree, (FLESS_EQUAL, FGREATER_EQUAL, 0)),
        (Pass::FindNeighborsBvh, (FLESS_EQUAL, FGREATER_EQUAL, 0)),
        // which corners follow
        (Pass::SortParticles, (LESS, GREATER_EQUAL, 0)),
        // which corners of triangles follow, and where the triangles of a particle begin
        (Pass::SortParticles, (LESS, GREATER_EQUAL, 4)),
        (Pass::SortParticles, (LESS, GREATER_EQUAL, 12)),
    ];
    for (pass, change) in changes {
        let shaders = shaders_with(pass, broken(pass, change));
        let mut sides = SideBySide::with(shaders, 64).unwrap();
        let many = pass == Pass::SortParticles;
        let mut world = things(if many { 21 } else { 6 });
        let octree = matches!(pass, Pass::OctreeBuild | Pass::FindNeighborsOctree);
        world.params.broad_phase = if octree { BroadPhase::Octree } else { BroadPhase::Bvh };
        let wanted = |dispatch: &Dispatch| dispatch.pass == pass;
        let seen = catch_unwind(AssertUnwindSafe(|| compare(&mut sides, world, 1, wanted, judge)));
        assert!(seen.is_err(), "a broken {} was not seen", pass.name());
    }
}
