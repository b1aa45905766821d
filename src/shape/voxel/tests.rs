use super::*;
use glam::Vec3;

/// A box of triangles that look outwards.
fn block(low: Vec3, high: Vec3) -> TriangleMesh {
    let corner = |k: u32| {
        let pick = |bit: u32, axis: usize| if k >> bit & 1 == 0 { low[axis] } else { high[axis] };
        Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2))
    };
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
    TriangleMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: faces.into_iter().flat_map(halves).collect(),
    }
}

fn joined(a: TriangleMesh, b: TriangleMesh) -> TriangleMesh {
    let base = a.vertices.len() as u32;
    let mut mesh = a;
    mesh.vertices.extend(b.vertices);
    mesh.triangles.extend(b.triangles.iter().map(|t| t.map(|i| i + base)));
    mesh
}

fn turned_round(mesh: &TriangleMesh) -> TriangleMesh {
    let mut mesh = mesh.clone();
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    mesh
}

fn voxels(mesh: &TriangleMesh, n: usize) -> Voxels {
    Voxels::of(mesh, VoxelGrid::with_resolution(mesh, n, 2).unwrap()).unwrap()
}

#[test]
fn a_block_on_the_grid_is_full() {
    for n in [1, 2, 5, 6, 12, 32] {
        let found = voxels(&block(Vec3::splat(-0.3), Vec3::splat(0.4)), n);
        assert_eq!(found.count(), n * n * n);
        assert!(found.warnings().is_empty());
    }
    let found = voxels(&block(Vec3::ZERO, Vec3::new(0.3, 0.6, 0.9)), 12);
    assert_eq!((found.grid().inner(), found.count()), ([4, 8, 12], 4 * 8 * 12));
}

#[test]
fn centres_on_the_surface_belong_to_one_side() {
    // Faces at 0, 1.5 and 3 voxels: the middle one goes through centres.
    let (low, middle, high) = (Vec3::ZERO, Vec3::new(1.5, 3.0, 3.0), Vec3::splat(3.0));
    let left = block(low, middle);
    let right = block(Vec3::new(1.5, 0.0, 0.0), high);
    let grid = VoxelGrid::with_resolution(&block(low, high), 3, 2).unwrap();
    let [left, right] = [left, right].map(|mesh| Voxels::of(&mesh, grid).unwrap());
    assert_eq!(left.count() + right.count(), 27);
    assert!(left.solid().iter().zip(right.solid()).all(|(&a, &b)| !(a && b)));
}

#[test]
fn corners_of_their_own_make_a_closed_mesh_all_the_same() {
    let shared = block(Vec3::ZERO, Vec3::ONE);
    let vertices =
        shared.triangles.iter().flatten().map(|&i| shared.vertices[i as usize]).collect();
    let triangles = (0..12).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let loose = TriangleMesh { vertices, triangles };
    assert!(!loose.is_closed());
    assert_eq!(voxels(&loose, 8), voxels(&shared, 8));
}

#[test]
fn an_open_block_is_filled_and_told_where_it_is_open() {
    let whole = block(Vec3::ZERO, Vec3::ONE);
    for face in 0..6 {
        let mut open = whole.clone();
        open.triangles.drain(2 * face..2 * face + 2);
        let found = voxels(&open, 8);
        assert_eq!(found.solid(), voxels(&whole, 8).solid());
        let [VoxelWarning::Open(gap)] = found.warnings() else { panic!("{:?}", found.warnings()) };
        assert_eq!(gap.edges, 4);
        // The gap is as flat as the face that is missing.
        let size = gap.bounds[1] - gap.bounds[0];
        assert!((size.element_sum() - 2.0).abs() < 1e-6 && size.min_element() < 1e-6, "{gap:?}");
    }
    let sheet =
        TriangleMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2]] };
    let found = voxels(&sheet, 8);
    assert_eq!(found.count(), 0);
    assert!(matches!(found.warnings(), [VoxelWarning::Open(_), VoxelWarning::Nothing]));
    assert!(found.warnings()[0].to_string().contains("3 edges between [0, 0, 0]"));
}

#[test]
fn odd_surfaces_have_a_defined_inside() {
    let whole = block(Vec3::ZERO, Vec3::ONE);
    let right = voxels(&whole, 8);
    let inside_out = voxels(&turned_round(&whole), 8);
    assert_eq!(inside_out.solid(), right.solid());
    assert_eq!(inside_out.warnings(), [VoxelWarning::InsideOut { voxels: 512 }]);

    let mut flipped = whole.clone();
    flipped.triangles[3].swap(0, 1);
    let flipped = voxels(&flipped, 8);
    assert_eq!(flipped.solid(), right.solid());
    assert!(matches!(flipped.warnings(), [VoxelWarning::Flipped(Gap { edges: 3, .. })]));

    // Two blocks that share 2^3 of 4^3 voxels each.
    let mesh =
        joined(block(Vec3::ZERO, Vec3::splat(4.0)), block(Vec3::splat(2.0), Vec3::splat(6.0)));
    let two = voxels(&mesh, 6);
    assert_eq!(two.count(), 64 + 64 - 8);
    assert_eq!(two.warnings(), [VoxelWarning::Overlap { voxels: 8 }]);

    let cavity = turned_round(&block(Vec3::splat(2.0), Vec3::splat(4.0)));
    let hollow = voxels(&joined(block(Vec3::ZERO, Vec3::splat(6.0)), cavity), 6);
    assert_eq!(hollow.count(), 216 - 8);
    assert!(hollow.warnings().is_empty());
}

#[test]
fn a_grid_of_another_mesh_is_refused() {
    let (small, large) = (block(Vec3::ZERO, Vec3::ONE), block(Vec3::ZERO, Vec3::splat(3.0)));
    let grid = VoxelGrid::with_resolution(&small, 4, 2).unwrap();
    assert!(Voxels::of(&large, grid).unwrap_err().to_string().starts_with("grid: "));
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let mesh =
        joined(block(Vec3::ZERO, Vec3::splat(4.0)), block(Vec3::splat(2.0), Vec3::splat(6.0)));
    let of = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| voxels(&mesh, 40))
    };
    assert!([2, 3, 8].into_iter().all(|threads| of(threads) == of(1)));
}
