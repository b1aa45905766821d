//! Moves the particles of rigid bodies as the impulses on them do (docs/physics.md, section 7).
//! p += (D - 1) s + d: `solve_bodies` turned the body by D and moved it by d; s is where the particle
//! is, from the centre.
//! Reads: predicted [m, 1/kg], links, bodies. Writes: predicted. Order: each particle alone, over its
//! links in order; deterministic.

use super::Scratch;
use super::shape::{self, rows};
use super::team::{BLOCK, Shared, Team};
use crate::world::World;
use glam::Vec3;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let shape::Matched { around, states, .. } = &scratch.matched;
    let links = &world.bodies.links;
    let predicted = Shared::new(&mut world.particles.predicted);
    team.rows(predicted, BLOCK, |range, predicted| {
        for (k, i) in range.enumerate() {
            let entries = around.range(i);
            let u = predicted[k];
            if entries.is_empty() || u.w == 0.0 {
                continue;
            }
            let mut sum = Vec3::ZERO;
            for entry in entries {
                let (link, body) = around.entry(entry);
                let state = &states[body];
                if state.inv_mass > 0.0 {
                    let s = rows::times(&state.base, links.rest[link].truncate());
                    sum += rows::times(&state.goal, s) + state.shift;
                }
            }
            predicted[k] = (u.truncate() + sum).extend(u.w);
        }
    });
}
