//! Moves fluid, and what is in it, by the multipliers (docs/physics.md, section 8).
//! dp_i = w_i (sum of (V_j lambda_i + V_i lambda_j) (1 + s) grad W_ij + lambda_i times the gradient of the
//! walls). What a pair asks for is the same for both but for its sign, so momentum is kept. Solids have
//! no lambda of their own.
//! Reads: position [m], radius [m], phase, lambdas [m, kg m²], shores [1/m], kernels of the list's entries
//! [1/m⁵]. Writes: predicted [m].
//! Order: each particle alone, from what `density_lambda` left. Its neighbours are summed in eight
//! lanes, one after the other; then the lanes; deterministic.

use super::Scratch;
use super::fluid::kernel::volume;
use super::fluid::{eight, place, spread, sums};
use super::search::broad::SearchTools;
use super::search::lists::Lists;
use super::search::neighbors::Neighbor;
use super::team::{Shared, Team};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::world::{Particles, Phase, Who, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let Scratch { fluid, added, list, .. } = scratch;
    let Some(asks) = world.lists.get(*list).map(|list| list.description.asks) else { return };
    let Particles { predicted, phase, .. } = &mut world.particles;
    let phase = &phase[..];
    let n = predicted.len();
    let Some(made) = added.get(*list) else { return };
    let (lists, kernels) = (&made.lists, &made.kernels[..]);
    let (base, lambdas, shores) = (&fluid.base[..], &fluid.lambdas[..], &fluid.shores[..]);
    assert!(lists.particles() == n && base.len() == n && lambdas.len() == n);
    assert!(shores.len() == n && phase.len() == n);
    team.rows(Shared::new(predicted), BLOCK, |range, predicted| {
        team.simd.run(Moves {
            range,
            lists,
            asks,
            phase,
            kernels,
            base,
            lambdas,
            shores,
            predicted,
        });
    });
}

/// The moves of some particles.
struct Moves<'a> {
    range: Range<usize>,
    lists: &'a Lists<Neighbor, SearchTools>,
    asks: Who,
    phase: &'a [u32],
    kernels: &'a [f32],
    base: &'a [Vec4],
    lambdas: &'a [Vec4],
    shores: &'a [Vec4],
    predicted: &'a mut [Vec4],
}

impl Kernel for Moves<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let k = i - self.range.start;
            let w = self.predicted[k].w;
            let lambda = self.lambdas[i].w;
            let list = self.lists.of(i);
            // Whoever is alone may be beside a wall all the same.
            let asks = self.asks.has(Phase(self.phase[i]));
            if !asks || w == 0.0 || (list.is_empty() && lambda == 0.0) {
                continue;
            }
            let moved = self.around::<S>(i, list);
            let move_ = (moved + self.shores[i].truncate() * lambda) * w;
            self.predicted[k] += move_.extend(0.0);
        }
    }
}

impl Moves<'_> {
    /// The sum over the neighbours of a particle, kg m.
    #[inline(always)]
    fn around<S: Simd>(&self, i: usize, list: &[Neighbor]) -> Vec3 {
        let kernels = &self.kernels[self.lists.range(i)];
        let (base, lambdas) = (self.base.as_ptr().cast(), self.lambdas.as_ptr().cast());
        let (x, u) = (spread::<S>(self.base[i]), spread::<S>(self.lambdas[i]));
        let (radius, lambda) = (S::splat(self.base[i].w), S::splat(self.lambdas[i].w));
        let own_volume = volume(radius);
        let zero = S::splat(0.0);
        let mut moved = Vector { x: zero, y: zero, z: zero };
        for from in (0..list.len()).step_by(LANES) {
            let slots = eight(list, from, i as u32);
            let mut slopes = [0.0; LANES];
            for (slope, kernel) in slopes.iter_mut().zip(&kernels[from..]) {
                *slope = *kernel;
            }
            // SAFETY: slots of a list are particles, as `i` is, and both arrays have a row for each.
            let (at, to) =
                unsafe { (S::gather(base, slots.as_ptr()), S::gather(lambdas, slots.as_ptr())) };
            let slope = S::read(&slopes);
            let between = (x - place(at)) + (u - place(to));
            let pressed = (volume(at[3]) * lambda + own_volume * to[3]) * slope;
            // Who does not see the other is not moved by where that is, though it may be nowhere.
            let counts = pressed.abs().above(zero);
            let nothing = Vector { x: zero, y: zero, z: zero };
            moved = moved + Vector::select(counts, between, nothing) * pressed;
        }
        sums(moved)
    }
}
