//! Applies forces and moves each particle along its velocity; clears the multipliers.
//! Symplectic Euler: v += h a, p = x + h v. Verlet: p = x + h v + h² a / 2 [C 3.3].
//! Mass scaling: contacts see w' = w exp(k height) [J 4.2.1].
//! Reads: position [m, 1/kg], velocity [m/s], forces. Writes: velocity, predicted,
//! multipliers, start as contacts see it. Order: each particle alone; deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Integrator, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::Ordering::Relaxed;

/// Exponents of the mass scale are kept here, where f32 has room for their products.
const MAX_EXPONENT: f32 = 30.0;

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
    let (up, floor) = (world.up(), world.list_floor);
    let World { params, particles, forces, distance, bend, volume, pins, .. } = world;
    distance.lambda.fill(0.0);
    bend.lambda.fill(0.0);
    volume.lambda.fill(0.0);
    pins.iter_mut().for_each(|pin| pin.lambda = 0.0);
    let forces = Forces { gravity: params.gravity, fields: forces, h: at.h };
    let (h, k) = (at.h, params.mass_scale);
    let quarantined = &scratch.quarantined;
    let rows = (
        Shared::new(&mut particles.position),
        Shared::new(&mut particles.velocity),
        Shared::new(&mut particles.predicted),
        Shared::new(&mut scratch.start),
    );
    team.rows(rows, BLOCK, |range, (position, velocity, predicted, start)| {
        for i in 0..range.len() {
            let (x, w) = (position[i].truncate(), position[i].w);
            start[i] = position[i];
            if k > 0.0 {
                let exponent = k * (up.dot(x) - floor);
                start[i].w = w * libm::expf(exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT));
            }
            if w == 0.0 {
                predicted[i] = position[i];
                velocity[i] = Vec4::ZERO;
                continue;
            }
            let v = velocity[i].truncate();
            let a = acceleration(&forces, x, v, w);
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

/// Pins a particle that became non-finite where it last was well.
pub(crate) fn quarantine(position: &mut Vec4, velocity: &mut Vec4, predicted: &mut Vec4) {
    position.w = 0.0;
    *velocity = Vec4::ZERO;
    *predicted = *position;
}
