//! The workers of the CPU backend.
//!
//! Work is cut into blocks whose size depends on the scene alone, never on the number of threads:
//! that is what makes results the same for any team.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Particles a block of an element-wise pass holds: large enough to hide the cost of handing it
/// out (about 1 us), small enough to balance.
pub(crate) const BLOCK: usize = 2048;

/// A fixed number of worker threads.
pub(crate) struct Team {
    /// `None` for one thread: everything runs on the caller's.
    pool: Option<rayon::ThreadPool>,
}

impl Team {
    /// A team of `threads` workers; 0 means one per core.
    pub fn new(threads: usize) -> Result<Self> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n if n <= 1024 => n,
            n => {
                return Err(Error::value("threads", format!("{n} is too many; at most 1024")));
            }
        };
        if threads == 1 {
            return Ok(Team { pool: None });
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("motes-{i}"))
            .build()
            .map_err(|e| Error::value("threads", format!("cannot start {threads}: {e}")))?;
        Ok(Team { pool: Some(pool) })
    }

    /// How many workers.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |p| p.current_num_threads())
    }

    /// Runs `work` on a worker, so that the passes inside need not wake one up each.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Calls `work(block, range)` for every block of `size` items out of `len`, in any order.
    pub fn blocks(&self, len: usize, size: usize, work: impl Fn(usize, Range<usize>) + Sync) {
        let count = len.div_ceil(size);
        let range = |b: usize| b * size..((b + 1) * size).min(len);
        match &self.pool {
            Some(_) if count > 1 => {
                (0..count).into_par_iter().with_max_len(1).for_each(|b| work(b, range(b)));
            }
            _ => (0..count).for_each(|b| work(b, range(b))),
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
    /// # Safety
    /// `i` is in bounds, and no other worker accesses element `i` meanwhile.
    #[allow(clippy::mut_from_ref)] // disjointness is the caller's promise
    pub unsafe fn at(&self, i: usize) -> &'a mut T {
        debug_assert!(i < self.len);
        // SAFETY: in bounds and exclusive by the caller's promise.
        unsafe { &mut *self.start.add(i) }
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
mod tests {
    use super::*;

    #[test]
    fn every_row_is_visited_once_for_any_team() {
        for threads in [1, 2, 3, 8] {
            let team = Team::new(threads).unwrap();
            let mut hits = vec![0u32; 10_001];
            let index: Vec<u32> = (0..10_001).collect();
            team.install(|| {
                team.rows((Shared::new(&mut hits), &index[..]), 64, |range, (hits, index)| {
                    assert_eq!(range.start as u32, index[0]);
                    hits.iter_mut().for_each(|h| *h += 1);
                });
            });
            assert!(hits.iter().all(|&h| h == 1));
        }
    }
}
