//! Moves particles towards their goals (docs/physics.md, section 7).
//! A link asks for d = goal - f. With compliance it gets (d - a g) / (1 + a), where g is what it got in
//! this substep so far and a = compliance x mass / h^2: the same for all links of a body, so momentum
//! is kept, and the stiffness depends neither on the substep nor on the iterations. A particle takes
//! the mean of what its links get, each with the share of its mass that it has there.
//! Reads: position [m], predicted [m, 1/kg], links, bodies. Writes: predicted, body_pushes.
//! Order: each particle alone, over its links in order; deterministic.

use super::shape::{self, rows};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::World;
use glam::Vec3;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let shape::Matched { around, states, pushes, .. } = &mut scratch.matched;
    let links = &world.bodies.links;
    let particles = &mut world.particles;
    let position = &particles.position[..];
    let inv_h = 1.0 / at.h;
    let pushes = Shared::new(pushes);
    team.rows(Shared::new(&mut particles.predicted), BLOCK, |range, predicted| {
        for (k, i) in range.enumerate() {
            let entries = around.range(i);
            let u = predicted[k];
            if entries.is_empty() || u.w == 0.0 {
                continue;
            }
            // SAFETY: the entries of different particles do not overlap, and this worker has this one.
            let pushes = unsafe { pushes.slice(entries.clone()) };
            let mut sum = Vec3::ZERO;
            for (entry, push) in entries.zip(pushes) {
                let (link, body) = around.entry(entry);
                let (state, rest) = (&states[body], links.rest[link]);
                let reference = position[links.particle[state.first as usize] as usize];
                let s = rows::times(&state.base, rest.truncate());
                let place = (position[i] - reference).truncate() + u.truncate();
                let f = (place - state.center) - s;
                let wanted = (rows::times(&state.goal, s) + state.shift) - f;
                let softness = state.softness * inv_h * inv_h;
                let got = push.truncate();
                let given = (wanted - got * softness) * (1.0 / (1.0 + softness));
                *push = (got + given).extend(0.0);
                sum += given * links.share[link];
            }
            predicted[k] = (u.truncate() + sum).extend(u.w);
        }
    });
}
