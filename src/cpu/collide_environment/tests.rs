//! Does anything leak, trip or explode?

use glam::Quat;
use proptest::prelude::*;

use super::*;
use crate::shape::mesh::TriangleMesh;
use crate::world::collider::tests::block;

mod mesh_tests;
mod primitive_tests;

pub(super) const DT: f32 = 1.0 / 60.0;

pub(super) fn fixed(shape: Shape) -> Collider {
    Collider::fixed(shape, Pose::IDENTITY)
}

/// A collider over a substep that begins at time 0.
pub(super) fn posed(collider: &Collider, index: u32, h: f64) -> PosedCollider<'_> {
    let posed = Box::leak(Box::new(Posed::new(collider, 0.0, h)));
    PosedCollider { collider, posed, index }
}

/// Contacts with one collider that stands still.
pub(super) fn contacts(
    collider: &Collider,
    x: Vec3,
    p: Vec3,
    r: f32,
    margin: f32,
) -> Vec<EnvironmentContact> {
    let mut out = Vec::new();
    find_contacts([posed(collider, 0, 0.0)].into_iter(), Vec3::ZERO, x, p, r, margin, &mut out);
    out
}

/// What the solver will make of the contacts.
pub(super) fn settle(contacts: &[EnvironmentContact], p: Vec3, r: f32) -> Vec3 {
    project(contacts, p, r)
}

/// A square sheet of `n` x `n` cells about the origin with diagonals in turn, facing up.
pub(super) fn sheet(n: u32, size: f32, y: impl Fn(f32, f32) -> f32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for i in 0..=n {
        for j in 0..=n {
            let (x, z) = ((i as f32 / n as f32 - 0.5) * size, (j as f32 / n as f32 - 0.5) * size);
            mesh.vertices.push(Vec3::new(x, y(x, z), z));
        }
    }
    for i in 0..n {
        for j in 0..n {
            let a = i * (n + 1) + j;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            if (i + j) % 2 == 0 {
                mesh.triangles.extend([[a, b, c], [b, d, c]]);
            } else {
                mesh.triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
    }
    mesh
}

pub(super) fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

fn shapes() -> Vec<Shape> {
    vec![
        Shape::Plane { normal: Vec3::Y },
        Shape::Sphere { radius: 0.5 },
        Shape::Box { half: Vec3::new(0.5, 0.01, 0.4) },
        Shape::Capsule { radius: 0.2, half_height: 0.3 },
        Shape::Cylinder { radius: 0.3, half_height: 0.2 },
        Shape::Cone { radius: 0.4, height: 0.6 },
        Shape::mesh(sheet(4, 2.0, |_, _| 0.0), false, 0.01).unwrap(),
        Shape::mesh(block(Vec3::splat(0.5)), true, 0.0).unwrap(),
        // No area at all.
        Shape::mesh(
            TriangleMesh {
                vertices: vec![Vec3::ZERO, Vec3::X],
                triangles: vec![[0, 0, 0], [0, 1, 1]],
            },
            false,
            0.0,
        )
        .unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn contacts_are_finite(
        x in vector(1.5), p in vector(1.5),
        snap in 0..6, scale in prop::sample::select(vec![1.0f32, 1e-30, 1e10, 1e20, 1e38]),
        r in prop::sample::select(vec![1e-6f32, 0.01, 0.3, 5.0]), margin in 0.0f32..0.2,
        turn in prop::array::uniform4(-1.0f32..1.0),
    ) {
        for shape in shapes() {
            let pose = Pose::new(p, Quat::from_array(turn));
            let vertex = pose.apply_point(Vec3::new(0.5, 0.0, -0.5));
            let (x, p) = match snap {
                0 => (x, p),
                1 => (x, x),
                2 => (x, vertex),
                3 => (vertex, vertex),
                4 => (pose.translation, pose.translation),
                _ => (x * scale, p * scale),
            };
            let collider = Collider::fixed(shape, pose);
            for contact in contacts(&collider, x, p, r, margin) {
                prop_assert!(contact.plane.is_finite() && contact.motion == Vec3::ZERO);
                prop_assert!((contact.plane.truncate().length() - 1.0).abs() < 1e-4);
            }
        }
    }

    /// The finder works in the collider's frame: moving everything along changes nothing.
    #[test]
    fn a_turned_world_gives_turned_contacts(
        x in vector(1.0), step in vector(0.3), turn in prop::array::uniform4(-1.0f32..1.0), at in vector(2.0),
    ) {
        let pose = Pose::new(at, Quat::from_array(turn));
        for shape in shapes() {
            let here = contacts(&fixed(shape.clone()), x, x + step, 0.1, 0.02);
            let there = contacts(&Collider::fixed(shape, pose), pose.apply_point(x), pose.apply_point(x + step), 0.1, 0.02);
            // At the limit of reach rounding decides; compare what is clearly in.
            if here.len() == there.len() {
                for (a, b) in here.iter().zip(&there) {
                    let p = x + step;
                    prop_assert!((height(a, p, 0.1) - height(b, pose.apply_point(p), 0.1)).abs() < 1e-3);
                }
            }
        }
    }
}

#[test]
fn order_is_by_collider() {
    let floor = fixed(Shape::Plane { normal: Vec3::Y });
    let wall = fixed(Shape::Plane { normal: Vec3::X });
    let posed = [posed(&wall, 7, 0.01), posed(&floor, 3, 0.01)];
    let mut out = Vec::new();
    let (x, p) = (Vec3::splat(0.1), Vec3::splat(0.05));
    find_contacts(posed.iter().copied(), Vec3::ZERO, x, p, 0.1, 0.0, &mut out);
    assert_eq!(out.iter().map(|c| c.collider).collect::<Vec<_>>(), [7, 3]);
    assert_eq!(out[1].plane, Vec4::new(0.0, 1.0, 0.0, 0.0));
}

/// A thin wall on a floor: the straight way passes below the wall, the slide along the floor
/// would pass through it.
#[test]
fn a_slide_along_one_collider_does_not_lead_through_another() {
    let floor = Collider::fixed(
        Shape::Box { half: Vec3::new(50.0, 1.0, 50.0) },
        Pose::from_translation(-Vec3::Y),
    );
    let wall_at = |shape| Collider::fixed(shape, Pose::from_translation(Vec3::new(1.0, 0.5, 0.0)));
    let upright = block(Vec3::new(0.01, 0.5, 40.0));
    for wall in [
        wall_at(Shape::Box { half: Vec3::new(0.01, 0.5, 40.0) }),
        wall_at(Shape::mesh(upright.clone(), true, 0.0).unwrap()),
        wall_at(Shape::mesh(upright, false, 0.0).unwrap()),
    ] {
        for speed in [1.0, 10.0, 60.0, 200.0, 1000.0] {
            for down in [0.2, 1.0, 3.0] {
                let x = Vec3::new(0.3, 0.2, 0.1);
                let p = x + Vec3::new(1.0, -down, 0.3).normalize() * speed * DT;
                let posed = [posed(&floor, 0, 0.0), posed(&wall, 1, 0.0)];
                let (mut out, r) = (Vec::new(), 0.05);
                find_contacts(posed.iter().copied(), Vec3::ZERO, x, p, r, 0.0, &mut out);
                let end = settle(&out, p, r);
                assert!(end.x < 0.99 && end.y > 0.0, "{speed} {down}: {end} {out:?}");
            }
        }
    }
}

/// Many steps of bouncing about in a room with hills as its floor: nobody ever gets out.
#[test]
fn a_long_run_stays_in() {
    let hills = sheet(10, 2.2, |x, z| 0.1 * libm::sinf(6.0 * x) * libm::cosf(5.0 * z) - 0.6);
    let room = fixed(Shape::mesh(block(Vec3::ONE), false, 0.0).unwrap());
    let floor = fixed(Shape::mesh(hills, false, 0.0).unwrap());
    let posed = [posed(&room, 0, 0.0), posed(&floor, 1, 0.0)];
    let (r, mut out) = (0.03, Vec::new());
    for kick in [0.5f32, 5.0, 50.0, 500.0] {
        for start in 0..20 {
            let mut x = Vec3::new(0.04 * start as f32 - 0.4, 0.3, 0.3 - 0.03 * start as f32);
            let mut v = Vec3::ZERO;
            for step in 0..400 {
                if step % 40 == 0 {
                    let angle = (step + start * 7) as f32;
                    v = Vec3::new(libm::sinf(angle), libm::cosf(1.7 * angle), libm::cosf(angle))
                        * kick;
                }
                v.y -= 9.81 * DT;
                let p = x + v * DT;
                out.clear();
                find_contacts(posed.iter().copied(), Vec3::ZERO, x, p, r, 0.0, &mut out);
                let end = settle(&out, p, r);
                v = (end - x) / DT;
                x = end;
                assert!(
                    x.abs().max_element() < 1.0 && x.y > -0.71,
                    "kick {kick}, start {start}, step {step}: {x} {out:?}"
                );
            }
        }
    }
}

proptest::proptest! {
    /// Whoever a guard calls far has no contact; and it calls many so.
    #[test]
    fn a_guard_never_hides_a_contact(
        shape in 0usize..8,
        x in proptest::array::uniform3(-4.0f32..4.0),
        way in proptest::array::uniform3(-2.0f32..2.0),
        turn in proptest::array::uniform4(-1.0f32..1.0),
        moves in proptest::array::uniform3(-1.0f32..1.0),
        spin in proptest::array::uniform3(-0.2f32..0.2),
        spins in proptest::bool::ANY,
    ) {
        let solid = block(Vec3::new(0.4, 0.7, 0.2));
        let shape = match shape {
            0 | 1 => Shape::Plane { normal: Vec3::new(0.3, 1.0, -2.0) },
            2 => Shape::Sphere { radius: 0.6 },
            3 => Shape::Box { half: Vec3::new(0.4, 0.7, 0.2) },
            4 => Shape::Capsule { radius: 0.2, half_height: 0.5 },
            5 => Shape::Cylinder { radius: 0.4, half_height: 0.3 },
            6 => Shape::Cone { radius: 0.5, height: 0.9 },
            _ => Shape::mesh(solid, true, 0.0).unwrap(),
        };
        let collider = fixed(shape);
        let start = Pose::new(Vec3::ZERO, glam::Quat::from_array(turn));
        let spin = if spins { Vec3::from(spin) } else { Vec3::ZERO };
        let turned = start.rotation * glam::Quat::from_scaled_axis(spin);
        let end = Pose::new(Vec3::from(moves).floor(), turned);
        let guard = super::Guard::of(&collider, start, end);
        let unguarded = Posed { start, end, guard: super::Guard::None };
        let at = PosedCollider { collider: &collider, posed: &unguarded, index: 0 };
        let (x, r, margin) = (Vec3::from(x), 0.05, 0.01);
        let p = x + Vec3::from(way);
        let mut out = Vec::new();
        find_contacts(std::iter::once(at), Vec3::ZERO, x, p, r, margin, &mut out);
        if guard.is_far(x, p, r + margin) {
            proptest::prop_assert!(out.is_empty(), "{out:?}");
        }
        // The first look of eight must not spare who is not far; the others are anywhere.
        let rows = |at: Vec3| [at.extend(1.0); crate::simd::LANES];
        let (position, radius) = (rows(x), [r; crate::simd::LANES]);
        let (start, predicted) = (rows(Vec3::ZERO), rows(p - x));
        for level in crate::simd::Level::all() {
            let near = super::Near {
                posed: &[Posed { guard, ..unguarded }],
                position: &position,
                start: &start,
                predicted: &predicted,
                radius: &radius,
                reach: (r + margin) / r,
            };
            let spared = level.run(near) & 0xff == 0;
            proptest::prop_assert!(!spared || guard.is_far(x, p, r + margin));
        }
    }
}

/// A guard that calls nobody far would pass the test above.
#[test]
fn guards_spare_most_particles() {
    let ball = fixed(Shape::Sphere { radius: 0.5 });
    let floor = fixed(Shape::Plane { normal: Vec3::Y });
    for collider in [&ball, &floor] {
        let guard = super::Guard::of(collider, Pose::IDENTITY, Pose::IDENTITY);
        assert!(guard.is_far(Vec3::Y, Vec3::Y * 1.1, 0.1));
        assert!(!guard.is_far(Vec3::Y, Vec3::Y * 0.05, 0.1));
        assert!(!guard.is_far(Vec3::Y, Vec3::NAN, 0.1));
    }
    // One that moves and turns a little spares those that are further than it goes.
    let end = Pose::new(Vec3::X * 0.1, glam::Quat::from_rotation_z(0.05));
    let guard = super::Guard::of(&ball, Pose::IDENTITY, end);
    assert!(guard.is_far(Vec3::Y * 2.0, Vec3::Y * 1.9, 0.1));
    assert!(!guard.is_far(Vec3::Y, Vec3::Y * 0.7, 0.1));
    assert!(!guard.is_far(Vec3::X * 0.75, Vec3::X * 0.75, 0.1));
}
