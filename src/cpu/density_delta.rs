//! Moves fluid, and what is in it, by the multipliers (docs/physics.md, section 8).
//! dp_i = w_i (sum of (V_j lambda_i + V_i lambda_j) (1 + s) grad W_ij + lambda_i times the gradient of the
//! walls). What a pair asks for is the same for both but for its sign, so momentum is kept. Solids have
//! no lambda of their own.
//! Reads: position [m], radius [m], phase, lambdas [m, kg m²], shores [1/m], the list. Writes: predicted
//! [m].
//! Order: each particle alone, from what `density_lambda` left. Its neighbours are summed in eight
//! lanes, one after the other; then the lanes; deterministic.

use super::Scratch;
use super::fluid::kernel::{Scale, bare, of_near, pair, volume};
use super::fluid::near::{Places, Room};
use super::fluid::rows;
use super::team::{Shared, Team};
use crate::simd::{Kernel, Simd, Vector};
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
    let Some(made) = added.get(*list) else { return };
    let (base, lambdas, shores) = (&fluid.base[..], &fluid.lambdas[..], &fluid.shores[..]);
    let places = Places::new(&made.slots, base, lambdas);
    let (n, equal) = (predicted.len(), fluid.equal);
    assert!(base.len() == n && shores.len() == n && phase.len() == n);
    let artificial = world.params.fluid_pressure;
    team.rows(Shared::new(predicted), BLOCK, |range, predicted| {
        team.simd.run(Moves {
            range,
            places,
            asks,
            phase,
            base,
            lambdas,
            shores,
            predicted,
            equal,
            artificial,
        });
    });
}

/// The moves of some particles.
struct Moves<'a> {
    range: Range<usize>,
    places: Places<'a>,
    asks: Who,
    phase: &'a [u32],
    base: &'a [Vec4],
    lambdas: &'a [Vec4],
    shores: &'a [Vec4],
    predicted: &'a mut [Vec4],
    /// Whether all particles are equally large.
    equal: bool,
    artificial: f32,
}

impl Kernel for Moves<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        if self.equal { self.moves::<S, true>() } else { self.moves::<S, false>() }
    }
}

impl Moves<'_> {
    #[inline(always)]
    fn moves<S: Simd, const EQUAL: bool>(self) {
        let mut room = Room::new();
        for i in self.range.clone() {
            let k = i - self.range.start;
            let w = self.predicted[k].w;
            if !self.asks.has(Phase(self.phase[i])) || w == 0.0 {
                continue;
            }
            let moved = self.around::<S, EQUAL>(i, &mut room);
            let move_ = (moved + self.shores[i].truncate() * self.lambdas[i].w) * w;
            self.predicted[k] += move_.extend(0.0);
        }
    }

    /// The sum over the neighbours of a particle, kg m.
    #[inline(always)]
    fn around<S: Simd, const EQUAL: bool>(&self, i: usize, room: &mut Room<S>) -> Vec3 {
        if EQUAL {
            let moved = self.around_equal::<S>(i, room);
            if moved.is_finite() {
                return moved;
            }
        }
        self.around_any::<S>(i)
    }

    /// Where all particles are equally large, factors wait for the end. The sum is no number where a
    /// particle is infinitely far away.
    #[inline(always)]
    fn around_equal<S: Simd>(&self, i: usize, room: &mut Room<S>) -> Vec3 {
        let around = self.places.around::<S>(i, -self.lambdas[i].w);
        let radius = self.base[i].w;
        let scale = Scale::of(radius + radius);
        let (per_area, zero, one) = (S::splat(scale.per_area), S::splat(0.0), S::splat(1.0));
        let artificial = S::splat(of_near(self.artificial));
        let mut moved = Vector { x: zero, y: zero, z: zero };
        for from in around.looks() {
            for seen in around.look(from, per_area, room) {
                let bare = bare(seen.q_sq);
                let c2 = bare.shape * bare.shape;
                let stiffened = one + artificial * (c2 * c2);
                // Of the sum of the two multipliers there is the opposite.
                moved = moved - seen.between * ((seen.last * bare.steep) * stiffened);
            }
        }
        rows([moved.x, moved.y, moved.z, zero]).truncate() * (volume(radius) * scale.slope)
    }

    #[inline(always)]
    fn around_any<S: Simd>(&self, i: usize) -> Vec3 {
        let around = self.places.around::<S>(i, 0.0);
        let (radius, lambda) = (S::splat(self.base[i].w), S::splat(self.lambdas[i].w));
        let own_volume = volume(radius);
        let (artificial, zero) = (S::splat(self.artificial), S::splat(0.0));
        let mut moved = Vector { x: zero, y: zero, z: zero };
        for k in 0..around.eights() {
            let eight = around.eight::<false>(k);
            let pair = pair(eight.between, radius + eight.radius, eight.there);
            let pressed = volume(eight.radius) * lambda - own_volume * eight.last;
            moved = moved + pair.apart * (pressed * (pair.slope * pair.stiffened(artificial)));
        }
        rows([moved.x, moved.y, moved.z, zero]).truncate()
    }
}
