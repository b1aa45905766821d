//! Projects distance constraints, by the sweep of the chosen solver.
//! C = |p1 - p2| - d, grad C = ±(p1 - p2) / |p1 - p2| (Müller 2007, Macklin 2016).
//! Reads: predicted [m, 1/kg], distance rows (particles, rest m, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: creation (`seidel`, `lockfree`), colour (`colored`), none (`jacobi`); deterministic but
//! for `lockfree`.

use super::solve::{self, Answer, Corner, Projection, Rule};
use super::{Moment, Scratch, team::Team};
use crate::simd::Number;
use crate::world::World;
use glam::Vec4;

/// Lengths below this have no direction.
const MIN_LENGTH: f32 = 1e-9;

/// C at the given positions, m.
pub(crate) fn error(p: &[Vec4; 2], rest: f32) -> f32 {
    (p[0] - p[1]).truncate().length() - rest
}

/// The distance constraint.
pub(crate) struct Distance;

impl Projection<2> for Distance {
    #[inline(always)]
    fn project<L: Number>(
        [a, b]: &[Corner<L>; 2],
        rest: L,
        soft: L,
        lambda: L,
        rule: Rule,
    ) -> Answer<L, 2> {
        let d = a.at - b.at;
        let length = d.length();
        let (change, movable) = rule.multiplier(length - rest, a.w + b.w, soft, lambda);
        let push = d * (change / length);
        let valid = L::both(movable, length.above(L::splat(MIN_LENGTH)));
        Answer { push: [push, -push], change, valid }
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::sweep::<Distance, 2>(
        team,
        &mut world.particles.predicted,
        &mut world.distance,
        &mut scratch.distance,
        &world.params,
        at,
    );
}
