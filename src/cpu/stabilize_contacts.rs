//! Finds what resolves overlap left from earlier steps: contacts only, evaluated where the substep
//! began and applied to start and prediction alike, so it gives no velocity [J 3.1.5].
//! C = |x1 - x2| - (r1 + r2) >= 0. (At p a resting particle would gain g h every step.)
//! Reads: position [m], contact weight [1/kg], neighbour lists. Writes: delta [m, count].
//! Order: each particle gathers over its own list; deterministic for every solver.

use super::Scratch;
use super::contact::overlap;
use super::team::{BLOCK, Shared, Team};
use crate::world::World;
use glam::Vec3;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let Scratch { delta, contact_weight: weight, neighbors, .. } = scratch;
    let x = &world.particles.position;
    team.rows(Shared::new(delta), BLOCK, |range, delta| {
        for (i, delta) in range.zip(delta) {
            let (mut sum, mut count) = (Vec3::ZERO, 0.0);
            for n in neighbors.of(i) {
                let j = n.slot as usize;
                let touching = overlap(x[i].truncate(), x[j].truncate(), n.contact, i < j);
                let Some((normal, depth)) = touching else { continue };
                if weight[i] == 0.0 {
                    continue;
                }
                sum += normal * (depth * weight[i] / (weight[i] + weight[j]));
                count += 1.0;
            }
            *delta = sum.extend(count);
        }
    });
}
