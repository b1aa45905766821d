//! Projects dihedral hinges, by the sweep of the chosen solver.
//! C = θ - θ0, θ the signed angle between the triangles (p0, e) and (p1, e) over the edge e = p2p3,
//! with the gradients of discrete shells (Grinspun 2003): no singularity where the hinge is flat.
//! Reads: predicted [m, 1/kg], bend rows (two wing tips, two edge ends, rest rad, softness,
//! multiplier). Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: as `solve_distance`.

use super::solve::{self, Projection, Rule};
use super::{Moment, Scratch, team::Team};
use crate::world::World;
use glam::{Vec3, Vec4};
use std::f32::consts::PI;

/// Normals (twice the triangle areas) below this belong to collapsed triangles.
const MIN_NORMAL_SQ: f32 = 1e-24;

/// Signed hinge angle, rad: 0 when flat.
pub(crate) fn angle(p: &[Vec4; 4]) -> f32 {
    let [a, b, c, d] = p.map(Vec4::truncate);
    let edge = d - c;
    let (n1, n2) = normals(a, b, c, d);
    // |e| scales the sine and the cosine alike, so nothing need be normalised.
    libm::atan2f(n1.cross(n2).dot(edge), n1.dot(n2) * edge.length())
}

fn normals(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> (Vec3, Vec3) {
    ((c - a).cross(d - a), (d - b).cross(c - b))
}

/// C at the given positions, rad; the short way round.
pub(crate) fn error(p: &[Vec4; 4], rest: f32) -> f32 {
    short_way(angle(p) - rest)
}

/// An angle up to a turn off, brought back to -π..π.
pub(crate) fn short_way(angle: f32) -> f32 {
    if angle > PI {
        angle - 2.0 * PI
    } else if angle < -PI {
        angle + 2.0 * PI
    } else {
        angle
    }
}

/// Gradients of the angle, in the order of the particles.
fn gradients(p: &[Vec4; 4]) -> Option<[Vec3; 4]> {
    let [a, b, c, d] = p.map(Vec4::truncate);
    let edge = d - c;
    let length = edge.length();
    let (n1, n2) = normals(a, b, c, d);
    let (s1, s2) = (n1.length_squared(), n2.length_squared());
    if s1 <= MIN_NORMAL_SQ || s2 <= MIN_NORMAL_SQ {
        return None;
    }
    let (m1, m2) = (n1 / s1, n2 / s2);
    let ga = -m1 * length;
    let gb = -m2 * length;
    let gc = m1 * ((d - a).dot(edge) / length) + m2 * ((d - b).dot(edge) / length);
    let gd = m1 * ((a - c).dot(edge) / length) + m2 * ((b - c).dot(edge) / length);
    Some([ga, gb, gc, gd])
}

/// The dihedral hinge.
pub(crate) struct Bend;

impl Projection<4> for Bend {
    #[inline]
    fn project(
        p: &[Vec4; 4],
        rest: f32,
        soft: f32,
        lambda: f32,
        rule: Rule,
    ) -> Option<([Vec3; 4], f32)> {
        let grad = gradients(p)?;
        let sum = (0..4).map(|k| p[k].w * grad[k].length_squared()).sum();
        let change = rule.multiplier(error(p, rest), sum, soft, lambda)?;
        Some((grad.map(|g| g * change), change))
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
            let grad = gradients(&p).unwrap();
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
        assert!(gradients(&flat).unwrap()[0].length() > 0.5);
    }
}
