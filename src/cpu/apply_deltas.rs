//! Averages gathered corrections and applies them.
//! p += (sum of corrections) / (how many) [J 3.1.4]. Contacts are relaxed pair by pair beforehand, so
//! that momentum is kept: theirs are sums.
//! Reads: delta [m, count], or the corrections of a Jacobi sweep.
//! Writes: predicted.
//! Order: each particle alone; deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch, solve};
use crate::step::Part;
use crate::world::World;
use glam::Vec4;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let method = world.params.method;
    let particles = &mut world.particles;
    match at.part {
        Part::Of(kind) => {
            // Pins are solved in place: they have no corrections.
            let Some(cache) = scratch.kinds.get(kind as usize) else { return };
            solve::gather(team, &mut particles.predicted, cache, method);
        }
        _ => apply(team, &mut particles.predicted, &scratch.delta),
    }
}

fn apply(team: &Team, values: &mut [Vec4], delta: &[Vec4]) {
    team.rows((Shared::new(values), delta), BLOCK, |_, (values, delta)| {
        for (value, delta) in values.iter_mut().zip(delta) {
            if delta.w > 0.0 {
                *value += delta.truncate().extend(0.0);
            }
        }
    });
}
