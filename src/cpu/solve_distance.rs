//! Projects distance constraints, by the sweep of the chosen solver.
//! C = |p0 - p1| - d, grad C = ±(p0 - p1) / |p0 - p1| (Müller 2007, Macklin 2016).
//! Reads: predicted [m, 1/kg], distance rows (particles, rest m, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: creation (`seidel`, `lockfree`), colour (`colored`), none (`jacobi`). The result is
//! deterministic, except under `lockfree`.

use super::solve::{self, Access, Answer, Corner, Law, Projection, Rows, Runs, stretch};
use super::{Moment, Scratch, team::Team};
use crate::kind::Distance;
use crate::simd::{Number, Simd};
use crate::world::World;

/// A difference shorter than this has no direction.
const MIN_LENGTH: f32 = 1e-9;

impl Distance {
    /// For particles `length` apart, whose inverse masses add up to `sum`: the change of the
    /// multiplier, the factor for their difference, and where both hold.
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
    solve::run::<Distance, 2>(team, world, scratch, at);
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_level_and_team_gives_the_bits_of_the_plain_loop() {
        crate::cpu::solve::tests::same_bits::<super::Distance, 2>();
    }
}
