//! The tree against what it must be, and every way through it against testing all pairs.

use crate::cpu::bvh_build::{Bvh, LEVELS, NONE, Node};
use crate::cpu::search::broad::{Accept, AsFound, Broad, SearchTools};
use crate::cpu::search::lists::Lists;
use crate::cpu::team::Team;
use crate::cpu::{bvh_boxes, find_neighbors_brute, find_neighbors_bvh};
use crate::simd::Simd;
use crate::step::lists::passes;
use crate::world::{BroadPhase, BvhStart, BvhVolume, BvhWalk, Params, Phase};
use glam::{Vec3, Vec4};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Numbers from 0 to 1.
fn numbers(mut seed: u64) -> impl FnMut() -> f32 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// Both volumes, both starts and all three ways.
fn variants(bvh_leaf: u32) -> Vec<Params> {
    let mut all = Vec::new();
    for &bvh_volume in BvhVolume::ALL {
        for &bvh_start in BvhStart::ALL {
            for &bvh_walk in BvhWalk::ALL {
                let params = Params::default();
                all.push(Params { bvh_volume, bvh_start, bvh_walk, bvh_leaf, ..params });
            }
        }
    }
    assert_eq!(all.len(), 12);
    all
}

fn name(p: &Params) -> String {
    format!("{} {} {} {}", p.bvh_volume, p.bvh_start, p.bvh_walk, p.bvh_leaf)
}

fn build(broad: &mut Broad, team: &Team, params: &Params, points: &[Vec4], phase: &[u32]) {
    broad.load(team, points.len(), |i| points[i]);
    for dispatch in passes(BroadPhase::Bvh) {
        if !dispatch.pass.finds_neighbors() {
            broad.build(team, &dispatch, params, phase);
        }
    }
}

fn sorted_lists<T: Copy + Default + Send + Sync + Ord>(
    lists: &Lists<T, SearchTools>,
    count: usize,
) -> Vec<Vec<T>> {
    let sorted = |i: usize| {
        let mut list = lists.of(i).to_vec();
        list.sort_unstable();
        list
    };
    (0..count).map(sorted).collect()
}

fn through_tree<A: Accept<Entry = u32>>(
    broad: &Broad,
    team: &Team,
    params: &Params,
    accept: &A,
) -> Vec<Vec<u32>> {
    let mut lists = Lists::default();
    find_neighbors_bvh::run(team, broad, params, accept, &mut lists).unwrap();
    sorted_lists(&lists, broad.points.len())
}

fn by_brute_force<A: Accept<Entry = u32>>(broad: &Broad, team: &Team, accept: &A) -> Vec<Vec<u32>> {
    let mut lists = Lists::default();
    find_neighbors_brute::run(team, broad, accept, &mut lists).unwrap();
    sorted_lists(&lists, broad.points.len())
}

/// Depth of each node, the root's being 0.
fn depths(bvh: &Bvh) -> Vec<usize> {
    let depth = |mut at: u32| {
        std::iter::from_fn(|| {
            at = bvh.node_parent[at as usize];
            (at != NONE).then_some(())
        })
        .count()
    };
    (0..bvh.nodes.len() as u32).map(depth).collect()
}

/// What a radix tree over ascending keys is.
fn check_tree(bvh: &Bvh, keys: &[u64]) {
    assert_eq!(
        (bvh.nodes.len(), bvh.leaf_parent.len()),
        (keys.len().saturating_sub(1), keys.len())
    );
    let mut leaves = vec![0; keys.len()];
    let mut nodes = vec![0; bvh.nodes.len()];
    // (subtree's places, its parent)
    let mut open = if keys.is_empty() { vec![] } else { vec![(0..keys.len(), NONE, 0)] };
    while let Some((places, parent, number)) = open.pop() {
        assert!(!places.is_empty());
        if places.len() == 1 {
            leaves[places.start] += 1;
            assert_eq!(bvh.leaf_parent[places.start], parent);
            continue;
        }
        nodes[number as usize] += 1;
        assert_eq!(bvh.node_parent[number as usize], parent);
        let node = &bvh.nodes[number as usize];
        assert_eq!((node.first as usize, node.last as usize), (places.start, places.end - 1));
        // Split at the highest bit in which its keys differ.
        let bit = 63 - (keys[places.start] ^ keys[places.end - 1]).leading_zeros();
        for k in places {
            assert_eq!(keys[k] >> bit & 1 == 1, k > node.split as usize);
        }
        open.push((node.range(0), number, node.split));
        open.push((node.range(1), number, node.split + 1));
    }
    assert!(leaves.iter().chain(&nodes).all(|&n| n == 1), "each is reached once");
    assert!(depths(bvh).iter().all(|&d| d < LEVELS));
}

/// Random codes, many of them several times.
fn keys() -> impl Strategy<Value = Vec<u64>> {
    let code = prop_oneof![0u64..1 << 30, 0u64..8, (0u32..30).prop_map(|b| 1 << b)];
    prop::collection::vec(code, 0..200).prop_map(|mut codes| {
        codes.sort_unstable();
        codes.iter().enumerate().map(|(k, code)| code << 32 | k as u64).collect()
    })
}

proptest! {
    #[test]
    fn every_leaf_hangs_in_one_place_and_ranges_nest(keys in keys(), threads in 1usize..4) {
        let team = Team::new(threads).unwrap();
        let mut bvh = Bvh::default();
        bvh.build(&team, keys.len(), |k| keys[k]);
        check_tree(&bvh, &keys);
    }
}

#[test]
fn a_tree_of_many_blocks_is_a_tree_and_the_same_for_any_team() {
    let mut number = numbers(3);
    let mut points = Vec::new();
    points.resize_with(20_000, || Vec4::new(number(), number(), number(), 0.01 * number()));
    for params in [variants(8)[0].clone(), variants(8)[11].clone()] {
        let phase: Vec<u32> = (0..20_000).map(|i| i / 7000).collect();
        let built = [1, 3].map(|threads| {
            let mut broad = Broad::default();
            build(&mut broad, &Team::new(threads).unwrap(), &params, &points, &phase);
            broad
        });
        let sorted = built[0].radix.sorted().iter().enumerate();
        let keys: Vec<u64> = sorted.map(|(k, p)| u64::from(p[0]) << 32 | k as u64).collect();
        check_tree(&built[0].bvh, &keys);
        let [a, b] = built.map(|broad| broad.bvh);
        let words = |bvh: &Bvh| bytemuck::cast_slice::<Node, u32>(&bvh.nodes).to_vec();
        assert_eq!(words(&a), words(&b));
        assert_eq!(a.bodies, b.bodies);
    }
}

/// The deepest trees there are: in 32 bits a trail would forget the subtrees put off at the top.
#[test]
fn the_deepest_trees_are_walked_whole() {
    // One key on the right of each level; then two, so that there is a node to put off.
    let chain: Vec<u64> = (0..1).chain((0..62).map(|b| 1 << b)).collect();
    let comb: Vec<u64> = (0..2).chain((1..62).flat_map(|b| [1 << b, (1 << b) + 1])).collect();
    // Left behind at the top only, to be found again from the bottom.
    let hook: Vec<u64> =
        (0..1).chain((0..61).map(|b| 1 << b)).chain([1 << 61, (1 << 61) + 1]).collect();
    for keys in [chain, comb, hook] {
        for threads in [1, 3] {
            let team = Team::new(threads).unwrap();
            let mut broad = Broad::default();
            broad.load(&team, keys.len(), |_| Vec4::ONE);
            let rows = broad.sorted.rows(keys.len());
            for k in 0..keys.len() {
                // SAFETY: in bounds, and there is no other worker.
                unsafe { rows.put(k, k as u32, Vec4::ONE) };
            }
            broad.bvh.build(&team, keys.len(), |k| keys[k]);
            check_tree(&broad.bvh, &keys);
            assert!(depths(&broad.bvh).into_iter().max() >= Some(LEVELS - 2));
            for params in [1, 2, 8].into_iter().flat_map(variants) {
                bvh_boxes::run(&team, &mut broad, &params, &[]);
                for (i, list) in
                    through_tree(&broad, &team, &params, &AsFound).into_iter().enumerate()
                {
                    let others = (0..keys.len() as u32).filter(|&j| j as usize != i);
                    assert!(list.into_iter().eq(others), "{}: {i}", name(&params));
                }
            }
        }
    }
}

/// Clouds of every awkward shape, as [x, y, z, reach].
fn clouds() -> Vec<(&'static str, Vec<Vec4>)> {
    let mut number = numbers(7);
    let mut cloud = |count: usize, of: &mut dyn FnMut(usize, Vec3, f32) -> Vec4| -> Vec<Vec4> {
        (0..count).map(|i| of(i, Vec3::new(number(), number(), number()), number())).collect()
    };
    let mixed = |n: f32| [1.0, 1.0, 1.0, 1.0, 1.0, 10.0, 10.0, 100.0][(n * 8.0) as usize];
    let mut odd = cloud(200, &mut |_, at, n| (at * 5.0).extend(0.5 * n));
    odd[7].x = f32::NAN;
    odd[8] = Vec4::new(f32::INFINITY, 0.0, 0.0, 1.0);
    odd[9].y = f32::NEG_INFINITY;
    odd[10].w = f32::NAN;
    odd[11].w = 0.0;
    odd[12] = odd[11];
    vec![
        ("nothing", vec![]),
        ("one", vec![Vec4::ONE]),
        ("two", vec![Vec4::ONE, Vec4::new(1.5, 1.0, 1.0, 0.1)]),
        ("two apart", vec![Vec4::ONE, Vec4::new(5.5, 1.0, 1.0, 0.1)]),
        ("equal", cloud(500, &mut |_, at, _| (at * 8.0).extend(0.6))),
        ("random", cloud(500, &mut |_, at, n| (at * 8.0).extend(0.2 + n))),
        ("one point", cloud(150, &mut |_, _, _| Vec4::new(0.1, 0.2, 0.3, 0.5))),
        ("line", cloud(400, &mut |i, _, n| Vec4::new(i as f32 * 0.5, 0.0, 0.0, 0.5 * n))),
        ("plane", cloud(500, &mut |_, at, n| Vec4::new(at.x * 20.0, 1.0, at.z * 20.0, 0.8 * n))),
        (
            "one a thousand times larger",
            cloud(500, &mut |i, at, _| (at * 3000.0).extend(if i == 77 { 1000.0 } else { 1.0 })),
        ),
        (
            "far off, touching",
            // Spaced by the sum of two reaches: rounding decides, and must decide alike.
            cloud(500, &mut |i, _, _| {
                let at = Vec3::new((i % 8) as f32, (i / 8 % 8) as f32, (i / 64) as f32);
                (at * 0.3 + 1e6).extend(0.15)
            }),
        ),
        ("touching", {
            cloud(500, &mut |i, at, n| {
                let at = Vec3::new((i % 8) as f32, (i / 8 % 8) as f32, (i / 64) as f32) + at * 1e-7;
                (at * 0.3).extend(0.15 + n * 1e-8)
            })
        }),
        ("tiny", cloud(200, &mut |_, at, n| (at * 1e-20).extend(3e-21 * n))),
        ("huge", cloud(200, &mut |_, at, n| (at * 1e20).extend(3e19 * n))),
        ("1 : 10 : 100", cloud(800, &mut |_, at, n| (at * 500.0).extend(mixed(n)))),
        ("odd", odd),
    ]
}

#[test]
fn every_variant_finds_what_testing_every_pair_finds() {
    for threads in [1, 3] {
        let team = Team::new(threads).unwrap();
        for (cloud, points) in clouds() {
            let mut broad = Broad::default();
            broad.load(&team, points.len(), |i| points[i]);
            let expected = by_brute_force(&broad, &team, &AsFound);
            for params in [1, 8, 64].into_iter().flat_map(variants) {
                build(&mut broad, &team, &params, &points, &[]);
                let found = through_tree(&broad, &team, &params, &AsFound);
                assert!(found == expected, "{cloud}, {}, {threads} threads", name(&params));
            }
        }
    }
}

/// Keeps what may collide, and counts what it was offered.
struct Colliding<'a> {
    phase: &'a [u32],
    offered: AtomicUsize,
}

impl Accept for Colliding<'_> {
    type Entry = u32;
    fn room<'a>(_: &'a mut Vec<u32>, hits: &'a mut Vec<u32>) -> &'a mut Vec<u32> {
        hits
    }
    fn keep<S: Simd>(&self, i: usize, hits: &mut Vec<u32>, out: &mut Vec<u32>) {
        self.offered.fetch_add(hits.len(), Relaxed);
        let may = |&j: &u32| Phase(self.phase[i]).collides(Phase(self.phase[j as usize]));
        out.extend(hits.drain(..).filter(may));
    }
}

#[test]
fn bodies_are_skipped_without_a_change_to_what_is_kept() {
    let team = Team::new(3).unwrap();
    let mut number = numbers(11);
    let mut points = Vec::new();
    points.resize_with(1500, || (Vec3::new(number(), number(), number()) * 8.0).extend(0.5));
    let of = |group: u32, loose: bool| match loose {
        true => Phase::group(group).self_colliding().0,
        false => Phase::group(group).0,
    };
    let half = |p: &Vec4| u32::from(p.x > 4.0);
    // One body; two side by side; grains beside a body; some self-colliding in each; all mixed.
    type Layout<'a> = &'a dyn Fn(usize, &Vec4) -> u32;
    let layouts: [Layout; 6] = [
        &|_, _| of(3, false),
        &|_, p| of(half(p), false),
        &|_, p| of(5, p.x > 4.0),
        &|i, p| of(half(p), i % 5 == 0),
        &|i, _| of(i as u32 % 3, i % 2 == 0),
        &|_, p| of(if p.x > 4.0 { Phase::MAX_GROUP } else { 0 }, false),
    ];
    for (n, layout) in layouts.iter().enumerate() {
        let phase: Vec<u32> = points.iter().enumerate().map(|(i, p)| layout(i, p)).collect();
        let accept = || Colliding { phase: &phase, offered: AtomicUsize::new(0) };
        let mut broad = Broad::default();
        broad.load(&team, points.len(), |i| points[i]);
        let all = accept();
        let expected = by_brute_force(&broad, &team, &all);
        for params in [1, 8].into_iter().flat_map(variants) {
            build(&mut broad, &team, &params, &points, &phase);
            let seen = accept();
            let found = through_tree(&broad, &team, &params, &seen);
            assert!(found == expected, "layout {n}, {}", name(&params));
            let (all, seen) = (all.offered.load(Relaxed), seen.offered.load(Relaxed));
            assert!(n == 4 || seen < all, "layout {n}, {}: {seen} of {all}", name(&params));
            build(&mut broad, &team, &params, &points, &[]);
            assert!(through_tree(&broad, &team, &params, &accept()) == expected);
        }
    }
}
