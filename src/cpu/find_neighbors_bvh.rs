//! Lists the particles within reach of each, through the tree of volumes.
//! A pair is listed when |a - b| <= reach a + reach b; both then lie in volumes that touch.
//! Particles of one small subtree take one walk together: what they may meet is gathered once, and
//! each is tested against that. Those of much different reach, and all where `bvh_leaf` is 1, walk
//! alone [thesis 5.3].
//! Reads: sorted particles, nodes of the tree, phase. Writes: neighbour lists.
//! Order: each particle its own list; the lists are the same for any number of threads.

use super::search::broad::{Accept, Broad, SearchTools, Structure, find};
use super::search::bvh::volume::{Aabb, Sphere, Volume};
use super::search::bvh::walk::{Mbvh2, Query, Sparse, Stack, Visit, Walk, Way};
use super::search::candidates::{Candidates, Region};
use super::search::lists::{Desk, Lists};
use super::search::sorted::{Probe, Sorted};
use super::team::Team;
use crate::error::Result;
use crate::simd::Simd;
use crate::world::{BvhVolume, BvhWalk, Params};
use std::marker::PhantomData;
use std::ops::Range;

/// Sorted particles a block holds.
const BLOCK: usize = 1024;
/// Particles walk together while the largest reach among them is at most this times the least.
/// On radii 1 : 10 : 100 both 2 and no limit at all measured slower, by a tenth or more.
const SIMILAR: f32 = 12.0;
/// Particles that can walk together: bits of [`Members`].
const MOST: u32 = 64;

pub(crate) fn run<A: Accept>(
    team: &Team,
    broad: &Broad,
    params: &Params,
    accept: &A,
    lists: &mut Lists<A::Entry, SearchTools>,
) -> Result<()> {
    let walk = Walk { bvh: &broad.bvh, start: params.bvh_start, leaf: params.bvh_leaf };
    let blocks = (broad.points.len(), BLOCK);
    macro_rules! through {
        ($volume:ty, $way:ty) => {
            find(team, broad, &Tree::<$volume, $way>::new(walk), blocks, accept, lists)
        };
    }
    match (params.bvh_volume, params.bvh_walk) {
        (BvhVolume::Aabb, BvhWalk::Stack) => through!(Aabb, Stack),
        (BvhVolume::Aabb, BvhWalk::Sparse) => through!(Aabb, Sparse),
        (BvhVolume::Aabb, BvhWalk::Mbvh2) => through!(Aabb, Mbvh2),
        (BvhVolume::Sphere, BvhWalk::Stack) => through!(Sphere, Stack),
        (BvhVolume::Sphere, BvhWalk::Sparse) => through!(Sphere, Sparse),
        (BvhVolume::Sphere, BvhWalk::Mbvh2) => through!(Sphere, Mbvh2),
    }
}

/// The tree, with what bounds its nodes and the way through it.
struct Tree<'a, V, W> {
    walk: Walk<'a>,
    /// Subtrees of at most this many particles walk together.
    together: u32,
    chosen: PhantomData<fn() -> (V, W)>,
}

impl<'a, V, W> Tree<'a, V, W> {
    fn new(walk: Walk<'a>) -> Self {
        // Twice the run: one walk serves more, and 16 with runs of 8 measured quicker than 8.
        let together = if walk.leaf == 1 { 1 } else { (2 * walk.leaf).min(MOST) };
        Tree { walk, together, chosen: PhantomData }
    }
}

impl<V: Volume, W: Way> Structure for Tree<'_, V, W> {
    #[inline(always)]
    fn search<S: Simd, const EQUAL: bool, A: Accept>(
        &self,
        broad: &Broad,
        places: Range<usize>,
        accept: &A,
        desk: &mut Desk<A::Entry, SearchTools>,
    ) {
        let (sorted, bvh) = (&broad.sorted, self.walk.bvh);
        let mut way = W::default();
        let mut k = places.start;
        while k < places.end {
            let (group, parent) = bvh.group(k, self.together);
            let (first, own) = (group.start, (group.start, parent));
            let begun_before = first < k;
            k = group.end;
            if begun_before {
                continue; // in the block where it begins
            }
            let body = bvh.body(first, parent);
            let mut left = Members::all(group.len());
            while let Some(set) = left.take::<EQUAL>(sorted, first) {
                let points = || set.places(first).map(|k| sorted.point(k));
                let volume = points().fold(V::EMPTY, |volume, p| volume.join(V::of(p)));
                let query = Query::<V, S>::new(volume, body);
                let alone = set.is_one();
                if !alone {
                    let (_, SearchTools { candidates, .. }) = desk.parts();
                    candidates.clear();
                    candidates.add::<S, EQUAL>(sorted, group.clone());
                    let region = Region::around(points());
                    let mut visit = Together::<S, EQUAL> { sorted, region, candidates };
                    self.walk.around(own, &query, &mut way, &mut visit);
                    visit.candidates.close::<S>();
                }
                for k in set.places(first) {
                    let slot = sorted.slot(k) as usize;
                    let probe = sorted.probe::<S>(k, accept.floor(slot));
                    let (out, SearchTools { hits, candidates, .. }) = desk.parts();
                    let found = A::room(out, hits);
                    if alone {
                        sorted.test::<S, EQUAL>(&probe, group.clone(), k, found);
                        let mut visit = Alone::<S, EQUAL> { sorted, probe, hits: found };
                        self.walk.around(own, &query, &mut way, &mut visit);
                    } else {
                        candidates.test::<S, EQUAL>(&probe, k - first, found);
                    }
                    accept.keep::<S>(slot, hits, out);
                    desk.end(slot);
                }
            }
        }
    }
}

/// Some of the particles of a group, as bits.
#[derive(Clone, Copy)]
struct Members(u64);

impl Members {
    #[inline(always)]
    fn all(count: usize) -> Self {
        Members(u64::MAX >> (64 - count))
    }
    #[inline(always)]
    fn is_one(self) -> bool {
        self.0.count_ones() == 1
    }
    #[inline(always)]
    fn places(self, first: usize) -> impl Iterator<Item = usize> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let k = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            (k < 64).then_some(first + k)
        })
    }
    /// Takes out the one of least reach and all that reach about as far.
    #[inline(always)]
    fn take<const EQUAL: bool>(&mut self, sorted: &Sorted, first: usize) -> Option<Members> {
        if self.0 == 0 {
            return None;
        }
        let mut set = *self;
        if !EQUAL && !set.is_one() {
            let reach = |k: usize| sorted.point(k).w;
            let least = set.places(first).map(reach).fold(f32::INFINITY, f32::min);
            set.0 = 0;
            for k in self.places(first) {
                // Also what is not a number, or nobody would take it.
                let unlike = reach(k) > SIMILAR * least;
                set.0 |= u64::from(!unlike) << (k - first);
            }
        }
        self.0 &= !set.0;
        Some(set)
    }
}

/// Tests runs at once, for one particle.
struct Alone<'a, S, const EQUAL: bool> {
    sorted: &'a Sorted,
    probe: Probe<S>,
    hits: &'a mut Vec<u32>,
}

impl<S: Simd, const EQUAL: bool> Visit for Alone<'_, S, EQUAL> {
    #[inline(always)]
    fn visit(&mut self, run: Range<usize>) {
        self.sorted.test::<S, EQUAL>(&self.probe, run, usize::MAX, self.hits);
    }
}

/// Gathers runs for several particles.
struct Together<'a, S, const EQUAL: bool> {
    sorted: &'a Sorted,
    region: Region<S>,
    candidates: &'a mut Candidates,
}

impl<S: Simd, const EQUAL: bool> Visit for Together<'_, S, EQUAL> {
    #[inline(always)]
    fn visit(&mut self, run: Range<usize>) {
        self.candidates.add_near::<S, EQUAL>(self.sorted, run, &self.region);
    }
}
