//! Contacts with meshes.

use super::*;

/// Places on a sheet of 8 x 8 cells: anywhere, on shared edges, on diagonals, on corners.
fn place() -> impl Strategy<Value = (f32, f32)> {
    let (cell, free) = (-3i32..=3, -0.95f32..0.95);
    prop_oneof![
        (free.clone(), free.clone()),
        (cell.clone(), free.clone()).prop_map(|(i, z)| (i as f32 * 0.25, z)),
        (free, cell.clone()).prop_map(|(x, j)| (x, j as f32 * 0.25)),
        (cell.clone(), cell.clone()).prop_map(|(i, j)| (i as f32 * 0.25, j as f32 * 0.25)),
        (cell.clone(), cell, 0.0f32..0.25, prop::bool::ANY).prop_map(|(i, j, s, up)| {
            (i as f32 * 0.25 + s, j as f32 * 0.25 + if up { s } else { -s })
        }),
    ]
}

fn hills(x: f32, z: f32) -> f32 {
    0.1 * (5.0 * x + 1.0).sin() * (4.0 * z).cos()
}

/// Height of `p` over the sheet along y, none beside it.
fn over(mesh: &TriangleMesh, p: Vec3) -> Option<f64> {
    mesh.triangles.iter().find_map(|t| {
        let corners = t.map(|i| mesh.vertices[i as usize]);
        let (top, bottom) = (Vec3::new(p.x, 100.0, p.z), Vec3::new(p.x, -100.0, p.z));
        let hit = crate::shape::triangle_bvh::segment_crossing(&corners, top, bottom)?;
        Some(f64::from(p.y) - (100.0 - 200.0 * hit.t))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_flat_sheet_does_not_leak(
        (ax, az) in place(), (bx, bz) in place(), straight in prop::bool::ANY, side in prop::sample::select(vec![1.0f32, -1.0]),
        gap in prop::sample::select(vec![1e-4f32, 0.005, 0.0201, 0.3, 5.0]), speed in 1.0f32..1000.0, margin in prop::sample::select(vec![0.0f32, 0.01]),
    ) {
        let floor = fixed(Shape::mesh(sheet(8, 2.0, |_, _| 0.0), false, 0.001).unwrap());
        let r = 0.02;
        let x = Vec3::new(ax, gap * side, az);
        let aim = if straight { Vec3::new(ax, 0.0, az) } else { Vec3::new(bx, 0.0, bz) };
        let p = x + (aim - x).normalize() * speed * DT;
        let found = contacts(&floor, x, p, r, margin);
        let end = settle(&found, p, r);
        prop_assert!(end.y * side > 0.0, "{x} {p} {end} {found:?}");
        for contact in &found {
            prop_assert!((contact.plane.truncate() - Vec3::Y * side).length() < 1e-6, "{contact:?}");
        }
        if p.y * side <= 0.0 {
            prop_assert_eq!(found.len(), 1);
            prop_assert!((end.y * side - r - 0.0005).abs() < 1e-5);
        }
    }

    /// Hills: the side is judged where the particle ends, over the sheet.
    #[test]
    fn a_bent_sheet_does_not_leak(
        (ax, az) in place(), (bx, bz) in place(), side in prop::sample::select(vec![1.0f32, -1.0]),
        gap in 0.01f32..2.0, speed in 1.0f32..1000.0, r in 0.005f32..0.1,
    ) {
        let mesh = sheet(8, 2.0, hills);
        let x = Vec3::new(ax, hills(ax, az) + 0.02 * side + gap * side, az);
        prop_assume!(over(&mesh, x).is_some_and(|h| h * f64::from(side) > 0.0));
        let aim = Vec3::new(bx, hills(bx, bz), bz);
        let p = x + (aim - x).normalize() * speed * DT;
        let found = contacts(&fixed(Shape::mesh(mesh.clone(), false, 0.0).unwrap()), x, p, r, 0.0);
        let end = settle(&found, p, r);
        if let Some(h) = over(&mesh, end) {
            prop_assert!(h * f64::from(side) > 0.0, "{x} {p} {end}: {h} {found:?}");
        }
    }

    /// From inside a closed room made of one sheet, nobody gets out: walls, edges and corners.
    #[test]
    fn a_room_holds_its_particles(x in vector(0.94), to in vector(1.0), speed in 0.1f32..1000.0, corner in prop::bool::ANY) {
        let room = fixed(Shape::mesh(block(Vec3::ONE), false, 0.01).unwrap());
        let r = 0.05;
        let to = if corner { to.signum() } else { to };
        let p = x + (to - x).normalize_or(Vec3::X) * speed * DT;
        let found = contacts(&room, x, p, r, 0.0);
        let end = settle(&found, p, r);
        prop_assert!(end.abs().max_element() < 1.0 - r - 0.005 + 1e-3, "{x} {p} {end} {found:?}");
    }

    /// A closed mesh of a block acts as the block.
    #[test]
    fn a_closed_mesh_is_solid(x in vector(2.0), to in vector(0.7), speed in 0.1f32..1000.0) {
        let half = Vec3::new(0.5, 0.3, 0.4);
        let solid = fixed(Shape::mesh(block(half), true, 0.5).unwrap());
        let exact = Shape::Box { half };
        let r = 0.05;
        let p = x + (to - x).normalize_or(Vec3::X) * speed * DT;
        let (start, gradient) = exact.distance(x);
        let found = contacts(&solid, x, p, r, 0.0);
        if start < -1e-4 {
            for contact in &found {
                prop_assert!((height(contact, x, 0.0) - start).abs() < 1e-5);
                // On a ridge two exits are equally near.
                let over = (x.abs() - half).to_array();
                let ridge = over.iter().filter(|&&o| (o - start).abs() < 1e-4).count() > 1;
                prop_assert!(ridge || (contact.plane.truncate() - gradient).length() < 1e-5);
            }
        } else if start > 1e-4 {
            let end = settle(&found, p, r);
            prop_assert!(exact.distance(end).0 > r - 1e-3, "{x} {p} {end} {found:?}");
            let through = (0..=200).any(|i| exact.distance(x.lerp(p, i as f32 / 200.0)).0 < -1e-4);
            prop_assert!(!through || !found.is_empty());
            for contact in &found {
                prop_assert!(contact.plane.truncate().dot(end.clamp(-half, half)) + contact.plane.w < 1e-3, "pushed inward");
            }
        }
    }
}

#[test]
fn sliding_over_a_flat_floor_never_trips() {
    for thickness in [0.0, 0.004] {
        let floor = fixed(Shape::mesh(sheet(16, 2.0, |_, _| 0.0), false, thickness).unwrap());
        let r = 0.03;
        // Along cell edges, along diagonals, and across them at odd angles.
        for (vx, vz) in [(1.0, 0.0), (1.0, 1.0), (0.3, 1.7), (2.0, -0.01)] {
            for lift in [-0.5, -0.01, 0.0, 0.01] {
                let mut x = Vec3::new(
                    -0.8,
                    r + thickness * 0.5 + lift * r,
                    if vz < 0.0 { 0.5 } else { -0.75 },
                );
                while x.abs().max_element() < 0.9 {
                    let p = x + Vec3::new(vx, -0.1, vz) * 0.01;
                    let found = contacts(&floor, x, p, r, 0.01);
                    assert_eq!(found.len(), 1, "{x}");
                    assert_eq!(found[0].plane.truncate(), Vec3::Y, "{x}");
                    x = Vec3::new(p.x, x.y, p.z);
                }
            }
        }
    }
}

/// Sliding down a big facetted bowl and over a dome: the normals stay those of the surface.
#[test]
fn sliding_over_a_slight_curve_does_not_snag() {
    for bend in [0.2f32, -0.2] {
        let surface = move |x: f32, z: f32| bend * (x * x + z * z);
        let mesh = sheet(20, 2.0, surface);
        let floor = fixed(Shape::mesh(mesh, false, 0.0).unwrap());
        let r = 0.05;
        let mut x = Vec3::new(-0.8, surface(-0.8, 0.013) + 1.2 * r, 0.013);
        let v = Vec3::new(0.01, 0.0, 0.0007);
        while x.x < 0.8 {
            let p = x + v - Vec3::Y * 0.003;
            let found = contacts(&floor, x, p, r, 0.01);
            for contact in &found {
                let n = contact.plane.truncate();
                // Slopes of neighbouring facets are within one cell of the true slope.
                let wanted = Vec3::new(-2.0 * bend * p.x, 1.0, -2.0 * bend * p.z).normalize();
                assert!(n.dot(wanted) > 0.995, "{p}: {n} {wanted}");
            }
            let end = settle(&found, p, r);
            assert!(end.x - x.x > 0.008, "snagged at {x}");
            let up = surface(end.x, end.z);
            assert!(end.y > up + 0.9 * r && end.y < up + 1.3 * r, "{end} over {up}");
            x = end;
        }
    }
}

#[test]
fn a_concave_corner_gives_all_its_planes() {
    let room = fixed(Shape::mesh(block(Vec3::ONE), false, 0.0).unwrap());
    let r = 0.1;
    let x = Vec3::splat(0.895);
    let found = contacts(&room, x, x + Vec3::splat(0.01), r, 0.0);
    let mut normals: Vec<_> = found.iter().map(|c| c.plane.truncate().to_array()).collect();
    normals.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(normals, [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]);
    assert!((settle(&found, x + 0.01, r) - 0.9).length() < 1e-6);
}

#[test]
fn convex_edges_and_corners_round_the_particle() {
    for closed in [false, true] {
        let solid = fixed(Shape::mesh(block(Vec3::ONE), closed, 0.0).unwrap());
        let r = 0.1;
        for out in [Vec3::new(1.0, 2.0, 0.0), Vec3::new(1.0, 1.0, 1.0), Vec3::new(3.0, 1.0, 2.0)] {
            let foot = if out.z == 0.0 { Vec3::new(1.0, 1.0, 0.3) } else { Vec3::ONE };
            let p = foot + out.normalize() * 0.08;
            let found = contacts(&solid, p, p, r, 0.0);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!((found[0].plane.truncate() - out.normalize()).length() < 1e-5);
            assert!((height(&found[0], p, r) + 0.02).abs() < 1e-6);
        }
    }
}

/// A wedge sharper than any sweep of projections can follow: it may stop, it may not get out.
#[test]
fn a_sharp_wedge_holds() {
    for angle in [0.1f32, 0.3, 0.6, 1.0] {
        let wide = 3.0 * (angle * 0.5).tan();
        let mesh = TriangleMesh {
            vertices: vec![
                Vec3::new(0.0, 0.0, -5.0),
                Vec3::new(0.0, 0.0, 5.0),
                Vec3::new(-wide, 3.0, -5.0),
                Vec3::new(-wide, 3.0, 5.0),
                Vec3::new(wide, 3.0, -5.0),
                Vec3::new(wide, 3.0, 5.0),
            ],
            triangles: vec![[0, 1, 3], [0, 3, 2], [0, 1, 5], [0, 5, 4]],
        };
        let wedge = fixed(Shape::mesh(mesh, false, 0.0).unwrap());
        let r = 0.01;
        for speed in [1.0, 10.0, 100.0, 1000.0] {
            for lean in [-0.3, -0.1, 0.0, 0.05, 0.2] {
                let x = Vec3::new(0.0, 2.0, 0.1);
                let p = x + Vec3::new(lean, -1.0, 0.02).normalize() * speed * DT;
                let found = contacts(&wedge, x, p, r, 0.0);
                let end = settle(&found, p, r);
                assert!(
                    end.y > 0.0 && end.x.abs() < end.y * (angle * 0.5).tan(),
                    "{angle} {speed} {lean}: {end} {found:?}"
                );
            }
        }
    }
}

#[test]
fn a_hidden_second_sheet_adds_nothing() {
    let mut mesh = sheet(4, 2.0, |_, _| 0.0);
    let count = mesh.vertices.len() as u32;
    let under: Vec<_> = mesh.vertices.iter().map(|v| *v - Vec3::Y * 0.01).collect();
    mesh.vertices.extend(under);
    let copies: Vec<_> = mesh.triangles.iter().map(|t| t.map(|i| i + count)).collect();
    mesh.triangles.extend(copies);
    let floor = fixed(Shape::mesh(mesh, false, 0.0).unwrap());
    let x = Vec3::new(0.1, 0.05, 0.2);
    assert_eq!(contacts(&floor, x, x - Vec3::Y * 0.01, 0.1, 0.0).len(), 1);
    assert_eq!(contacts(&floor, x, x - Vec3::Y * 3.0, 0.1, 0.0).len(), 1);
}

/// A particle rolls off the rim of a sheet and around it without a jump.
#[test]
fn the_rim_of_a_sheet_is_round() {
    let floor = fixed(Shape::mesh(sheet(8, 2.0, |_, _| 0.0), false, 0.0).unwrap());
    let r = 0.1;
    for step in 0..32 {
        let angle = step as f32 * 0.1 - 1.6;
        let p = Vec3::new(1.0 + 0.09 * angle.cos(), 0.09 * angle.sin(), 0.137);
        let found = contacts(&floor, p, p, r, 0.0);
        assert_eq!(found.len(), 1, "{p} {found:?}");
        let out = Vec3::new(angle.cos(), angle.sin(), 0.0);
        assert!((found[0].plane.truncate() - out).length() < 0.05, "{p} {found:?}");
    }
}
