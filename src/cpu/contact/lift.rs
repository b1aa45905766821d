//! Which of two grains that lie on each other counts as lighter.
//!
//! A pile is solved pair by pair, and a push that goes down must go through all layers to the ground
//! before anything is carried. One that goes up meets fewer and fewer grains. So of two loose grains
//! whose contact lasts the upper counts as lighter: its inverse mass times 1 + t, that of the lower
//! times 1 - t, with t = (k / 2) cos and cos between the line through their centres and up. That is
//! about exp(k cos) between the two [J 4.2.1, which scales by height in space].
//!
//! A collision takes two substeps: in the first the two come to touch, and the speed with which they
//! closed the gap between them is left over for the second. Only contacts that are older are lifted,
//! so grains that collide keep their momentum. What is held together by constraints is left alone, for those move by the true masses.

use crate::simd::{Number, Vector};
use crate::world::{Phase, World};
use glam::Vec3;

/// How pairs of loose grains are lifted.
#[derive(Clone, Copy)]
pub(crate) struct Lift<'a> {
    /// Half the mass scale, against gravity.
    pub up: Vec3,
    /// Of each particle, by slot.
    pub phases: &'a [u32],
}

impl<'a> Lift<'a> {
    pub fn of(world: &'a World) -> Self {
        Lift { up: world.lift(), phases: &world.particles.phase }
    }
    /// 1 for two loose grains, else 0.
    #[inline(always)]
    pub fn takes(&self, a: usize, b: usize) -> f32 {
        let loose = Phase(self.phases[a] | self.phases[b]).is_loose();
        if loose { 1.0 } else { 0.0 }
    }
    /// The lift of a over b, where it `takes`, along the normal from b to a.
    #[inline(always)]
    pub fn along<L: Number>(&self, normal: Vector<L>, takes: L) -> L {
        let Vec3 { x, y, z } = self.up;
        let up = Vector { x: L::splat(x), y: L::splat(y), z: L::splat(z) };
        let lift = up.dot(normal) * takes;
        // Not for NaN: who was out of range has no normal.
        L::select(L::splat(1.0).above(lift.abs()), lift, L::splat(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_loose_grains_are_lifted_and_the_upper_one_is() {
        let own = Phase::group(1).self_colliding();
        let (shaped, joined) = (own.shaped(), Phase(own.0 | Phase::JOINED));
        let phases = [own.0, Phase::group(2).0, shaped.0, joined.0];
        let lift = Lift { up: Vec3::Y * 0.2, phases: &phases };
        for (a, b, takes) in [(0, 1, 1.0), (1, 0, 1.0), (0, 2, 0.0), (2, 1, 0.0), (3, 0, 0.0)] {
            assert_eq!(lift.takes(a, b), takes, "{a} {b}");
        }
        let along = |normal: Vec3, takes: f32| lift.along::<f32>(normal.into(), takes);
        assert_eq!(along(Vec3::Y, 1.0), 0.2);
        assert_eq!(along(-Vec3::Y, 1.0), -0.2);
        assert_eq!(along(Vec3::X, 1.0), 0.0);
        assert_eq!(along(Vec3::Y, 0.0), 0.0);
        assert_eq!(along(Vec3::NAN, 1.0), 0.0);
    }
}
