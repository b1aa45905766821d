//! Lets fluid take part in the velocity of the fluid around it (XSPH, Schechter and Bridson 2012;
//! docs/physics.md, section 8).
//! v_i += sum of c_ij 2 m_j / (rho_i + rho_j) W_ij (v_j - v_i), with c = a h / (1 + a h) and a of the two
//! materials. Times m_i that is the same for both of a pair but for its sign, so momentum is kept where
//! densities differ, too.
//! Reads: position and predicted [m, 1/kg], radius [m], phase, material, materials, velocity [m/s], the
//! list. Writes: delta: how much velocities change [m/s]; velocity.
//! Order: all particles see the velocities as they were. Each is alone; its neighbours are summed in
//! eight lanes, one after the other, then the lanes; deterministic.

use super::fluid::kernel::{smoothed, volume};
use super::fluid::{Flows, NUMBERS, eight, place, spread, sums};
use super::search::broad::SearchTools;
use super::search::lists::Lists;
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::world::{Particles, Phase, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { fluid, added, list, delta, material_pairs, .. } = scratch;
    let Some(made) = added.get(*list) else { return };
    let most = world.fluid_share(at.h);
    let Particles { predicted, phase, velocity, material, .. } = &mut world.particles;
    let n = predicted.len();
    let (lists, base) = (&made.slots, &fluid.base[..]);
    assert!(lists.particles() == n && base.len() == n && phase.len() == n && velocity.len() == n);
    let flows = Flows::of(material_pairs, material);
    let (predicted, phase, before) = (&predicted[..], &phase[..], &velocity[..]);
    team.rows(Shared::new(delta), BLOCK, |range, delta| {
        team.simd.run(Changes {
            range,
            lists,
            base,
            predicted,
            phase,
            velocity: before,
            flows: &flows,
            most,
            delta,
        });
    });
    team.rows((Shared::new(velocity), &delta[..], phase), BLOCK, |_, (velocity, delta, phase)| {
        for ((velocity, change), &phase) in velocity.iter_mut().zip(delta).zip(phase) {
            if phase & Phase::FLUID != 0 && change.w > 0.0 {
                *velocity += change.truncate().extend(0.0);
            }
        }
    });
}

/// How the velocities of some particles change.
struct Changes<'a> {
    range: Range<usize>,
    lists: &'a Lists<u32, SearchTools>,
    base: &'a [Vec4],
    predicted: &'a [Vec4],
    phase: &'a [u32],
    velocity: &'a [Vec4],
    flows: &'a Flows<'a>,
    /// The share of the thickest material.
    most: f32,
    delta: &'a mut [Vec4],
}

impl Kernel for Changes<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let moves = self.phase[i] & Phase::FLUID != 0 && self.predicted[i].w > 0.0;
            let change = if moves { self.around::<S>(i) * self.most } else { Vec3::ZERO };
            // What is no number changes nothing.
            let counts = if moves && change.is_finite() { 1.0 } else { 0.0 };
            self.delta[i - self.range.start] = change.extend(counts);
        }
    }
}

impl Changes<'_> {
    /// The sum over the neighbours of a particle, m/s.
    #[inline(always)]
    fn around<S: Simd>(&self, i: usize) -> Vec3 {
        let list = self.lists.of(i);
        let (base, moved) = (self.base.as_ptr().cast(), self.predicted.as_ptr().cast());
        let velocity = self.velocity.as_ptr().cast();
        let (x, u) = (spread::<S>(self.base[i]), spread::<S>(self.predicted[i]));
        let (radius, w) = (S::splat(self.base[i].w), S::splat(self.predicted[i].w));
        let v = spread::<S>(self.velocity[i]);
        // One over the density.
        let light = w * volume(radius);
        let lane = S::read(&NUMBERS);
        let zero = S::splat(0.0);
        let mut change = Vector { x: zero, y: zero, z: zero };
        for from in (0..list.len()).step_by(LANES) {
            let slots = eight(list, from, i as u32);
            let mut flows = [0.0; LANES];
            for (flow, &j) in flows.iter_mut().zip(&slots) {
                *flow = (self.phase[j as usize] & Phase::FLUID) as f32;
            }
            // SAFETY: slots of a list are particles, as `i` is, and the arrays have a row for each.
            let (at, to, speed) = unsafe {
                let slots = slots.as_ptr();
                (S::gather(base, slots), S::gather(moved, slots), S::gather(velocity, slots))
            };
            let there = S::splat((list.len() - from) as f32).above(lane);
            let there = S::both(there, S::read(&flows).above(zero));
            let between = (x - place(at)) + (u - place(to));
            let own_volume = volume(at[3]);
            let kernel = smoothed(between, radius + at[3], there);
            let twice = light + light;
            let weight = (twice * own_volume) / (light + to[3] * own_volume) * kernel;
            let [_, share, ..] = self.flows.between::<S>(i, &slots);
            let counts = kernel.above(zero);
            let nothing = Vector { x: zero, y: zero, z: zero };
            let faster = Vector::select(counts, place(speed) - v, nothing);
            change = change + faster * S::select(counts, weight * share, zero);
        }
        sums(change)
    }
}
