//! Puts particles outside the obstacles, with static and kinetic friction.
//! C = n.p + d - r >= 0; friction as between particles, against the obstacle's own motion.
//! Reads: start [m], predicted [m], radius [m], materials, environment contacts. Writes: predicted;
//! before the iterations start instead, against the planes where the substep began.
//! Order: each particle alone, its planes in the order of the list; deterministic.

use super::contact::Friction;
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::World;
use glam::Vec3;

/// Particles beside obstacles that a block holds: some microseconds of work.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let particles = &mut world.particles;
    let Scratch { environment: contacts, beside, start, material_pairs, .. } = scratch;
    let material = &particles.material[..];
    let radius = &particles.radius[..];
    let count = radius.len();
    assert!(start.len() == count && particles.predicted.len() == count);
    let (predicted, start) = (Shared::new(&mut particles.predicted), Shared::new(start));
    let before = at.part == Part::Start;
    team.rows(&beside[..], BLOCK, |_, beside| {
        for i in beside.iter().map(|&i| i as usize) {
            let radius = radius[i];
            // SAFETY: in bounds as the line above and the assertion show; nobody stands in the list
            // twice.
            let (p, x) = unsafe { (predicted.at(i), start.at(i)) };
            if p.w == 0.0 {
                continue; // held
            }
            for contact in contacts.of(i) {
                let normal = contact.plane.truncate();
                if before {
                    // The plane where the obstacle was when the substep began: its own move must
                    // stay in the prediction, or a pusher would give no speed.
                    let offset = contact.plane.w + normal.dot(contact.motion);
                    let c = normal.dot(x.truncate()) + offset - radius;
                    if c < 0.0 {
                        *x += (normal * -c).extend(0.0);
                    }
                    continue;
                }
                let c = normal.dot(p.truncate()) + contact.plane.w - radius;
                if c >= 0.0 {
                    continue;
                }
                let out = p.truncate() - normal * c;
                let slip = out - x.truncate() - contact.motion;
                let tangential = slip - normal * normal.dot(slip);
                let friction =
                    Friction::between(material_pairs.wall(contact.collider, material[i]));
                let held = Vec3::from(friction.of(tangential.into(), -c));
                *p = (out - held).extend(p.w);
            }
        }
    });
}
