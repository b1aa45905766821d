//! A variable number of entries per particle, in one flat array with offsets.
//!
//! Workers gather lists on their own desks and move them to the flat array a few at a time. Where a
//! list lies there depends on the team; what it holds does not. When the array is too short the
//! entries are only counted, the array grows, and the lists are made again: nothing is ever capped.
//! Behind the last entry in use stand enough others for a vector to be read whole.

use crate::cpu::team::{Shared, Team};
use crate::error::{Error, Result};
use crate::simd::LANES;
use crate::world::MemoryNeed;
use crossbeam_utils::CachePadded;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Entries a worker gathers before it moves them: they are still in its cache then.
const HANDFUL: usize = 4096;

/// Entries of type `T` for each of a number of particles. `W` is what a worker needs to find them.
pub(crate) struct Lists<T, W = ()> {
    /// First entry (low word) and length (high word) of each list.
    place: Vec<AtomicU64>,
    entries: Vec<T>,
    /// Entries in use.
    used: usize,
    /// One for each worker, apart in memory: two that share a cache line slow each other down.
    gathered: Vec<CachePadded<Gathered<T, W>>>,
}

/// What a worker has not moved yet.
struct Gathered<T, W> {
    entries: Vec<T>,
    /// Particle and end of each list.
    lists: Vec<(u32, u32)>,
    tools: W,
}

impl<T, W> Default for Lists<T, W> {
    fn default() -> Self {
        Lists { place: Vec::new(), entries: Vec::new(), used: 0, gathered: Vec::new() }
    }
}

/// Where a worker puts its lists.
pub(crate) struct Desk<'a, T, W> {
    gathered: &'a mut Gathered<T, W>,
    place: &'a [AtomicU64],
    flat: &'a Shared<'a, T>,
    used: &'a AtomicUsize,
}

impl<T: Copy, W> Desk<'_, T, W> {
    /// The list in the making, behind those not moved yet: only append. And the worker's tools.
    #[inline(always)]
    pub fn parts(&mut self) -> (&mut Vec<T>, &mut W) {
        let Gathered { entries, tools, .. } = &mut *self.gathered;
        (entries, tools)
    }

    /// What was appended since the last call is the list of particle i.
    #[inline(always)]
    pub fn end(&mut self, i: usize) {
        self.gathered.lists.push((i as u32, self.gathered.entries.len() as u32));
        if self.gathered.entries.len() >= HANDFUL {
            self.hand_over();
        }
    }

    #[inline(never)]
    fn hand_over(&mut self) {
        let Gathered { entries, lists, .. } = &mut *self.gathered;
        let base = self.used.fetch_add(entries.len(), Relaxed);
        if base + entries.len() <= self.flat.len() {
            // SAFETY: in bounds, and no other worker was given these places.
            unsafe { self.flat.slice(base..base + entries.len()) }.copy_from_slice(entries);
            let mut first = 0;
            for &(i, end) in &*lists {
                let place = u64::from(end - first) << 32 | (base as u64 + u64::from(first));
                self.place[i as usize].store(place, Relaxed);
                first = end;
            }
        }
        entries.clear();
        lists.clear();
    }
}

impl<T: Copy + Default + Send + Sync, W: Default + Send> Lists<T, W> {
    /// Makes the lists of `count` particles. `work(items, desk)` makes those of a block of `items`;
    /// between them the items hold every particle once.
    pub fn fill(
        &mut self,
        team: &Team,
        count: usize,
        (items, size): (usize, usize),
        work: impl Fn(Range<usize>, &mut Desk<T, W>) + Sync,
    ) -> Result<()> {
        if self.place.len() != count {
            self.place.resize_with(count, AtomicU64::default);
        }
        if self.gathered.len() < team.threads() {
            let empty = || {
                let (entries, lists, tools) = (vec![], vec![], W::default());
                CachePadded::new(Gathered { entries, lists, tools })
            };
            self.gathered.resize_with(team.threads(), empty);
        }
        loop {
            let used = AtomicUsize::new(0);
            let (flat, place) = (Shared::new(&mut self.entries), &self.place[..]);
            team.blocks_at(&mut self.gathered, items, size, |range, gathered| {
                let mut desk = Desk { gathered, place, flat: &flat, used: &used };
                work(range, &mut desk);
                desk.hand_over();
            });
            self.used = used.into_inner();
            if let Some(behind) = self.entries.get_mut(self.used..self.used + LANES) {
                behind.fill(T::default());
                return Ok(());
            }
            self.grow(count)?;
        }
    }

    /// Makes room for what was counted, and a quarter more, so that it seldom has to be done.
    fn grow(&mut self, count: usize) -> Result<()> {
        let size = (self.used + self.used / 4).min(u32::MAX as usize).max(self.used) + LANES;
        let too_large = |limit: String| Error::TooLarge {
            what: format!("the neighbour lists of {count} particles"),
            needed: format!("{} entries of {} bytes", self.used, size_of::<T>()),
            limit: format!("{limit}; are the particles far too large or all in one place?"),
        };
        let refused = if self.used > u32::MAX as usize {
            Some(too_large("at most 2^32 fit the engine".into()))
        } else {
            // Asking the system costs more than a small array.
            let bytes = Some(size * size_of::<T>()).filter(|&bytes| bytes > 1 << 24);
            bytes
                .and_then(MemoryNeed::free_for)
                .map(|free| too_large(format!("this machine has {} MiB free", free >> 20)))
        };
        self.entries.clear();
        if let Some(error) = refused {
            self.clear(count);
            return Err(error);
        }
        self.entries.resize(size, T::default());
        Ok(())
    }

    /// Who has any entries, in order.
    pub fn collect_filled(&self, out: &mut Vec<u32>) {
        out.resize(self.place.len(), 0);
        let mut count = 0;
        for (i, place) in self.place.iter().enumerate() {
            // Written whether it counts or not, so that the processor need not guess.
            out[count] = i as u32;
            count += usize::from(place.load(Relaxed) >> 32 != 0);
        }
        out.truncate(count);
    }

    /// How many lists there are.
    pub fn particles(&self) -> usize {
        self.place.len()
    }
    /// The entries, wherever they stand.
    pub fn all(&self) -> &[T] {
        &self.entries[..self.used]
    }
    /// Entries in all.
    pub fn len(&self) -> usize {
        self.used
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.place.capacity() * 8 + self.entries.capacity() * size_of::<T>()
    }
    /// Empties the lists of `count` particles.
    pub fn clear(&mut self, count: usize) {
        self.place.clear();
        self.place.resize_with(count, AtomicU64::default);
        self.used = 0;
    }
    /// Asks for the entries of particle i, which will be read soon.
    #[inline]
    pub fn prefetch(&self, i: usize) {
        let first = self.place[i].load(Relaxed) as u32 as usize;
        if let Some(entry) = self.entries.get(first) {
            crate::simd::prefetch(entry);
        }
    }
    /// Asks for all entries of particle i.
    #[inline(always)]
    pub fn prefetch_all(&self, i: usize) {
        let place = self.place[i].load(Relaxed);
        let (first, length) = (place as u32 as usize, (place >> 32) as usize);
        let per_line = const { 64 / size_of::<T>() };
        for k in (0..length).step_by(per_line) {
            crate::simd::prefetch(self.entries.as_ptr().wrapping_add(first + k));
        }
    }
    /// The entries of particle i, with those that follow in memory up to a whole number of vectors, and
    /// how many are its own. The others are entries of somebody, too, or of nobody: as by default.
    #[inline(always)]
    pub fn in_eights(&self, i: usize) -> (&[T], usize) {
        let Range { start, end } = self.range(i);
        let length = end - start;
        (&self.entries[start..start + length.next_multiple_of(LANES)], length)
    }
    /// Where the entries of each particle stand, and all of them, to be changed in place.
    pub fn parts_mut(&mut self) -> (Places<'_>, &mut [T]) {
        (Places(&self.place), &mut self.entries[..self.used])
    }
    /// Where the entries of particle i stand.
    #[inline]
    pub fn range(&self, i: usize) -> Range<usize> {
        Places(&self.place).range(i)
    }
    /// The entries of particle i.
    #[inline]
    pub fn of(&self, i: usize) -> &[T] {
        &self.entries[self.range(i)]
    }
}

/// Where the entries of each particle stand.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a>(&'a [AtomicU64]);

impl Places<'_> {
    #[inline]
    pub fn range(self, i: usize) -> Range<usize> {
        let place = self.0[i].load(Relaxed);
        let first = place as u32 as usize;
        first..first + (place >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes each list by itself.
    fn fill(
        lists: &mut Lists<u32>,
        team: &Team,
        count: usize,
        work: impl Fn(usize, &mut Vec<u32>) + Sync,
    ) -> Result<()> {
        lists.fill(team, count, (count, 1024), |range, desk| {
            for i in range {
                work(i, desk.parts().0);
                desk.end(i);
            }
        })
    }

    #[test]
    fn lists_are_the_same_for_any_team() {
        let expected = |i: usize| (0..i % 7).map(|k| (i * 10 + k) as u32).collect::<Vec<_>>();
        for count in [0, 1, 1023, 1024, 5000] {
            for threads in [1, 3] {
                let team = Team::new(threads).unwrap();
                let mut lists: Lists<u32> = Lists::default();
                // Twice: the second time the array has its size.
                for _ in 0..2 {
                    fill(&mut lists, &team, count, |i, out| out.extend(expected(i))).unwrap();
                    for i in 0..count {
                        assert_eq!(lists.of(i), expected(i));
                    }
                    assert_eq!(lists.len(), (0..count).map(|i| i % 7).sum::<usize>());
                }
            }
        }
    }

    #[test]
    fn lists_that_cannot_be_held_are_an_error() {
        // 2^32 entries by claiming a long list again and again: counted, never stored.
        let team = Team::new(2).unwrap();
        let mut lists = Lists::<u32>::default();
        let long = vec![0; 1 << 24];
        let error = fill(&mut lists, &team, 300, |_, out| out.extend(&long)).unwrap_err();
        assert!(error.to_string().contains("2^32"), "{error}");
        assert_eq!(lists.len(), 0);
        fill(&mut lists, &team, 3, |i, out| out.push(i as u32)).unwrap();
        assert_eq!(lists.of(2), [2]);
    }
}
