//! Puts particles outside the obstacles, with static and kinetic friction.
//! C = n.p + d - r >= 0, all counted from where the step began; friction as between particles, against the obstacle's own motion.
//! Reads: predicted [m], radius [m], phase, materials. Writes: predicted, and what environment contacts
//! hold.
//! Order: each particle alone, its planes in the order of the list; deterministic.

use super::Scratch;
use super::contact::{Friction, Grip};
use super::team::{Shared, Team};
use crate::world::{Phase, World};
use glam::Vec3;

/// Particles beside obstacles that a block holds: some microseconds of work.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let particles = &mut world.particles;
    let Scratch { environment, beside, material_pairs, .. } = scratch;
    let (places, contacts) = environment.parts_mut();
    let contacts = Shared::new(contacts);
    let material = &particles.material[..];
    let (radius, phase) = (&particles.radius[..], &particles.phase[..]);
    assert!(particles.predicted.len() == radius.len());
    let predicted = Shared::new(&mut particles.predicted);
    team.rows(&beside[..], BLOCK, |_, beside| {
        for i in beside.iter().map(|&i| i as usize) {
            let radius = radius[i];
            // SAFETY: in bounds as the line above and the assertion show; nobody stands in the list
            // twice, and everyone has contacts of their own.
            let (p, contacts) = unsafe { (predicted.at(i), contacts.slice(places.range(i))) };
            if p.w == 0.0 || phase[i] & Phase::RIGID != 0 {
                continue; // held, or left to its body
            }
            for contact in contacts {
                let (at, normal) = (p.truncate(), contact.plane.truncate());
                let held = contact.held;
                let depth = held.floor - (normal.dot(at) + contact.plane.w - radius);
                // Not for NaN either.
                if !(depth > 0.0 || (held.pressed > 0.0 && !depth.is_nan())) {
                    continue;
                }
                let friction =
                    Friction::between(material_pairs.wall(contact.collider, material[i]));
                let (mut grip, slip) = (Grip::from(held), at - held.anchor);
                let push = grip.solve(normal.into(), depth, slip.into(), friction, 1.0);
                contact.held = grip.held(held.floor, held.share);
                *p += Vec3::from(push).extend(0.0);
            }
        }
    });
}
