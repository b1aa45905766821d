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
    neighbors.fill(team, world, joined, |i, filter, out| {
        search(grid, world, i, margin, |j| filter.push(i, j, out));
    });
}

fn search(grid: &Grid, world: &World, i: usize, margin: f32, mut found: impl FnMut(usize)) {
    let at = world.list_reference[i].truncate().extend(world.particles.radius[i]);
    let center = grid.cell(at.truncate());
    let mut visit = |run: std::ops::Range<usize>, cell: Option<IVec3>| {
        for (&row, &j) in grid.sorted[run.clone()].iter().zip(&grid.sorted_slot[run]) {
            let j = j as usize;
            // A hashed bucket may hold several cells; each pair must be met once.
            let here = |c| grid.cell(row.truncate()) == c;
            if within_reach(at, row, margin) && j != i && cell.is_none_or(here) {
                found(j);
            }
        }
    };
    for dz in -1..=1 {
        for dy in -1..=1 {
            if !grid.is_hashed() {
                visit(grid.row_of_three(center + IVec3::new(0, dy, dz)), None);
                continue;
            }
            for dx in -1..=1 {
                let cell = center + IVec3::new(dx, dy, dz);
                if let Some(b) = grid.bucket_of(cell) {
                    let bucket = &grid.start[b as usize..];
                    visit(bucket[0] as usize..bucket[1] as usize, Some(cell));
                }
            }
        }
    }
}
