//! The hierarchy against going through all triangles.

use super::*;
use proptest::prelude::*;

fn soup() -> impl Strategy<Value = TriangleMesh> {
    let corner = (-3.0f32..3.0, -3.0f32..3.0, -3.0f32..3.0).prop_map(Vec3::from);
    proptest::collection::vec(
        (corner, prop::array::uniform3(-0.5f32..0.5), prop::array::uniform3(-0.5f32..0.5)),
        0..60,
    )
    .prop_map(|list| {
        let mut mesh = TriangleMesh::default();
        for (a, u, v) in list {
            let first = mesh.vertices.len() as u32;
            mesh.vertices.extend([a, a + Vec3::from(u), a + Vec3::from(v)]);
            mesh.triangles.push([first, first + 1, first + 2]);
        }
        mesh
    })
}

fn corners(mesh: &TriangleMesh, i: usize) -> [Vec3; 3] {
    mesh.triangles[i].map(|v| mesh.vertices[v as usize])
}

/// An octahedron refined into a ball of radius 1.
fn ball(levels: usize) -> TriangleMesh {
    let mut mesh = TriangleMesh {
        vertices: vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z],
        triangles: vec![
            [0, 1, 2],
            [2, 1, 3],
            [3, 1, 5],
            [5, 1, 0],
            [2, 4, 0],
            [3, 4, 2],
            [5, 4, 3],
            [0, 4, 5],
        ],
    };
    for _ in 0..levels {
        let mut cache = std::collections::HashMap::new();
        let mut triangles = Vec::new();
        for [a, b, c] in mesh.triangles.clone() {
            let mut middle = |i: u32, j: u32| {
                *cache.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    let m = mesh.vertices[i as usize] + mesh.vertices[j as usize];
                    mesh.vertices.push(m.normalize());
                    mesh.vertices.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        mesh.triangles = triangles;
    }
    mesh
}

proptest! {
    #[test]
    fn box_query_finds_the_same_as_all_pairs(mesh in soup(), lo in prop::array::uniform3(-3.5f32..3.0), size in prop::array::uniform3(0.0f32..2.0)) {
        let bvh = TriangleBvh::build(&mesh).unwrap();
        let (min, max) = (Vec3::from(lo), Vec3::from(lo) + Vec3::from(size));
        let mut found = Vec::new();
        bvh.visit_box(min, max, |id, c| {
            assert_eq!(*c, corners(&mesh, id as usize));
            found.push(id);
        });
        found.sort_unstable();
        let wanted: Vec<u32> = (0..mesh.triangles.len() as u32).filter(|&i| {
            let c = corners(&mesh, i as usize);
            let low = c[0].min(c[1]).min(c[2]);
            let high = c[0].max(c[1]).max(c[2]);
            low.cmple(max).all() && high.cmpge(min).all()
        }).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn every_vertex_in_a_box_is_met_once(lo in prop::array::uniform3(-1.2f32..1.0), size in prop::array::uniform3(0.0f32..1.5)) {
        let mesh = ball(2);
        let bvh = TriangleBvh::build(&mesh).unwrap();
        let (min, max) = (Vec3::from(lo), Vec3::from(lo) + Vec3::from(size));
        let mut found = Vec::new();
        bvh.visit_vertices(min, max, |vertex| found.push(vertex.to_array()));
        let inside = |v: &&Vec3| v.cmpge(min).all() && v.cmple(max).all();
        let mut wanted: Vec<_> = mesh.vertices.iter().filter(inside).map(|v| v.to_array()).collect();
        for list in [&mut found, &mut wanted] {
            list.sort_by(|a, b| a.partial_cmp(b).unwrap());
        }
        prop_assert_eq!(bvh.has_vertex(min, max), !wanted.is_empty());
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn closest_agrees_with_all_triangles(mesh in soup(), p in prop::array::uniform3(-5.0f32..5.0)) {
        let bvh = TriangleBvh::build(&mesh).unwrap();
        let p = Vec3::from(p);
        let wanted = (0..mesh.triangles.len())
            .map(|i| closest_point(&corners(&mesh, i), p).0.distance_squared(p.as_dvec3()))
            .min_by(f64::total_cmp);
        prop_assert_eq!(bvh.closest(p).map(|c| c.distance_sq), wanted);
    }

    #[test]
    fn inside_agrees_with_the_ball(p in prop::array::uniform3(-1.2f32..1.2)) {
        let bvh = TriangleBvh::build(&ball(2)).unwrap();
        let p = Vec3::from(p);
        // Facets of the twice refined octahedron stay outside radius 0.9.
        if p.length() < 0.9 {
            prop_assert!(bvh.contains(p));
        } else if p.length() > 1.0 {
            prop_assert!(!bvh.contains(p));
        }
    }
}

#[test]
fn inside_is_right_under_edges_and_corners() {
    for levels in 0..3 {
        let mesh = ball(levels);
        let bvh = TriangleBvh::build(&mesh).unwrap();
        for v in &mesh.vertices {
            assert!(bvh.contains(Vec3::new(v.x * 0.5, 0.0, v.z * 0.5)));
            assert!(!bvh.contains(*v * 1.01));
            assert!(!bvh.contains(Vec3::new(v.x, -2.0, v.z)));
            if v.x.hypot(v.z) < 0.99 {
                // Straight below a corner, just inside.
                assert!(bvh.contains(Vec3::new(v.x, v.y * 0.5, v.z)), "{v}");
            }
        }
    }
}

#[test]
fn bad_meshes_are_refused_with_the_place() {
    let mesh = TriangleMesh { vertices: vec![Vec3::ZERO], triangles: vec![[0, 0, 1]] };
    let message = TriangleBvh::build(&mesh).unwrap_err().to_string();
    assert!(message.contains("mesh.triangles.0") && message.contains("vertex 1"), "{message}");
    let mesh = TriangleMesh { vertices: vec![Vec3::NAN], triangles: vec![[0, 0, 0]] };
    assert!(TriangleBvh::build(&mesh).is_err());
}

#[test]
fn coincident_triangles_do_not_recurse_forever() {
    let mesh = TriangleMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        triangles: vec![[0, 1, 2]; 1000],
    };
    let bvh = TriangleBvh::build(&mesh).unwrap();
    assert_eq!(bvh.closest(Vec3::Z).map(|c| c.triangle), Some(0));
}
