//! One triangle against a point and against a segment, in double precision: slivers and shared
//! edges are where single precision leaks.

use glam::{DVec3, Vec3};

/// The part of a triangle a closest point lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Strictly inside the triangle.
    Face,
    /// On an edge; edge `i` runs from corner `i` to corner `i + 1`.
    Edge(u8),
    /// On a corner.
    Vertex(u8),
}

/// The point of a triangle closest to `p`, and the feature it lies on (Ericson 2005, 5.1.5).
/// A triangle without area is treated as its three edges.
pub fn closest_point(corners: &[Vec3; 3], p: Vec3) -> (DVec3, Feature) {
    let [a, b, c] = corners.map(|v| v.as_dvec3());
    let p = p.as_dvec3();
    let (ab, ac, ap) = (b - a, c - a, p - a);
    // Relative to the edges, so that the size of the mesh does not decide what a sliver is.
    if ab.cross(ac).length_squared() <= 1e-24 * ab.length_squared() * ac.length_squared() {
        return closest_on_edges([a, b, c], p);
    }
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Vertex(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * t, Feature::Edge(1));
    }
    let inv = 1.0 / (va + vb + vc);
    (a + ab * (vb * inv) + ac * (vc * inv), Feature::Face)
}

fn closest_on_edges(corners: [DVec3; 3], p: DVec3) -> (DVec3, Feature) {
    let mut best = (corners[0], Feature::Vertex(0));
    let mut best_sq = p.distance_squared(best.0);
    for i in 0..3u8 {
        let (a, b) = (corners[i as usize], corners[(i as usize + 1) % 3]);
        let along = b - a;
        let length_sq = along.length_squared();
        let t = if length_sq > 0.0 { along.dot(p - a) / length_sq } else { 0.0 };
        let found = if t <= 0.0 {
            (a, Feature::Vertex(i))
        } else if t >= 1.0 {
            (b, Feature::Vertex((i + 1) % 3))
        } else {
            (a + along * t, Feature::Edge(i))
        };
        let found_sq = p.distance_squared(found.0);
        if found_sq < best_sq {
            (best, best_sq) = (found, found_sq);
        }
    }
    best
}

/// The unit normal by the winding (counter-clockwise from outside), none for a triangle without
/// area.
pub fn unit_normal(corners: &[Vec3; 3]) -> Option<DVec3> {
    let [a, b, c] = corners.map(|v| v.as_dvec3());
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    if normal.length_squared() <= 1e-24 * ab.length_squared() * ac.length_squared() {
        return None;
    }
    normal.try_normalize()
}

/// Where a segment passes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Fraction of the way along the segment, 0..=1.
    pub t: f64,
    /// Height of the segment's start over the triangle's plane, m (positive on the side of the
    /// normal).
    pub start: f64,
    /// Height of the segment's end.
    pub end: f64,
    /// The unit normal by the winding.
    pub normal: DVec3,
}

/// The crossing of the segment `from` -> `to` with a triangle, its edges and corners included.
/// The volume spanned by the segment and an edge is the exact negative for the neighbour that
/// runs along the edge the other way, so a segment through a shared edge hits at least one of
/// the two.
pub fn segment_crossing(corners: &[Vec3; 3], from: Vec3, to: Vec3) -> Option<Crossing> {
    let origin = from.as_dvec3();
    let along = to.as_dvec3() - origin;
    let [a, b, c] = corners.map(|v| v.as_dvec3() - origin);
    let edges = [along.dot(a.cross(b)), along.dot(b.cross(c)), along.dot(c.cross(a))];
    let outside = edges.iter().any(|&e| e < 0.0) && edges.iter().any(|&e| e > 0.0);
    if outside {
        return None;
    }
    let normal = unit_normal(corners)?;
    let start = -normal.dot(a);
    let end = normal.dot(along) + start;
    let crosses = (start >= 0.0 && end <= 0.0) || (start <= 0.0 && end >= 0.0);
    // Within the plane there is no crossing; the distance test deals with it.
    if !crosses || start == end {
        return None;
    }
    Some(Crossing { t: start / (start - end), start, end, normal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        (-2.0f32..2.0, -2.0f32..2.0, -2.0f32..2.0).prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn closest_point_beats_every_sample(a in point(), b in point(), c in point(), p in point()) {
            let corners = [a, b, c];
            let (found, _) = closest_point(&corners, p);
            let best = found.distance(p.as_dvec3());
            for i in 0..=20 {
                for j in 0..=(20 - i) {
                    let (u, v) = (i as f32 / 20.0, j as f32 / 20.0);
                    let sample = a + (b - a) * u + (c - a) * v;
                    prop_assert!(best <= f64::from(sample.distance(p)) + 1e-5);
                }
            }
            // And it lies in the triangle: no farther from it than rounding.
            let (again, _) = closest_point(&corners, found.as_vec3());
            prop_assert!(again.distance(found) < 1e-5);
        }

        #[test]
        fn degenerate_triangles_stay_finite(a in point(), b in point(), p in point(), s in 0.0f32..1.0) {
            for corners in [[a, a, a], [a, a, b], [a, b, b], [a, b, a + (b - a) * s], [p, p, b]] {
                let (found, _) = closest_point(&corners, p);
                prop_assert!(found.is_finite());
                prop_assert!(found.distance(p.as_dvec3()) <= f64::from(a.distance(p)) + 1e-5 || corners[0] == p);
            }
        }

        #[test]
        fn a_shared_edge_never_leaks(a in point(), b in point(), s in 0.0f32..1.0, from in point(), push in 0.1f32..5.0) {
            let on_edge = a + (b - a) * s;
            let to = on_edge + (on_edge - from) * push;
            // Two triangles in one plane, on either side of the edge a-b.
            let side = (b - a).cross(on_edge - from).cross(b - a).normalize_or(Vec3::ZERO);
            prop_assume!(side != Vec3::ZERO && a.distance(b) > 0.1 && from.distance(on_edge) > 0.1);
            let across = side.cross(b - a).normalize_or(Vec3::ZERO);
            let (left, right) = (on_edge + across, on_edge - across);
            let hits = [[a, b, left], [b, a, right]].iter().filter(|t| segment_crossing(t, from, to).is_some()).count();
            prop_assert!(hits >= 1);
        }
    }

    #[test]
    fn features_are_named() {
        let t = [Vec3::ZERO, Vec3::X, Vec3::Z];
        assert_eq!(closest_point(&t, Vec3::new(0.2, 3.0, 0.2)).1, Feature::Face);
        assert_eq!(closest_point(&t, Vec3::new(0.5, 1.0, -1.0)).1, Feature::Edge(0));
        assert_eq!(closest_point(&t, Vec3::new(1.0, 0.0, 1.0)).1, Feature::Edge(1));
        assert_eq!(closest_point(&t, Vec3::new(-1.0, 0.0, 0.5)).1, Feature::Edge(2));
        assert_eq!(closest_point(&t, Vec3::new(-1.0, 0.0, -1.0)).1, Feature::Vertex(0));
        assert_eq!(closest_point(&t, Vec3::new(3.0, 0.0, 0.0)).1, Feature::Vertex(1));
        assert_eq!(closest_point(&t, Vec3::new(0.0, 0.0, 3.0)).1, Feature::Vertex(2));
    }
}
