//! Takes the new positions, unless a particle moved less than the sleeping threshold.
//! x = p if |p - x| >= threshold; the velocity is left alone [J 3.1.5].
//! Reads: predicted [m]. Writes: position. Order: each particle alone; deterministic.

use super::team::{BLOCK, Shared, Team};
use crate::world::World;

pub(crate) fn run(team: &Team, world: &mut World) {
    let limit_sq = world.params.sleeping * world.params.sleeping;
    let particles = &mut world.particles;
    let rows = (Shared::new(&mut particles.position), &particles.predicted[..]);
    team.rows(rows, BLOCK, |_, (position, predicted)| {
        for (x, p) in position.iter_mut().zip(predicted) {
            if (*p - *x).truncate().length_squared() >= limit_sq {
                *x = p.truncate().extend(x.w);
            }
        }
    });
}
