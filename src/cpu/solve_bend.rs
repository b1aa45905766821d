//! Projects dihedral hinges, by the sweep of the chosen solver.
//! C = θ - θ0, θ the signed angle between the triangles (p0, e) and (p1, e) over the edge e = p2p3,
//! with the gradients of discrete shells (Grinspun 2003): no singularity where the hinge is flat.
//! Reads: predicted [m, 1/kg], bend rows (two wing tips, two edge ends, rest rad, softness,
//! multiplier). Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: as `solve_distance`.

use super::solve::{self, Answer, Corner, Law, Projection};
use super::{Moment, Scratch, team::Team};
use crate::simd::angle::atan2;
use crate::simd::{Number, Vector};
use crate::world::World;
use glam::Vec4;
use std::f32::consts::PI;

/// Normals (twice the triangle areas) below this belong to collapsed triangles.
const MIN_NORMAL_SQ: f32 = 1e-24;

/// A hinge: its edge, and the normals of its wings, twice as long as these are large.
struct Hinge<L> {
    edge: Vector<L>,
    length: L,
    n1: Vector<L>,
    n2: Vector<L>,
}

impl<L: Number> Hinge<L> {
    #[inline(always)]
    fn of([a, b, c, d]: [Vector<L>; 4]) -> Self {
        let edge = d - c;
        let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
        Hinge { edge, length: edge.length(), n1, n2 }
    }

    /// Signed angle, rad: 0 when flat. |e| scales the sine and the cosine alike, so nothing need
    /// be normalised.
    #[inline(always)]
    fn angle(&self) -> L {
        atan2(self.n1.cross(self.n2).dot(self.edge), self.n1.dot(self.n2) * self.length)
    }

    /// Gradients of the angle, in the order of the particles, and where they exist. A wing tip
    /// moves the angle by 1 / its height over the edge; the ends of the edge share the opposite of
    /// both, by where the tip stands over the edge.
    #[inline(always)]
    fn gradients(&self, [a, b, _, d]: [Vector<L>; 4]) -> ([Vector<L>; 4], L::Mask) {
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

/// Signed hinge angle, rad: 0 when flat.
pub(crate) fn angle(p: &[Vec4; 4]) -> f32 {
    Hinge::of(p.map(|p| Corner::from(p).at)).angle()
}

/// C at the given positions, rad; the short way round.
pub(crate) fn error(p: &[Vec4; 4], rest: f32) -> f32 {
    short_way(angle(p) - rest)
}

/// An angle up to a turn off, brought back to -π..π.
#[inline(always)]
pub(crate) fn short_way<L: Number>(angle: L) -> L {
    let (half, turn) = (L::splat(PI), L::splat(2.0 * PI));
    let below = L::select((-half).above(angle), angle + turn, angle);
    L::select(angle.above(half), angle - turn, below)
}

/// The dihedral hinge.
pub(crate) struct Bend;

impl Projection<4> for Bend {
    #[inline(always)]
    fn project<L: Number, M: Law>(
        p: &[Corner<L>; 4],
        rest: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> Answer<L, 4> {
        let at = [p[0].at, p[1].at, p[2].at, p[3].at];
        let hinge = Hinge::of(at);
        let ([ga, gb, gc, gd], exist) = hinge.gradients(at);
        let sum = p[0].w * ga.length_sq()
            + p[1].w * gb.length_sq()
            + p[2].w * gc.length_sq()
            + p[3].w * gd.length_sq();
        let error = short_way(hinge.angle() - rest);
        let (change, movable) = M::multiplier(error, sum, soft, lambda, omega);
        let push = [ga * change, gb * change, gc * change, gd * change];
        Answer { push, change, valid: L::both(exist, movable) }
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::sweep::<Bend, 4>(
        team,
        &mut world.particles.predicted,
        &mut world.bend,
        &mut scratch.bend,
        &world.params,
        at,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn gradients(p: &[Vec4; 4]) -> [Vec3; 4] {
        let at = p.map(|p| Corner::from(p).at);
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
        assert_eq!(angle(&flat), 0.0);
        assert!(gradients(&flat)[0].length() > 0.5);
    }
}
