//! Averages gathered corrections and applies them.
//! p += omega (sum of corrections) / (how many) [J 3.1.4].
//! Reads: delta [m or m/s, count], or the corrections of a Jacobi sweep.
//! Writes: predicted; start under `stabilize_contacts`, and position and predicted, which follow it
//! in the end; velocity after `restitution`.
//! Order: each particle alone; deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch, solve};
use crate::step::Part;
use crate::world::{Kind, World};
use glam::Vec4;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let omega = world.params.contact_omega;
    let method = world.params.method;
    let particles = &mut world.particles;
    match at.part {
        Part::Of(kind) => {
            let cache = match kind {
                Kind::Distance => &scratch.distance,
                Kind::Bend => &scratch.bend,
                Kind::Volume => &scratch.volume,
                Kind::Pin => return, // pins are solved in place
            };
            solve::gather(team, &mut particles.predicted, cache, method);
        }
        Part::Start => {
            apply(team, &mut scratch.start, &scratch.delta, omega);
        }
        Part::Settle => settle(team, &mut particles.position, &mut particles.predicted, scratch),
        Part::Velocity => apply(team, &mut particles.velocity, &scratch.delta, 1.0),
        Part::All | Part::Color(_) | Part::Digit(_) => {
            apply(team, &mut particles.predicted, &scratch.delta, omega);
        }
    }
}

/// Position and prediction take the moves that resolved old overlap.
fn settle(team: &Team, position: &mut [Vec4], predicted: &mut [Vec4], scratch: &Scratch) {
    let rows = (Shared::new(position), Shared::new(predicted), &scratch.start[..]);
    team.rows(rows, BLOCK, |_, (position, predicted, start)| {
        for ((x, p), start) in position.iter_mut().zip(predicted).zip(start) {
            let to = start.truncate().extend(x.w);
            // Same inverse mass: the difference has none.
            *p += to - *x;
            *x = to;
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
