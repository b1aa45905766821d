//! Every structure finds the same pairs: the octree, the grid and the tree of boxes against testing
//! all pairs, on ordinary and on hostile input.

use glam::Vec3;
use motes::search::{Reach, Search};
use motes::world::{BroadPhase, BvhStart, BvhVolume, BvhWalk, Params};
use proptest::prelude::*;

/// A cheap random number in 0..1.
fn random(seed: &mut u32) -> f32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) as f32 / (1 << 24) as f32
}

fn cloud(count: usize, size: f32) -> Vec<Vec3> {
    let mut seed = 7;
    let mut at = || (random(&mut seed) - 0.5) * size;
    (0..count).map(|_| Vec3::new(at(), at(), at())).collect()
}

/// A block of spheres of radius 1 that nearly touch.
fn packing(side: usize) -> Vec<Vec3> {
    let mut seed = 3;
    let mut jitter = || 0.2 * random(&mut seed);
    (0..side * side * side)
        .map(|i| Vec3::new((i % side) as f32, (i / side % side) as f32, (i / side / side) as f32))
        .map(|cell| cell * 2.0 + Vec3::new(jitter(), jitter(), jitter()))
        .collect()
}

/// Pairs (i, j), i < j, in order; panics when a list names a particle twice, itself, or a pair
/// stands in one list only.
fn pairs(search: &Search, count: usize) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let mut other = Vec::new();
    for i in 0..count as u32 {
        for &j in search.of(i as usize) {
            assert_ne!(i, j, "a particle is not its own neighbour");
            if i < j { pairs.push((i, j)) } else { other.push((j, i)) }
        }
    }
    pairs.sort_unstable();
    other.sort_unstable();
    assert_eq!(pairs, other, "every pair stands in both lists");
    let found = pairs.len();
    pairs.dedup();
    assert_eq!(pairs.len(), found, "every pair is met once");
    assert_eq!(search.neighbor_count(), 2 * found);
    pairs
}

fn find(params: &Params, threads: usize, points: &[Vec3], reach: Reach) -> Vec<(u32, u32)> {
    let mut search = Search::new(params.clone(), threads).unwrap();
    search.find(points, reach).unwrap();
    let first = pairs(&search, points.len());
    // Again, now that every array has its size.
    search.find(points, reach).unwrap();
    assert_eq!(pairs(&search, points.len()), first);
    first
}

fn with(broad_phase: BroadPhase) -> Params {
    Params { broad_phase, ..Params::default() }
}

/// Compares every structure to brute force; returns how many pairs there are.
fn all_agree(name: &str, points: &[Vec3], reach: Reach) -> usize {
    let expected = find(&with(BroadPhase::Brute), 1, points, reach);
    for &structure in BroadPhase::ALL {
        for threads in [1, 3] {
            let found = find(&with(structure), threads, points, reach);
            assert!(
                found == expected,
                "{name}: {structure}, {threads} threads: {} pairs, not {}",
                found.len(),
                expected.len()
            );
        }
    }
    for walk in BvhWalk::ALL {
        for start in BvhStart::ALL {
            for volume in BvhVolume::ALL {
                for leaf in [1, 5] {
                    let params = Params {
                        bvh_walk: *walk,
                        bvh_start: *start,
                        bvh_volume: *volume,
                        bvh_leaf: leaf,
                        ..with(BroadPhase::Bvh)
                    };
                    let found = find(&params, 2, points, reach);
                    assert!(found == expected, "{name}: {walk} {start} {volume} {leaf}");
                }
            }
        }
    }
    for (leaf, depth) in [(1, 10), (3, 2), (4096, 10)] {
        let params = Params { octree_leaf: leaf, octree_depth: depth, ..with(BroadPhase::Octree) };
        assert!(find(&params, 2, points, reach) == expected, "{name}: leaf {leaf} depth {depth}");
    }
    expected.len()
}

#[test]
fn random_clouds() {
    let points = cloud(3000, 20.0);
    assert!(all_agree("cloud", &points, Reach::Fixed(1.5)) > 1000);
    let mut seed = 5;
    let radii: Vec<f32> = points.iter().map(|_| 0.1 + random(&mut seed)).collect();
    assert!(all_agree("radii", &points, Reach::Radii { radii: &radii, margin: 1.2 }) > 1000);
}

#[test]
fn dense_packings() {
    let points = packing(14);
    assert!(all_agree("contacts", &points, Reach::Fixed(2.4)) > 7000);
    assert!(all_agree("kernel", &points, Reach::Fixed(4.0)) > 28_000);
}

#[test]
fn all_in_one_point() {
    let points = vec![Vec3::new(3.0, -1.0, 0.5); 300];
    assert_eq!(all_agree("one point", &points, Reach::Fixed(1e-3)), 300 * 299 / 2);
}

#[test]
fn a_line_and_a_plane() {
    let line: Vec<Vec3> = (0..2000).map(|i| Vec3::Z * (i as f32 * 0.5)).collect();
    assert_eq!(all_agree("line", &line, Reach::Fixed(1.0)), 1999 + 1998);
    let plane: Vec<Vec3> =
        (0..2500).map(|i| Vec3::new((i % 50) as f32, 7.0, (i / 50) as f32)).collect();
    assert_eq!(all_agree("plane", &plane, Reach::Fixed(1.0)), 2 * 50 * 49);
}

#[test]
fn one_particle_a_thousand_times_larger() {
    let mut points = cloud(1500, 30.0);
    points[77] = Vec3::ZERO;
    let mut radii = vec![0.01; points.len()];
    radii[77] = 10.0;
    let found = all_agree("large", &points, Reach::Radii { radii: &radii, margin: 1.2 });
    assert!(found > 100);
}

#[test]
fn three_sizes_in_one_scene() {
    let points = cloud(3000, 60.0);
    let radii: Vec<f32> = (0..points.len())
        .map(|i| match i % 500 {
            0 => 10.0,
            1..20 => 1.0,
            _ => 0.1,
        })
        .collect();
    let found = all_agree("1:10:100", &points, Reach::Radii { radii: &radii, margin: 1.2 });
    assert!(found > 500, "{found}");
}

/// Far from the origin neighbouring floats are 1/16 m apart, and rounding decides who is a pair.
#[test]
fn coordinates_around_a_million() {
    let points: Vec<Vec3> =
        cloud(2000, 20.0).iter().map(|p| *p + Vec3::new(1e6, -1e6, 1e6)).collect();
    assert!(all_agree("far", &points, Reach::Fixed(1.5)) > 500);
    // Lattice distances that equal the reach exactly.
    let lattice: Vec<Vec3> = packing(8).iter().map(|p| p.round() + Vec3::splat(1e6)).collect();
    assert_eq!(all_agree("exact", &lattice, Reach::Fixed(2.0)), 3 * 8 * 8 * 7);
}

#[test]
fn none_one_and_two() {
    assert_eq!(all_agree("none", &[], Reach::Fixed(1.0)), 0);
    assert_eq!(all_agree("one", &[Vec3::ONE], Reach::Fixed(1.0)), 0);
    assert_eq!(all_agree("two", &[Vec3::ONE, Vec3::X], Reach::Fixed(2.0)), 1);
    assert_eq!(all_agree("apart", &[Vec3::ONE, Vec3::X * 9.0], Reach::Fixed(2.0)), 0);
}

/// One that flew off makes the grid's bounds huge: it is hashed, and memory stays small.
#[test]
fn a_particle_far_away_costs_no_memory() {
    let mut points = packing(14);
    let near = all_agree("near", &points, Reach::Fixed(2.4));
    let memory = |points: &[Vec3]| {
        let mut search = Search::new(with(BroadPhase::Grid), 1).unwrap();
        search.find(points, Reach::Fixed(2.4)).unwrap();
        search.bytes()[0]
    };
    let before = memory(&points);
    points.push(Vec3::new(3e8, -2e9, 1e5));
    assert_eq!(all_agree("far", &points, Reach::Fixed(2.4)), near);
    assert!(memory(&points) < 3 * before, "{} against {before}", memory(&points));
}

#[test]
fn bad_input_is_an_error() {
    let mut search = Search::new(Params::default(), 1).unwrap();
    let message = |r: motes::Result<()>| r.unwrap_err().to_string();
    assert!(message(search.find(&[Vec3::NAN], Reach::Fixed(1.0))).contains("point 0"));
    assert!(message(search.find(&[Vec3::ONE], Reach::Fixed(-1.0))).contains("reach"));
    let wrong = Reach::Radii { radii: &[1.0, 2.0], margin: 1.0 };
    assert!(message(search.find(&[Vec3::ONE], wrong)).contains("2 radii"));
}

/// Equal particles want a grid, a wide spread of sizes a tree of boxes, a handful no structure.
#[test]
fn auto_chooses_by_count_and_spread() {
    let mut search = Search::new(Params::default(), 1).unwrap();
    let points = cloud(1000, 60.0);
    search.find(&points, Reach::Fixed(1.0)).unwrap();
    assert_eq!(search.used(), BroadPhase::Grid);
    search.find(&points[..10], Reach::Fixed(1.0)).unwrap();
    assert_eq!(search.used(), BroadPhase::Brute);
    let radii: Vec<f32> = (0..1000).map(|i| [0.1, 0.1, 0.1, 1.0, 0.1, 0.1, 10.0][i % 7]).collect();
    search.find(&points, Reach::Radii { radii: &radii, margin: 1.2 }).unwrap();
    assert_eq!(search.used(), BroadPhase::Octree);
}

/// A comparison must be able to fail: a reach a little shorter is another set.
#[test]
fn a_slightly_shorter_reach_is_seen() {
    let points = cloud(3000, 20.0);
    let brute = with(BroadPhase::Brute);
    assert_ne!(
        find(&brute, 1, &points, Reach::Fixed(1.5)),
        find(&brute, 1, &points, Reach::Fixed(1.4999))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_cloud(
        coordinates in prop::collection::vec((-100i32..100, -100i32..100, -100i32..100), 0..250),
        scale in prop::sample::select(vec![1e-6f32, 0.01, 1.0, 1e4]),
        offset in prop::sample::select(vec![0.0f32, 0.3, 1e3, 1e6]),
        sizes in prop::collection::vec(prop::sample::select(vec![1.0f32, 2.0, 10.0, 100.0, 1000.0]), 250),
        flatten in prop::array::uniform3(any::<bool>()),
    ) {
        let keep = Vec3::from_array(flatten.map(|flat| if flat { 0.0 } else { 1.0 }));
        let points: Vec<Vec3> = coordinates
            .iter()
            .map(|&(x, y, z)| Vec3::new(x as f32, y as f32, z as f32) * keep * scale + offset)
            .collect();
        let radii: Vec<f32> = sizes[..points.len()].iter().map(|s| s * scale * 0.5).collect();
        all_agree("any", &points, Reach::Radii { radii: &radii, margin: 1.2 });
        all_agree("any", &points, Reach::Fixed(10.0 * scale));
    }
}
