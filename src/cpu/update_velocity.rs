//! Makes velocities from the moves; quarantines particles that became non-finite.
//! v = (p - x) / h, with Verlet + h a / 2; then damped by 1 / (1 + h c). Computed as the velocity of
//! the prediction plus what the solver added, (p - p0) / h: free flight loses nothing to rounding.
//! Reads: position [m], predicted [m], velocity [m/s]. Writes: velocity, prior velocity, position
//! and predicted of quarantined particles, and predicted of held ones that became non-finite.
//! Order: each particle alone; deterministic.

use super::predict::{Forces, acceleration, quarantine};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Integrator, World};
use std::sync::atomic::Ordering::Relaxed;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let World { params, particles, forces, .. } = world;
    let forces = Forces { gravity: params.gravity, fields: forces, h: at.h };
    let (h, inv_h) = (at.h, 1.0 / at.h);
    let keep = 1.0 / (1.0 + params.damping * h);
    let quarantined = &scratch.quarantined;
    let rows = (
        Shared::new(&mut particles.position),
        Shared::new(&mut particles.velocity),
        Shared::new(&mut particles.predicted),
        Shared::new(&mut scratch.velocity_prior),
    );
    team.rows(rows, BLOCK, |range, (position, velocity, predicted, prior)| {
        for i in 0..range.len() {
            prior[i] = velocity[i];
            if position[i].w == 0.0 {
                // A push that overflowed, times an inverse mass of 0, is no number.
                if !predicted[i].is_finite() {
                    predicted[i] = position[i];
                }
                continue;
            }
            let (x, w) = (position[i].truncate(), position[i].w);
            let mut v = prior[i].truncate();
            let unsolved = match params.integrator {
                Integrator::Symplectic => x + v * h,
                Integrator::Verlet => {
                    let a = acceleration(&forces, x, v, w);
                    let p = x + v * h + a * (0.5 * h * h);
                    let half = v + a * (0.5 * h);
                    let end = acceleration(&forces, predicted[i].truncate(), half, w);
                    v = half + end * (0.5 * h);
                    p
                }
            };
            v += (predicted[i].truncate() - unsolved) * inv_h;
            v *= keep;
            if v.is_finite() && predicted[i].is_finite() {
                velocity[i] = v.extend(0.0);
            } else {
                quarantine(&mut position[i], &mut velocity[i], &mut predicted[i]);
                quarantined.fetch_add(1, Relaxed);
            }
        }
    });
}
