//! Projects dihedral hinges, by the sweep of the chosen solver.
//! C = θ - θ0, the short way round; `src/kind/bend.rs` has the angle and its gradients.
//! Reads: predicted [m, 1/kg], bend rows (two wing tips, two edge ends, rest rad, softness,
//! multiplier). Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: as `solve_distance`.

use super::solve::{self, Answer, Corner, Law, Projection};
use super::{Moment, Scratch, team::Team};
use crate::kind::{Bend, Hinge, short_way};
use crate::simd::Number;
use crate::world::World;

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
        let (gradients, exist) = hinge.gradients(at);
        let error = short_way(hinge.angle() - rest);
        let answer = Answer::along::<M>(gradients, p, error, soft, lambda, omega);
        Answer { valid: L::both(exist, answer.valid), ..answer }
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::run::<Bend, 4>(team, world, scratch, at);
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_level_and_team_gives_the_bits_of_the_plain_loop() {
        crate::cpu::solve::tests::same_bits::<super::Bend, 4>();
    }
}
