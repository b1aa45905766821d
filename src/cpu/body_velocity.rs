//! Gives the velocities of bodies the direction that they have where they arrive (docs/physics.md,
//! section 7). `update_velocity` made them from the moves, which are chords of circles: too short, and
//! turned by half the way. v += k K r, r seen from the centre where the substep began, with the K that
//! `body_predict` left, and k what damping keeps. What obstacles gave beyond the moves is added as well.
//! Reads: position [m, 1/kg], start [m], links, bodies. Writes: velocity [m/s].
//! Order: each particle alone, over its links in order; deterministic.

use super::shape::{self, rows};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Places, World};
use glam::Vec3;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let shape::Matched { around, states, .. } = &scratch.matched;
    let links = &world.bodies.links;
    let keep = 1.0 / (1.0 + world.params.damping * at.h);
    let particles = &mut world.particles;
    let places = Places { position: &particles.position, moved: &particles.start };
    team.rows(Shared::new(&mut particles.velocity), BLOCK, |range, velocity| {
        for (k, i) in range.enumerate() {
            let entries = around.range(i);
            if entries.is_empty() || places.position[i].w == 0.0 {
                continue;
            }
            let mut sum = Vec3::ZERO;
            for entry in entries {
                let (link, body) = around.entry(entry);
                let state = &states[body];
                let reference = links.particle[state.first as usize] as usize;
                let r = shape::seen(places, i, reference) - state.from;
                let s = rows::times(&state.base, links.rest[link].truncate());
                let turning = rows::times(&state.spin, r);
                let pushed = state.after + rows::times(&state.after_by_place, s);
                sum += (turning + pushed) * links.share[link];
            }
            let v = velocity[k].truncate() + sum * keep;
            if v.is_finite() {
                velocity[k] = v.extend(0.0);
            }
        }
    });
}
