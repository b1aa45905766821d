//! Decides whether a neighbour list still holds and, if not, takes new reference positions and the
//! box around them.
//! A list in which particles reach s r + l, with a slack of d r + e of that, holds while each of them
//! moved at most its slack: then no pair that was out of the list can have come within reach. For
//! contacts, which reach r, that is m r with a slack of (m - 1) r. Looked at are predictions as they
//! come; what the iterations add in a substep is not looked at again before the next.
//! Reads: position and predicted [m], radius [m], list reference [m]. Writes: list reference, points [x, y, z,
//! reach] m with their extent, staleness.
//! Before particles are put in order of place it only loads the points where they are (`start`).
//! Order: a minimum and a maximum, exact in any order.

use super::search::broad::Broad;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{ListId, ListKey, ListReach, Particles, Span, World};
use glam::Vec4;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    if at.part == Part::Start {
        let particles = &world.particles;
        load(team, &particles.position, particles, contact_reach(world), &mut scratch.broad);
    } else if scratch.list == ListId::CONTACTS {
        judge_contacts(team, world, scratch);
    } else {
        judge_added(team, world, scratch);
    }
}

/// How far a particle of a given radius reaches for contacts, which are spared the sum with a length
/// that other lists need.
fn contact_reach(world: &World) -> impl Fn(f32) -> f32 {
    let Span { per_radius, .. } = ListReach::Contact.span(0.0, world.params.margin);
    move |radius| radius * per_radius
}

/// The list of contacts.
fn judge_contacts(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let Span { per_radius, .. } = ListReach::Contact.slack(0.0, world.params.margin);
    let (slack, particles) = (|radius: f32| radius * per_radius, &world.particles);
    let renew = ListKey::of(world) != world.list_key
        || moved_far(team, particles, &particles.list_reference, slack);
    if renew {
        let particles = &mut world.particles;
        take_reference(team, particles);
        world.listed = true;
        world.list_key = ListKey::of(world);
        world.lists_since_sort += 1;
    }
    // In a resumed run the reference is the snapshot's, only the lists are missing.
    scratch.stale = renew || !scratch.neighbors.built;
    if scratch.stale {
        scratch.neighbors.built = false;
        scratch.contact_rows.expire();
        let particles = &world.particles;
        load(team, &particles.list_reference, particles, contact_reach(world), &mut scratch.broad);
    }
}

/// A list that was added to the world.
fn judge_added(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let (id, margin) = (scratch.list, world.params.margin);
    let Some(list) = world.lists.get(id) else { return };
    let description = &list.description;
    let (reach, skin) = (description.reach, description.skin);
    let (span, slack) = (reach.span(skin, margin), reach.slack(skin, margin));
    let (particles, key) = (&world.particles, ListKey::of_list(world, description));
    let renew = list.key != Some(key)
        || list.reference.len() != particles.len()
        || moved_far(team, particles, &list.reference, |radius| slack.of(radius));
    let Some(list) = world.lists.get_mut(id) else { return };
    if renew {
        let Particles { position, predicted, .. } = particles;
        list.reference.clear();
        list.reference.extend(position.iter().zip(predicted).map(|(x, p)| place(x, p)));
        list.key = Some(key);
    }
    let neighbors = scratch.added.of(id);
    scratch.stale = renew || !neighbors.built;
    if scratch.stale {
        neighbors.built = false;
        load(team, &list.reference, particles, |radius| span.of(radius), &mut scratch.broad);
    }
}

/// Points with the reach of a list, which depends on the radius.
fn load(
    team: &Team,
    at: &[Vec4],
    particles: &Particles,
    reach: impl Fn(f32) -> f32 + Sync,
    broad: &mut Broad,
) {
    let radius = &particles.radius;
    broad.load(team, at.len(), |i| at[i].truncate().extend(reach(radius[i])));
}

/// Where a particle is predicted to be, m, with its inverse mass.
#[inline(always)]
fn place(position: &Vec4, predicted: &Vec4) -> Vec4 {
    (*position + *predicted).truncate().extend(predicted.w)
}

/// The list of contacts is made for where the particles are predicted to be.
fn take_reference(team: &Team, particles: &mut Particles) {
    let Particles { position, predicted, list_reference, .. } = particles;
    let rows = (Shared::new(list_reference), &position[..], &predicted[..]);
    team.rows(rows, BLOCK, |_, (reference, position, predicted)| {
        for ((reference, x), p) in reference.iter_mut().zip(position).zip(predicted) {
            *reference = place(x, p);
        }
    });
}

/// Whether a particle left its slack, which depends on the radius.
fn moved_far(
    team: &Team,
    particles: &Particles,
    reference: &[Vec4],
    slack: impl Fn(f32) -> f32 + Sync,
) -> bool {
    let far = AtomicBool::new(false);
    let Particles { position, predicted, radius, .. } = particles;
    let rows = (&position[..], &predicted[..], reference, &radius[..]);
    team.rows(rows, BLOCK, |_, (position, predicted, then, radius)| {
        let now = position.iter().zip(predicted);
        let block_far = now.zip(then).zip(radius).any(|(((x, p), then), &r)| {
            let limit = slack(r);
            (place(x, p) - *then).truncate().length_squared() > limit * limit
        });
        if block_far {
            far.store(true, Relaxed);
        }
    });
    far.into_inner()
}
