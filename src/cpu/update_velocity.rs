//! Makes velocities from the moves; quarantines particles that became non-finite.
//! v = (p - x) / h, with Verlet + h a / 2; then damped by 1 / (1 + h c).
//! Reads: position [m], predicted [m], velocity [m/s]. Writes: velocity, prior velocity, and
//! position and predicted of quarantined particles.
//! Order: each particle alone; deterministic.

use super::predict::{Forces, acceleration, quarantine};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Integrator, World};
use std::sync::atomic::Ordering::Relaxed;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let World { params, particles, forces, .. } = world;
    let forces = Forces { gravity: params.gravity, fields: forces };
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
                continue;
            }
            let x = position[i].truncate();
            let mut v = (predicted[i].truncate() - x) * inv_h;
            if params.integrator == Integrator::Verlet {
                let a = acceleration(&forces, x, prior[i].truncate(), position[i].w);
                v += a * (0.5 * h);
            }
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
