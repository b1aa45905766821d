//! Meshes that nobody would make: each gives an error or a defined result, never a panic.

use glam::Vec3;
use motes::shape::distance_field::DistanceField;
use motes::shape::merge::merged;
use motes::shape::mesh::TriangleMesh;
use motes::shape::sample::sample_surface;
use motes::shape::solid::{Recipe, Solid};
use motes::shape::voxel::{VoxelGrid, VoxelWarning};
use proptest::prelude::*;

/// Any number at all, and often a usual one.
fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => -1.0f32..1.0,
        2 => (-4i32..=4).prop_map(|k| k as f32 * 0.25),
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(1e-30), Just(1e30), Just(f32::MAX)],
        1 => any::<f32>(),
    ]
}

/// Triangles without any order; now and then an index that is not there.
fn soup() -> impl Strategy<Value = TriangleMesh> {
    let vertices = prop::collection::vec((coordinate(), coordinate(), coordinate()), 0..20);
    let triangles = prop::collection::vec(prop::array::uniform3(0u32..20), 0..40);
    (vertices, triangles, any::<bool>()).prop_map(|(vertices, mut triangles, legal)| {
        let vertices: Vec<Vec3> = vertices.into_iter().map(Vec3::from).collect();
        let count = vertices.len().max(1) as u32;
        if legal {
            triangles.iter_mut().flatten().for_each(|i| *i %= count);
        }
        TriangleMesh { vertices, triangles }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn any_soup_gives_an_error_or_a_whole_result(mesh in soup(), resolution in 1usize..24, merge in -4.0f32..0.0) {
        let recipe = Recipe { merge: Some(merge), ..Recipe::new(resolution) };
        let Ok(solid) = Solid::of(&mesh, &recipe) else { return Ok(()) };
        prop_assert!(mesh.validate().is_ok());
        let grid = solid.voxels.grid();
        let filled: usize = solid.cubes.iter().map(|cube| cube.width().pow(3)).sum();
        prop_assert_eq!(filled, solid.voxels.count());
        prop_assert!(grid.inner().iter().all(|&n| n <= resolution));
        prop_assert!(solid.cubes.iter().all(|cube| cube.centre(grid).is_finite()));
        // A mesh that is not closed is never taken for one in silence.
        if !mesh.is_closed() && solid.voxels.count() > 0 {
            let told = solid.voxels.warnings().iter().any(|warning| {
                matches!(warning, VoxelWarning::Open(_) | VoxelWarning::Flipped(_))
            });
            // Unless what keeps it open is thinner than the rounding of corners.
            let extent = grid.edge() * resolution as f64;
            let sorted = mesh.vertices.iter().all(|v| f64::from(v.abs().max_element()) < 1e3 * extent);
            let apart = mesh.vertices.iter().enumerate().all(|(i, a)| {
                mesh.vertices[..i].iter().all(|b| f64::from(a.distance(*b)) > 1e-5 * extent)
            });
            let plain = mesh.triangles.iter().all(|[a, b, c]| a != b && b != c && c != a);
            prop_assert!(told || !(sorted && apart && plain), "{:?}", solid.voxels.warnings());
        }
        let spacing = (grid.edge() * 2.0) as f32;
        if let Ok(samples) = sample_surface(&mesh, spacing, 1) {
            prop_assert!(!samples.is_empty());
            prop_assert!(samples.iter().all(|sample| sample.position.is_finite()));
        }
    }
}

/// The parts take what the others made and nothing else.
#[test]
fn a_field_of_another_padding_is_refused() {
    let mesh = super::solids::load("torus");
    let of = |padding| Solid::of(&mesh, &Recipe { padding, ..Recipe::new(16) }).unwrap();
    let (two, four) = (of(VoxelGrid::PADDING), of(4));
    assert_eq!(two.voxels.count(), four.voxels.count());
    assert!(merged(&two.voxels, &four.field, -2.0).is_err());
    assert_eq!(DistanceField::of(&four.voxels), four.field);
}
