//! Parity of bounds, grid, lists and contact colours.
//!
//! | what | how close | why |
//! |---|---|---|
//! | points, list reference, floor | the same bits | + - x only, unfused |
//! | box | equal numbers | minima and maxima; which zero, -0 or 0, depends on the order |
//! | cells a metre of the grid | 1e-5 | the device lays the grid in f32, the CPU in f64; a hair wider |
//! | buckets, orders, lists, tiles, pairs | exact | integers, from the same laid grid |
//! | contact distances | the same bits | a sum, or a square root, which the tested device rounds as the CPU does |

use super::{Close, assert_floats, assert_words, compare, scene, sides};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_with};
use motes::vulkan::harness::trial;
use motes::vulkan::layout::{globals::GLOBALS, state::STATE};
use motes::world::BroadPhase;
use motes::{Cloth, Dispatch, Grains, Lattice, Part, Particle, Pass, Phase, Scene, Solver, World};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Where a word stands.
fn at(name: &str) -> usize {
    let found = GLOBALS.iter().chain(STATE).find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no word {name}")).1
}

/// What `state` says after the pass, on the CPU and on the device.
fn both(outcome: &Outcome, name: &str) -> [u32; 2] {
    [outcome.state[1][at(name)], outcome.state[2][at(name)]]
}

fn assert_state(outcome: &Outcome, names: &[&str]) {
    for name in names {
        let [cpu, device] = both(outcome, name);
        assert_eq!(cpu, device, "{}: {name} ({cpu:x} and {device:x})", outcome.dispatch);
    }
}

/// Of the passes of the lists, those with a judge here.
pub(super) fn is_ours(dispatch: &Dispatch) -> bool {
    use Pass::*;
    matches!(
        dispatch.pass,
        Bounds
            | GridCount
            | GridScan
            | GridSort
            | FindNeighborsGrid
            | FindNeighborsBrute
            | ColorContacts
    )
}

pub(super) fn judge(outcome: &Outcome) {
    match outcome.dispatch.pass {
        Pass::Bounds => judge_bounds(outcome),
        Pass::GridCount => {
            assert_words(outcome, Buffer::GridBucket);
            judge_start(outcome, Buffer::GridSlab, 0);
        }
        Pass::GridScan => judge_start(outcome, Buffer::GridSlab, 0),
        Pass::GridSort => {
            assert_words(outcome, Buffer::Sorted);
            judge_start(outcome, Buffer::GridStart, 1);
        }
        Pass::FindNeighborsGrid | Pass::FindNeighborsBrute => judge_lists(outcome),
        Pass::ColorContacts => judge_colors(outcome),
        other => panic!("no judge of {}", other.name()),
    }
}

/// The words of the buckets, and so many more.
fn judge_start(outcome: &Outcome, buffer: Buffer, more: usize) {
    let words = outcome.of(buffer);
    let buckets = outcome.state[1][at("s_grid_buckets")] as usize + more;
    assert!(buckets > 26, "a grid has an empty cell at every end");
    assert!(words.cpu[..buckets] == words.device[..buckets], "{}: {buffer:?}", outcome.dispatch);
}

fn judge_bounds(outcome: &Outcome) {
    assert_floats(outcome, Buffer::ListReference, Close::Bits);
    assert_floats(outcome, Buffer::Points, Close::Bits);
    // When to sort comes from the contacts' list.
    if outcome.list == "contacts" {
        assert_state(outcome, &["s_lists_since_sort"]);
    }
    let [stale, stale_device] = both(outcome, "s_stale");
    // Loading points before a sort is no judgement of the lists.
    let loads = outcome.dispatch.part == Part::Start;
    assert_eq!(stale_device, if loads { 1 } else { stale }, "stale");
    let groups = |slot: usize| outcome.state[2][at("s_arguments") + 3 * slot];
    let n = outcome.particles;
    if stale_device == 0 {
        assert_eq!([0, 1, 2, 31, 54].map(groups), [0; 5], "groups of lists that hold");
        return;
    }
    let float = |side: usize, at: usize| f32::from_bits(outcome.state[side][at]);
    for axis in 0..3 {
        for name in ["s_low_x", "s_high_x", "s_tile_low_x"] {
            let (cpu, device) = (float(1, at(name) + axis), float(2, at(name) + axis));
            assert!(cpu == device, "{name} + {axis}: {cpu} on the CPU, {device} on the device");
        }
    }
    assert_eq!(groups(0) as usize, n.div_ceil(outcome.workgroup));
    assert_eq!(groups(54) as usize, n.div_ceil(8192));
    let word = |name: &str, axis: usize| outcome.state[2][at(name) + axis] as usize;
    let buckets = word("s_grid_buckets", 0);
    assert!(buckets <= outcome.globals[at("g_grid_cap")] as usize);
    assert_eq!(groups(2) as usize, (buckets + 1).div_ceil(outcome.workgroup));
    let [mask, mask_device] = both(outcome, "s_grid_hash_mask");
    assert_eq!(mask, mask_device, "dense or hashed");
    if mask_device > 0 {
        assert_eq!(buckets, mask_device as usize + 1);
    } else {
        let counts: usize = (0..3).map(|axis| word("s_grid_count_x", axis)).product();
        assert_eq!(buckets, counts);
        for axis in 0..3 {
            let low = |side| float(side, at("s_grid_low_x") + axis);
            assert!(low(1) == low(2), "low of the grid: {} and {}", low(1), low(2));
        }
    }
    let per_metre = at("s_grid_per_metre");
    let (cpu, device) = (float(1, per_metre), float(2, per_metre));
    assert!(
        (cpu - device).abs() <= 1e-5 * cpu.abs(),
        "{cpu} cells a metre, {device} on the device"
    );
    // Tiles are for contacts alone.
    if outcome.list == "contacts" {
        let tiles = ["s_tile_count_x", "s_tile_count_y", "s_tile_count_z"];
        assert_state(outcome, &["s_tile_per_metre", "s_tiles_hold_pairs"]);
        assert_state(outcome, &tiles);
    }
}

fn judge_lists(outcome: &Outcome) {
    let n = outcome.particles;
    let words = outcome.of(Buffer::Neighbors);
    let list = |words: &[u32], i: usize| -> Vec<(u32, u32)> {
        let (first, length) = (words[2 * i] as usize, words[2 * i + 1] as usize);
        (first..first + length).map(|e| (words[2 * (n + e)], words[2 * (n + e) + 1])).collect()
    };
    for i in 0..n {
        let (cpu, device) = (list(&words.cpu, i), list(&words.device, i));
        assert_eq!(cpu, device, "{}: list of {i}", outcome.dispatch);
    }
    assert_state(outcome, &["s_neighbors_used", "s_overflow_neighbors"]);
}

/// A tile: its members, its number, and the pairs of each pair colour.
type Tile = ([u32; 3], Vec<Vec<[u32; 3]>>);

fn tiles(outcome: &Outcome, words: &[u32], state: &[u32]) -> Vec<Tile> {
    let n = outcome.particles;
    let room = outcome.globals[at("g_tile_cap")] as usize;
    let pairs = 4 * n + 69 * room + 1;
    let pair = |p: u32| -> [u32; 3] { words[pairs + 3 * p as usize..][..3].try_into().unwrap() };
    (0..state[at("s_tiles")] as usize)
        .map(|t| {
            let row = &words[2 * n + 68 * t..][..68];
            let pair_colors =
                row[..65].windows(2).map(|w| (w[0]..w[1]).map(pair).collect()).collect();
            ([row[65], row[66], row[67]], pair_colors)
        })
        .collect()
}

fn judge_colors(outcome: &Outcome) {
    let n = outcome.particles;
    let words = outcome.of(Buffer::ContactRows);
    let room = outcome.globals[at("g_tile_cap")] as usize;
    assert!(words.cpu[..2 * n] == words.device[..2 * n], "tile of each particle, members");
    assert_state(outcome, &["s_tiles", "s_far_pairs", "s_pairs_used", "s_overflow_pairs"]);
    let first = at("s_tile_first");
    let [_, cpu, device] = &outcome.state;
    assert_eq!(cpu[first..first + 28], device[first..first + 28], "tiles of each colour");
    let groups = at("s_arguments") + 9;
    assert_eq!(cpu[groups..groups + 81], device[groups..groups + 81], "groups of each colour");
    let numbers: u32 = (0..3).map(|axis| cpu[at("s_tile_count_x") + axis]).product();
    let starts = 2 * n + 68 * room;
    let starts = starts..starts + numbers as usize + 1;
    assert!(words.cpu[starts.clone()] == words.device[starts], "first place of each tile");
    let (expected, found) =
        (tiles(outcome, &words.cpu, cpu), tiles(outcome, &words.device, device));
    for (t, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(expected.0, found.0, "members and number of tile {t}");
        for (pair_color, (expected, found)) in expected.1.iter().zip(&found.1).enumerate() {
            assert_eq!(expected, found, "tile {t}, pair colour {pair_color}");
        }
    }
    let far_pairs = |words: &[u32], state: &[u32]| -> Vec<u32> {
        let pairs = 4 * n + 69 * room + 1;
        let first = pairs + 3 * state[at("s_far_pairs_first")] as usize;
        words[first..first + 3 * state[at("s_far_pairs")] as usize].to_vec()
    };
    assert_eq!(far_pairs(&words.cpu, cpu), far_pairs(&words.device, device), "pairs of no tile");
}

/// A heap whose grains touch and overlap, with what `more` adds.
pub(super) fn heap(counts: [u32; 3], more: impl FnOnce(&mut World)) -> World {
    let mut world = World::new();
    let velocity = Vec3::new(1.0, -2.0, 0.5);
    world.add_grains(&Grains { counts, jitter: 0.35, velocity, ..Grains::default() }).unwrap();
    more(&mut world);
    world
}

pub(super) fn ball(world: &mut World, at: Vec3, radius: f32, group: u32) {
    let phase = Phase::group(group).self_colliding();
    let particle = Particle { position: at, velocity: Vec3::ZERO, mass: 0.3, radius, phase };
    world.add_particle(&particle).unwrap();
}

/// Particles of many sizes here and there, some of them in each other, some held.
pub(super) fn mixed(count: u32, seed: u32) -> World {
    let mut world = World::new();
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    for k in 0..count {
        let position = Vec3::new(random(), random(), random()) * 1.5 - Vec3::new(0.7, 3.0, 0.0);
        let radius = 0.01 * 20f32.powf(random());
        let phase = Phase::group(k % 5);
        let phase = if k % 3 == 0 { phase.self_colliding() } else { phase };
        let mass = if k % 7 == 0 { f32::INFINITY } else { 1.0 };
        let velocity = Vec3::ZERO;
        world.add_particle(&Particle { position, velocity, mass, radius, phase }).unwrap();
    }
    world
}

/// Cloths that touch each other and themselves, a soft block, grains: joined, shaped, pinned.
pub(super) fn soft() -> World {
    let mut world = heap([6, 5, 4], |_| ());
    let cloth =
        Cloth { columns: 19, rows: 17, radius: 0.04, self_collide: true, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    let above = Cloth { origin: Vec3::new(0.01, 0.03, 0.02), ..cloth };
    world.add_cloth(&above).unwrap();
    let center = Vec3::new(0.2, -0.3, 0.1);
    world.add_lattice(&Lattice { counts: [4, 5, 3], center, ..Lattice::default() }).unwrap();
    for &id in &ids[..60] {
        world.pin(id).unwrap();
    }
    world
}

/// Worlds that ask for everything: counts beside the workgroup's, all in one place, far flyers,
/// very different sizes.
fn worlds() -> Vec<(&'static str, World)> {
    let line = |count: u32| heap([count, 1, 1], |_| ());
    vec![
        ("one", line(1)),
        ("63", line(63)),
        ("64", line(64)),
        ("65", line(65)),
        ("heap", heap([11, 10, 9], |_| ())),
        ("sorted first", heap([21, 20, 20], |_| ())),
        (
            "crowd",
            heap([0, 0, 0].map(|_: u32| 1), |world| {
                (0..300).for_each(|_| ball(world, Vec3::splat(0.25), 0.05, 3));
            }),
        ),
        (
            "far flyers",
            heap([9, 9, 9], |world| {
                for k in 0..40 {
                    let far = 1e3 * 1.7f32.powi(k);
                    ball(world, Vec3::new(far, -far * 0.5, 0.1), 0.05, 4);
                    ball(world, Vec3::new(far + 0.04, -far * 0.5, 0.1), 0.05, 5);
                }
            }),
        ),
        (
            "beyond numbers",
            heap([5, 5, 5], |world| {
                ball(world, Vec3::new(3e38, -3e38, 3e38), 0.05, 4);
                ball(world, Vec3::new(-3e38, 3e38, 0.0), 0.05, 4);
            }),
        ),
        (
            "giants",
            heap([40, 5, 5], |world| {
                ball(world, Vec3::new(0.4, 0.4, 0.4), 0.3, 6);
                ball(world, Vec3::new(1.9, 0.4, 0.4), 2.3, 7);
                ball(world, Vec3::new(3.2, 1.4, 0.4), 1.7, 8);
            }),
        ),
        ("mixed", mixed(777, 5)),
        ("mixed, two groups", mixed(128, 99)),
        ("mixed, a few", mixed(30, 7)),
        ("soft", soft()),
    ]
}

#[test]
fn worlds_are_listed_alike() {
    let Some(mut sides) = sides() else { return };
    for broad_phase in [BroadPhase::Grid, BroadPhase::Brute] {
        for solver in [Solver::Colored, Solver::Jacobi] {
            for (name, mut world) in worlds() {
                if broad_phase == BroadPhase::Brute && name == "sorted first" {
                    continue; // as many pairs as the grid tests, thousands of times as many looks
                }
                (world.params.broad_phase, world.params.solver) = (broad_phase, solver);
                println!("{name}, {broad_phase:?}, {solver:?}");
                let count = compare(&mut sides, world, 2, is_ours, judge);
                let lists = if broad_phase == BroadPhase::Grid { 4 } else { 1 };
                assert!(count > lists, "{name}: {count} dispatches");
            }
        }
    }
}

/// From `bounds` on by the device alone, on the grid and the tiles that it laid itself and with the
/// groups that it counted: buckets may be others, lists and pairs must be the same.
#[test]
fn a_chain_of_passes_ends_alike() {
    let Some(mut sides) = sides() else { return };
    for broad_phase in [BroadPhase::Grid, BroadPhase::Brute] {
        let mut worlds = worlds();
        let names: Vec<_> = Scene::builtin_names().map(small).collect();
        worlds.extend(names.iter().map(|name| (name.as_str(), scene(name))));
        for (name, mut world) in worlds {
            if broad_phase == BroadPhase::Brute && world.particles().len() > 2000 {
                continue; // millions of looks, and what finds neighbours is as it was
            }
            world.params.broad_phase = broad_phase;
            // First for room.
            sides.chained = false;
            compare(&mut sides, world.clone(), 2, is_ours, |_| ());
            sides.chained = true;
            println!("{name}, {broad_phase:?}");
            compare(&mut sides, world, 2, is_ours, |outcome| match outcome.dispatch.pass {
                Pass::GridCount | Pass::GridScan | Pass::GridSort => {}
                _ => judge(outcome),
            });
        }
    }
}

/// What the cases are there for is in them.
#[test]
fn the_worlds_have_what_they_are_for() {
    let Some(mut sides) = sides() else { return };
    let [mut hashed, mut apart, mut last_pair_color, mut long] = [0; 4];
    for (_, mut world) in worlds() {
        world.params.broad_phase = BroadPhase::Grid;
        compare(&mut sides, world, 1, is_ours, |outcome| {
            let state = &outcome.state[2];
            match outcome.dispatch.pass {
                Pass::Bounds => hashed += usize::from(state[at("s_grid_hash_mask")] > 0),
                Pass::FindNeighborsGrid => {
                    let words = &outcome.of(Buffer::Neighbors).device;
                    long += (0..outcome.particles).filter(|i| words[2 * i + 1] > 100).count();
                }
                Pass::ColorContacts => {
                    apart += state[at("s_far_pairs")] as usize;
                    let tiles = tiles(outcome, &outcome.of(Buffer::ContactRows).device, state);
                    let last = |tile: &Tile| tile.1[31].len() + tile.1[63].len();
                    last_pair_color += tiles.iter().map(last).sum::<usize>();
                }
                _ => {}
            }
        });
    }
    println!(
        "{hashed} hashed, {apart} far pairs, {last_pair_color} of a last pair colour, {long} long lists"
    );
    assert!(hashed > 1 && apart > 10 && last_pair_color > 100 && long > 100);
}

/// A scene, or its small variant.
fn small(name: &str) -> String {
    match name {
        "boxes_216k" | "grains_box" | "granular_216k" | "sand_heap" => {
            format!("{name}:small")
        }
        _ => name.to_string(),
    }
}

#[test]
fn scenes_are_listed_alike() {
    let Some(mut sides) = sides() else { return };
    for name in Scene::builtin_names() {
        let mut world = scene(&small(name));
        world.params.broad_phase = BroadPhase::Grid;
        compare(&mut sides, world, 3, is_ours, judge);
    }
}

#[test]
fn groups_may_have_any_size() {
    for size in [1, 7, 33, 256] {
        let own = std::fs::read(spirv(Pass::Bounds)).unwrap();
        let with = || SideBySide::with(shaders_with(Pass::Bounds, own), size);
        let Some(mut sides) = trial::opened(with) else { return };
        for (name, world) in worlds() {
            if ["63", "65", "heap", "giants", "far flyers"].contains(&name) {
                let mut world = world;
                world.params.broad_phase = BroadPhase::Grid;
                println!("{name}, groups of {size}");
                assert!(compare(&mut sides, world, 1, is_ours, judge) > 4);
            }
        }
    }
}

#[test]
fn what_is_not_finite_is_near_nothing() {
    let Some(mut sides) = sides() else { return };
    let (nan, far) = (f32::NAN, f32::INFINITY);
    sides.spoiled = vec![(0, [nan; 3]), (17, [0.1, nan, 0.1]), (40, [far, 0.0, -far])];
    for broad_phase in [BroadPhase::Grid, BroadPhase::Brute] {
        let mut world = heap([5, 5, 4], |_| ());
        world.params.broad_phase = broad_phase;
        assert!(compare(&mut sides, world, 1, is_ours, judge) > 2);
    }
    sides.spoiled = vec![(0, [nan; 3])];
    let mut world = heap([1, 1, 1], |_| ());
    world.params.broad_phase = BroadPhase::Grid;
    assert!(compare(&mut sides, world, 1, is_ours, judge) > 2);
}

/// A list that has no room says how much it needs, and is made again.
#[test]
fn lists_grow_to_what_they_need() {
    let Some(mut sides) = sides() else { return };
    let mut attempts = 0;
    for broad_phase in [BroadPhase::Grid, BroadPhase::Brute] {
        let mut world = heap([1, 1, 1], |world| {
            (0..200).for_each(|_| ball(world, Vec3::splat(0.25), 0.05, 3));
        });
        world.params.broad_phase = broad_phase;
        compare(
            &mut sides,
            world,
            1,
            |d| d.pass.finds_neighbors(),
            |outcome| {
                attempts += outcome.attempts;
                judge(outcome);
            },
        );
    }
    assert!(attempts > 2, "it had room at once");
}

/// Pairs that have no room are counted, and nothing is written of a tile without.
#[test]
fn pairs_without_room_are_counted() {
    let Some(mut sides) = sides() else { return };
    sides.chained = true;
    let mut world = World::new();
    let counts = [40, 8, 8];
    world.add_grains(&Grains { counts, radius: 0.08, jitter: 0.1, ..Grains::default() }).unwrap();
    world.params.broad_phase = BroadPhase::Grid;
    world.params.substeps = 1;
    let mut judged = 0;
    compare(&mut sides, world, 1, is_ours, |outcome| {
        if outcome.dispatch.pass == Pass::FindNeighborsGrid {
            judge(outcome);
        } else if outcome.dispatch.pass == Pass::ColorContacts {
            judged += 1;
            let state = &outcome.state[2];
            let (pairs, room) = (state[at("s_neighbors_used")], outcome.globals[at("g_pair_cap")]);
            assert!(pairs > room, "{pairs} pairs, room for {room}");
            assert_eq!(state[at("s_pairs_used")], pairs);
            assert_eq!(state[at("s_overflow_pairs")], pairs);
            let tiles = tiles(outcome, &outcome.of(Buffer::ContactRows).device, state);
            let kept: usize = tiles.iter().flat_map(|tile| &tile.1).map(Vec::len).sum();
            assert!(kept > 0 && kept < room as usize, "{kept} pairs, room for {room}");
        }
    });
    assert_eq!(judged, 1);
}

fn spirv(pass: Pass) -> String {
    format!("{}/spirv/{}.spv", env!("CARGO_MANIFEST_DIR"), pass.name())
}

/// Changes the `nth` instruction of opcode `from` to `to`.
fn changed(pass: Pass, from: u32, nth: usize, to: u32) -> Vec<u8> {
    let mut bytes = std::fs::read(spirv(pass)).unwrap();
    let (mut at, mut seen) = (20, 0);
    while at < bytes.len() {
        let word = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        if word & 0xffff == from {
            if seen == nth {
                let new = word & 0xffff_0000 | to;
                bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
                return bytes;
            }
            seen += 1;
        }
        at += 4 * (word >> 16) as usize;
    }
    panic!("{} has no instruction {from} number {nth}", pass.name());
}

/// The judges see a shader in which one instruction is wrong.
#[test]
fn a_wrong_shader_fails() {
    if sides().is_none() {
        return;
    }
    let (add, subtract, float_add, float_subtract) = (128, 130, 129, 131);
    let (below, above, at_most) = (184, 186, 188);
    let (word_below, word_above) = (176, 172);
    let (least, most) = (237, 239);
    let cases = [
        (Pass::Bounds, BroadPhase::Grid, changed(Pass::Bounds, least, 0, most)),
        (Pass::GridCount, BroadPhase::Grid, changed(Pass::GridCount, below, 0, above)),
        (Pass::GridScan, BroadPhase::Grid, changed(Pass::GridScan, subtract, 4, add)),
        (Pass::GridSort, BroadPhase::Grid, changed(Pass::GridSort, word_below, 3, word_above)),
        (
            Pass::FindNeighborsGrid,
            BroadPhase::Grid,
            changed(Pass::FindNeighborsGrid, float_add, 2, float_subtract),
        ),
        (
            Pass::FindNeighborsBrute,
            BroadPhase::Brute,
            changed(Pass::FindNeighborsBrute, float_add, 2, float_subtract),
        ),
        (Pass::ColorContacts, BroadPhase::Grid, changed(Pass::ColorContacts, at_most, 0, above)),
    ];
    for (pass, broad_phase, module) in cases {
        let mut wrong = SideBySide::with(shaders_with(pass, module), 64).unwrap();
        let mut world = heap([11, 10, 9], |_| ());
        world.params.broad_phase = broad_phase;
        let run = || compare(&mut wrong, world, 1, |d| d.pass == pass, judge);
        let outcome = catch_unwind(AssertUnwindSafe(run));
        assert!(outcome.is_err(), "{}: nobody saw that it is wrong", pass.name());
    }
}
