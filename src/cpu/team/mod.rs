//! The workers of the CPU backend.
//!
//! Work is cut into blocks whose size depends on the scene alone, never on the number of threads:
//! that is what makes results the same for any team.

mod busy;
mod claim;
mod regions;
mod rows;

/// What `claim` is written with; its model has others.
mod atomic {
    #[cfg(test)]
    pub(super) use super::tests::hold_up;
    pub use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

    /// Where a test holds workers up, so that what rarely happens between two workers does.
    #[cfg(not(test))]
    pub fn hold_up() {}
}

pub(crate) use busy::ROWS as BUSY_ROWS;
pub(crate) use rows::{Rows, Shared};

use crate::error::{Error, Result};
use crate::simd::Level;
use crate::step::Pass;
use rayon::{ThreadPool, ThreadPoolBuilder};
use regions::{Regions, Work};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Particles a block of an element-wise pass holds: large enough to hide the cost of handing it
/// out (about 1 us), small enough to balance.
pub(crate) const BLOCK: usize = 2048;

/// A fixed number of workers: the thread that calls, and helpers that wait for it.
///
/// The helpers are threads of a rayon pool. A pool that the team made for itself has nothing else
/// to do, so one broadcast when the team is made calls its threads in for good. The threads of a
/// pool that the host program shares with us have other work to do as well: they come in during a
/// [`Visit`] only.
///
/// A coloured solver opens hundreds of small parallel regions a step, so handing one out must cost
/// less than a microsecond: helpers spin a little between regions and only then park. Each worker
/// takes the blocks of its own range first and then steals. A region ends when its blocks are done,
/// never when threads have arrived, so a helper that the system holds up delays nobody. No more are
/// woken than there are cores and blocks: 8 workers on 2 cores are 2 at work and 6 asleep.
pub(crate) struct Team {
    regions: Arc<Regions>,
    /// Where the helpers come from; a team of one has none.
    pool: Option<Arc<ThreadPool>>,
    /// The pool belongs to the host program.
    shared: bool,
    /// The instructions its kernels use.
    pub simd: Level,
}

/// While this lives, threads of a shared pool may come in and help. When it is dropped, also by a
/// panic, they go back to their pool.
pub(crate) struct Visit(Arc<Regions>);

impl Drop for Visit {
    fn drop(&mut self) {
        // Where no region had more than one block, nobody was invited.
        if !self.0.invite_due.swap(false, Relaxed) {
            self.0.close();
        }
    }
}

/// How many cores the system lets us use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

impl Team {
    /// A team of `threads` workers with threads of its own; 0 means one per core.
    pub fn new(threads: usize) -> Result<Self> {
        Self::on_cores(threads, cores())
    }

    /// The calling thread and the threads of a pool that the host program shares with us.
    pub fn on_pool(pool: Arc<ThreadPool>) -> Result<Self> {
        Self::sharing(pool, cores())
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
        let simd = Level::choose()?;
        let regions = Arc::new(Regions::new(threads, cores));
        let mut pool = None;
        if threads > 1 {
            let own = ThreadPoolBuilder::new()
                .num_threads(threads - 1)
                .thread_name(|helper| format!("motes-{}", helper + 1))
                .build()
                .map_err(|e| Error::value("threads", format!("cannot start {threads}: {e}")))?;
            regions.admit();
            let shared = Arc::clone(&regions);
            own.spawn_broadcast(move |who| shared.help(who.index() + 1));
            pool = Some(Arc::new(own));
        }
        Ok(Team { regions, pool, shared: false, simd })
    }

    fn sharing(pool: Arc<ThreadPool>, cores: usize) -> Result<Self> {
        let regions = Arc::new(Regions::new(1 + pool.current_num_threads(), cores));
        Ok(Team { regions, pool: Some(pool), shared: true, simd: Level::choose()? })
    }

    /// How many workers.
    pub fn threads(&self) -> usize {
        self.regions.workers()
    }

    /// A step begins: from now on threads of a shared pool may help, until the visit is dropped.
    /// The visit must not be alive while code of the host program runs, which may itself wait for
    /// those threads.
    pub fn visit(&self) -> Option<Visit> {
        self.shared.then(|| {
            self.regions.invite_due.store(true, Relaxed);
            Visit(Arc::clone(&self.regions))
        })
    }

    /// Invites as many threads of a shared pool as there are cores for.
    ///
    /// The step never waits for them to come, so a thread that is busy elsewhere delays nobody, and
    /// a step that one of the pool's own threads takes cannot wait for itself. Not a broadcast:
    /// that puts a message in the box of each thread, and the boxes of threads that never look,
    /// like the one that steps a world in an endless loop, would fill up.
    #[cold]
    fn invite(&self) {
        self.regions.invite_due.store(false, Relaxed);
        let Some(pool) = &self.pool else { return };
        self.regions.admit();
        for _ in 0..self.regions.missing() {
            let regions = Arc::clone(&self.regions);
            pool.spawn(move || {
                let helper = rayon::current_thread_index().expect("a thread of the pool");
                regions.help(helper + 1);
                regions.answered();
            });
        }
    }

    /// The time workers are busy from now on belongs to `pass`, or lies between passes.
    pub fn charge(&self, pass: Option<Pass>) {
        self.regions.busy.charge(pass);
    }
    /// Forgets how long workers were busy.
    pub fn clear_busy(&self) {
        self.regions.busy.clear();
    }
    /// How long each worker was busy since then, by pass and between them, given how long those took.
    pub fn busy<'a>(
        &'a self,
        wall: &'a [Duration; BUSY_ROWS],
    ) -> impl Iterator<Item = [Duration; BUSY_ROWS]> + 'a {
        self.regions.busy.read(wall)
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
            if self.regions.invite_due.load(Relaxed) {
                self.invite();
            }
            self.regions.open(count, work);
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
        // The helpers leave, and a pool of our own ends with its last handle.
        self.regions.close();
    }
}

#[cfg(test)]
mod tests;
