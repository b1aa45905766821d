//! Finds what gives closing contacts their bounce, at velocity level (Müller 2020).
//! For contacts that closed faster than the threshold: v_n = -e v_n(before).
//! Reads: predicted [m], velocity [m/s], prior velocity, radius, neighbour lists, environment
//! contacts. Writes: delta [m/s, 1].
//! Order: each particle gathers over its own lists; deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::World;
use glam::{Vec3, Vec4};

/// Contacts count as closed up to this share of the contact distance: a solved one lies at it.
const CLOSED: f32 = 1.001;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { delta, velocity_prior: before, neighbors, environment, contact_weight, .. } =
        scratch;
    let particles = &world.particles;
    let (p, v) = (&particles.predicted, &particles.velocity);
    let threshold = world.params.restitution_threshold;
    let inv_h = 1.0 / at.h;
    let pairs = world.params.restitution > 0.0 && world.may_touch();
    let w = |i: usize| if p[i].w > 0.0 { contact_weight[i] } else { 0.0 };
    team.rows(Shared::new(delta), BLOCK, |range, delta| {
        for (i, delta) in range.zip(delta) {
            *delta = Vec4::ZERO;
            if p[i].w == 0.0 {
                continue;
            }
            let (mut sum, mut count) = (Vec3::ZERO, 0.0f32);
            for n in if pairs { neighbors.of(i) } else { &[] } {
                let j = n.slot as usize;
                let d = (p[i] - p[j]).truncate();
                let distance = d.length();
                if distance > n.contact * CLOSED || distance < 1e-9 {
                    continue;
                }
                let normal = d / distance;
                let closing = normal.dot((before[i] - before[j]).truncate());
                if closing >= -threshold {
                    continue;
                }
                let now = normal.dot((v[i] - v[j]).truncate());
                let wanted = -world.params.restitution * closing;
                sum += normal * ((wanted - now) * w(i) / (w(i) + w(j)));
                count += 1.0;
            }
            let mut change = sum / count.max(1.0);
            for contact in environment.of(i) {
                let normal = contact.plane.truncate();
                let gap = contact.plane.dot(p[i].truncate().extend(1.0));
                if gap > particles.radius[i] * CLOSED {
                    continue;
                }
                let wall = normal.dot(contact.motion) * inv_h;
                let closing = normal.dot(before[i].truncate()) - wall;
                if closing >= -threshold {
                    continue;
                }
                let own = world.colliders[contact.collider as usize].restitution;
                let wanted = wall - own.unwrap_or(world.params.restitution) * closing;
                let now = normal.dot(v[i].truncate() + change);
                if now < wanted {
                    change += normal * (wanted - now);
                }
            }
            *delta = change.extend(1.0);
        }
    });
}
