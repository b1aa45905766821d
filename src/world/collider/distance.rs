//! Signed distance to a shape and the direction it grows fastest, in the local frame.
//!
//! Every shape but the mesh is convex, and so is its exact signed distance: the contact finder
//! leans on that. Where the direction is not unique (centre, axis, inner ridges) a fixed one is
//! picked, so nothing is ever divided by zero.

use glam::{Vec2, Vec3};

use super::shape::Shape;
use crate::shape::triangle_bvh::{Feature, TriangleBvh, unit_normal};

impl Shape {
    /// Signed distance from local point `p` to the surface, m (negative inside), and the outward
    /// unit gradient. A sheet (a mesh that is not closed) has no inside: its distance is to the
    /// middle surface, less half the thickness.
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        match self {
            Shape::Plane { normal } => {
                let normal = normal.normalize_or(Vec3::Y);
                (normal.dot(p), normal)
            }
            Shape::Sphere { radius } => {
                let (length, direction) = length_direction(p, Vec3::Y);
                (length - radius, direction)
            }
            Shape::Box { half } => box_distance(p, *half),
            Shape::Capsule { radius, half_height } => {
                let axis = Vec3::new(0.0, p.y.min(*half_height).max(-half_height), 0.0);
                let (length, direction) = length_direction(p - axis, Vec3::X);
                (length - radius, direction)
            }
            Shape::Cylinder { radius, half_height } => {
                let (rho, radial) = length_direction(Vec3::new(p.x, 0.0, p.z), Vec3::X);
                let over = Vec2::new(rho - radius, p.y.abs() - half_height);
                let (distance, gradient) = corner_distance(over);
                (distance, radial * gradient.x + Vec3::Y * signed(gradient.y, p.y))
            }
            Shape::Cone { radius, height } => {
                let (rho, radial) = length_direction(Vec3::new(p.x, 0.0, p.z), Vec3::X);
                let (distance, gradient) = cone_distance(Vec2::new(rho, p.y), *radius, *height);
                (distance, radial * gradient.x + Vec3::Y * gradient.y)
            }
            Shape::Mesh { bvh, closed, thickness, .. } => {
                mesh_distance(bvh, *closed, *thickness, p)
            }
        }
    }
}

fn length_direction(v: Vec3, fallback: Vec3) -> (f32, Vec3) {
    let length = v.length();
    if length > 0.0 { (length, v / length) } else { (0.0, fallback) }
}

fn signed(size: f32, like: f32) -> f32 {
    if like < 0.0 { -size } else { size }
}

fn box_distance(p: Vec3, half: Vec3) -> (f32, Vec3) {
    let over = p.abs() - half;
    let (distance, gradient) = if over.max_element() <= 0.0 {
        let axis = over.max_position();
        (over[axis], Vec3::AXES[axis])
    } else {
        length_direction(over.max(Vec3::ZERO), Vec3::Y)
    };
    let gradient =
        Vec3::new(signed(gradient.x, p.x), signed(gradient.y, p.y), signed(gradient.z, p.z));
    (distance, gradient)
}

/// Distance to the quadrant x <= 0, y <= 0.
fn corner_distance(over: Vec2) -> (f32, Vec2) {
    if over.x <= 0.0 && over.y <= 0.0 {
        return if over.x > over.y { (over.x, Vec2::X) } else { (over.y, Vec2::Y) };
    }
    let outside = over.max(Vec2::ZERO);
    let length = outside.length();
    if length > 0.0 { (length, outside / length) } else { (0.0, Vec2::Y) }
}

/// Distance to the triangle (0,0), (radius,0), (0,height) in the half plane rho >= 0.
fn cone_distance(p: Vec2, radius: f32, height: f32) -> (f32, Vec2) {
    let rim = Vec2::new(radius, 0.0);
    let apex = Vec2::new(0.0, height);
    let length = (apex - rim).length();
    let along = (apex - rim) / length;
    let slant_normal = Vec2::new(along.y, -along.x);
    let slant = slant_normal.dot(p - rim);
    if slant <= 0.0 && p.y >= 0.0 {
        return if slant > -p.y { (slant, slant_normal) } else { (-p.y, -Vec2::Y) };
    }
    // The flat parts take their own normal: the difference to a closest point is all rounding
    // when the point is near the surface.
    if p.y <= 0.0 && p.x <= radius {
        return (-p.y, -Vec2::Y);
    }
    let t = along.dot(p - rim);
    if slant > 0.0 && t > 0.0 && t < length {
        return (slant, slant_normal);
    }
    let (corner, fallback) = if t <= 0.0 { (rim, Vec2::X) } else { (apex, Vec2::Y) };
    let out = p - corner;
    let distance = out.length();
    if distance > 0.0 { (distance, out / distance) } else { (0.0, fallback) }
}

fn mesh_distance(bvh: &TriangleBvh, closed: bool, thickness: f32, p: Vec3) -> (f32, Vec3) {
    let Some(closest) = bvh.closest(p) else { return (f32::MAX, Vec3::Y) };
    let face = unit_normal(&closest.corners).map_or(Vec3::Y, |n| n.as_vec3());
    let inside = closed && bvh.contains(p);
    let side = if inside { -1.0 } else { 1.0 };
    let (length, away) = length_direction(p - closest.point, face * side);
    // On a face the winding's normal is exact where the difference is mostly rounding.
    let gradient = match closest.feature {
        Feature::Face if face.dot(away * side) < 0.0 => -face,
        Feature::Face => face,
        Feature::Edge(_) | Feature::Vertex(_) => away * side,
    };
    (length * side - if closed { 0.0 } else { 0.5 * thickness }, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::mesh::TriangleMesh;
    use proptest::prelude::*;

    fn primitives() -> Vec<Shape> {
        vec![
            Shape::Plane { normal: Vec3::new(1.0, 2.0, -0.5) },
            Shape::Sphere { radius: 0.7 },
            Shape::Box { half: Vec3::new(0.5, 0.2, 0.9) },
            Shape::Capsule { radius: 0.3, half_height: 0.6 },
            Shape::Cylinder { radius: 0.6, half_height: 0.4 },
            Shape::Cone { radius: 0.8, height: 1.1 },
            Shape::Cone { radius: 0.2, height: 1.5 },
            Shape::Cone { radius: 1.5, height: 0.2 },
        ]
    }

    /// Whether `p` is in the solid, written without distances.
    fn inside(shape: &Shape, p: Vec3) -> bool {
        let rho = p.x.hypot(p.z);
        match shape {
            Shape::Plane { normal } => normal.dot(p) < 0.0,
            Shape::Sphere { radius } => p.length() < *radius,
            Shape::Box { half } => p.abs().cmplt(*half).all(),
            Shape::Capsule { radius, half_height } => {
                rho < *radius && p.y.abs() < *half_height
                    || (p - Vec3::Y * *half_height).length() < *radius
                    || (p + Vec3::Y * *half_height).length() < *radius
            }
            Shape::Cylinder { radius, half_height } => rho < *radius && p.y.abs() < *half_height,
            Shape::Cone { radius, height } => p.y > 0.0 && rho < radius * (1.0 - p.y / height),
            Shape::Mesh { .. } => unreachable!(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Exact means: the foot point is on the surface, and no point nearer is.
        #[test]
        fn distance_is_exact(p in prop::array::uniform3(-2.0f32..2.0), dirs in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 64)) {
            let p = Vec3::from(p);
            for shape in primitives() {
                let (d, n) = shape.distance(p);
                prop_assert!((n.length() - 1.0).abs() < 1e-5, "{shape:?} {p} {n}");
                prop_assert_eq!(d < 0.0, inside(&shape, p), "{:?} {} {}", shape, p, d);
                let foot = shape.distance(p - n * d).0;
                prop_assert!(foot.abs() < 2e-6, "{shape:?} {p} {d} {n}: foot at {foot}");
                // The ball of radius |d| lies wholly on p's side.
                for dir in &dirs {
                    let dir = Vec3::from(*dir).normalize_or(Vec3::X);
                    let sample = p + dir * (d.abs() * 0.999 - 1e-5).max(0.0);
                    prop_assert_eq!(inside(&shape, sample), d < 0.0, "{:?} {} {}", shape, p, dir);
                }
            }
        }

        #[test]
        fn gradient_is_the_slope(p in prop::array::uniform3(-2.0f32..2.0), dir in prop::array::uniform3(-1.0f32..1.0)) {
            let (p, dir) = (Vec3::from(p), Vec3::from(dir).normalize_or(Vec3::X));
            let e = 2e-3;
            for shape in primitives() {
                let (a, b) = (shape.distance(p - dir * e), shape.distance(p + dir * e));
                // Across a ridge the slope is not defined; elsewhere it turns slowly, but near
                // the axis or a corner the curvature is high.
                if (a.1 - b.1).length() > 0.01 {
                    continue;
                }
                let slope = (b.0 - a.0) / (2.0 * e);
                prop_assert!((slope - shape.distance(p).1.dot(dir)).abs() < 0.01, "{shape:?} {p}");
            }
        }

        #[test]
        fn along_a_line_it_is_convex(a in prop::array::uniform3(-2.0f32..2.0), b in prop::array::uniform3(-2.0f32..2.0)) {
            let (a, b) = (Vec3::from(a), Vec3::from(b));
            for shape in primitives() {
                let middle = shape.distance((a + b) * 0.5).0;
                prop_assert!(middle <= 0.5 * (shape.distance(a).0 + shape.distance(b).0) + 1e-5);
            }
        }
    }

    #[test]
    fn special_points_have_a_unit_direction() {
        let mut shapes = primitives();
        let sheet = TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Z],
            triangles: vec![[0, 2, 1]],
        };
        shapes.push(Shape::mesh(sheet, false, 0.01).unwrap());
        shapes.push(Shape::mesh(TriangleMesh::default(), false, 0.0).unwrap());
        let mut points = vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.25, 0.0, 0.25)];
        for y in [-2.0, -1.1, -0.9, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.9, 1.0, 1.1, 1.5, 2.0] {
            points.push(Vec3::new(0.0, y, 0.0));
            for x in [1e-38, 1e-20, 0.3, 0.5, 0.6, 0.8, 1.5] {
                points.extend([Vec3::new(x, y, 0.0), Vec3::new(-x, y, 0.9), Vec3::new(0.0, y, -x)]);
            }
        }
        for shape in &shapes {
            for &p in &points {
                let (d, n) = shape.distance(p);
                assert!(d.is_finite() && (n.length() - 1.0).abs() < 1e-4, "{shape:?} {p}: {d} {n}");
            }
        }
    }

    #[test]
    fn a_closed_mesh_has_an_inside() {
        let shape =
            Shape::mesh(super::super::tests::block(Vec3::new(0.5, 0.2, 0.9)), true, 0.3).unwrap();
        let exact = Shape::Box { half: Vec3::new(0.5, 0.2, 0.9) };
        for i in 0..17 {
            for j in 0..17 {
                let p = Vec3::new(i as f32 * 0.1 - 0.83, j as f32 * 0.07 - 0.57, 0.013);
                let ((d, n), (de, ne)) = (shape.distance(p), exact.distance(p));
                assert!((d - de).abs() < 1e-6, "{p}: {d} {de}");
                let ridge = de < 0.0 && (0.5 - p.x.abs() - (0.2 - p.y.abs())).abs() < 1e-3;
                assert!(ridge || (n - ne).length() < 1e-4, "{p}: {n} {ne}");
            }
        }
    }
}
