//! Puts particles outside the obstacles, with static and kinetic friction.
//! C = n.p + d - r >= 0; friction as between particles, against the obstacle's own motion.
//! Reads: position [m], predicted [m], radius [m], environment contacts. Writes: predicted; before
//! the iterations start instead, against the planes where the substep began.
//! Order: each particle alone, its planes in the order of the list; deterministic.

use super::contact::Friction;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{Collider, Params, World};
use glam::Vec3;

/// Friction of an obstacle: its own, or the world's.
fn friction_of(collider: &Collider, params: &Params) -> Friction {
    let kinetic = collider.friction_kinetic.unwrap_or(params.friction);
    let fixed = collider.friction_static.unwrap_or(params.static_friction).max(kinetic);
    Friction { fixed, kinetic }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let World { params, particles, colliders, .. } = world;
    let contacts = &scratch.environment;
    let rows = (
        &particles.position[..],
        Shared::new(&mut particles.predicted),
        Shared::new(&mut scratch.start),
        &particles.radius[..],
    );
    let before = at.part == Part::Start;
    team.rows(rows, BLOCK, |range, (position, predicted, start, radius)| {
        for (k, i) in range.enumerate() {
            // Most have none: look at nothing else then.
            let contacts = contacts.of(i);
            if contacts.is_empty() || position[k].w == 0.0 {
                continue;
            }
            for contact in contacts {
                let normal = contact.plane.truncate();
                if before {
                    // The plane where the obstacle was when the substep began: its own move must
                    // stay in the prediction, or a pusher would give no speed.
                    let offset = contact.plane.w + normal.dot(contact.motion);
                    let c = normal.dot(start[k].truncate()) + offset - radius[k];
                    if c < 0.0 {
                        start[k] += (normal * -c).extend(0.0);
                    }
                    continue;
                }
                let p = predicted[k].truncate();
                let c = normal.dot(p) + contact.plane.w - radius[k];
                if c >= 0.0 {
                    continue;
                }
                let p = p - normal * c;
                let slip = p - position[k].truncate() - contact.motion;
                let tangential = slip - normal * normal.dot(slip);
                let friction = friction_of(&colliders[contact.collider as usize], params);
                let held = Vec3::from(friction.of(tangential.into(), -c));
                predicted[k] = (p - held).extend(predicted[k].w);
            }
        }
    });
}
