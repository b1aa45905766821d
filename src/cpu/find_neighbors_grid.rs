//! Lists the particles within reach of each, through the 27 cells around it.
//! A pair is listed when |a - b| <= reach a + reach b.
//! Reads: sorted particles, first of each bucket. Writes: neighbour lists.
//! Order: each particle its own list; the lists are the same for any number of threads.

use super::broad::{Accept, Broad, Structure, find};
use super::grid_count::Grid;
use super::lists::{Desk, Lists};
use super::team::Team;
use crate::error::Result;
use crate::simd::Simd;
use glam::IVec3;
use std::ops::Range;

/// Sorted particles a block holds.
const BLOCK: usize = 1024;

pub(crate) fn run<A: Accept>(
    team: &Team,
    broad: &Broad,
    accept: &A,
    lists: &mut Lists<A::Entry>,
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
        desk: &mut Desk<A::Entry>,
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
        desk: &mut Desk<A::Entry>,
    ) {
        let sorted = &broad.sorted;
        let mut k = places.start;
        let mut bucket = self.start.partition_point(|&first| first as usize <= k) - 1;
        while k < places.end {
            while self.start[bucket + 1] as usize <= k {
                bucket += 1;
            }
            let rows = self.rows(bucket);
            let end = places.end.min(self.start[bucket + 1] as usize);
            for k in k..end {
                let probe = sorted.probe::<S>(k);
                let slot = sorted.slot(k) as usize;
                let (out, hits) = desk.parts();
                hits.clear();
                for row in &rows {
                    sorted.test::<S, EQUAL>(&probe, row.clone(), k, hits);
                }
                accept.accept(slot, hits, out);
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
        desk: &mut Desk<A::Entry>,
    ) {
        let sorted = &broad.sorted;
        for k in places {
            let probe = sorted.probe::<S>(k);
            let center = self.cell(sorted.point(k).truncate());
            let slot = sorted.slot(k) as usize;
            let (out, hits) = desk.parts();
            hits.clear();
            for n in 0..27 {
                let cell = center + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
                let mut kept = hits.len();
                sorted.test::<S, EQUAL>(&probe, self.bucket_run(cell), k, hits);
                for h in kept..hits.len() {
                    let hit = hits[h];
                    if self.cell(broad.points[hit as usize].truncate()) == cell {
                        hits[kept] = hit;
                        kept += 1;
                    }
                }
                hits.truncate(kept);
            }
            accept.accept(slot, hits, out);
            desk.end(slot);
        }
    }
}
