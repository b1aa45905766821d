//! Contacts with primitives.

use super::*;
use crate::world::collider::Keyframe;

fn primitives() -> Vec<Shape> {
    shapes().into_iter().filter(|s| !matches!(s, Shape::Mesh { .. })).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Slow and outside: exactly the tangent plane of the signed distance, or nothing.
    #[test]
    fn slow_contact_is_the_distance(x in vector(1.0), step in vector(0.02), margin in 0.0f32..0.05) {
        let r = 0.05;
        for shape in primitives() {
            let p = x + step;
            // The box is thinner than the particle: only those that stay well off it.
            let (start, (end, gradient)) = (shape.distance(x).0, shape.distance(p));
            if start < 0.04 || end < 0.04 || (end - r - margin).abs() < 1e-5 {
                continue;
            }
            let found = contacts(&fixed(shape.clone()), x, p, r, margin);
            prop_assert_eq!(found.len(), usize::from(end < r + margin), "{:?}", shape);
            for contact in &found {
                prop_assert!((height(contact, p, r) - (end - r)).abs() < 1e-5);
                prop_assert!((contact.plane.truncate() - gradient).length() < 1e-5);
            }
        }
    }

    /// At any speed, from any place outside: after projection it touches at most, and the way
    /// there did not lead through.
    #[test]
    fn nothing_gets_in(x in vector(3.0), toward in vector(0.4), speed in 0.1f32..1000.0, r in 0.005f32..0.1) {
        for shape in primitives() {
            if shape.distance(x).0 < 1e-4 {
                continue;
            }
            let p = x + (toward - x).normalize_or(Vec3::X) * speed * DT;
            let found = contacts(&fixed(shape.clone()), x, p, r, 0.0);
            let end = settle(&found, p, r);
            prop_assert!(found.len() <= 1);
            prop_assert!(shape.distance(end).0 > r - 1e-3 * r - 2e-5, "{shape:?} {x} {p} {end}");
            // A convex body cannot lie between two points before the same tangent plane.
            let through = (0..=200).any(|i| shape.distance(x.lerp(p, i as f32 / 200.0)).0 < 0.0);
            prop_assert!(!through || !found.is_empty(), "{shape:?} {x} {p}");
            for contact in &found {
                prop_assert!(height(contact, x, 0.0) > -1e-4, "started behind: {shape:?} {x} {p}");
            }
        }
    }

    #[test]
    fn who_starts_inside_leaves_by_the_nearest_way(x in vector(0.5), p in vector(3.0)) {
        let r = 0.02;
        for shape in primitives() {
            let (depth, gradient) = shape.distance(x);
            if depth >= 0.0 {
                continue;
            }
            for contact in contacts(&fixed(shape.clone()), x, p, r, 0.0) {
                prop_assert!((contact.plane.truncate() - gradient).length() < 1e-5);
                prop_assert!((height(&contact, x, 0.0) - depth).abs() < 1e-5);
            }
            // Staying put is not leaving.
            prop_assert_eq!(contacts(&fixed(shape), x, x, r, 0.0).len(), 1);
        }
    }
}

#[test]
fn passing_by_is_no_contact() {
    let ball = fixed(Shape::Sphere { radius: 0.5 });
    let pass =
        |y: f32| contacts(&ball, Vec3::new(-8.0, y, 0.0), Vec3::new(8.0, y, 0.0), 0.05, 0.01);
    assert!(pass(0.56).is_empty());
    assert_eq!(pass(0.54).len(), 1);
    // Ending near it is one, however fast.
    assert_eq!(
        contacts(&ball, Vec3::new(-8.0, 0.555, 0.0), Vec3::new(0.0, 0.555, 0.0), 0.05, 0.01).len(),
        1
    );
    // Leaving fast from a touch is none.
    assert!(contacts(&ball, Vec3::Y * 0.549, Vec3::Y * 9.0, 0.05, 0.01).is_empty());
}

#[test]
fn a_box_thinner_than_the_particle_does_not_leak() {
    let half = 0.0005;
    let plate = fixed(Shape::Box { half: Vec3::new(1.0, half, 1.0) });
    let r = 0.02;
    for side in [1.0, -1.0] {
        for start in [0.0006, 0.005, 0.02, 0.5] {
            for speed in [0.1, 0.5, 1.0, 3.0, 30.0, 1000.0] {
                let x = Vec3::new(0.1, start * side, 0.2);
                let p = x - Vec3::Y * speed * DT * side;
                let end = settle(&contacts(&plate, x, p, r, 0.01), p, r);
                assert!(end.y * side > half * 0.99, "{x} {p} {end}");
            }
        }
    }
}

#[test]
fn resting_and_sliding_keep_one_plane() {
    let floor = fixed(Shape::Box { half: Vec3::new(5.0, 0.5, 5.0) });
    for speed in [0.0, 0.1, 5.0, 100.0] {
        let x = Vec3::new(-3.0, 0.5499, 0.0);
        let found = contacts(&floor, x, x + Vec3::new(speed * DT, -0.003, 0.0), 0.05, 0.01);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].plane, Vec4::new(0.0, 1.0, 0.0, -0.5));
    }
}

/// A plate driven past a still particle takes it along, though it is nowhere near at either end.
#[test]
fn a_fast_collider_catches_a_still_particle() {
    let sheet = Shape::mesh(sheet(3, 2.0, |_, _| 0.0), false, 0.002).unwrap();
    for shape in [Shape::Box { half: Vec3::new(1.0, 0.001, 1.0) }, sheet] {
        for speed in [1.0, 60.0, 1000.0] {
            for sign in [1.0, -1.0] {
                let travel = speed * DT * sign;
                let mut plate = fixed(shape.clone());
                let turn = Quat::from_rotation_x(0.3);
                plate.path = [-0.5, 0.5]
                    .map(|s| Pose::new(Vec3::new(0.1, travel * s, 0.0), turn))
                    .iter()
                    .zip([0.0, f64::from(DT)])
                    .map(|(&pose, time)| Keyframe { time, pose })
                    .collect();
                let posed = super::posed(&plate, 0, f64::from(DT));
                let (x, r) = (Vec3::ZERO, 0.01);
                let mut found = Vec::new();
                find_contacts([posed].into_iter(), Vec3::ZERO, x, x, r, 0.0, &mut found);
                assert_eq!(found.len(), 1, "{shape:?} {travel}");
                assert!((found[0].motion - Vec3::Y * travel).length() < 1e-4);
                // Before the plate at its end, as it was at its start.
                let end = settle(&found, x, r);
                assert!((posed.posed.end.inverse_point(end).y * sign - r - 0.001).abs() < 1e-4);
                let at_start =
                    height(&found[0], x, r) + found[0].plane.truncate().dot(found[0].motion);
                let exact = posed.posed.start.inverse_point(x).y * sign - r - 0.001;
                assert!((at_start - exact).abs() < 1e-4, "{at_start} {exact}");
            }
        }
    }
}
