//! Copies the particles in order of bucket, ties in order of slot: a stable counting sort, so the
//! order depends on the positions alone.
//! First by slab, each block of particles to the places the scan gave it; then each slab by itself,
//! inside the cache.
//! Reads: points [x, y, z, reach] m, buckets, places of the slabs. Writes: sorted particles, the
//! first of each bucket.
//! Order: stable, so the same for any number of threads.

use super::grid_count::COUNTED;
use super::search::broad::Broad;
use super::team::{Shared, Team};

pub(crate) fn run(team: &Team, broad: &mut Broad) {
    let Broad { points, grid, sorted, .. } = broad;
    let count = points.len();
    grid.by_slab.resize(count, [0; 2]);

    let (slabs, bits) = (grid.slabs, grid.slab_bits);
    let (next, by_slab) = (Shared::new(&mut grid.slab_next), Shared::new(&mut grid.by_slab));
    team.rows(&grid.bucket[..], COUNTED, |range, buckets| {
        let first = range.start / COUNTED * slabs;
        // SAFETY: each block has its own row of places.
        let next = unsafe { next.slice(first..first + slabs) };
        for (slot, &bucket) in range.zip(buckets) {
            let place = &mut next[(bucket >> bits) as usize];
            // SAFETY: the scan gave every particle of every block a place of its own below `count`.
            unsafe { *by_slab.at(*place as usize) = [bucket, slot as u32] };
            *place += 1;
        }
    });

    let buckets = grid.start.len() - 1;
    let (start, rows) = (Shared::new(&mut grid.start), sorted.rows(count));
    let (slab_start, by_slab) = (&grid.slab_start, &grid.by_slab);
    team.blocks(slabs, 1, |slab, _| {
        let first = slab << bits;
        let end = (first + (1 << bits)).min(buckets);
        // The end of each bucket stands at its number + 1: until the bucket is full, its next place.
        // SAFETY: slabs have different buckets.
        let next = unsafe { start.slice(first + 1..end + 1) };
        let members = slab_start[slab] as usize..slab_start[slab + 1] as usize;
        next.fill(0);
        for &[bucket, _] in &by_slab[members.clone()] {
            next[bucket as usize - first] += 1;
        }
        let mut sum = slab_start[slab];
        for next in next.iter_mut() {
            let count = std::mem::replace(next, sum);
            sum += count;
        }
        for &[bucket, slot] in &by_slab[members] {
            let place = &mut next[bucket as usize - first];
            // SAFETY: places of a slab lie between its start and its end, one for each member.
            unsafe { rows.put(*place as usize, slot, points[slot as usize]) };
            *place += 1;
        }
    });
    grid.start[0] = 0;
}
