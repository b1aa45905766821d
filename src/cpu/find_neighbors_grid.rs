//! Lists the particles within reach of each, through the 27 cells around it.
//! A pair is listed when |a - b| <= reach a + reach b.
//! Reads: sorted particles, first of each bucket. Writes: neighbour lists.
//! Order: each particle its own list; the lists are the same for any number of threads.

use super::grid_count::Grid;
use super::search::broad::{Accept, Broad, SearchTools, Structure, find};
use super::search::lists::{Desk, Lists};
use super::team::Team;
use crate::error::Result;
use crate::simd::Simd;
use glam::IVec3;
use std::ops::Range;

/// Sorted particles a block holds.
const BLOCK: usize = 1024;
/// Particles for which candidates are packed together, and most cells they may come from.
const GROUP: usize = 4;
const WIDEST: usize = 4;

pub(crate) fn run<A: Accept>(
    team: &Team,
    broad: &Broad,
    accept: &A,
    lists: &mut Lists<A::Entry, SearchTools>,
) -> Result<()> {
    find(team, broad, &broad.grid, (broad.points.len(), BLOCK), accept, lists)
}

impl Structure for Grid {
    #[inline(always)]
    fn search<S: Simd, const EQUAL: bool, A: Accept>(
        &self,
        broad: &Broad,
        places: Range<usize>,
        accept: &A,
        desk: &mut Desk<A::Entry, SearchTools>,
    ) {
        if self.is_hashed() {
            self.search_hashed::<S, EQUAL, A>(broad, places, accept, desk);
        } else {
            self.search_dense::<S, EQUAL, A>(broad, places, accept, desk);
        }
    }
}

impl Grid {
    #[inline(always)]
    fn search_dense<S: Simd, const EQUAL: bool, A: Accept>(
        &self,
        broad: &Broad,
        places: Range<usize>,
        accept: &A,
        desk: &mut Desk<A::Entry, SearchTools>,
    ) {
        let sorted = &broad.sorted;
        // The nine rows must not overlap.
        let widest = self.longest_row().min(WIDEST);
        let mut k = places.start;
        let mut bucket = self.start.partition_point(|&first| first as usize <= k) - 1;
        while k < places.end {
            while self.start[bucket + 1] as usize <= k {
                bucket += 1;
            }
            // Some cells of the row together, for packing to be worth it.
            let mut last = bucket + 1;
            while last < bucket + widest && (self.start[last] as usize) < k + GROUP {
                last += 1;
            }
            let rows = self.rows(bucket..last);
            let (_, SearchTools { candidates, .. }) = desk.parts();
            candidates.pack::<S, EQUAL>(sorted, &rows);
            // The bucket itself is in the middle row, behind four others.
            let before: usize = rows[..4].iter().map(Range::len).sum();
            let end = places.end.min(self.start[last] as usize);
            for k in k..end {
                let slot = sorted.slot(k) as usize;
                let probe = sorted.probe::<S>(k, accept.floor(slot));
                let (out, SearchTools { hits, candidates, .. }) = desk.parts();
                let own = before + k - rows[4].start;
                candidates.test::<S, EQUAL>(&probe, own, A::room(out, hits));
                accept.keep::<S>(slot, hits, out);
                desk.end(slot);
            }
            k = end;
        }
    }

    /// A bucket may hold several cells, so a candidate counts only in the visit to its own: each
    /// pair is met once.
    #[inline(always)]
    fn search_hashed<S: Simd, const EQUAL: bool, A: Accept>(
        &self,
        broad: &Broad,
        places: Range<usize>,
        accept: &A,
        desk: &mut Desk<A::Entry, SearchTools>,
    ) {
        let sorted = &broad.sorted;
        for k in places {
            let slot = sorted.slot(k) as usize;
            let probe = sorted.probe::<S>(k, accept.floor(slot));
            let center = self.hashed_cell(sorted.point(k).truncate());
            let (out, SearchTools { hits, .. }) = desk.parts();
            let found = A::room(out, hits);
            for n in 0..27 {
                let cell = center + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
                let before = found.len();
                sorted.test::<S, EQUAL>(&probe, self.hashed_run(cell), k, found);
                let mut kept = before;
                for h in before..found.len() {
                    let hit = found[h];
                    if self.hashed_cell(broad.points[hit as usize].truncate()) == cell {
                        found[kept] = hit;
                        kept += 1;
                    }
                }
                found.truncate(kept);
            }
            accept.keep::<S>(slot, hits, out);
            desk.end(slot);
        }
    }
}
