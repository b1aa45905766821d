//! Finds how compressed the fluid is, and the multipliers that will put it right (Macklin and Müller
//! 2013; docs/physics.md, section 8).
//! C_i = sum of V_j W_ij + what walls fill - 1, clamped at 0 unless tension is wanted;
//! lambda_i = -C_i / (w_i |grad_i C_i|² + sum of w_j |grad_j C_i|² + eps S_i). V_j counts whatever the
//! neighbour is, so one of another fluid counts as this fluid in its place, and so does a solid.
//! Reads: position and predicted [m, 1/kg], start [m], radius [m], phase, the list, planes of
//! obstacles. Writes: kernels of the list's entries [1/m⁵]; lambdas [m, kg m²]; shores [1/m, 1].
//! Part: all; start: where the substep began, only how compressed it was then.
//! Order: each particle alone. Its neighbours are summed in eight lanes, one after the other; then the
//! lanes; deterministic.

use super::collide_environment::EnvironmentContact;
use super::fluid::kernel::{AT_REST, OWN, pair, volume};
use super::fluid::{NUMBERS, eight, place, spread, sum, sums, walls};
use super::search::broad::SearchTools;
use super::search::lists::Lists;
use super::search::neighbors::{Neighbor, Neighbors};
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::step::Part;
use crate::world::{DensityRule, Particles, Phase, Who, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;
/// Less than this has no reciprocal to go by, 1 / (kg m²).
const LEAST: f32 = 1e-30;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { fluid, added, environment, list, .. } = scratch;
    let Some(description) = world.lists.get(*list).map(|list| &list.description) else { return };
    let begins = at.part == Part::Start;
    let Particles { position, predicted, start, radius, phase, .. } = &world.particles;
    let n = position.len();
    if begins {
        fluid.base.clear();
        fluid.base.extend(position.iter().zip(radius).map(|(x, &r)| x.truncate().extend(r)));
        fluid.shores.resize(n, Vec4::ZERO);
        fluid.lambdas.resize(n, Vec4::ZERO);
    }
    let Neighbors { lists, kernels, .. } = added.of(*list);
    kernels.resize(lists.room(), 0.0);
    assert!(lists.particles() == n && fluid.base.len() == n && phase.len() == n);
    let moved = if begins { start } else { predicted };
    assert!(moved.len() == n);
    let params = &world.params;
    let kernels = Shared::new(kernels);
    let rows = (Shared::new(&mut fluid.lambdas), Shared::new(&mut fluid.shores));
    let (base, asks) = (&fluid.base[..], description.asks);
    team.rows(rows, BLOCK, |range, (lambdas, shores)| {
        team.simd.run(Densities {
            range,
            lists,
            kernels: &kernels,
            base,
            moved,
            phase,
            asks,
            environment,
            lambdas,
            shores,
            begins,
            push_out: params.push_out * at.h,
            relaxation: params.fluid_relaxation,
            artificial: params.fluid_pressure,
            pulls: params.density_rule == DensityRule::Equal,
        });
    });
}

/// The densities of some particles.
struct Densities<'a> {
    range: Range<usize>,
    lists: &'a Lists<Neighbor, SearchTools>,
    kernels: &'a Shared<'a, f32>,
    base: &'a [Vec4],
    moved: &'a [Vec4],
    phase: &'a [u32],
    asks: Who,
    environment: &'a Lists<EnvironmentContact>,
    lambdas: &'a mut [Vec4],
    shores: &'a mut [Vec4],
    begins: bool,
    /// How far overlap from before is pushed out in a substep, m.
    push_out: f32,
    relaxation: f32,
    artificial: f32,
    /// Whether the fluid resists being stretched.
    pulls: bool,
}

/// Sums over the neighbours of a particle.
struct Sums {
    /// Of V_j W.
    ratio: f32,
    /// Of V_j grad W, 1/m.
    gradient: Vec3,
    /// Of w_j |V_j grad W|², 1 / (kg m²).
    others: f32,
}

impl Kernel for Densities<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let phase = Phase(self.phase[i]);
            if !self.asks.has(phase) {
                continue;
            }
            let k = i - self.range.start;
            let sums = self.around::<S>(i);
            let p = self.moved[i].truncate();
            let is_fluid = phase.0 & Phase::FLUID != 0;
            let (shore, lambda) = if is_fluid { self.lambda(i, &sums) } else { (Vec4::ZERO, 0.0) };
            self.shores[k] = shore;
            if !self.begins {
                self.lambdas[k] = p.extend(lambda);
            }
        }
    }
}

impl Densities<'_> {
    #[inline(always)]
    fn around<S: Simd>(&self, i: usize) -> Sums {
        let places = self.lists.range(i);
        let list = self.lists.of(i);
        let (base, moved) = (self.base.as_ptr().cast(), self.moved.as_ptr().cast());
        let (x, u) = (spread::<S>(self.base[i]), spread::<S>(self.moved[i]));
        let radius = S::splat(self.base[i].w);
        let artificial = S::splat(self.artificial);
        let lane = S::read(&NUMBERS);
        let zero = S::splat(0.0);
        let (mut ratio, mut others) = (zero, zero);
        let mut gradient = Vector { x: zero, y: zero, z: zero };
        for from in (0..list.len()).step_by(LANES) {
            let slots = eight(list, from, i as u32);
            // SAFETY: slots of a list are particles, as `i` is, and both arrays have a row for each.
            let (at, to) =
                unsafe { (S::gather(base, slots.as_ptr()), S::gather(moved, slots.as_ptr())) };
            let left = list.len() - from;
            let there = S::splat(left as f32).above(lane);
            let between = (x - place(at)) + (u - place(to));
            let pair = pair(between, radius + at[3], artificial, there);
            let volume = volume(at[3]);
            let steep = volume * pair.slope;
            ratio = ratio + volume * pair.value;
            gradient = gradient + pair.apart * steep;
            others = others + (to[3] * (steep * steep)) * pair.distance_sq;
            let mut slopes = [0.0; LANES];
            (pair.slope * pair.stiffened).write(&mut slopes);
            let kept = left.min(LANES);
            let first = places.start + from;
            // SAFETY: places of entries of particle i, which no other worker has.
            unsafe { self.kernels.slice(first..first + kept) }.copy_from_slice(&slopes[..kept]);
        }
        Sums { ratio: sum(ratio), gradient: sums(gradient), others: sum(others) }
    }

    /// The row of `shores`, and lambda.
    #[inline(always)]
    fn lambda(&self, i: usize, sums: &Sums) -> (Vec4, f32) {
        let (row, radius) = (self.moved[i], self.base[i].w);
        let planes = if self.environment.particles() == self.moved.len() {
            self.environment.of(i)
        } else {
            &[]
        };
        let shore = walls::behind(planes, row.truncate(), radius);
        let error = sums.ratio + OWN + shore.w - 1.0;
        if self.begins {
            let before = error - self.push_out / radius;
            return (Vec4::ZERO.with_w(if before > 0.0 { before } else { 0.0 }), 0.0);
        }
        let (at_shore, before) = (shore.truncate(), self.shores[i - self.range.start].w);
        let error = error - before;
        let error = if self.pulls || error > 0.0 { error } else { 0.0 };
        let gradient = sums.gradient + at_shore;
        let at_rest = row.w * AT_REST / (radius * radius);
        let own = row.w * gradient.dot(gradient);
        let carried = own + sums.others + self.relaxation * at_rest;
        let lambda = if carried > LEAST { -error / carried } else { 0.0 };
        (at_shore.extend(before), lambda)
    }
}
