//! Lists the particles within reach of each by testing every pair: the oracle, for small scenes.
//! A pair is listed when |a - b| <= margin (r1 + r2).
//! Reads: list reference [m], radius [m], phase, rest [m]. Writes: neighbour lists.
//! Order: each particle its own list, sorted by slot: deterministic.

use super::Scratch;
use super::neighbors::within_reach;
use super::team::Team;
use crate::world::World;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let Scratch { neighbors, joined, .. } = scratch;
    joined.update(&world.distance, world.particles.len());
    let margin = world.params.margin;
    let row = |i: usize| world.list_reference[i].truncate().extend(world.particles.radius[i]);
    neighbors.fill(team, world, joined, |i, filter, out| {
        let at = row(i);
        (0..world.particles.len())
            .filter(|&j| j != i && within_reach(at, row(j), margin))
            .for_each(|j| filter.push(i, j, out));
    });
}
