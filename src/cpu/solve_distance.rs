//! Projects distance constraints, by the sweep of the chosen solver.
//! C = |p1 - p2| - d, grad C = ±(p1 - p2) / |p1 - p2| (Müller 2007, Macklin 2016).
//! Reads: predicted [m, 1/kg], distance rows (particles, rest m, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: creation (`seidel`, `lockfree`), colour (`colored`), none (`jacobi`); deterministic but
//! for `lockfree`.

use super::solve::{self, Access, Answer, Corner, Law, Projection, Rows, Runs, stretch};
use super::{Moment, Scratch, team::Team};
use crate::simd::{Number, Simd};
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

impl Distance {
    /// Change of the multiplier, what d is to be scaled with, and where both hold, for particles
    /// `length` apart with `sum` of their inverse masses.
    #[inline(always)]
    pub fn scale<L: Number, M: Law>(
        length: L,
        sum: L,
        rest: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> (L, L, L::Mask) {
        let (change, movable) = M::multiplier(length - rest, sum, soft, lambda, omega);
        (change, change / length, L::both(movable, length.above(L::splat(MIN_LENGTH))))
    }
}

impl Projection<2> for Distance {
    #[inline(always)]
    fn project<L: Number, M: Law>(
        [a, b]: &[Corner<L>; 2],
        rest: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> Answer<L, 2> {
        let d = a.at - b.at;
        let (change, scale, valid) =
            Self::scale::<L, M>(d.length(), a.w + b.w, rest, soft, lambda, omega);
        let push = d * scale;
        Answer { push: [push, -push], change, valid }
    }

    #[inline(always)]
    unsafe fn vectors<S: Simd, M: Law, A: Access<2>>(rows: Rows<2>, runs: Runs<2>, omega: S) {
        // SAFETY: the same promise.
        unsafe { stretch::vectors::<S, M, A>(rows, runs, omega) }
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
