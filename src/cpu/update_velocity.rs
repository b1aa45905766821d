//! Makes velocities from the moves; quarantines particles that became non-finite.
//! v = (p - s) / h, with Verlet + h a / 2; then damped by 1 / (1 + h c). Computed as the velocity of
//! the prediction plus what the solver added, (p - p0) / h: free flight loses nothing to rounding.
//! Reads: position [m], start s [m], predicted p [m], velocity [m/s]. Writes: velocity, position and
//! predicted of quarantined particles, and predicted of held ones that became non-finite.
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
        &particles.start[..],
        Shared::new(&mut particles.velocity),
        Shared::new(&mut particles.predicted),
    );
    team.rows(rows, BLOCK, |range, (position, start, velocity, predicted)| {
        for i in 0..range.len() {
            if position[i].w == 0.0 {
                // A push that overflowed, times an inverse mass of 0, is no number.
                if !predicted[i].is_finite() {
                    predicted[i] = start[i].truncate().extend(0.0);
                }
                continue;
            }
            let (s, w) = (start[i].truncate(), position[i].w);
            let mut v = velocity[i].truncate();
            let unsolved = match params.integrator {
                Integrator::Symplectic => s + v * h,
                Integrator::Verlet => {
                    let x = position[i].truncate();
                    let a = acceleration(&forces, x + s, v, w);
                    let p = s + v * h + a * (0.5 * h * h);
                    let half = v + a * (0.5 * h);
                    let end = acceleration(&forces, x + predicted[i].truncate(), half, w);
                    v = half + end * (0.5 * h);
                    p
                }
            };
            v += (predicted[i].truncate() - unsolved) * inv_h;
            v *= keep;
            if v.is_finite() && predicted[i].is_finite() {
                velocity[i] = v.extend(0.0);
            } else {
                quarantine(&mut position[i], start[i], &mut velocity[i], &mut predicted[i]);
                quarantined.fetch_add(1, Relaxed);
            }
        }
    });
}
