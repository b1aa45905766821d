//! Parity of the passes that make lists, in worlds that have more than the contacts' list. The judges
//! and how close they want everything are those of `lists.rs` and `trees.rs`: lists are exact.

use super::lists::{self, ball, heap, mixed, soft};
use super::{assembler, compare, sides, trees};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_with};
use motes::world::{BroadPhase, BvhVolume};
use motes::{Dispatch, ListDescription, ListFilter, ListPairs, ListReach, Pass, Phase, Who, World};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

const ALL: [BroadPhase; 4] =
    [BroadPhase::Grid, BroadPhase::Octree, BroadPhase::Bvh, BroadPhase::Brute];

/// A kernel, pairs of others than the asker, and pairs that may touch in a wider reach.
fn with_lists(mut world: World) -> World {
    let kernel = ListDescription::new("kernel", ListReach::Length(0.2));
    let mut some = ListDescription::new("some", ListReach::Radii(2.0));
    (some.asks, some.found) = (Who::group(3), Who::flags(Phase::SELF_COLLIDE));
    let mut near = ListDescription::new("near", ListReach::Contact);
    (near.filter, near.pairs) = (ListFilter::MayTouch, ListPairs::Full);
    let mut pairs = ListDescription::new("pairs", ListReach::Radii(1.7));
    pairs.pairs = ListPairs::Half;
    let mut thick = ListDescription::new("thick", ListReach::Length(0.1));
    thick.skin = 4.0;
    for list in [kernel, some, near, pairs, thick] {
        world.add_list(list).unwrap();
    }
    world
}

fn wanted(dispatch: &Dispatch) -> bool {
    lists::is_ours(dispatch) || trees::ours(dispatch)
}

fn judge(outcome: &Outcome) {
    match lists::is_ours(&outcome.dispatch) {
        true => lists::judge(outcome),
        false => trees::judge(outcome),
    }
}

fn worlds() -> Vec<(&'static str, World)> {
    let crowd = heap([2, 2, 2], |world| {
        (0..150).for_each(|k| ball(world, Vec3::splat(0.25), 0.05, 3 + k % 2));
    });
    let worlds = [("heap", heap([7, 6, 5], |_| ())), ("mixed", mixed(500, 5)), ("soft", soft())];
    worlds.into_iter().chain([("crowd", crowd)]).map(|(name, w)| (name, with_lists(w))).collect()
}

/// Entries that the device has of a list.
fn entries(outcome: &Outcome) -> usize {
    let words = &outcome.of(Buffer::Neighbors).device;
    (0..outcome.particles).map(|i| words[2 * i + 1] as usize).sum()
}

#[test]
fn every_list_is_made_alike() {
    let Some(mut sides) = sides() else { return };
    let mut listed = std::collections::BTreeMap::<String, usize>::new();
    let mut attempts = 0;
    for broad_phase in ALL {
        for (name, mut world) in worlds() {
            world.params.broad_phase = broad_phase;
            println!("{name}, {broad_phase:?}");
            let count = compare(&mut sides, world, 2, wanted, |outcome| {
                judge(outcome);
                if outcome.dispatch.pass.finds_neighbors() {
                    *listed.entry(outcome.list.clone()).or_default() += entries(outcome);
                    attempts = attempts.max(outcome.attempts);
                }
            });
            assert!(count > 5, "{name}: {count} dispatches");
        }
    }
    println!("{listed:?}");
    let names: Vec<&str> = listed.keys().map(String::as_str).collect();
    assert_eq!(names, ["contacts", "kernel", "near", "pairs", "some", "thick"]);
    assert!(listed.values().all(|&count| count > 1000), "{listed:?}");
    assert!(attempts > 1, "every list had room at once");
}

#[test]
fn a_chain_of_passes_ends_alike_for_every_list() {
    let Some(mut sides) = sides() else { return };
    for broad_phase in ALL {
        for (name, mut world) in worlds() {
            world.params.broad_phase = broad_phase;
            // First for room.
            sides.chained = false;
            compare(&mut sides, world.clone(), 2, wanted, |_| ());
            sides.chained = true;
            println!("{name}, {broad_phase:?}");
            compare(&mut sides, world, 2, wanted, |outcome| {
                if outcome.dispatch.pass.finds_neighbors() {
                    judge(outcome);
                }
            });
        }
    }
}

/// Trees of spheres leave no one out either.
#[test]
fn spheres_hold_every_list() {
    let Some(mut sides) = sides() else { return };
    let mut world = with_lists(mixed(400, 8));
    (world.params.broad_phase, world.params.bvh_volume) = (BroadPhase::Bvh, BvhVolume::Sphere);
    assert!(compare(&mut sides, world, 2, wanted, judge) > 5);
}

/// What is wrong in how a list is chosen, and in that alone.
const CONTROLS: [(Pass, BroadPhase, &str, &str); 10] = [
    (
        Pass::FindNeighborsGrid,
        BroadPhase::Grid,
        "%chosen_found = OpIEqual",
        "%chosen_found = OpINotEqual",
    ),
    (
        Pass::FindNeighborsOctree,
        BroadPhase::Octree,
        "%chosen_asks = OpIEqual",
        "%chosen_asks = OpINotEqual",
    ),
    (
        Pass::FindNeighborsBvh,
        BroadPhase::Bvh,
        "%chosen_both = OpLogicalAnd",
        "%chosen_both = OpLogicalOr",
    ),
    (
        Pass::FindNeighborsBrute,
        BroadPhase::Brute,
        "%value_known = OpLogicalOr",
        "%value_known = OpLogicalAnd",
    ),
    (
        Pass::FindNeighborsGrid,
        BroadPhase::Grid,
        "%value_chooses = OpINotEqual",
        "%value_chooses = OpIEqual",
    ),
    (
        Pass::FindNeighborsBrute,
        BroadPhase::Brute,
        "%chosen_found = OpIEqual",
        "%chosen_found = OpINotEqual",
    ),
    (
        Pass::FindNeighborsOctree,
        BroadPhase::Octree,
        "%value_entry = OpSelect %float %value_chosen %f0 %f_minus_1",
        "%value_entry = OpSelect %float %value_chosen %f_minus_1 %f0",
    ),
    (
        Pass::FindNeighborsBvh,
        BroadPhase::Bvh,
        "%value_everything = OpINotEqual",
        "%value_everything = OpIEqual",
    ),
    (Pass::Bounds, BroadPhase::Grid, "%load_reach = OpFAdd", "%load_reach = OpFSub"),
    (Pass::Bounds, BroadPhase::Grid, "%moved_limit = OpFAdd", "%moved_limit = OpFMul"),
];

/// A shader with one wrong instruction fails on the added lists.
#[test]
fn a_wrong_choice_is_noticed() {
    if sides().is_none() {
        return;
    }
    if Command::new("spirv-as").arg("--version").output().is_err() {
        let required = std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1");
        assert!(!required, "MOTES_REQUIRE_VULKAN=1, but spirv-as is not here (spirv-tools)");
        return eprintln!("skipped: no spirv-as");
    }
    let scratch = tempfile::tempdir().unwrap();
    for (pass, broad_phase, right, wrong) in CONTROLS {
        let source = assembler::expanded(&assembler::folder(), pass.name()).unwrap().text;
        assert_eq!(source.matches(right).count(), 1, "{right}");
        let text = source.replace(right, wrong);
        let module = assembler::module_of(pass.name(), &text, scratch.path()).expect(wrong);
        let mut sides = SideBySide::with(shaders_with(pass, module), 64).unwrap();
        // For `bounds` particles that stay within the skin of a list for some steps.
        let calm = || heap([5, 5, 5], |_| ());
        let world = if pass == Pass::Bounds { calm() } else { mixed(300, 4) };
        let mut world = with_lists(world);
        world.params.broad_phase = broad_phase;
        let added = |outcome: &Outcome| {
            if outcome.list != "contacts" {
                judge(outcome);
            }
        };
        // Enough steps for a list that holds to be looked at, and for one that does not.
        let run = || compare(&mut sides, world, 6, |d| d.pass == pass, added);
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{wrong} was not noticed");
    }
}
