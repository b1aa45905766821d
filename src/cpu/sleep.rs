//! Takes the new positions, unless a particle was slower than the sleeping threshold.
//! s = p if |p - s| >= threshold h; the velocity is left alone [J 3.1.5]. The threshold is a speed,
//! so what sleeps does not depend on the number of substeps.
//! Reads: predicted [m]. Writes: start. Order: each particle alone; deterministic.

use super::Moment;
use super::team::{BLOCK, Shared, Team};
use crate::world::World;

pub(crate) fn run(team: &Team, world: &mut World, at: &Moment) {
    let limit = world.params.sleeping * at.h;
    let limit_sq = limit * limit;
    let particles = &mut world.particles;
    let rows = (Shared::new(&mut particles.start), &particles.predicted[..]);
    team.rows(rows, BLOCK, |_, (start, predicted)| {
        for (s, p) in start.iter_mut().zip(predicted) {
            if (*p - *s).truncate().length_squared() >= limit_sq {
                *s = p.truncate().extend(s.w);
            }
        }
    });
}
