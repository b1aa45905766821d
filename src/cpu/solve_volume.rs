//! Projects tetrahedron volumes, by the sweep of the chosen solver.
//! C = V - V0; `src/kind/volume.rs` has the volume and its gradients.
//! Reads: predicted [m, 1/kg], volume rows (particles, rest m³, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: as `solve_distance`.

use super::solve::{self, Answer, Corner, Law, Projection};
use super::{Moment, Scratch, team::Team};
use crate::kind::Volume;
use crate::simd::Number;
use crate::world::World;

impl Projection<4> for Volume {
    #[inline(always)]
    fn project<L: Number, M: Law>(
        p: &[Corner<L>; 4],
        rest: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> Answer<L, 4> {
        let (volume, gradients) = Volume::gradients([p[0].at, p[1].at, p[2].at, p[3].at]);
        Answer::along::<M>(gradients, p, volume - rest, soft, lambda, omega)
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::run::<Volume, 4>(team, world, scratch, at);
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_level_and_team_gives_the_bits_of_the_plain_loop() {
        crate::cpu::solve::tests::same_bits::<super::Volume, 4>();
    }
}
