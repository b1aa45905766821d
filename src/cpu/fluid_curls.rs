//! Finds how the fluid turns: the curl of its velocity (docs/physics.md, section 8).
//! curl_i = sum of V_j grad_i W_ij x (v_j - v_i) / s over the fluid around, where s makes it 2 w in the
//! inside of a lattice that turns by w.
//! Reads: position and predicted [m], radius [m], phase, velocity [m/s], the list. Writes: curls: [x, y, z]
//! and its length [1/s]; 0 for what is no fluid.
//! Order: each particle alone. Its neighbours are summed in eight lanes, one after the other, then the
//! lanes; deterministic.

use super::Scratch;
use super::fluid::kernel::{SLOPE, pair, volume};
use super::fluid::{Around, place, spread, sums};
use super::team::{Shared, Team};
use crate::simd::{Kernel, Simd, Vector};
use crate::world::{Particles, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let Scratch { fluid, added, list, .. } = scratch;
    let Some(made) = added.get(*list) else { return };
    let Particles { predicted, phase, velocity, .. } = &world.particles;
    let around = Around::new(&made.slots, &fluid.base, predicted, phase);
    fluid.curls.resize(predicted.len(), Vec4::ZERO);
    team.rows(Shared::new(&mut fluid.curls), BLOCK, |range, curls| {
        team.simd.run(Curls { range, around: &around, velocity, curls });
    });
}

/// The curls of some particles.
struct Curls<'a> {
    range: Range<usize>,
    around: &'a Around<'a>,
    velocity: &'a [Vec4],
    curls: &'a mut [Vec4],
}

impl Kernel for Curls<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let flows = self.around.is_fluid(i);
            let curl = if flows { self.curl::<S>(i) * (1.0 / SLOPE) } else { Vec3::ZERO };
            self.curls[i - self.range.start] = curl.extend(curl.length());
        }
    }
}

impl Curls<'_> {
    #[inline(always)]
    fn curl<S: Simd>(&self, i: usize) -> Vec3 {
        let radius = S::splat(self.around.radius(i));
        let v = spread::<S>(self.velocity[i]);
        let zero = S::splat(0.0);
        let nothing = Vector { x: zero, y: zero, z: zero };
        let mut curl = nothing;
        for from in self.around.starts(i) {
            let eight = self.around.eight::<S>(i, from);
            let pair = pair(eight.apart, radius + eight.radius, eight.flows);
            let speed = self.around.rows::<S>(self.velocity, &eight.slots);
            let steep = volume(eight.radius) * pair.slope;
            // Who is not seen may have any speed.
            let counts = zero.above(steep);
            let faster = Vector::select(counts, place(speed) - v, nothing);
            curl = curl + pair.apart.cross(faster) * steep;
        }
        sums(curl)
    }
}
