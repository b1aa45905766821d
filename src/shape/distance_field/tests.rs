use super::*;
use glam::DVec3;
use proptest::prelude::*;

fn voxels(inner: [usize; 3], padding: usize, is_solid: impl Fn([usize; 3]) -> bool) -> Voxels {
    let grid = VoxelGrid::new(DVec3::ZERO, 1.0, inner, padding).unwrap();
    let inside = |at: [usize; 3]| {
        (0..3).all(|k| (padding..inner[k] + padding).contains(&at[k]))
            && is_solid(at.map(|c| c - padding))
    };
    let solid = (0..grid.len()).map(|i| inside(grid.voxel(i))).collect();
    Voxels::from_solid(grid, solid).unwrap()
}

/// The definition itself.
fn by_definition(voxels: &Voxels, index: usize) -> f32 {
    let (grid, solid) = (voxels.grid(), voxels.solid());
    let here = grid.voxel(index);
    let other = (0..grid.len()).filter(|&i| solid[i] != solid[index]).map(|i| {
        let there = grid.voxel(i);
        (0..3).map(|k| here[k].abs_diff(there[k]).pow(2)).sum::<usize>()
    });
    let distance = other.min().map_or(f32::INFINITY, |square| (square as f32).sqrt() - 0.5);
    if solid[index] { -distance } else { distance }
}

fn same_as_the_definition(voxels: &Voxels) {
    let field = DistanceField::of(voxels);
    for (i, &distance) in field.distances().iter().enumerate() {
        let expected = by_definition(voxels, i);
        assert_eq!(distance, expected, "at {:?}", voxels.grid().voxel(i));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Random voxels, dense and thin, in grids that do not fill the lanes.
    #[test]
    fn random_voxels_have_the_distances_of_the_definition(
        x in 1usize..20, y in 1usize..9, z in 1usize..9, padding in 1usize..4,
        seed: u64, share in 0u64..256,
    ) {
        let is_solid = |[x, y, z]: [usize; 3]| {
            let mut h = seed ^ (x as u64 | (y as u64) << 20 | (z as u64) << 40);
            h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (h >> 32) & 255 < share
        };
        same_as_the_definition(&voxels([x, y, z], padding, is_solid));
    }
}

#[test]
fn plain_shapes_have_the_distances_of_the_definition() {
    same_as_the_definition(&voxels([1, 1, 1], 1, |_| true));
    same_as_the_definition(&voxels([12, 12, 12], 2, |_| true));
    same_as_the_definition(&voxels([18, 9, 7], 1, |_| false));
    same_as_the_definition(&voxels([17, 17, 5], 2, |[x, y, _]| {
        let d = (x as i32 - 8).pow(2) + (y as i32 - 8).pow(2);
        (9..60).contains(&d)
    }));
}

#[test]
fn a_block_is_half_a_voxel_deep_at_its_faces_and_its_gradient_looks_outwards() {
    let field = DistanceField::of(&voxels([12, 12, 12], 2, |_| true));
    let at = |voxel| field.distances()[field.grid().index(voxel)];
    assert_eq!([at([2, 8, 8]), at([3, 8, 8]), at([7, 8, 8])], [-0.5, -1.5, -5.5]);
    assert_eq!([at([1, 8, 8]), at([0, 8, 8])], [0.5, 1.5]);
    // Outside a corner, and at it.
    assert_eq!(at([1, 1, 1]), 3f32.sqrt() - 0.5);
    assert_eq!(field.gradient([3, 7, 7]), Vec3::new(-1.0, 0.0, 0.0));
    assert_eq!(field.gradient([0, 7, 7]), Vec3::new(-1.0, 0.0, 0.0));
    assert_eq!(field.gradient([7, 12, 8]), Vec3::new(0.0, 1.0, 0.0));
    let corner = field.gradient([13, 13, 13]);
    assert!(corner.min_element() > 0.4, "{corner}");
}

#[test]
fn places_between_centres_get_what_is_between() {
    // The lowest corner of the block is at the origin, and an edge is a metre.
    let field = DistanceField::of(&voxels([12, 12, 12], 2, |_| true));
    for (x, depth) in [(0.5, -0.5), (1.0, -1.0), (1.25, -1.25), (0.0, 0.0), (-0.5, 0.5)] {
        assert_eq!(field.at(Vec3::new(x, 6.0, 6.0)), depth, "at {x}");
    }
    assert_eq!(field.gradient_at(Vec3::new(2.0, 6.0, 6.0)), Vec3::NEG_X);
    assert_eq!(field.at(Vec3::splat(-100.0)), field.at(Vec3::splat(-1.5)));
    let nothing = DistanceField::of(&voxels([4, 4, 4], 2, |_| false));
    assert_eq!(nothing.at(Vec3::ONE), f32::INFINITY);
    assert_eq!(nothing.gradient_at(Vec3::ONE), Vec3::ZERO);
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let ball =
        voxels([30, 31, 33], 2, |at| at.iter().map(|&c| (c as i32 - 15).pow(2)).sum::<i32>() < 200);
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| DistanceField::of(&ball))
    };
    assert!([2, 3, 8].into_iter().all(|threads| of(threads) == of(1)));
}
