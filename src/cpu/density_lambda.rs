//! Finds how compressed the fluid is, and the multipliers that will put it right (Macklin and Müller
//! 2013; docs/physics.md, section 8).
//! C_i = sum of V_j W_ij + what walls fill - 1, clamped at 0 unless tension is wanted;
//! lambda_i = -C_i / (w_i |grad_i C_i|² + sum of w_j |grad_j C_i|² + eps S_i). V_j counts whatever the
//! neighbour is, so one of another fluid counts as this fluid in its place, and so does a solid.
//! Reads: position and predicted [m, 1/kg], start [m], radius [m], phase, the list, planes of
//! obstacles. Writes: lambdas [m, kg m²]; shores [1/m, 1].
//! Part: all; start: where the substep began, only how compressed it was then.
//! Order: each particle alone. Its neighbours are summed in eight lanes, one after the other; then the
//! lanes; deterministic.

use super::collide_environment::EnvironmentContact;
use super::fluid::kernel::{AT_REST, OWN, Scale, bare, pair, seen, smoothed, volume};
use super::fluid::near::{Places, Room};
use super::fluid::{rows, sum, walls};
use super::search::lists::Lists;
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{Kernel, Simd, Vector};
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
    let Some(asks) = world.lists.get(*list).map(|list| list.description.asks) else { return };
    let begins = at.part == Part::Start;
    let Particles { position, predicted, start, radius, phase, .. } = &world.particles;
    let n = position.len();
    if begins {
        fluid.begin(team, position, radius);
    }
    let moved = if begins { start } else { predicted };
    let (base, equal) = (&fluid.base[..], fluid.equal);
    let places = Places::new(&added.of(*list).slots, base, moved);
    assert!(phase.len() == n);
    let params = &world.params;
    let rows = (Shared::new(&mut fluid.lambdas), Shared::new(&mut fluid.shores));
    team.rows(rows, BLOCK, |range, (lambdas, shores)| {
        team.simd.run(Densities {
            range,
            places,
            base,
            moved,
            phase,
            asks,
            environment,
            lambdas,
            shores,
            begins,
            equal,
            push_out: params.push_out * at.h,
            relaxation: params.fluid_relaxation,
            pulls: params.density_rule == DensityRule::Equal,
        });
    });
}

/// The densities of some particles.
struct Densities<'a> {
    range: Range<usize>,
    places: Places<'a>,
    base: &'a [Vec4],
    moved: &'a [Vec4],
    phase: &'a [u32],
    asks: Who,
    environment: &'a Lists<EnvironmentContact>,
    lambdas: &'a mut [Vec4],
    shores: &'a mut [Vec4],
    begins: bool,
    /// Whether all particles are equally large.
    equal: bool,
    /// How far overlap from before is pushed out in a substep, m.
    push_out: f32,
    relaxation: f32,
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
        match (self.begins, self.equal) {
            (true, true) => self.begin::<S, true>(),
            (true, false) => self.begin::<S, false>(),
            (false, true) => self.multipliers::<S, true>(),
            (false, false) => self.multipliers::<S, false>(),
        }
    }
}

impl Densities<'_> {
    /// How compressed the fluid was where the substep began.
    #[inline(always)]
    fn begin<S: Simd, const EQUAL: bool>(self) {
        for i in self.range.clone() {
            if self.asks.has(Phase(self.phase[i])) {
                let ratio = self.ratio::<S, EQUAL>(i);
                let before = self.error(i, ratio).1 - self.push_out / self.base[i].w;
                let before = if before > 0.0 { before } else { 0.0 };
                self.shores[i - self.range.start] = Vec4::ZERO.with_w(before);
            }
        }
    }

    #[inline(always)]
    fn multipliers<S: Simd, const EQUAL: bool>(self) {
        let mut room = Room::new();
        for i in self.range.clone() {
            let phase = Phase(self.phase[i]);
            if !self.asks.has(phase) {
                continue;
            }
            let is_fluid = phase.0 & Phase::FLUID != 0;
            let k = i - self.range.start;
            let (shore, lambda) = if is_fluid {
                self.lambda(i, &self.around::<S, EQUAL>(i, &mut room))
            } else {
                (Vec4::ZERO, 0.0)
            };
            self.shores[k] = shore;
            self.lambdas[k] = self.moved[i].truncate().extend(lambda);
        }
    }

    /// The sum of V_j W alone.
    #[inline(always)]
    fn ratio<S: Simd, const EQUAL: bool>(&self, i: usize) -> f32 {
        let around = self.places.around::<S>(i, 0.0);
        let own = self.base[i].w;
        let radius = S::splat(own);
        let mut ratio = S::splat(0.0);
        if EQUAL {
            let scale = Scale::of(own + own);
            let per_area = S::splat(scale.per_area);
            for k in 0..around.eights() {
                let eight = around.eight::<EQUAL>(k);
                let bare = bare(seen(eight.between, per_area, eight.there));
                ratio = ratio + volume(radius) * (S::splat(scale.value) * bare.shape);
            }
            return sum(ratio);
        }
        for k in 0..around.eights() {
            let eight = around.eight::<EQUAL>(k);
            let kernel = smoothed(eight.between, radius + eight.radius, eight.there);
            ratio = ratio + volume(eight.radius) * kernel;
        }
        sum(ratio)
    }

    /// All sums around a particle.
    #[inline(always)]
    fn around<S: Simd, const EQUAL: bool>(&self, i: usize, room: &mut Room<S>) -> Sums {
        if EQUAL {
            let sums = self.around_equal::<S>(i, room);
            if sums.gradient.is_finite() {
                return sums;
            }
        }
        self.around_any::<S>(i)
    }

    /// Where all particles are equally large, factors of the gradients wait for the end. (Not those of the
    /// ratio: what is left of it behind the 1 taken off is near rounding.) The gradient is no number where
    /// a particle is infinitely far away.
    #[inline(always)]
    fn around_equal<S: Simd>(&self, i: usize, room: &mut Room<S>) -> Sums {
        let around = self.places.around::<S>(i, 0.0);
        let radius = self.base[i].w;
        let scale = Scale::of(radius + radius);
        let (per_area, value) = (S::splat(scale.per_area), S::splat(scale.value));
        let (own_volume, zero) = (S::splat(volume(radius)), S::splat(0.0));
        let (mut ratio, mut others) = (zero, zero);
        let mut gradient = Vector { x: zero, y: zero, z: zero };
        for from in around.looks() {
            for seen in around.look(from, per_area, room) {
                let bare = bare(seen.q_sq);
                ratio = ratio + own_volume * (value * bare.shape);
                gradient = gradient + seen.between * bare.steep;
                // Of w_j there is the opposite.
                others = others - seen.last * (bare.size * bare.size);
            }
        }
        let [steep, size] = [scale.slope, scale.size].map(|part| volume(radius) * part);
        let sums = rows([gradient.x, gradient.y, gradient.z, ratio]);
        Sums {
            ratio: sums.w,
            gradient: sums.truncate() * steep,
            others: sum(others) * (size * size),
        }
    }

    #[inline(always)]
    fn around_any<S: Simd>(&self, i: usize) -> Sums {
        let around = self.places.around::<S>(i, 0.0);
        let radius = S::splat(self.base[i].w);
        let zero = S::splat(0.0);
        let (mut ratio, mut others) = (zero, zero);
        let mut gradient = Vector { x: zero, y: zero, z: zero };
        for k in 0..around.eights() {
            let eight = around.eight::<false>(k);
            let volume = volume(eight.radius);
            let pair = pair(eight.between, radius + eight.radius, eight.there);
            ratio = ratio + volume * pair.value;
            gradient = gradient + pair.apart * (volume * pair.slope);
            let size = volume * pair.size;
            others = others - eight.last * (size * size);
        }
        let sums = rows([gradient.x, gradient.y, gradient.z, ratio]);
        Sums { ratio: sums.w, gradient: sums.truncate(), others: sum(others) }
    }

    /// The gradient of what walls add, and by how much the fluid is too dense.
    #[inline(always)]
    fn error(&self, i: usize, ratio: f32) -> (Vec3, f32) {
        let planes = if self.environment.particles() == self.moved.len() {
            self.environment.of(i)
        } else {
            &[]
        };
        let shore = if planes.is_empty() {
            Vec4::ZERO
        } else {
            walls::behind(planes, self.moved[i].truncate(), self.base[i].w)
        };
        (shore.truncate(), ratio + OWN + shore.w - 1.0)
    }

    /// The row of `shores`, and lambda.
    #[inline(always)]
    fn lambda(&self, i: usize, sums: &Sums) -> (Vec4, f32) {
        let (w, radius) = (self.moved[i].w, self.base[i].w);
        let (at_shore, error) = self.error(i, sums.ratio);
        let before = self.shores[i - self.range.start].w;
        let error = error - before;
        let error = if self.pulls || error > 0.0 { error } else { 0.0 };
        let gradient = sums.gradient + at_shore;
        let at_rest = w * AT_REST / (radius * radius);
        let own = w * gradient.dot(gradient);
        let carried = own + sums.others + self.relaxation * at_rest;
        let lambda = if carried > LEAST { -error / carried } else { 0.0 };
        (at_shore.extend(before), lambda)
    }
}
