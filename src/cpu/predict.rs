//! Applies forces and moves each particle along its velocity; clears the multipliers.
//! Symplectic Euler: v += h a, p = x + h v. Verlet: p = x + h v + h² a / 2 [C 3.3].
//! Mass scaling: contacts see w' = w exp(k height) [J 4.2.1].
//! Reads: position [m, 1/kg], velocity [m/s], forces. Writes: velocity, predicted,
//! multipliers, start as contacts see it. Order: each particle alone; deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{EIGHT, Kernel, LANES, Number, Simd, Vector, exp};
use crate::world::{Integrator, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::Ordering::Relaxed;

/// Exponents of the mass scale are kept here, where f32 has room for their products.
const MAX_EXPONENT: f32 = 30.0;
/// Scaled inverse masses are kept here, 1/kg, so that the sum of two is finite.
const MAX_WEIGHT: f32 = 1e37;

/// External acceleration at a point, m/s².
pub(crate) fn acceleration(forces: &Forces, x: Vec3, v: Vec3, w: f32) -> Vec3 {
    let add = |a, force: &crate::world::Force| a + force.acceleration(x, v, w, forces.h);
    forces.fields.iter().fold(forces.gravity, add)
}

/// What accelerates particles.
pub(crate) struct Forces<'a> {
    pub gravity: Vec3,
    pub fields: &'a [crate::world::Force],
    /// Length of the substep, s.
    pub h: f32,
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let scale =
        MassScale { up: world.up(), floor: world.list_floor, rate: world.params.mass_scale };
    world.clear_multipliers();
    let World { params, particles, forces, .. } = world;
    let forces = Forces { gravity: params.gravity, fields: forces, h: at.h };
    let plain = forces.fields.is_empty() && params.integrator == Integrator::Symplectic;
    let quarantined = &scratch.quarantined;
    let rows = (
        Shared::new(&mut particles.position),
        Shared::new(&mut particles.velocity),
        Shared::new(&mut particles.predicted),
        Shared::new(&mut scratch.start),
    );
    team.rows(rows, BLOCK, |range, (position, velocity, predicted, start)| {
        let mut done = 0;
        if plain {
            let fall = Fall { position, velocity, predicted, start, forces: &forces, scale };
            done = team.simd.run(fall);
        }
        for i in done..range.len() {
            let (x, w) = (position[i].truncate(), position[i].w);
            start[i] = position[i];
            if scale.rate > 0.0 {
                start[i].w = scale.weight(w, Vector::from(x));
            }
            if w == 0.0 {
                predicted[i] = position[i];
                velocity[i] = Vec4::ZERO;
                continue;
            }
            let v = velocity[i].truncate();
            let a = acceleration(&forces, x, v, w);
            let h = forces.h;
            let p = match params.integrator {
                Integrator::Symplectic => {
                    let v = v + a * h;
                    velocity[i] = v.extend(0.0);
                    x + v * h
                }
                Integrator::Verlet => x + v * h + a * (0.5 * h * h),
            };
            if p.is_finite() {
                predicted[i] = p.extend(w);
            } else {
                quarantine(&mut position[i], &mut velocity[i], &mut predicted[i]);
                start[i].w = 0.0;
                quarantined.fetch_add(1, Relaxed);
            }
        }
    });
}

/// By how much contacts see a particle lighter: exp(k height).
#[derive(Clone, Copy)]
struct MassScale {
    up: Vec3,
    floor: f32,
    rate: f32,
}

impl MassScale {
    /// The inverse mass that contacts see at x of a particle that has w.
    #[inline(always)]
    fn weight<L: Number>(&self, w: L, x: Vector<L>) -> L {
        let (scaled, most) = (w * self.at(x), L::splat(MAX_WEIGHT));
        L::select(most.above(scaled), scaled, most)
    }
    #[inline(always)]
    fn at<L: Number>(&self, x: Vector<L>) -> L {
        let up = Vector { x: L::splat(self.up.x), y: L::splat(self.up.y), z: L::splat(self.up.z) };
        let exponent = (up.dot(x) - L::splat(self.floor)) * L::splat(self.rate);
        let (low, high) = (L::splat(-MAX_EXPONENT), L::splat(MAX_EXPONENT));
        let exponent = L::select(exponent.above(low), exponent, low);
        exp(L::select(high.above(exponent), exponent, high))
    }
}

/// Particles that only fall, eight at a time, by the formulas of the loop in `run`. Ends where fewer
/// are left, or where one gets out of range; tells how many are done.
struct Fall<'a> {
    position: &'a [Vec4],
    velocity: &'a mut [Vec4],
    predicted: &'a mut [Vec4],
    start: &'a mut [Vec4],
    forces: &'a Forces<'a>,
    scale: MassScale,
}

impl Kernel for Fall<'_> {
    type Output = usize;
    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        let Fall { position, velocity, predicted, start, forces, scale } = self;
        let count = position.len();
        assert!(velocity.len() == count && predicted.len() == count && start.len() == count);
        let (h, zero, largest) = (S::splat(forces.h), S::splat(0.0), S::splat(f32::MAX));
        let g = forces.gravity.to_array();
        let mut done = 0;
        while done + LANES <= count {
            // SAFETY: eight rows from `done` on are there.
            unsafe {
                let at = S::gather(position.as_ptr().add(done).cast(), EIGHT.as_ptr());
                let v = S::gather(velocity.as_ptr().add(done).cast(), EIGHT.as_ptr());
                let moves = at[3].above(zero);
                let (mut to, mut speed) = (at, [zero; 4]);
                let mut sum = zero;
                for k in 0..3 {
                    let v = v[k] + S::splat(g[k]) * h;
                    let p = at[k] + v * h;
                    // Infinite, or not a number, as soon as one of them is.
                    sum = sum + p.abs();
                    to[k] = S::select(moves, p, at[k]);
                    speed[k] = S::select(moves, v, zero);
                }
                if sum.at_most(largest) != 0xff {
                    return done;
                }
                let mut began = at;
                if scale.rate > 0.0 {
                    let x = Vector { x: at[0], y: at[1], z: at[2] };
                    began[3] = scale.weight(at[3], x);
                }
                S::scatter(began, start.as_mut_ptr().add(done).cast(), EIGHT.as_ptr());
                S::scatter(speed, velocity.as_mut_ptr().add(done).cast(), EIGHT.as_ptr());
                S::scatter(to, predicted.as_mut_ptr().add(done).cast(), EIGHT.as_ptr());
            }
            done += LANES;
        }
        done
    }
}

/// Pins a particle that became non-finite where it last was well.
pub(crate) fn quarantine(position: &mut Vec4, velocity: &mut Vec4, predicted: &mut Vec4) {
    position.w = 0.0;
    *velocity = Vec4::ZERO;
    *predicted = *position;
}
