//! Copies the particles in order of bucket, ties in order of slot: a stable counting sort, so the
//! order depends on the positions alone.
//! Reads: list reference [m], radius [m], buckets, starts. Writes: sorted rows and slots.
//! Order: serial in slots.

use super::Scratch;
use crate::world::World;
use glam::Vec4;

pub(crate) fn run(world: &World, scratch: &mut Scratch) {
    let grid = &mut scratch.grid;
    let n = world.particles.len();
    grid.sorted.resize(n, Vec4::ZERO);
    grid.sorted_slot.resize(n, 0);
    // `start` serves as the running end of each bucket; shifted back below.
    for slot in 0..n {
        let next = &mut grid.start[grid.bucket[slot] as usize];
        let row = world.list_reference[slot].truncate().extend(world.particles.radius[slot]);
        grid.sorted[*next as usize] = row;
        grid.sorted_slot[*next as usize] = slot as u32;
        *next += 1;
    }
    let buckets = grid.start.len() - 1;
    grid.start.copy_within(0..buckets, 1);
    grid.start[0] = 0;
}
