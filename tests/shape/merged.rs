//! Merged voxels: exact counts, and a mass that merging does not change.

use super::solids::{block, load, voxels};
use glam::{DVec3, Vec3};
use motes::shape::distance_field::DistanceField;
use motes::shape::mass::MassProperties;
use motes::shape::merge::{Cube, merged, unmerged};
use motes::shape::voxel::Voxels;

fn cubes(voxels: &Voxels, bound: f32) -> Vec<Cube> {
    merged(voxels, &DistanceField::of(voxels), bound).unwrap()
}

/// How many cubes there are of each level.
fn levels(cubes: &[Cube]) -> Vec<usize> {
    let most = cubes.iter().map(|cube| cube.level).max().unwrap_or(0);
    (0..=most).map(|l| cubes.iter().filter(|cube| cube.level == l).count()).collect()
}

/// The figures of [J 6.2] for solid boxes.
#[test]
fn a_block_merges_into_known_numbers() {
    let known: [(usize, usize, &[usize]); 4] = [
        (6, 209, &[208, 1]),
        (12, 1224, &[1216, 0, 8]),
        (32, 10_963, &[10_816, 0, 127, 19, 1]),
        (96, 107_967, &[106_048, 0, 1519, 331, 61, 8]),
    ];
    for (n, count, expected) in known {
        let block = voxels(&block(Vec3::splat(-0.5), Vec3::splat(0.5)), n);
        let cubes = cubes(&block, -2.0);
        assert_eq!(levels(&cubes), expected, "{n}^3");
        assert_eq!(cubes.len(), count, "{n}^3");
    }
}

#[test]
fn every_voxel_is_in_exactly_one_cube() {
    for (name, n) in [("rabbit", 40), ("torus", 33), ("cube_with_hole", 50), ("trefoil", 64)] {
        let voxels = voxels(&load(name), n);
        for bound in [f32::NEG_INFINITY, -3.0, -2.0, -1.0, 0.0] {
            let cubes = cubes(&voxels, bound);
            let mut covered = vec![0u8; voxels.grid().len()];
            for cube in &cubes {
                let [x, y, z] = cube.low.map(usize::from);
                let w = cube.width();
                for at in (0..w * w * w).map(|k| [x + k % w, y + k / w % w, z + k / (w * w)]) {
                    covered[voxels.grid().index(at)] += 1;
                }
            }
            assert!(covered.iter().zip(voxels.solid()).all(|(&n, &solid)| n == u8::from(solid)));
            assert_eq!((voxels.count() - cubes.len()) % 7, 0);
            if bound == f32::NEG_INFINITY {
                assert_eq!(cubes, unmerged(&voxels));
            }
        }
    }
}

#[test]
fn merging_keeps_volume_mass_centre_and_inertia() {
    for (name, n) in [("cube", 12), ("cube", 96), ("rabbit", 60), ("torus", 48)] {
        let voxels = voxels(&load(name), n);
        let of = |cubes: &[Cube]| MassProperties::of_cubes(voxels.grid(), cubes, 800.0).unwrap();
        let (plain, merged) = (of(&unmerged(&voxels)), of(&cubes(&voxels, -2.0)));
        // All sums are exact, so nothing changes at all.
        assert_eq!(plain, merged, "{name}");
        // Points have less inertia: what the cubes' own moments are for.
        let points = |cubes: &[Cube]| -> f64 {
            let inertia = |cube: &Cube| {
                let away = cube.centre(voxels.grid()).as_dvec3() - plain.centre;
                800.0
                    * (cube.width() as f64 * voxels.grid().edge()).powi(3)
                    * (away.y * away.y + away.z * away.z)
            };
            cubes.iter().map(inertia).sum()
        };
        let short = 1.0 - points(&cubes(&voxels, -2.0)) / points(&unmerged(&voxels));
        if (name, n) == ("cube", 12) {
            assert!((short - 0.031).abs() < 0.0005, "{short}");
        }
        assert!(short > 1e-4, "{name}: {short}");
    }
}

#[test]
fn a_block_has_the_mass_and_the_inertia_of_a_block() {
    let size = DVec3::new(0.4, 0.8, 1.2);
    let voxels = voxels(&block(Vec3::ZERO, size.as_vec3()), 12);
    let found = MassProperties::of_cubes(voxels.grid(), &cubes(&voxels, -2.0), 1000.0).unwrap();
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{a} is not {b}");
    close(found.mass, 384.0);
    assert!(found.centre.abs_diff_eq(size / 2.0, 1e-6), "{}", found.centre);
    // Smallest first: about the longest side.
    let sq = size * size;
    close(found.moments.x, 384.0 / 12.0 * (sq.x + sq.y));
    close(found.moments.y, 384.0 / 12.0 * (sq.x + sq.z));
    close(found.moments.z, 384.0 / 12.0 * (sq.y + sq.z));
    let longest = found.axes * DVec3::X;
    assert!(longest.z.abs() > 1.0 - 1e-9, "{longest}");
}

/// Voxels of round bodies have the mass and the inertia that integrals over the mesh give.
#[test]
fn round_bodies_have_the_inertia_of_their_meshes() {
    for name in ["sphere", "torus", "rabbit", "trefoil"] {
        let mesh = load(name);
        let voxels = voxels(&mesh, 128);
        let found = MassProperties::of_cubes(voxels.grid(), &cubes(&voxels, -2.0), 500.0).unwrap();
        let exact = MassProperties::of_mesh(&mesh, 500.0).unwrap();
        assert!((found.mass / exact.mass - 1.0).abs() < 2e-3, "{name} {found:?} {exact:?}");
        let off = found.centre.distance(exact.centre);
        assert!(off < 0.1 * voxels.grid().edge(), "{name}: centre off by {off} m");
        // For the same mass.
        let per_mass = found.moments / found.mass / (exact.moments / exact.mass) - 1.0;
        assert!(per_mass.abs().max_element() < 1e-3, "{name}: {per_mass}");
    }
}

#[test]
fn nonsense_is_refused() {
    let voxels = voxels(&block(Vec3::ZERO, Vec3::ONE), 6);
    let field = DistanceField::of(&voxels);
    for bound in [0.1, f32::NAN, f32::INFINITY] {
        assert!(merged(&voxels, &field, bound).unwrap_err().to_string().starts_with("merge: "));
    }
    let other = super::solids::voxels(&load("torus"), 6);
    assert!(merged(&other, &field, -2.0).unwrap_err().to_string().starts_with("field: "));
}
