//! Gives back to whirls what the solver takes from them: vorticity confinement (Fedkiw et al. 2001;
//! docs/physics.md, section 8).
//! v_i += h e 2 r_i (g x curl_i) / (|g| + |curl_i| / H), where g is the gradient of |curl| and e is
//! `fluid_vorticity`. It does not keep momentum.
//! Reads: position and predicted [m, 1/kg], radius [m], phase, curls [1/s], the list. Writes: velocity [m/s].
//! Order: each particle alone. Its neighbours are summed in eight lanes, one after the other, then the
//! lanes; deterministic.

use super::fluid::kernel::{SLOPE, pair, volume};
use super::fluid::{Around, sums};
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{Kernel, Simd, Vector};
use crate::world::{Particles, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { fluid, added, list, .. } = scratch;
    let Some(made) = added.get(*list) else { return };
    let strength = world.params.fluid_vorticity * at.h;
    let Particles { predicted, phase, velocity, .. } = &mut world.particles;
    let around = Around::new(&made.slots, &fluid.base, predicted, phase);
    let curls = &fluid.curls[..];
    team.rows(Shared::new(velocity), BLOCK, |range, velocity| {
        team.simd.run(Whirls { range, around: &around, curls, strength, velocity });
    });
}

/// The whirls around some particles.
struct Whirls<'a> {
    range: Range<usize>,
    around: &'a Around<'a>,
    curls: &'a [Vec4],
    /// Of the confinement, times the length of the substep.
    strength: f32,
    velocity: &'a mut [Vec4],
}

impl Kernel for Whirls<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let curl = self.curls[i];
            if !self.around.is_fluid(i) || self.around.moved(i).w == 0.0 || curl.w == 0.0 {
                continue;
            }
            let radius = self.around.radius(i);
            let gradient = self.gradient::<S>(i) * (1.0 / SLOPE);
            let sharp = gradient.length() + curl.w * (0.25 / radius);
            let part = self.strength * (radius + radius) / sharp;
            let change = gradient.cross(curl.truncate()) * part;
            if change.is_finite() {
                self.velocity[i - self.range.start] += change.extend(0.0);
            }
        }
    }
}

impl Whirls<'_> {
    /// The gradient of how fast the fluid turns, 1/(m s).
    #[inline(always)]
    fn gradient<S: Simd>(&self, i: usize) -> Vec3 {
        let (radius, own) = (S::splat(self.around.radius(i)), S::splat(self.curls[i].w));
        let zero = S::splat(0.0);
        let mut gradient = Vector { x: zero, y: zero, z: zero };
        for from in self.around.starts(i) {
            let eight = self.around.eight::<S>(i, from);
            let pair = pair(eight.apart, radius + eight.radius, eight.flows);
            let [.., size] = self.around.rows::<S>(self.curls, &eight.slots);
            let steep = volume(eight.radius) * pair.slope;
            gradient =
                gradient + pair.apart * S::select(zero.above(steep), (size - own) * steep, zero);
        }
        sums(gradient)
    }
}
