//! Decides whether the neighbour lists still hold and, if not, takes new reference positions and
//! the box around them.
//! Lists made with reach m (r1 + r2) hold while each particle moved at most (m - 1) r: then no pair
//! that was out of reach can have come to touch. That is of predictions as they come; what the
//! iterations add in a substep is not looked at again before the next.
//! Reads: predicted [m], radius [m], list reference [m]. Writes: list reference, points [x, y, z,
//! reach] m with their extent, staleness.
//! Before particles are put in order of place it only loads the points where they are (`start`).
//! Order: a minimum and a maximum, exact in any order.

use super::broad::{Broad, Extent};
use super::team::{BLOCK, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{ListKey, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    if at.part == Part::Start {
        load(team, &world.particles.position, world, &mut scratch.broad);
        return;
    }
    let renew = ListKey::of(world) != world.list_key || moved_far(team, world);
    if renew {
        world.list_reference.clone_from(&world.particles.predicted);
        world.list_key = ListKey::of(world);
        world.lists_since_sort += 1;
    }
    // In a resumed run the reference is the snapshot's, only the lists are missing.
    scratch.stale = renew || !scratch.neighbors.built;
    if scratch.stale {
        scratch.neighbors.built = false;
        scratch.contact_rows.expire();
        load(team, &world.list_reference, world, &mut scratch.broad);
    }
    if renew {
        let (up, Extent { low, high, .. }) = (world.up(), scratch.broad.extent);
        world.list_floor = up.dot(Vec3::select(up.cmpge(Vec3::ZERO), low, high));
    }
}

/// Points with a reach of margin x radius.
fn load(team: &Team, at: &[Vec4], world: &World, broad: &mut Broad) {
    let (radius, margin) = (&world.particles.radius, world.params.margin);
    broad.load(team, at.len(), |i| at[i].truncate().extend(radius[i] * margin));
}

fn moved_far(team: &Team, world: &World) -> bool {
    let slack = world.params.margin - 1.0;
    let far = AtomicBool::new(false);
    let p = &world.particles;
    let rows = (&p.predicted[..], &world.list_reference[..], &p.radius[..]);
    team.rows(rows, BLOCK, |_, (now, then, radius)| {
        let block_far = now.iter().zip(then).zip(radius).any(|((now, then), r)| {
            let limit = slack * r;
            (*now - *then).truncate().length_squared() > limit * limit
        });
        if block_far {
            far.store(true, Relaxed);
        }
    });
    far.into_inner()
}
