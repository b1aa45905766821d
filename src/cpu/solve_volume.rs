//! Projects tetrahedron volumes, by the sweep of the chosen solver.
//! C = (p2-p1)x(p3-p1).(p4-p1)/6 - V0 (Müller 2007; physics.md 3).
//! Reads: predicted [m, 1/kg], volume rows (particles, rest m³, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: as `solve_distance`.

use super::solve::{self, Answer, Corner, Law, Projection};
use super::{Moment, Scratch, team::Team};
use crate::simd::Number;
use crate::world::World;
use glam::Vec4;

/// Signed volume of the tetrahedron, m³.
pub(crate) fn volume(p: &[Vec4; 4]) -> f32 {
    let [a, b, c, d] = p.map(Vec4::truncate);
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// C at the given positions, m³.
pub(crate) fn error(p: &[Vec4; 4], rest: f32) -> f32 {
    volume(p) - rest
}

/// The volume constraint.
pub(crate) struct Volume;

impl Projection<4> for Volume {
    #[inline(always)]
    fn project<L: Number, M: Law>(
        [a, b, c, d]: &[Corner<L>; 4],
        rest: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> Answer<L, 4> {
        let (u, v, w) = (b.at - a.at, c.at - a.at, d.at - a.at);
        let sixth = L::splat(1.0 / 6.0);
        let gb = v.cross(w) * sixth;
        let gc = w.cross(u) * sixth;
        let gd = u.cross(v) * sixth;
        let ga = -(gb + gc + gd);
        let sum = a.w * ga.length_sq()
            + b.w * gb.length_sq()
            + c.w * gc.length_sq()
            + d.w * gd.length_sq();
        let (change, valid) = M::multiplier(gd.dot(w) - rest, sum, soft, lambda, omega);
        Answer { push: [ga * change, gb * change, gc * change, gd * change], change, valid }
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::sweep::<Volume, 4>(
        team,
        &mut world.particles.predicted,
        &mut world.volume,
        &mut scratch.volume,
        &world.params,
        at,
    );
}
