//! Decides whether a neighbour list still holds and, if not, takes new reference positions and the
//! box around them.
//! A list in which particles reach s r + l, with a slack of d r + e of that, holds while each of them
//! moved at most its slack: then no pair that was out of the list can have come within reach. For
//! contacts, which reach r, that is m r with a slack of (m - 1) r. Looked at are predictions as they
//! come; what the iterations add in a substep is not looked at again before the next.
//! Reads: predicted [m], radius [m], list reference [m]. Writes: list reference, points [x, y, z,
//! reach] m with their extent, staleness.
//! Before particles are put in order of place it only loads the points where they are (`start`).
//! Order: a minimum and a maximum, exact in any order.

use super::search::broad::{Broad, Extent};
use super::team::{BLOCK, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{ListId, ListKey, ListReach, Particles, Span, World};
use glam::{Vec3, Vec4};
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
        particles.list_reference.copy_from_slice(&particles.predicted);
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
    if renew {
        let (up, Extent { low, high, .. }) = (world.up(), scratch.broad.extent);
        world.list_floor = up.dot(Vec3::select(up.cmpge(Vec3::ZERO), low, high));
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
        list.reference.clone_from(&particles.predicted);
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

/// Whether a particle left its slack, which depends on the radius.
fn moved_far(
    team: &Team,
    particles: &Particles,
    reference: &[Vec4],
    slack: impl Fn(f32) -> f32 + Sync,
) -> bool {
    let far = AtomicBool::new(false);
    let rows = (&particles.predicted[..], reference, &particles.radius[..]);
    team.rows(rows, BLOCK, |_, (now, then, radius)| {
        let block_far = now.iter().zip(then).zip(radius).any(|((now, then), &r)| {
            let limit = slack(r);
            (*now - *then).truncate().length_squared() > limit * limit
        });
        if block_far {
            far.store(true, Relaxed);
        }
    });
    far.into_inner()
}
