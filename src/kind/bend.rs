//! Two triangles at a rest angle: C = θ - θ0, where θ is the signed angle between the triangles
//! (p0, e) and (p1, e) over the edge e = p2p3. The gradients are those of discrete shells (Grinspun
//! 2003), which have no singularity where the hinge is flat.

use super::{Constrain, places};
use crate::simd::angle::atan2;
use crate::simd::{Number, Vector};
use glam::Vec4;
use std::f32::consts::PI;

/// A triangle whose squared normal is below this has collapsed. The normal is twice as long as the
/// triangle is large.
const MIN_NORMAL_SQ: f32 = 1e-24;

/// The dihedral hinge.
pub(crate) struct Bend;

impl Constrain<4> for Bend {
    const UNIT: &'static str = "rad";
    /// A hinge turns about its edge; a cut between the wing tips leaves it alone.
    const EDGES: &'static [[usize; 2]] = &[[2, 3]];

    /// The signed angle of the hinge; 0 when it is flat.
    fn measure(p: &[Vec4; 4]) -> f32 {
        Hinge::of(places(p)).angle()
    }

    fn error(p: &[Vec4; 4], rest: f32) -> f32 {
        short_way(Self::measure(p) - rest)
    }

    fn strain(p: &[Vec4; 4], rest: f32) -> f32 {
        Self::error(p, rest).abs()
    }

    fn yielded(p: &[Vec4; 4], rest: f32, limit: f32) -> f32 {
        let error = Self::error(p, rest);
        short_way(rest + error - limit.copysign(error))
    }
}

/// A hinge: its edge, and the normals of its wings, each twice as long as its triangle is large.
pub(crate) struct Hinge<L> {
    edge: Vector<L>,
    length: L,
    n1: Vector<L>,
    n2: Vector<L>,
}

impl<L: Number> Hinge<L> {
    #[inline(always)]
    pub fn of([a, b, c, d]: [Vector<L>; 4]) -> Self {
        let edge = d - c;
        let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
        Hinge { edge, length: edge.length(), n1, n2 }
    }

    /// The signed angle in rad, 0 when the hinge is flat. The factor |e| scales the sine and the
    /// cosine alike, so nothing need be normalised.
    #[inline(always)]
    pub fn angle(&self) -> L {
        atan2(self.n1.cross(self.n2).dot(self.edge), self.n1.dot(self.n2) * self.length)
    }

    /// The gradients of the angle, in the order of the particles, and where they exist. A wing tip
    /// moves the angle by 1 / its height over the edge; the ends of the edge share the opposite of
    /// both, by where the tip stands over the edge.
    #[inline(always)]
    pub fn gradients(&self, [a, b, _, d]: [Vector<L>; 4]) -> ([Vector<L>; 4], L::Mask) {
        let Hinge { edge, length, n1, n2 } = *self;
        let (s1, s2) = (n1.length_sq(), n2.length_sq());
        let (m1, m2) = (n1 * (length / s1), n2 * (length / s2));
        let per_edge = L::splat(1.0) / edge.length_sq();
        let (t1, t2) = ((d - a).dot(edge) * per_edge, (d - b).dot(edge) * per_edge);
        let gc = m1 * t1 + m2 * t2;
        let least = L::splat(MIN_NORMAL_SQ);
        ([-m1, -m2, gc, m1 + m2 - gc], L::both(s1.above(least), s2.above(least)))
    }
}

/// Brings an angle that is up to a turn off back to -π..π.
#[inline(always)]
pub(crate) fn short_way<L: Number>(angle: L) -> L {
    let (half, turn) = (L::splat(PI), L::splat(2.0 * PI));
    let below = L::select((-half).above(angle), angle + turn, angle);
    L::select(angle.above(half), angle - turn, below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn gradients(p: &[Vec4; 4]) -> [Vec3; 4] {
        let at = places(p);
        let (gradients, exist) = Hinge::of(at).gradients(at);
        assert!(exist);
        gradients.map(Vec3::from)
    }

    fn hinge(lift: f32) -> [Vec4; 4] {
        [
            Vec4::new(-1.0, lift, 0.2, 1.0),
            Vec4::new(1.1, 0.3, -0.1, 2.0),
            Vec4::new(0.0, 0.0, -0.5, 1.0),
            Vec4::new(0.1, 0.05, 0.6, 0.5),
        ]
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        for lift in [-2.0, -0.5, 0.0, 0.4, 3.0] {
            let p = hinge(lift);
            let grad = gradients(&p);
            for k in 0..4 {
                for axis in 0..3 {
                    let step = 1e-3;
                    let mut moved = [p, p];
                    moved[0][k][axis] += step;
                    moved[1][k][axis] -= step;
                    let angle = |p| Bend::measure(p);
                    let numeric = (angle(&moved[0]) - angle(&moved[1])) / (2.0 * step);
                    let analytic = grad[k][axis];
                    assert!(
                        (numeric - analytic).abs() < 2e-3 * (1.0 + analytic.abs()),
                        "lift {lift} particle {k} axis {axis}: {numeric} {analytic}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_flat_hinge_has_angle_zero_and_a_gradient() {
        let flat = [
            Vec4::new(-1.0, 0.0, 0.0, 1.0),
            Vec4::new(1.0, 0.0, 0.0, 1.0),
            Vec4::new(0.0, 0.0, -0.5, 1.0),
            Vec4::new(0.0, 0.0, 0.5, 1.0),
        ];
        assert_eq!(Bend::measure(&flat), 0.0);
        assert!(gradients(&flat)[0].length() > 0.5);
    }
}
