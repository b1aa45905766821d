//! The picture's primitives in view space, with the pixels they may touch. What cannot be drawn
//! (not finite, empty, behind the eye, facing away) gets an empty footprint here, once.

use super::lens::Lens;
use super::tiles::Footprint;
use super::{Line, Sphere, Triangle};
use glam::{Vec2, Vec3};

/// Spheres are drawn at least this large [px], so that far particles do not flicker between pixels.
pub const LEAST_RADIUS: f32 = 0.6;

/// A sphere in view space.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub center: Vec3,
    pub radius: f32,
}

/// A triangle in view space: for a ray d = (x, y, 1), `edges[i] . d` is the weight of corner i (all
/// positive inside) and `depth / (normal . d)` the depth of the hit. Works without clipping
/// (Olano and Greer 1997, homogeneous rasterisation).
#[derive(Clone, Copy, Debug)]
pub struct Facet {
    pub edges: [Vec3; 3],
    pub normal: Vec3,
    pub depth: f32,
    /// Normals of the corners, and the one that `normal` gives: towards the eye, for light.
    pub corners: [Vec3; 3],
    pub flat: Vec3,
    /// All corners have one normal, the first, of length 1.
    pub is_flat: bool,
}

/// A line in pixels; `inv_depth` is linear along it.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    pub a: Vec2,
    pub b: Vec2,
    pub inv_depth: [f32; 2],
    pub half_width: f32,
    /// How much of the colour arrives: less than 1 for lines thinner than a pixel.
    pub opacity: f32,
}

/// A sphere's ball and footprint.
pub fn ball(lens: &Lens, sphere: &Sphere) -> (Ball, Footprint) {
    let center = lens.point(sphere.center);
    let radius = sphere.radius.max(LEAST_RADIUS * lens.pixel * center.z);
    let made = Ball { center, radius };
    let drawable = sphere.radius > 0.0 && sphere.radius.is_finite() && center.is_finite();
    let eye_inside = center.length_squared() <= radius * radius;
    if !drawable || eye_inside || center.z + radius <= lens.near {
        return (made, Footprint::NOTHING);
    }
    let (width, height) = (lens.size.x as u32, lens.size.y as u32);
    let near = center.z - radius;
    if near <= lens.near {
        // It reaches beside or behind the eye, where its outline has no bounds on the screen.
        return (made, Footprint::new(Vec2::ZERO, lens.size, lens.near, width, height));
    }
    // Tangents from the eye in the xz and yz planes: the exact outline in perspective.
    let bounds = |side: f32| {
        let r_sq = radius * radius;
        let reach = radius * (side * side + center.z * center.z - r_sq).max(0.0).sqrt();
        let scale = 1.0 / (center.z * center.z - r_sq);
        ((side * center.z - reach) * scale, (side * center.z + reach) * scale)
    };
    let (x_low, x_high) = bounds(center.x);
    let (y_low, y_high) = bounds(center.y);
    let low = lens.pixel_of(Vec2::new(x_low, y_high));
    let high = lens.pixel_of(Vec2::new(x_high, y_low));
    (made, Footprint::new(low, high, near, width, height))
}

/// A triangle's facet and footprint.
pub fn facet(lens: &Lens, triangle: &Triangle) -> (Facet, Footprint) {
    let p = triangle.p.map(|p| lens.point(p));
    // p x (q - p) rather than p x q: the products stay as small as the edge, and so do the errors.
    let mut made = Facet {
        edges: [p[1].cross(p[2] - p[1]), p[2].cross(p[0] - p[2]), p[0].cross(p[1] - p[0])],
        normal: (p[1] - p[0]).cross(p[2] - p[0]),
        depth: 0.0,
        corners: [Vec3::ZERO; 3],
        flat: Vec3::ZERO,
        is_flat: false,
    };
    made.depth = p[0].dot(made.normal);
    let drawable = made.depth.is_finite()
        && made.depth != 0.0
        && made.normal.is_finite()
        && made.edges.iter().all(|e| e.is_finite());
    // The view basis is left-handed, so counter-clockwise corners facing the eye give depth > 0.
    if !drawable || (made.depth < 0.0 && !triangle.two_sided) {
        return (made, Footprint::NOTHING);
    }
    if made.depth < 0.0 {
        made.edges = made.edges.map(|e| -e);
        made.normal = -made.normal;
        made.depth = -made.depth;
    }
    made.flat = -made.normal.normalize_or_zero();
    made.corners = triangle.n.map(|n| lens.direction(n));
    let [a, b, c] = made.corners;
    if triangle.two_sided && (a + b + c).dot(made.flat) < 0.0 {
        made.corners = [-a, -b, -c];
    }
    made.is_flat = triangle.n[0] == triangle.n[1] && triangle.n[0] == triangle.n[2];
    if made.is_flat {
        made.corners[0] = made.corners[0].normalize_or(made.flat);
    }
    let mut low = Vec2::INFINITY;
    let mut high = Vec2::NEG_INFINITY;
    let mut near = f32::INFINITY;
    let mut include = |q: Vec3| {
        let pixel = lens.pixel_of(q.truncate() / q.z);
        low = low.min(pixel);
        high = high.max(pixel);
        near = near.min(q.z);
    };
    for i in 0..3 {
        let (a, b) = (p[i], p[(i + 1) % 3]);
        if a.z >= lens.near {
            include(a);
        }
        if (a.z < lens.near) != (b.z < lens.near) {
            include(a.lerp(b, (lens.near - a.z) / (b.z - a.z)).with_z(lens.near));
        }
    }
    if near == f32::INFINITY {
        return (made, Footprint::NOTHING);
    }
    (made, Footprint::new(low, high, near, lens.size.x as u32, lens.size.y as u32))
}

/// A line's stroke and footprint; `scale` widens it for pictures that will be halved.
pub fn stroke(lens: &Lens, line: &Line, scale: f32) -> (Stroke, Footprint) {
    let (mut a, mut b) = (lens.point(line.a), lens.point(line.b));
    let width = line.width_px * scale;
    let mut made = Stroke {
        a: Vec2::ZERO,
        b: Vec2::ZERO,
        inv_depth: [0.0; 2],
        half_width: width.max(1.0) * 0.5,
        opacity: width.min(1.0),
    };
    let drawable = a.is_finite() && b.is_finite() && width.is_finite() && width > 0.0;
    if !drawable || a.z.max(b.z) <= lens.near {
        return (made, Footprint::NOTHING);
    }
    let cut = |from: Vec3, to: Vec3| from.lerp(to, (lens.near - from.z) / (to.z - from.z));
    if a.z < lens.near {
        a = cut(a, b).with_z(lens.near);
    } else if b.z < lens.near {
        b = cut(b, a).with_z(lens.near);
    }
    made.a = lens.pixel_of(a.truncate() / a.z);
    made.b = lens.pixel_of(b.truncate() / b.z);
    made.inv_depth = [1.0 / a.z, 1.0 / b.z];
    if !clip(&mut made, lens.size) {
        return (made, Footprint::NOTHING);
    }
    let reach = Vec2::splat(made.half_width + 0.5);
    let (low, high) = (made.a.min(made.b) - reach, made.a.max(made.b) + reach);
    let (width, height) = (lens.size.x as u32, lens.size.y as u32);
    (made, Footprint::new(low, high, a.z.min(b.z), width, height))
}

/// Lines longer than this are not drawn [px].
const LONGEST: f64 = 1e12;

/// Cuts a stroke off beyond the edges of the picture, far enough that its ends are not seen: a world
/// that flew apart has lines of any length. False when nothing is left.
fn clip(stroke: &mut Stroke, size: Vec2) -> bool {
    let margin = f64::from(stroke.half_width) + 2.0;
    let (a, b) = (stroke.a.as_dvec2(), stroke.b.as_dvec2());
    let along = b - a;
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for k in 0..2 {
        let (low, high) = (-margin - a[k], f64::from(size[k]) + margin - a[k]);
        if along[k] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
            continue;
        }
        let (s, t) = (low / along[k], high / along[k]);
        from = from.max(s.min(t));
        to = to.min(s.max(t));
    }
    // Of a line longer than this, f64 does not know any more where it crosses the picture.
    if !(from <= to && along.length() < LONGEST) {
        return false;
    }
    let depths = stroke.inv_depth.map(f64::from);
    let at = |s: f64| (depths[0] + (depths[1] - depths[0]) * s) as f32;
    stroke.inv_depth = [at(from), at(to)];
    (stroke.a, stroke.b) = ((a + along * from).as_vec2(), (a + along * to).as_vec2());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_any_length_is_cut_where_the_picture_ends() {
        let size = Vec2::new(800.0, 600.0);
        let stroke = |a: Vec2, b: Vec2| Stroke {
            a,
            b,
            inv_depth: [1.0, 3.0],
            half_width: 0.5,
            opacity: 1.0,
        };
        // Through the middle of the picture, whatever its length.
        for length in [10.0, 2e3, 1e6, 1e11] {
            let middle = Vec2::new(400.0, 300.0);
            let mut line = stroke(middle - Vec2::X * length, middle + Vec2::X * length);
            assert!(clip(&mut line, size));
            let inside = |p: Vec2| p.x >= -3.0 && p.x <= 803.0 && (p.y - 300.0).abs() < 1e-3;
            assert!(inside(line.a) && inside(line.b), "{line:?}");
            let whole = length == 10.0;
            assert_eq!(whole, line.b.x - line.a.x < 100.0, "{line:?}");
            // Half way along it is as deep as before.
            let depth = (line.inv_depth[0] + line.inv_depth[1]) * 0.5;
            assert!((depth - 2.0).abs() < 1e-3, "{line:?}");
        }
        let beside = [
            (Vec2::new(-50.0, -9.0), Vec2::new(1e12, -9.0)),
            (Vec2::new(-50.0, 0.0), Vec2::new(-10.0, 600.0)),
            (Vec2::new(-700.0, 600.0), Vec2::new(600.0, -700.0)),
            (Vec2::new(f32::INFINITY, 0.0), Vec2::new(5.0, 5.0)),
            (Vec2::new(-1e24, 300.0), Vec2::new(1e24, 300.0)),
        ];
        for (a, b) in beside {
            assert!(!clip(&mut stroke(a, b), size), "{a} {b}");
        }
        let mut point = stroke(Vec2::splat(5.0), Vec2::splat(5.0));
        assert!(clip(&mut point, size) && point.a == point.b);
    }
}
