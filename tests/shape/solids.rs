//! Meshes to try things on.

use glam::{DVec3, Vec3};
use motes::shape::mesh::TriangleMesh;
use motes::shape::voxel::{VoxelGrid, Voxels};

/// A mesh that comes with the program.
pub fn load(name: &str) -> TriangleMesh {
    let path = format!("{}/assets/meshes/{name}.obj", env!("CARGO_MANIFEST_DIR"));
    TriangleMesh::load_obj(path).unwrap().0
}

/// A box of triangles that look outwards.
pub fn block(low: Vec3, high: Vec3) -> TriangleMesh {
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

/// A box whose faces are cut into n x n squares each: the mesh of a Cartesian grid, [J 7.1].
pub fn squared_block(n: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let sides = [Vec3::X, Vec3::Y, Vec3::Z];
    for axis in 0..3 {
        let (u, v, w) = (sides[axis], sides[(axis + 1) % 3], sides[(axis + 2) % 3]);
        for far in [false, true] {
            let base = mesh.vertices.len() as u32;
            for j in 0..=n {
                for i in 0..=n {
                    let at = v * (i as f32 / n as f32) + w * (j as f32 / n as f32);
                    mesh.vertices.push(if far { at + u } else { at });
                }
            }
            for j in 0..n {
                for i in 0..n {
                    let a = base + i + (n + 1) * j;
                    let (b, c, d) = (a + 1, a + n + 2, a + n + 1);
                    // Diagonals both ways.
                    let halves = match (i + j) % 2 {
                        0 => [[a, b, c], [a, c, d]],
                        _ => [[a, b, d], [b, c, d]],
                    };
                    let out = |[a, b, c]: [u32; 3]| if far { [a, b, c] } else { [a, c, b] };
                    mesh.triangles.extend(halves.map(out));
                }
            }
        }
    }
    mesh
}

/// Two meshes as one.
pub fn joined(a: &TriangleMesh, b: &TriangleMesh) -> TriangleMesh {
    let base = a.vertices.len() as u32;
    let mut mesh = a.clone();
    mesh.vertices.extend(&b.vertices);
    mesh.triangles.extend(b.triangles.iter().map(|t| t.map(|i| i + base)));
    mesh
}

/// The voxels of a mesh with the padding that merging counts with.
pub fn voxels(mesh: &TriangleMesh, resolution: usize) -> Voxels {
    let grid = VoxelGrid::with_resolution(mesh, resolution, VoxelGrid::PADDING).unwrap();
    Voxels::of(mesh, grid).unwrap()
}

/// How often a mesh winds around a point: the solid angles of its triangles (van Oosterom 1983).
pub fn winding(mesh: &TriangleMesh, point: DVec3) -> f64 {
    let angle = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize].as_dvec3() - point);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let volume = a.dot(b.cross(c));
        let beside = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * volume.atan2(beside)
    };
    mesh.triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}
