//! Voxels against the winding number of the mesh around every centre.

use super::solids::{block, joined, load, squared_block, voxels, winding};
use glam::{Quat, Vec3};
use motes::shape::mesh::TriangleMesh;
use motes::shape::triangle_bvh::TriangleBvh;
use motes::shape::voxel::{VoxelWarning, Voxels};
use rayon::prelude::*;

/// How many voxels differ from the winding number, and how many centres lie on the surface, which
/// may count as either.
fn compare(mesh: &TriangleMesh, found: &Voxels) -> (usize, usize) {
    let grid = found.grid();
    let bvh = TriangleBvh::build(mesh).unwrap();
    let on_surface = (1e-6 * grid.edge()).powi(2).max(1e-14);
    (0..grid.len())
        .into_par_iter()
        .map(|index| {
            let centre = grid.centre(grid.voxel(index));
            if bvh.closest(centre).unwrap().distance_sq < on_surface {
                return (0, 1);
            }
            let wound = winding(mesh, centre.as_dvec3());
            assert!((wound - wound.round()).abs() < 1e-3, "{wound} at {centre}");
            let solid = wound.round() != 0.0;
            (usize::from(found.solid()[index] != solid), 0)
        })
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

#[track_caller]
fn agrees(mesh: &TriangleMesh, resolution: usize) -> Voxels {
    let found = voxels(mesh, resolution);
    let (wrong, on_surface) = compare(mesh, &found);
    assert_eq!(wrong, 0, "at resolution {resolution}; {on_surface} centres on the surface");
    assert!(found.warnings().is_empty(), "{:?}", found.warnings());
    found
}

#[test]
fn blocks_on_the_grid() {
    for n in [1, 3, 8, 12] {
        assert_eq!(agrees(&block(Vec3::ZERO, Vec3::ONE), n).count(), n * n * n);
        // As many squares as voxels, twice as many, so that corners lie on centres, and odd numbers.
        for squares in [n as u32, 2 * n as u32, 5, 6] {
            assert_eq!(agrees(&squared_block(squares), n).count(), n * n * n);
        }
    }
}

#[test]
fn round_and_knotted_meshes() {
    for name in ["sphere", "torus", "trefoil", "rabbit", "cube_with_hole"] {
        let mesh = load(name);
        agrees(&mesh, 16);
        // Turned, so that nothing is symmetric.
        let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 1.1, -0.7);
        agrees(&mesh.transformed(Vec3::ONE, turn, Vec3::new(3.0, -2.0, 5.0)), 11);
    }
}

#[test]
fn thin_walls() {
    // Two thirds of a voxel hold centres, a third lies between the surface and the first centres.
    let hollow = |wall: f32| {
        let (outer, inner) = (Vec3::splat(10.0), Vec3::splat(wall));
        let mut cavity = block(inner, outer - inner);
        cavity.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        joined(&block(Vec3::ZERO, outer), &cavity)
    };
    assert_eq!(agrees(&hollow(2.0 / 3.0), 10).count(), 1000 - 512);
    let nothing = voxels(&hollow(1.0 / 3.0), 10);
    assert_eq!((compare(&hollow(1.0 / 3.0), &nothing).0, nothing.count()), (0, 0));
    assert_eq!(nothing.warnings(), [VoxelWarning::Nothing]);
    for angle in [0.1, 0.5, 0.9] {
        let turn = Quat::from_euler(glam::EulerRot::XYZ, angle, 2.0 * angle, 0.3);
        agrees(&hollow(1.0 / 3.0).transformed(Vec3::ONE, turn, Vec3::ZERO), 16);
    }
}

#[test]
fn features_of_one_voxel() {
    // A needle and a plate of one voxel, and a block of one, apart from each other.
    let needle = block(Vec3::new(0.0, 0.0, 0.0), Vec3::new(16.0, 1.0, 1.0));
    let plate = block(Vec3::new(0.0, 3.0, 0.0), Vec3::new(16.0, 4.0, 16.0));
    let grain = block(Vec3::new(7.0, 7.0, 7.0), Vec3::new(8.0, 8.0, 8.0));
    let mesh = joined(&joined(&needle, &plate), &grain);
    assert_eq!(agrees(&mesh, 16).count(), 16 + 256 + 1);
    // Moved by less than half a voxel each way they are as many.
    let shift = Vec3::new(0.31, -0.22, 0.47);
    let moved = joined(&mesh.transformed(Vec3::ONE, Quat::IDENTITY, shift), &grain);
    let found = voxels(&moved, 16);
    assert_eq!(compare(&moved, &found).0, 0);
}

/// The comparison can fail: a mesh that is another one by half a voxel does not agree.
#[test]
fn another_mesh_does_not_agree() {
    let mesh = load("torus");
    let found = voxels(&mesh, 20);
    let shift = Vec3::X * (0.5 * found.grid().edge() as f32);
    let (wrong, _) = compare(&mesh.transformed(Vec3::ONE, Quat::IDENTITY, shift), &found);
    assert!(wrong > 50, "{wrong}");
}
