//! Averages gathered corrections and applies them.
//! p += omega (sum of corrections) / (how many) [J 3.1.4].
//! Reads: delta [m or m/s, count], or the corrections of a Jacobi sweep.
//! Writes: predicted; start under `stabilize_contacts`, and position and predicted, which follow it
//! in the end; velocity after `restitution`; position, velocity and start of quarantined particles.
//! Order: each particle alone; deterministic.

use super::predict::quarantine;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch, solve};
use crate::step::Part;
use crate::world::{Particles, World};
use glam::Vec4;
use std::sync::atomic::Ordering::Relaxed;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let omega = world.params.contact_omega;
    let method = world.params.method;
    let particles = &mut world.particles;
    match at.part {
        Part::Of(kind) => {
            // Pins are solved in place: they have no corrections.
            let Some(cache) = scratch.kinds.get(kind as usize) else { return };
            solve::gather(team, &mut particles.predicted, cache, method);
        }
        Part::Start => {
            apply(team, &mut scratch.start, &scratch.delta, omega);
        }
        Part::Settle => settle(team, particles, scratch),
        Part::Velocity => apply(team, &mut particles.velocity, &scratch.delta, 1.0),
        _ => apply(team, &mut particles.predicted, &scratch.delta, omega),
    }
}

/// Position and prediction take the moves that resolved old overlap. A particle whose moves are out
/// of range is quarantined where it was.
fn settle(team: &Team, particles: &mut Particles, scratch: &mut Scratch) {
    let quarantined = &scratch.quarantined;
    let rows = (
        Shared::new(&mut particles.position),
        Shared::new(&mut particles.velocity),
        Shared::new(&mut particles.predicted),
        Shared::new(&mut scratch.start),
    );
    team.rows(rows, BLOCK, |range, (position, velocity, predicted, start)| {
        for i in 0..range.len() {
            let to = start[i].truncate().extend(position[i].w);
            // Same inverse mass: the difference has none.
            let moved = predicted[i] + (to - position[i]);
            if to.is_finite() && moved.is_finite() {
                predicted[i] = moved;
                position[i] = to;
                continue;
            }
            // One that is held was not to move, and needs no pinning.
            let was_free = position[i].w > 0.0;
            quarantine(&mut position[i], &mut velocity[i], &mut predicted[i]);
            start[i] = position[i];
            quarantined.fetch_add(u64::from(was_free), Relaxed);
        }
    });
}

fn apply(team: &Team, values: &mut [Vec4], delta: &[Vec4], omega: f32) {
    team.rows((Shared::new(values), delta), BLOCK, |_, (values, delta)| {
        for (value, delta) in values.iter_mut().zip(delta) {
            if delta.w > 0.0 {
                *value += (delta.truncate() * (omega / delta.w)).extend(0.0);
            }
        }
    });
}
