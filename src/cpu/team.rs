//! The workers of the CPU backend.
//!
//! Work is cut into blocks whose size depends on the scene alone, never on the number of threads:
//! that is what makes results the same for any team.

mod busy;

pub(crate) use busy::ROWS as BUSY_ROWS;

use crate::error::{Error, Result};
use crate::simd::Level;
use crate::step::Pass;
use busy::Busy;
use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Particles a block of an element-wise pass holds: large enough to hide the cost of handing it
/// out (about 1 us), small enough to balance.
pub(crate) const BLOCK: usize = 2048;

/// A fixed number of workers: the thread that calls, and helpers that wait for it.
///
/// A coloured solver opens hundreds of small parallel regions a step, so handing one out must cost
/// less than a microsecond: helpers spin a little between regions and only then park. Each worker
/// takes the blocks of its own range first and then steals. A region ends when its blocks are done,
/// never when threads have arrived, so a helper that the system holds up delays nobody. No more are
/// woken than there are cores and blocks: 8 workers on 2 cores are 2 at work and 6 asleep.
pub(crate) struct Team {
    inner: Arc<Inner>,
    helpers: Vec<JoinHandle<()>>,
    /// The instructions its kernels use.
    pub simd: Level,
}

/// Blocks of a region that a worker may claim: region number above, next block below.
type Queue = CachePadded<AtomicU64>;

/// What is done with a block, and by which worker.
type Work<'a> = dyn Fn(usize, usize) + Sync + 'a;

const NEXT_BITS: u32 = 24;
const NEXT_MASK: u64 = (1 << NEXT_BITS) - 1;

struct Inner {
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
    busy: Busy,
    /// A block panicked; the caller panics in its place.
    panicked: AtomicBool,
    quit: AtomicBool,
    workers: usize,
    /// Cores there are to work on.
    cores: usize,
    /// Helpers that are parked or about to.
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
use tests::hold_up;

/// Rounds of waiting before a helper parks: about 20 us, a few small regions long.
const SPINS: u32 = 4000;

impl Inner {
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
    fn open(&self, count: usize, work: &Work) {
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
    fn awake(&self) -> usize {
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

    /// A helper's life.
    fn help(&self, me: usize) {
        let mut seen = 0;
        loop {
            seen = self.wait_region(seen);
            if self.quit.load(Acquire) {
                return;
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
            if needed || self.quit.load(Acquire) {
                break region;
            }
            self.work_came.wait(&mut guard);
        };
        self.sleepers.fetch_sub(1, SeqCst);
        region
    }
}

impl Team {
    /// A team of `threads` workers; 0 means one per core.
    pub fn new(threads: usize) -> Result<Self> {
        Self::on_cores(threads, std::thread::available_parallelism().map_or(1, |n| n.get()))
    }

    /// A team on a machine with so many cores.
    fn on_cores(threads: usize, cores: usize) -> Result<Self> {
        let threads = match threads {
            0 => cores,
            n if n <= 1024 => n,
            n => {
                return Err(Error::value("threads", format!("{n} is too many; at most 1024")));
            }
        };
        let inner = Arc::new(Inner {
            queues: (0..threads.min(cores)).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            work: CachePadded::new(AtomicPtr::new(std::ptr::null_mut())),
            count: AtomicUsize::new(0),
            region: CachePadded::new(AtomicU64::new(0)),
            done: CachePadded::new(AtomicU64::new(0)),
            busy: Busy::new(threads),
            panicked: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            workers: threads,
            cores,
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            caller_sleeps: AtomicBool::new(false),
            lock: Mutex::new(()),
            work_came: Condvar::new(),
            work_done: Condvar::new(),
        });
        let mut team = Team { inner, helpers: Vec::new(), simd: Level::choose()? };
        for me in 1..threads {
            let inner = Arc::clone(&team.inner);
            let helper = std::thread::Builder::new()
                .name(format!("motes-{me}"))
                .spawn(move || inner.help(me))
                .map_err(|e| Error::value("threads", format!("cannot start {threads}: {e}")))?;
            team.helpers.push(helper);
        }
        Ok(team)
    }

    /// How many workers.
    pub fn threads(&self) -> usize {
        self.inner.workers
    }

    /// The time workers are busy from now on belongs to `pass`, or lies between passes.
    pub fn charge(&self, pass: Option<Pass>) {
        self.inner.busy.charge(pass);
    }
    /// Forgets how long workers were busy.
    pub fn clear_busy(&self) {
        self.inner.busy.clear();
    }
    /// How long each worker was busy since then, by pass and between them, given how long those took.
    pub fn busy<'a>(
        &'a self,
        wall: &'a [Duration; BUSY_ROWS],
    ) -> impl Iterator<Item = [Duration; BUSY_ROWS]> + 'a {
        self.inner.busy.read(wall)
    }

    /// Calls `work(block, range)` for every block of `size` items out of `len`, in any order.
    /// One caller at a time, and not from inside `work`: the exclusive engine sees to both.
    pub fn blocks(&self, len: usize, size: usize, work: impl Fn(usize, Range<usize>) + Sync) {
        let count = len.div_ceil(size);
        let block = |b: usize, _| work(b, b * size..((b + 1) * size).min(len));
        self.open(count, &block);
    }

    /// Calls `work(range, desk)` for every block of `size` items out of `len`; no two workers ever
    /// share a desk. There must be a desk for each worker.
    pub fn blocks_at<D: Send>(
        &self,
        desks: &mut [D],
        len: usize,
        size: usize,
        work: impl Fn(Range<usize>, &mut D) + Sync,
    ) {
        assert!(desks.len() >= self.threads(), "a desk for each worker");
        let desks = Shared::new(desks);
        self.open(len.div_ceil(size), &|b, worker| {
            // SAFETY: workers have different numbers, all below `threads`, and run a block at a time.
            let desk = unsafe { desks.at(worker) };
            work(b * size..((b + 1) * size).min(len), desk);
        });
    }

    fn open(&self, count: usize, work: &Work) {
        if count > 1 && self.threads() > 1 {
            self.inner.open(count, work);
        } else {
            (0..count).for_each(|b| work(b, 0));
        }
    }

    /// Calls `work(range, rows of that range)` for every block of the rows.
    pub fn rows<R: Rows>(&self, rows: R, size: usize, work: impl Fn(Range<usize>, R::Part) + Sync) {
        self.blocks(rows.len(), size, |_, range| {
            // SAFETY: `blocks` hands out each range once, and ranges do not overlap.
            let part = unsafe { rows.part(range.clone()) };
            work(range, part);
        });
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.inner.quit.store(true, SeqCst);
        self.inner.region.fetch_add(1, SeqCst);
        drop(self.inner.lock.lock());
        self.inner.work_came.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper cannot panic: it catches what its blocks throw.
            let _ = helper.join();
        }
    }
}

/// Arrays of equal length that are cut into the same blocks.
pub(crate) trait Rows: Sync {
    type Part;
    fn len(&self) -> usize;
    /// # Safety
    /// No two parts that are alive at the same time may overlap.
    unsafe fn part(&self, range: Range<usize>) -> Self::Part;
}

/// A mutable slice whose elements several workers write, each its own.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: every access goes through an unsafe method whose caller promises disjoint elements, and
// T itself may move between threads.
unsafe impl<T: Send> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    pub fn new(slice: &'a mut [T]) -> Self {
        Shared { start: slice.as_mut_ptr(), len: slice.len(), lifetime: PhantomData }
    }
    pub fn len(&self) -> usize {
        self.len
    }
    /// Its first element, for kernels that promise by themselves what `at` asks for.
    pub fn start(&self) -> *mut T {
        self.start
    }
    /// # Safety
    /// `i` is in bounds, and no other worker accesses element `i` meanwhile.
    #[allow(clippy::mut_from_ref)] // disjointness is the caller's promise
    pub unsafe fn at(&self, i: usize) -> &'a mut T {
        debug_assert!(i < self.len);
        // SAFETY: in bounds and exclusive by the caller's promise.
        unsafe { &mut *self.start.add(i) }
    }
    /// # Safety
    /// `i` is in bounds, and no other worker writes element `i` meanwhile.
    pub unsafe fn read(&self, i: usize) -> T
    where
        T: Copy,
    {
        debug_assert!(i < self.len);
        // SAFETY: in bounds and not written by the caller's promise.
        unsafe { *self.start.add(i) }
    }
    /// # Safety
    /// `range` is in bounds, and no other worker accesses its elements meanwhile.
    #[allow(clippy::mut_from_ref)] // disjointness is the caller's promise
    pub unsafe fn slice(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds as asserted, exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

impl<'a, T: Send> Rows for Shared<'a, T> {
    type Part = &'a mut [T];
    fn len(&self) -> usize {
        self.len
    }
    unsafe fn part(&self, range: Range<usize>) -> Self::Part {
        // SAFETY: the same promise.
        unsafe { self.slice(range) }
    }
}

impl<'a, T: Sync> Rows for &'a [T] {
    type Part = &'a [T];
    fn len(&self) -> usize {
        <[T]>::len(self)
    }
    unsafe fn part(&self, range: Range<usize>) -> Self::Part {
        &self[range]
    }
}

macro_rules! rows_of_tuples {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<$($name: Rows),+> Rows for ($($name,)+) {
            type Part = ($($name::Part,)+);
            fn len(&self) -> usize {
                let len = self.0.len();
                $(assert_eq!(self.$index.len(), len, "arrays that belong together differ");)+
                len
            }
            unsafe fn part(&self, range: Range<usize>) -> Self::Part {
                // SAFETY: the same promise for each array.
                unsafe { ($(self.$index.part(range.clone()),)+) }
            }
        }
    )+};
}
rows_of_tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}

#[cfg(test)]
mod tests;
