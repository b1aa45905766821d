//! Who runs which block of a region: the part of a team that its workers race for.
//!
//! The blocks of a region are cut into shares, one for each worker that has a core. A share stands
//! in a cache line of its own together with all that a worker must know of the region, so that one
//! transfer between two cores tells a helper everything: that there is work, how much, and which.
//!
//! `tests/models/` compiles this file against loom, which tries every order in which two workers
//! can meet here, and against mutants of it, which must fail there.

use super::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use super::atomic::{AtomicPtr, AtomicU64, AtomicUsize, hold_up};

/// A word holds the number of the region above and the next block of the share below.
const NEXT_BITS: u32 = 24;
const NEXT_MASK: u64 = (1 << NEXT_BITS) - 1;

/// More blocks than this do not fit a region.
pub(super) const MOST: usize = NEXT_MASK as usize - 1;

/// The number of a region as far as a word can hold it.
pub(super) fn number(region: u64) -> u64 {
    region & (u64::MAX >> NEXT_BITS)
}

/// A contiguous share of a region's blocks that workers may claim.
pub(super) struct Share {
    word: AtomicU64,
    /// How many blocks the whole region has.
    count: AtomicUsize,
    /// The region's work, alive until its blocks are done.
    work: AtomicPtr<()>,
}

/// A block that was claimed.
pub(super) struct Claim {
    /// Its number in the region.
    pub block: usize,
    /// The region's work.
    pub work: *mut (),
}

impl Share {
    /// A share of region 0, which has no blocks.
    pub fn new() -> Self {
        Share {
            word: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            work: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The [`number`] of the region that it belongs to.
    pub fn region(&self) -> u64 {
        self.word.load(Acquire) >> NEXT_BITS
    }

    /// Makes it a share of the next region. All blocks of the last one are done.
    pub fn open(&self, region: u64, count: usize, work: *mut ()) {
        // Closed first: a helper that still looks at the last region must not claim with the values
        // of this one.
        self.word.store(region << NEXT_BITS | NEXT_MASK, Release);
        self.count.store(count, Release);
        self.work.store(work, Release);
        hold_up();
        self.word.store(region << NEXT_BITS, Release);
    }

    /// Claims the next block of this share, which is the `place`-th of `shares`, for a region; none
    /// when all are claimed, or when the share belongs to another region.
    pub fn claim(&self, region: u64, place: usize, shares: usize) -> Option<Claim> {
        loop {
            let word = self.word.load(Acquire);
            if word >> NEXT_BITS != number(region) {
                return None;
            }
            hold_up();
            // Acquire, against the Release in `open`: whoever reads the next region's values also
            // sees this share closed, so the claim below fails.
            let count = self.count.load(Acquire);
            let work = self.work.load(Acquire);
            let (first, end) = (count * place / shares, count * (place + 1) / shares);
            let block = first + (word & NEXT_MASK) as usize;
            if block >= end {
                return None;
            }
            hold_up();
            if self.word.compare_exchange_weak(word, word + 1, AcqRel, Relaxed).is_ok() {
                return Some(Claim { block, work });
            }
        }
    }
}
