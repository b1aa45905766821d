//! Parallel regions: blocks that workers claim, one region after the other.

use super::busy::Busy;
use super::claim::{self, Share};
use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::Instant;

/// What is done with a block, and by which worker.
pub(super) type Work<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// What the workers of a team share.
pub(super) struct Regions {
    /// One for each worker that has a core.
    shares: Box<[CachePadded<Share>]>,
    /// Number of the newest region. Helpers wait for that of their own share; who parks looks here.
    region: CachePadded<AtomicU64>,
    /// Blocks that helpers have done since the beginning, by the share they begin with. Each count
    /// is in a cache line that only helpers write.
    done: Box<[CachePadded<AtomicU64>]>,
    /// What these counts must come to before the caller goes on.
    expected: AtomicU64,
    pub busy: Busy,
    /// A block panicked; the caller panics in its place.
    panicked: AtomicBool,
    /// No helper has anything to wait for: those that are here leave.
    closed: AtomicBool,
    /// A visit has begun, and nobody was invited yet.
    pub invite_due: AtomicBool,
    /// Threads of a shared pool that were invited and have not left yet.
    invited: AtomicUsize,
    workers: usize,
    /// Cores there are to work on.
    cores: usize,
    /// Helpers that are parked or about to, or have not come.
    sleepers: CachePadded<AtomicUsize>,
    /// The caller is parked or about to.
    caller_sleeps: AtomicBool,
    lock: Mutex<()>,
    work_came: Condvar,
    work_done: Condvar,
}

/// Rounds of waiting before a helper parks: about 20 us, a few small regions long.
const SPINS: u32 = 4000;

impl Regions {
    /// No helper has come yet, and none may.
    pub fn new(workers: usize, cores: usize) -> Self {
        let shares = || 0..workers.min(cores);
        Regions {
            shares: shares().map(|_| CachePadded::new(Share::new())).collect(),
            region: CachePadded::new(AtomicU64::new(0)),
            done: shares().map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            expected: AtomicU64::new(0),
            busy: Busy::new(workers),
            panicked: AtomicBool::new(false),
            closed: AtomicBool::new(true),
            invite_due: AtomicBool::new(false),
            invited: AtomicUsize::new(0),
            workers,
            cores,
            sleepers: CachePadded::new(AtomicUsize::new(workers - 1)),
            caller_sleeps: AtomicBool::new(false),
            lock: Mutex::new(()),
            work_came: Condvar::new(),
            work_done: Condvar::new(),
        }
    }

    /// How many workers, the caller among them.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Helpers may come in.
    pub fn admit(&self) {
        self.closed.store(false, SeqCst);
    }

    /// Sends the helpers away. Between regions only.
    pub fn close(&self) {
        self.closed.store(true, SeqCst);
        // A region without blocks: whoever waits for the next one looks up.
        let region = self.region.load(Relaxed) + 1;
        self.shares.iter().for_each(|share| share.open(region, 0, std::ptr::null_mut()));
        self.region.store(region, SeqCst);
        drop(self.lock.lock());
        self.work_came.notify_all();
    }

    /// Counts as invited everyone there is a core for, and returns how many of them were not yet.
    pub fn missing(&self) -> usize {
        let wanted = self.workers.min(self.cores) - 1;
        wanted.saturating_sub(self.invited.fetch_max(wanted, SeqCst))
    }

    #[cfg(test)]
    pub fn invited(&self) -> usize {
        self.invited.load(SeqCst)
    }

    /// Someone who was invited has left.
    pub fn answered(&self) {
        self.invited.fetch_sub(1, SeqCst);
    }

    /// The share a worker begins with. The first is the caller's alone, so that particles stay in
    /// the cache of the core that swept them before, whichever helper is awake.
    fn home(&self, me: usize) -> usize {
        let shares = self.shares.len();
        if me < shares { me } else { (1 + (me - 1) % (shares - 1).max(1)) % shares }
    }

    /// Claims and runs blocks of region `region` until none is left; returns how many.
    fn work(&self, region: u64, me: usize) -> u64 {
        let shares = self.shares.len();
        let mut mine = 0;
        for k in 0..shares {
            let place = (self.home(me) + k) % shares;
            while let Some(claim) = self.shares[place].claim(region, place, shares) {
                // SAFETY: the claim succeeded, so this is the work of this region, and its caller
                // waits in `open` until this block is counted as done.
                let work = unsafe { &*claim.work.cast::<&Work>() };
                if catch_unwind(AssertUnwindSafe(|| work(claim.block, me))).is_err() {
                    self.panicked.store(true, Relaxed);
                }
                mine += 1;
            }
        }
        mine
    }

    /// Opens a region of `count` blocks, works along, and returns when all are done.
    pub fn open(&self, count: usize, work: &Work) {
        assert!(count <= claim::MOST, "too many blocks in a region");
        let region = self.region.load(Relaxed) + 1;
        let pointer = (&raw const work).cast_mut().cast();
        // The helpers' shares first: they learn of the region from them.
        self.shares.iter().rev().for_each(|share| share.open(region, count, pointer));
        // SeqCst: either a helper about to park sees the new region, or we see the sleeper.
        self.region.store(region, SeqCst);
        self.wake(count.min(self.cores));
        let mine = self.work(region, 0);
        let expected = self.expected.load(Relaxed).wrapping_add(count as u64 - mine);
        self.expected.store(expected, Relaxed);
        self.wait_done(expected);
        if self.panicked.swap(false, Relaxed) {
            panic!("a worker panicked");
        }
    }

    /// Blocks that helpers have done since the beginning.
    fn done(&self) -> u64 {
        self.done.iter().fold(0, |sum, done| sum.wrapping_add(done.load(SeqCst)))
    }

    /// Wakes helpers until `wanted` workers are awake, the caller among them.
    fn wake(&self, wanted: usize) {
        let awake = self.awake();
        if awake < wanted.min(self.workers) {
            drop(self.lock.lock());
            for _ in awake..wanted {
                self.work_came.notify_one();
            }
        }
    }

    /// More workers awake than cores: waiting must give the core away, or it delays the work
    /// waited for.
    fn crowded(&self) -> bool {
        self.awake() > self.cores
    }

    /// Workers that are not parked.
    pub fn awake(&self) -> usize {
        self.workers - self.sleepers.load(SeqCst)
    }

    /// Waits a little for `ready`; true when it came.
    fn spin(&self, mut ready: impl FnMut() -> bool) -> bool {
        for round in 0..SPINS {
            if ready() {
                return true;
            }
            if self.crowded() {
                if round > SPINS / 100 {
                    return false;
                }
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        false
    }

    /// Waits until helpers have done so many blocks, and notes how long that took.
    fn wait_done(&self, expected: u64) {
        if self.done() == expected {
            return;
        }
        let since = Instant::now();
        if !self.spin(|| self.done() == expected) {
            self.sleep_until_done(expected);
        }
        self.busy.note(0, since.elapsed());
    }

    fn sleep_until_done(&self, expected: u64) {
        let mut guard = self.lock.lock();
        self.caller_sleeps.store(true, SeqCst);
        while self.done() != expected {
            self.work_done.wait(&mut guard);
        }
        self.caller_sleeps.store(false, SeqCst);
    }

    /// What a helper does from when it comes in until the regions are closed.
    pub fn help(&self, me: usize) {
        self.sleepers.fetch_sub(1, SeqCst);
        let mut seen = 0;
        loop {
            seen = self.wait_region(seen, self.home(me));
            if self.closed.load(Acquire) {
                break;
            }
            let since = Instant::now();
            let mine = self.work(seen, me);
            if mine > 0 {
                self.busy.note(me, since.elapsed());
                // SeqCst: either the caller about to park sees the count, or we see it sleep.
                self.done[self.home(me)].fetch_add(mine, SeqCst);
                if self.caller_sleeps.load(SeqCst) {
                    drop(self.lock.lock());
                    self.work_done.notify_one();
                }
            }
        }
        self.sleepers.fetch_add(1, SeqCst);
    }

    /// Waits for a region after the one numbered `seen`. Who has no core of its own parks at once
    /// and sleeps through regions: with 8 workers on 2 cores there would always be another to stay
    /// awake for.
    fn wait_region(&self, seen: u64, home: usize) -> u64 {
        let share = &self.shares[home];
        if !self.crowded() && self.spin(|| share.region() != seen) {
            return share.region();
        }
        let mut guard = self.lock.lock();
        self.sleepers.fetch_add(1, SeqCst);
        let region = loop {
            let region = claim::number(self.region.load(SeqCst));
            let needed = region != seen && self.awake() < self.cores;
            if needed || self.closed.load(Acquire) {
                break region;
            }
            self.work_came.wait(&mut guard);
        };
        self.sleepers.fetch_sub(1, SeqCst);
        region
    }
}
