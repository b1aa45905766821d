//! Neighbour lists by description: several in one world, kept up to date by both backends. What a
//! list holds is compared with every pair, tested one by one at the places that the list was made at.

#[cfg(feature = "vulkan")]
#[path = "vulkan/device.rs"]
mod device;

use glam::Vec3;
use motes::world::BroadPhase;
use motes::{
    Backend, Bond, Engine, Grains, ListDescription, ListFilter, ListPairs, ListReach, NeighborList,
    Particle, ParticleId, Phase, Solver, Who, World, snapshot,
};
use std::collections::{HashMap, HashSet};

const A: u32 = 1000;
const B: u32 = 1001;
const DT: f32 = 1.0 / 60.0;

/// An engine on the processor, and one on a device where there is one.
fn engines(world: &World) -> Vec<Engine> {
    let cpu = Engine::new(world.clone(), Backend::Cpu { threads: 2 }).unwrap();
    #[cfg(feature = "vulkan")]
    return std::iter::once(cpu).chain(device::on_device(world.clone())).collect();
    #[cfg(not(feature = "vulkan"))]
    vec![cpu]
}

/// Numbers from 0 to 1.
fn random(state: &mut u32) -> f32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*state >> 8) as f32 / (1 << 24) as f32
}

/// A crowd of two groups and loose grains that fly about and touch; some are joined, some are held.
fn crowd(count: u32) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::new(0.0, -3.0, 0.0);
    world.add_grains(&Grains { counts: [4, 5, 4], jitter: 0.3, ..Grains::default() }).unwrap();
    let (mut seed, mut ids) = (17, Vec::new());
    let mut point = |size: f32| {
        Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed)) * size
            - Vec3::splat(size / 2.0)
    };
    for k in 0..count {
        let (position, velocity) = (point(1.2), point(2.0));
        let phase = Phase::group(if k % 3 == 0 { B } else { A });
        let phase = if k % 2 == 0 { phase.self_colliding() } else { phase };
        let mass = if k % 11 == 0 { f32::INFINITY } else { 0.2 };
        let velocity = if k % 11 == 0 { Vec3::ZERO } else { velocity };
        let radius = 0.02 + 0.02 * (k % 4) as f32;
        let particle = Particle { position, velocity, mass, radius, phase };
        ids.push(world.add_particle(&particle).unwrap());
    }
    for pair in ids.chunks_exact(2).step_by(5) {
        world.add_distance(pair[0], pair[1], None, &Bond::compliant(1e-2)).unwrap();
    }
    world
}

/// One of everything: a kernel, one with other askers than found ones, pairs that may touch.
fn descriptions() -> Vec<ListDescription> {
    let mut some = ListDescription::new("A sees B", ListReach::Radii(2.0));
    (some.asks, some.found) = (Who::group(A), Who::group(B));
    let mut near = ListDescription::new("near", ListReach::Radii(1.5));
    (near.filter, near.pairs, near.skin) = (ListFilter::MayTouch, ListPairs::Half, 0.25);
    let kernel = ListDescription::new("kernel", ListReach::Length(0.16));
    vec![kernel, some, near]
}

fn with_lists(mut world: World) -> World {
    descriptions().into_iter().for_each(|list| world.add_list(list).unwrap());
    world
}

/// The contacts' list and those that were added.
fn all_lists(world: &World) -> Vec<ListDescription> {
    let contacts = ListDescription::contacts(&world.params);
    std::iter::once(contacts).chain(world.lists().cloned()).collect()
}

/// What everybody finds, in order of id.
type Found = Vec<Vec<(u64, f32)>>;

fn ids(world: &World) -> Vec<ParticleId> {
    let mut ids: Vec<_> = world.particles().ids().iter().map(|&id| ParticleId(id)).collect();
    ids.sort();
    ids
}

fn found(engine: &Engine, name: &str) -> Found {
    let list = engine.neighbors(name).unwrap();
    let of = |id: &ParticleId| {
        let mut found: Vec<_> = list.of(*id).map(|n| (n.particle.0, n.contact)).collect();
        found.sort_by_key(|(id, _)| *id);
        found
    };
    ids(engine.world()).iter().map(of).collect()
}

/// Every pair of a list, tested one by one.
fn by_brute_force(world: &World, list: &ListDescription, made: &NeighborList) -> Found {
    let p = world.particles();
    let margin = world.params.margin;
    let (scale, length) = match list.reach {
        ListReach::Contact => (margin, 0.0),
        ListReach::Radii(factor) => (factor * (1.0 + list.skin), 0.0),
        ListReach::Length(length) => (0.0, 0.5 * length * (1.0 + list.skin)),
    };
    let mut joined = HashSet::new();
    for row in 0..world.distance().len() {
        let [a, b] = world.distance().particles(row);
        joined.extend([(a, b), (b, a)]);
    }
    let ids = ids(world);
    let slots: Vec<usize> = ids.iter().map(|&id| p.slot(id).unwrap()).collect();
    let at: Vec<Vec3> = ids.iter().map(|&id| made.made_at(id).unwrap()).collect();
    let phase = |slot: usize| Phase(p.phases()[slot]);
    let reach = |slot: usize| p.radii()[slot] * scale + length;
    let mut out = vec![Vec::new(); ids.len()];
    for a in 0..ids.len() {
        for b in (0..ids.len()).filter(|&b| b != a) {
            let (i, j) = (slots[a], slots[b]);
            let (d, limit) = (at[a] - at[b], reach(i) + reach(j));
            let wanted = d.x * d.x + d.y * d.y + d.z * d.z <= limit * limit
                && (list.pairs == ListPairs::Full || i < j)
                && list.asks.has(phase(i))
                && list.found.has(phase(j));
            let held = |slot: usize| p.positions()[slot].w == 0.0;
            let touches = || {
                phase(i).collides(phase(j))
                    && !(held(i) && held(j))
                    && !joined.contains(&(i as u32, j as u32))
            };
            match list.filter {
                ListFilter::Everything if wanted => out[a].push((ids[b].0, 0.0)),
                ListFilter::MayTouch if wanted && touches() => {
                    out[a].push((ids[b].0, p.radii()[i] + p.radii()[j]));
                }
                _ => {}
            }
        }
    }
    out
}

/// Compares every list with every pair; returns how many entries each had.
fn check(engine: &Engine, what: &str) -> Vec<usize> {
    let world = engine.world();
    let one = |list: &ListDescription| {
        let made = engine.neighbors(&list.name).unwrap();
        let (expected, got) = (by_brute_force(world, list, &made), found(engine, &list.name));
        for (k, (expected, got)) in expected.iter().zip(&got).enumerate() {
            assert_eq!(expected, got, "{what}, {}: {:?}", list.name, ids(world)[k]);
        }
        assert_eq!(made.len(), got.iter().map(Vec::len).sum::<usize>());
        made.len()
    };
    all_lists(world).iter().map(one).collect()
}

#[test]
fn lists_side_by_side_are_what_brute_force_finds() {
    for broad_phase in [BroadPhase::Grid, BroadPhase::Octree, BroadPhase::Bvh, BroadPhase::Brute] {
        for solver in [Solver::Colored, Solver::Jacobi] {
            let mut world = crowd(300);
            (world.params.broad_phase, world.params.solver) = (broad_phase, solver);
            let mut plain = engines(&world);
            for (number, mut engine) in engines(&with_lists(world)).into_iter().enumerate() {
                let what = format!("{broad_phase:?}, {solver:?}, engine {number}");
                for step in 0..9 {
                    engine.step(DT).unwrap();
                    plain[number].step(DT).unwrap();
                    if [0, 4, 8].contains(&step) {
                        let counts = check(&engine, &what);
                        assert!(counts.iter().all(|&count| count > 30), "{what}: {counts:?}");
                    }
                }
                // Who only looks changes nothing.
                assert_eq!(engine.world().hash(), plain[number].world().hash(), "{what}");
                let builds = |name: &str| engine.neighbors(name).unwrap().builds();
                assert!(builds("kernel") > 1, "{what}: nothing moved");
            }
        }
    }
}

/// Where nothing pushes anything, predictions are where particles get to: a list then has everyone
/// within reach in every step, and no list is made anew while all stay within its slack.
#[test]
fn a_list_has_everyone_within_reach_and_is_made_when_it_must_be() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let mut seed = 3;
    let mut point =
        || Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed)) - Vec3::splat(0.5);
    for _ in 0..200 {
        let (position, velocity) = (point(), 0.6 * point());
        let phase = Phase::group(7);
        let radius = 0.02;
        let particle = Particle { position, velocity, mass: 1.0, radius, phase };
        world.add_particle(&particle).unwrap();
    }
    let thin =
        ListDescription { skin: 0.05, ..ListDescription::new("thin", ListReach::Radii(4.0)) };
    let thick =
        ListDescription { skin: 1.0, ..ListDescription::new("thick", ListReach::Length(0.16)) };
    let mut made = Vec::new();
    world.add_list(thin).unwrap();
    world.add_list(thick).unwrap();
    for mut engine in engines(&world) {
        let mut before: HashMap<&str, (u64, Found)> = HashMap::new();
        for _ in 0..60 {
            engine.step(DT).unwrap();
            let world = engine.world();
            let at: Vec<Vec3> = ids(world).iter().map(|&id| world.position(id).unwrap()).collect();
            for name in ["thin", "thick"] {
                let (list, found) = (engine.neighbors(name).unwrap(), found(&engine, name));
                for a in 0..at.len() {
                    let near = |b: &usize| *b != a && at[a].distance(at[*b]) <= 0.16 - 1e-6;
                    for b in (0..at.len()).filter(near) {
                        let listed = found[a].iter().any(|(id, _)| *id == b as u64);
                        assert!(listed, "{name}: {a} does not find {b}");
                    }
                }
                // It was made anew, or it is as it was.
                let moved = at.iter().enumerate().any(|(k, at)| {
                    let limit = if name == "thin" { 0.004 } else { 0.08 };
                    at.distance(list.made_at(ParticleId(k as u64)).unwrap()) > limit + 1e-6
                });
                assert!(!moved, "{name} should have been made anew");
                if let Some((builds, then)) = before.get(name)
                    && *builds == list.builds()
                {
                    assert_eq!(*then, found, "{name} changed without being made");
                }
                before.insert(name, (list.builds(), found));
            }
        }
        let builds = ["thin", "thick"].map(|name| engine.neighbors(name).unwrap().builds());
        assert!(builds[0] > 20 && (2..20).contains(&builds[1]), "{builds:?}");
        assert!(engine.neighbors("contacts").is_err(), "nothing can touch");
        made.push(builds);
    }
    assert!(made.windows(2).all(|w| w[0] == w[1]), "{made:?}");
}

/// Particles that are put in order, removed, added and changed keep their neighbours.
#[test]
fn sorting_and_editing_keep_lists_right() {
    let mut world = crowd(200);
    // Enough for a sort in the first step.
    let far = Vec3::new(3.0, 0.0, 0.0);
    let many = Grains { counts: [21, 20, 20], origin: far, jitter: 0.3, ..Grains::default() };
    world.add_grains(&many).unwrap();
    for mut engine in engines(&with_lists(world)) {
        engine.step(DT).unwrap();
        let sorted = engine.world().particles().ids().windows(2).any(|w| w[0] > w[1]);
        assert!(sorted, "the particles were not sorted");
        check(&engine, "sorted");
        let gone: Vec<ParticleId> = (0..500).map(|k| ParticleId(7 * k)).collect();
        engine.world_mut().remove_particles(&gone).unwrap();
        let early = engine.neighbors("kernel").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(early.contains("step the world first"), "{early}");
        engine.step(DT).unwrap();
        check(&engine, "removed");
        let id = ParticleId(85);
        engine.world_mut().set_phase(id, Phase::group(B)).unwrap();
        engine.world_mut().pin(ParticleId(86)).unwrap();
        engine.step(DT).unwrap();
        check(&engine, "another phase");
    }
}

/// What a removed list left is never taken for another, and a list that is added later is made.
#[test]
fn lists_come_and_go() {
    for mut engine in engines(&with_lists(crowd(120))) {
        assert!(engine.neighbors("kernel").is_err(), "nothing was stepped");
        engine.step(DT).unwrap();
        check(&engine, "at first");
        let kernel = engine.world_mut().remove_list("kernel").unwrap();
        let error = engine.neighbors("kernel").err().unwrap().to_string();
        assert!(error.contains("A sees B, near"), "{error}");
        check(&engine, "before a step");
        engine.step(DT).unwrap();
        check(&engine, "without one");
        let wider = ListDescription { reach: ListReach::Length(0.3), ..kernel };
        engine.world_mut().add_list(wider).unwrap();
        assert!(engine.neighbors("kernel").is_err(), "it was not made yet");
        for _ in 0..3 {
            engine.step(DT).unwrap();
            check(&engine, "with a wider one");
        }
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = engine.vulkan() {
            assert_eq!(vulkan.messages(), Vec::<String>::new());
        }
    }
}

/// A constraint that breaks lets whom it joined touch, at once.
#[test]
fn who_is_no_longer_joined_is_listed() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    let ids = [-1.0f32, 1.0].map(|side| {
        let (position, velocity) = (Vec3::X * 0.075 * side, Vec3::X * 0.01 * side);
        let phase = Phase::group(2).self_colliding();
        let particle = Particle { position, velocity, mass: 1.0, radius: 0.05, phase };
        world.add_particle(&particle).unwrap()
    });
    let bond = Bond { break_at: 1e-3, ..Bond::compliant(1e3) };
    world.add_distance(ids[0], ids[1], None, &bond).unwrap();
    let mut near = ListDescription::new("near", ListReach::Radii(2.0));
    (near.filter, near.skin) = (ListFilter::MayTouch, 0.5);
    let mut all = ListDescription::new("all", ListReach::Radii(2.0));
    all.skin = 0.5;
    world.add_list(near).unwrap();
    world.add_list(all).unwrap();
    for mut engine in engines(&world) {
        let mut broken = 0;
        for _ in 0..4 {
            broken += engine.step(DT).unwrap().broken;
            let list = engine.neighbors("near").unwrap();
            assert_eq!(list.len(), 2 * broken, "after {broken} constraints broke");
            assert_eq!(list.builds(), 1 + broken as u64, "no particle left its slack");
            let all = engine.neighbors("all").unwrap();
            assert_eq!((all.len(), all.builds()), (2, 1), "who is joined is no matter here");
        }
        assert_eq!(broken, 1);
    }
}

/// A run that is resumed has the same lists, made at the same places, and goes on alike.
#[test]
fn a_resumed_run_has_the_same_lists() {
    for solver in [Solver::Colored, Solver::Jacobi] {
        let mut world = with_lists(crowd(250));
        world.params.solver = solver;
        let cpu = |world| Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        let mut whole = cpu(world);
        for _ in 0..7 {
            whole.step(DT).unwrap();
        }
        let bytes = snapshot::to_bytes("", whole.world()).unwrap();
        let back = snapshot::from_bytes("bytes", &bytes).unwrap().world;
        assert_eq!(back, *whole.world());
        let mut resumed = cpu(back);
        for _ in 0..5 {
            whole.step(DT).unwrap();
            resumed.step(DT).unwrap();
            assert_eq!(whole.world(), resumed.world());
            for list in all_lists(whole.world()) {
                assert_eq!(found(&whole, &list.name), found(&resumed, &list.name), "{}", list.name);
            }
        }
        let builds = |engine: &Engine| engine.neighbors("near").unwrap().builds();
        assert!(builds(&resumed) <= builds(&whole), "{} {}", builds(&resumed), builds(&whole));
    }
}

/// A second list that runs out of room on a device grows, and the step is done again.
#[cfg(feature = "vulkan")]
#[test]
fn a_second_list_grows_on_a_device() {
    for broad_phase in [BroadPhase::Grid, BroadPhase::Octree, BroadPhase::Bvh, BroadPhase::Brute] {
        let mut world = World::new();
        world.params.broad_phase = broad_phase;
        let mut seed = 5;
        for k in 0..200 {
            let position = Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed)) * 0.1;
            // Two that can touch, far from all others, so that there are contacts as well.
            let position = if k < 2 { Vec3::splat(5.0 + 0.015 * k as f32) } else { position };
            let phase = Phase::group(3);
            let phase = if k < 2 { phase.self_colliding() } else { phase };
            let velocity = Vec3::ZERO;
            let particle = Particle { position, velocity, mass: 1.0, radius: 0.02, phase };
            world.add_particle(&particle).unwrap();
        }
        for name in ["crowd", "another"] {
            world.add_list(ListDescription::new(name, ListReach::Length(0.4))).unwrap();
        }
        let Some(mut engine) = device::on_device(world) else { return };
        engine.start_log();
        engine.step(DT).unwrap();
        assert!(engine.take_log().len() > 1, "it had room at once");
        let counts = check(&engine, "crowd");
        assert_eq!(counts, [1, 2 + 198 * 197, 2 + 198 * 197]);
        engine.step(DT).unwrap();
        assert_eq!(engine.take_log().len(), 1, "it has room now");
        check(&engine, "crowd, again");
        assert_eq!(engine.vulkan().unwrap().messages(), Vec::<String>::new());
    }
}

/// Passes that begin on the CPU and end on a device leave the same lists.
#[cfg(feature = "vulkan")]
#[test]
fn a_step_that_is_handed_over_leaves_the_same_lists() {
    use motes::Pass;
    if device::on_device(World::new()).is_none() {
        return;
    }
    let mut world = with_lists(crowd(150));
    (world.params.broad_phase, world.params.substeps) = (BroadPhase::Grid, 2);
    for from in [Pass::Predict, Pass::Bounds, Pass::GridSort, Pass::FindNeighborsGrid, Pass::Sleep]
    {
        let backend = Backend::Vulkan { device: None, from: Some(from) };
        let mut engine = Engine::new(world.clone(), backend).unwrap();
        for _ in 0..2 {
            engine.step(DT).unwrap();
            check(&engine, from.name());
        }
    }
}
