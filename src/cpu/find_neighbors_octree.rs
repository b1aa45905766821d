//! Lists the particles within reach of each, leaf by leaf of the octree.
//! One walk from the root finds the leaves whose boxes meet a leaf's own; what they hold is then
//! tested against each particle inside. A pair is listed when |a - b| <= reach a + reach b.
//! Reads: sorted particles, octree nodes. Writes: neighbour lists.
//! Order: each particle its own list; the lists are the same for any number of threads.

use super::octree_build::{Bounds, Octree};
use super::search::broad::{Accept, Broad, SearchTools, Structure, find};
use super::search::candidates::Region;
use super::search::lists::{Desk, Lists};
use super::team::Team;
use crate::error::Result;
use crate::simd::Simd;
use std::ops::Range;

/// Leaves a block holds.
const BLOCK: usize = 32;

pub(crate) fn run<A: Accept>(
    team: &Team,
    broad: &Broad,
    accept: &A,
    lists: &mut Lists<A::Entry, SearchTools>,
) -> Result<()> {
    find(team, broad, &broad.octree, (broad.octree.leaves.len(), BLOCK), accept, lists)
}

impl Structure for Octree {
    #[inline(always)]
    fn search<S: Simd, const EQUAL: bool, A: Accept>(
        &self,
        broad: &Broad,
        leaves: Range<usize>,
        accept: &A,
        desk: &mut Desk<A::Entry, SearchTools>,
    ) {
        let sorted = &broad.sorted;
        for &leaf in &self.leaves[leaves] {
            let leaf = &self.nodes[leaf as usize];
            let (_, SearchTools { hits: stack, candidates, runs }) = desk.parts();
            runs.clear();
            self.leaves_meeting(&leaf.bounds, stack, runs);
            // The leaf itself, then who is near it.
            candidates.clear();
            candidates.add::<S, EQUAL>(sorted, leaf.places());
            let region = Region::<S>::around(leaf.places().map(|k| sorted.point(k)));
            for run in &*runs {
                let (before, after) = (run.start..leaf.places().start, leaf.places().end..run.end);
                if run.contains(&leaf.places().start) {
                    candidates.add_near::<S, EQUAL>(sorted, before, &region);
                    candidates.add_near::<S, EQUAL>(sorted, after, &region);
                } else {
                    candidates.add_near::<S, EQUAL>(sorted, run.clone(), &region);
                }
            }
            candidates.close::<S>();
            for k in leaf.places() {
                let slot = sorted.slot(k) as usize;
                let probe = sorted.probe::<S>(k, accept.floor(slot));
                let (out, SearchTools { hits, candidates, .. }) = desk.parts();
                let own = k - leaf.places().start;
                candidates.test::<S, EQUAL>(&probe, own, A::room(out, hits));
                accept.keep::<S>(slot, hits, out);
                desk.end(slot);
            }
        }
    }
}

impl Octree {
    /// Places of the leaves whose boxes meet another; leaves side by side make one run.
    #[inline(always)]
    fn leaves_meeting(&self, other: &Bounds, stack: &mut Vec<u32>, runs: &mut Vec<Range<usize>>) {
        stack.clear();
        stack.push(0);
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n as usize];
            if !node.bounds.meets(other) {
                continue;
            }
            if node.is_leaf() {
                match runs.last_mut() {
                    Some(last) if last.end == node.places().start => last.end = node.places().end,
                    _ => runs.push(node.places()),
                }
            }
            // The first child on top: leaves come in order of place.
            stack.extend(node.children().rev().map(|child| child as u32));
        }
        stack.clear();
    }
}
