//! Lists the particles within reach of each, through the 27 cells around it.
//! A pair is listed when |a - b| <= margin (r1 + r2).
//! Reads: list reference [m], radius [m], phase, rest [m], sorted grid. Writes: neighbour lists.
//! Order: each particle its own list, sorted by slot: deterministic.

use super::neighbors::within_reach;
use super::team::Team;
use super::{Scratch, grid_count::Grid};
use crate::world::World;
use glam::IVec3;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let Scratch { grid, neighbors, joined, .. } = scratch;
    joined.update(&world.distance, world.particles.len());
    let margin = world.params.margin;
    neighbors.fill(team, world, joined, |i, found| search(grid, world, i, margin, found));
}

fn search(grid: &Grid, world: &World, i: usize, margin: f32, found: &mut dyn FnMut(usize)) {
    let at = world.list_reference[i].truncate().extend(world.particles.radius[i]);
    let center = grid.cell(at.truncate());
    for dz in -1..=1 {
        for dy in -1..=1 {
            for dx in -1..=1 {
                let cell = center + IVec3::new(dx, dy, dz);
                let Some(bucket) = grid.bucket_of(cell) else { continue };
                let run =
                    grid.start[bucket as usize] as usize..grid.start[bucket as usize + 1] as usize;
                for k in run {
                    let row = grid.sorted[k];
                    let j = grid.sorted_slot[k] as usize;
                    if j == i || !within_reach(at, row, margin) {
                        continue;
                    }
                    // A bucket may hold several cells; each pair must be met once.
                    if grid.is_hashed() && grid.cell(row.truncate()) != cell {
                        continue;
                    }
                    found(j);
                }
            }
        }
    }
}
