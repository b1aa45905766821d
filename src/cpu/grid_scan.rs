//! Turns the counts of the slabs into the place of each block's first particle: a prefix sum.
//! next[block, slab] = all of the slabs before, and this slab's of the blocks before.
//! Reads: counts of each slab by block. Writes: the same as places, the first place of each slab.
//! Order: serial; integers.

use super::search::broad::Broad;

pub(crate) fn run(broad: &mut Broad) {
    let grid = &mut broad.grid;
    let mut sum = 0;
    grid.slab_start.clear();
    for slab in 0..grid.slabs {
        grid.slab_start.push(sum);
        for next in grid.slab_next.iter_mut().skip(slab).step_by(grid.slabs) {
            let count = std::mem::replace(next, sum);
            sum += count;
        }
    }
    grid.slab_start.push(sum);
}
