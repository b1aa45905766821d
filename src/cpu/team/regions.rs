//! Parallel regions: blocks that workers claim, one region after the other.

use super::busy::Busy;
use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use std::time::Instant;

/// Blocks of a region that a worker may claim: region number above, next block below.
type Queue = CachePadded<AtomicU64>;

/// What is done with a block, and by which worker.
pub(super) type Work<'a> = dyn Fn(usize, usize) + Sync + 'a;

const NEXT_BITS: u32 = 24;
const NEXT_MASK: u64 = (1 << NEXT_BITS) - 1;

/// What the workers of a team share.
pub(super) struct Regions {
    /// One queue for each worker that has a core: a contiguous share of the region's blocks.
    queues: Box<[Queue]>,
    /// The region's work: a `&&dyn Fn(block, worker)` on the caller's stack, alive until its blocks are done.
    work: CachePadded<AtomicPtr<()>>,
    /// How many blocks the region has.
    count: AtomicUsize,
    /// Number of the newest region; helpers wait for it to change.
    region: CachePadded<AtomicU64>,
    /// Blocks done since the beginning.
    done: CachePadded<AtomicU64>,
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

/// Where a test holds workers up, so that what rarely happens between two workers does.
#[cfg(not(test))]
fn hold_up() {}
#[cfg(test)]
use super::tests::hold_up;

/// Rounds of waiting before a helper parks: about 20 us, a few small regions long.
const SPINS: u32 = 4000;

impl Regions {
    /// No helper has come yet, and none may.
    pub fn new(workers: usize, cores: usize) -> Self {
        Regions {
            queues: (0..workers.min(cores)).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            work: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            count: AtomicUsize::new(0),
            region: CachePadded::new(AtomicU64::new(0)),
            done: CachePadded::new(AtomicU64::new(0)),
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
        // A number without blocks: whoever waits for the next region looks up.
        self.region.fetch_add(1, SeqCst);
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

    /// The queue a worker begins with. The first is the caller's alone, so that particles stay in
    /// the cache of the core that swept them before, whichever helper is awake.
    fn home(&self, me: usize) -> usize {
        if me < self.queues.len() { me } else { 1 + (me - 1) % (self.queues.len() - 1).max(1) }
    }

    /// Claims and runs blocks of region `region` until none is left; returns how many.
    fn work(&self, region: u64, me: usize) -> u64 {
        let shares = self.queues.len();
        let mut mine = 0;
        for k in 0..shares {
            let r = (self.home(me) + k) % shares;
            let queue = &self.queues[r];
            loop {
                let word = queue.load(Acquire);
                // Only so many bits of the region's number fit.
                if word >> NEXT_BITS != region & (u64::MAX >> NEXT_BITS) {
                    break;
                }
                hold_up();
                // Acquire, against the Release in `open`: whoever reads the next region's values
                // also sees this queue closed, so the claim below fails.
                let count = self.count.load(Acquire);
                let work = self.work.load(Acquire);
                let (first, end) = (count * r / shares, count * (r + 1) / shares);
                let next = (word & NEXT_MASK) as usize;
                if first + next >= end {
                    break;
                }
                hold_up();
                if queue.compare_exchange_weak(word, word + 1, AcqRel, Relaxed).is_err() {
                    continue;
                }
                // SAFETY: the claim succeeded, so `work` and `count` belong to this region, and its
                // caller waits in `open` until this block is counted as done.
                let work = unsafe { &*work.cast::<&Work>() };
                if catch_unwind(AssertUnwindSafe(|| work(first + next, me))).is_err() {
                    self.panicked.store(true, Relaxed);
                }
                mine += 1;
            }
        }
        mine
    }

    /// Opens a region of `count` blocks, works along, and returns when all are done.
    pub fn open(&self, count: usize, work: &Work) {
        assert!((count as u64) < NEXT_MASK, "too many blocks in a region");
        let region = self.region.load(Relaxed) + 1;
        // Closed first: a helper still looking at the last region must not claim with new values.
        for queue in &self.queues {
            queue.store(region << NEXT_BITS | NEXT_MASK, Release);
        }
        let goal = self.done.load(Relaxed) + count as u64;
        self.count.store(count, Release);
        self.work.store((&raw const work).cast_mut().cast(), Release);
        hold_up();
        for queue in &self.queues {
            queue.store(region << NEXT_BITS, Release);
        }
        // SeqCst: either a helper about to park sees the new region, or we see the sleeper.
        self.region.store(region, SeqCst);
        self.wake(count.min(self.cores));
        let mine = self.work(region, 0);
        self.done.fetch_add(mine, AcqRel);
        self.wait_done(goal);
        if self.panicked.swap(false, Relaxed) {
            panic!("a worker panicked");
        }
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

    /// Waits until so many blocks are done, and notes how long that took.
    fn wait_done(&self, goal: u64) {
        if self.done.load(Acquire) >= goal {
            return;
        }
        let since = Instant::now();
        if !self.spin(|| self.done.load(Acquire) >= goal) {
            self.sleep_until_done(goal);
        }
        self.busy.note(0, since.elapsed());
    }

    fn sleep_until_done(&self, goal: u64) {
        let mut guard = self.lock.lock();
        self.caller_sleeps.store(true, SeqCst);
        while self.done.load(SeqCst) < goal {
            self.work_done.wait(&mut guard);
        }
        self.caller_sleeps.store(false, SeqCst);
    }

    /// What a helper does from when it comes in until the regions are closed.
    pub fn help(&self, me: usize) {
        self.sleepers.fetch_sub(1, SeqCst);
        let mut seen = 0;
        loop {
            seen = self.wait_region(seen);
            if self.closed.load(Acquire) {
                break;
            }
            let since = Instant::now();
            let mine = self.work(seen, me);
            if mine > 0 {
                self.busy.note(me, since.elapsed());
                // SeqCst: either the caller about to park sees the count, or we see it sleep.
                self.done.fetch_add(mine, SeqCst);
                if self.caller_sleeps.load(SeqCst) {
                    drop(self.lock.lock());
                    self.work_done.notify_one();
                }
            }
        }
        self.sleepers.fetch_add(1, SeqCst);
    }

    /// Waits for a region after `seen`. Who has no core of its own parks at once and sleeps through
    /// regions: with 8 workers on 2 cores there would always be another to stay awake for.
    fn wait_region(&self, seen: u64) -> u64 {
        if !self.crowded() && self.spin(|| self.region.load(Acquire) != seen) {
            return self.region.load(Acquire);
        }
        let mut guard = self.lock.lock();
        self.sleepers.fetch_add(1, SeqCst);
        let region = loop {
            let region = self.region.load(SeqCst);
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
