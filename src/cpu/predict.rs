//! Applies forces and moves each particle along its velocity; clears the multipliers.
//! Symplectic Euler: v += h a, p = s + h v. Verlet: p = s + h v + h² a / 2 [C 3.3]; s is where the
//! substep began. Both count from `position`: so a move that is less than the rounding of the place
//! itself is not lost.
//! In the first substep of a step the rows of constraints are told how their particles lie to each other.
//! Reads: position [m, 1/kg], start [m], velocity [m/s], forces. Writes: velocity, predicted,
//! multipliers, the inverse mass in start. Order: each particle alone; deterministic.

use super::solve;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{EIGHT, Kernel, LANES, Simd};
use crate::world::{Integrator, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::Ordering::Relaxed;

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
    world.clear_multipliers();
    if !scratch.bases_are_known {
        solve::take_bases(team, &mut scratch.kinds, world);
        scratch.bases_are_known = true;
    }
    let World { params, particles, forces, .. } = world;
    let forces = Forces { gravity: params.gravity, fields: forces, h: at.h };
    let plain = forces.fields.is_empty() && params.integrator == Integrator::Symplectic;
    let quarantined = &scratch.quarantined;
    let rows = (
        Shared::new(&mut particles.position),
        Shared::new(&mut particles.velocity),
        Shared::new(&mut particles.predicted),
        Shared::new(&mut particles.start),
    );
    team.rows(rows, BLOCK, |range, (position, velocity, predicted, start)| {
        let mut done = 0;
        if plain {
            let fall = Fall { position, velocity, predicted, start, forces: &forces };
            done = team.simd.run(fall);
        }
        for i in done..range.len() {
            let (s, w) = (start[i].truncate(), position[i].w);
            let x = position[i].truncate() + s;
            start[i].w = w;
            if w == 0.0 {
                predicted[i] = start[i];
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
                    s + v * h
                }
                Integrator::Verlet => s + v * h + a * (0.5 * h * h),
            };
            // Its place counts, not only its move.
            if (position[i].truncate() + p).is_finite() {
                predicted[i] = p.extend(w);
            } else {
                start[i].w = 0.0;
                quarantine(&mut position[i], start[i], &mut velocity[i], &mut predicted[i]);
                quarantined.fetch_add(1, Relaxed);
            }
        }
    });
}

/// Particles that only fall, eight at a time, by the formulas of the loop in `run`. Ends where fewer
/// are left, or where one gets out of range; tells how many are done.
struct Fall<'a> {
    position: &'a [Vec4],
    velocity: &'a mut [Vec4],
    predicted: &'a mut [Vec4],
    start: &'a mut [Vec4],
    forces: &'a Forces<'a>,
}

impl Kernel for Fall<'_> {
    type Output = usize;
    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        let Fall { position, velocity, predicted, start, forces } = self;
        let count = position.len();
        assert!(velocity.len() == count && predicted.len() == count && start.len() == count);
        let (h, zero, largest) = (S::splat(forces.h), S::splat(0.0), S::splat(f32::MAX));
        let g = forces.gravity.to_array();
        let mut done = 0;
        while done + LANES <= count {
            // SAFETY: eight rows from `done` on are there.
            unsafe {
                let x = S::gather(position.as_ptr().add(done).cast(), EIGHT.as_ptr());
                let s = S::gather(start.as_ptr().add(done).cast(), EIGHT.as_ptr());
                let at = [s[0], s[1], s[2], x[3]];
                let v = S::gather(velocity.as_ptr().add(done).cast(), EIGHT.as_ptr());
                let moves = at[3].above(zero);
                let (mut to, mut speed) = (at, [zero; 4]);
                let mut sum = zero;
                for k in 0..3 {
                    let v = v[k] + S::splat(g[k]) * h;
                    let p = at[k] + v * h;
                    // Infinite, or not a number, as soon as one of the places is.
                    sum = sum + (x[k] + p).abs();
                    to[k] = S::select(moves, p, at[k]);
                    speed[k] = S::select(moves, v, zero);
                }
                if sum.at_most(largest) != 0xff {
                    return done;
                }
                S::scatter(at, start.as_mut_ptr().add(done).cast(), EIGHT.as_ptr());
                S::scatter(speed, velocity.as_mut_ptr().add(done).cast(), EIGHT.as_ptr());
                S::scatter(to, predicted.as_mut_ptr().add(done).cast(), EIGHT.as_ptr());
            }
            done += LANES;
        }
        done
    }
}

/// Pins a particle that became non-finite where it last was well.
pub(crate) fn quarantine(
    position: &mut Vec4,
    start: Vec4,
    velocity: &mut Vec4,
    predicted: &mut Vec4,
) {
    position.w = 0.0;
    *velocity = Vec4::ZERO;
    *predicted = start.truncate().extend(0.0);
}
