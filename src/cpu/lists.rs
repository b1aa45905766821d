//! A variable number of entries per particle, in one flat array with offsets.
//!
//! Blocks of particles write their entries side by side; the blocks are then laid end to end. The
//! result depends on neither the team nor the time each block took, and nothing is ever capped.

use super::team::{Shared, Team};
use std::ops::Range;

/// Particles a block holds.
const BLOCK: usize = 1024;

/// Entries of type `T` for each of a number of particles.
#[derive(Default)]
pub(crate) struct Lists<T> {
    /// First entry of each particle, and the end.
    start: Vec<u32>,
    entries: Vec<T>,
    blocks: Vec<Vec<T>>,
}

impl<T: Copy + Default + Send + Sync> Lists<T> {
    /// Fills the lists: `fill(i, out)` appends the entries of particle i.
    pub fn fill(&mut self, team: &Team, count: usize, fill: impl Fn(usize, &mut Vec<T>) + Sync) {
        let block_count = count.div_ceil(BLOCK);
        if self.blocks.len() < block_count {
            self.blocks.resize_with(block_count, Vec::new);
        }
        self.start.clear();
        self.start.resize(count + 1, 0);
        let blocks = Shared::new(&mut self.blocks);
        team.rows(Shared::new(&mut self.start[1..]), BLOCK, |range, ends| {
            // SAFETY: each block index is handed out once.
            let out = unsafe { blocks.at(range.start / BLOCK) };
            out.clear();
            for (i, end) in range.zip(ends) {
                fill(i, out);
                *end = out.len() as u32;
            }
        });
        self.join(team, count);
    }

    /// Lays the blocks end to end.
    fn join(&mut self, team: &Team, count: usize) {
        let block_count = count.div_ceil(BLOCK);
        let total: usize = self.blocks[..block_count].iter().map(Vec::len).sum();
        assert!(total <= u32::MAX as usize, "more than 2^32 list entries");
        self.entries.resize(total, T::default());
        // The first entry of each block, before its ends are made absolute.
        let mut first = 0u32;
        for (b, block) in self.blocks[..block_count].iter().enumerate() {
            let ends = 1 + b * BLOCK..1 + ((b + 1) * BLOCK).min(count);
            for end in &mut self.start[ends] {
                *end += first;
            }
            first += block.len() as u32;
        }
        let (entries, start) = (Shared::new(&mut self.entries), &self.start);
        let blocks = &self.blocks;
        team.blocks(block_count, 1, |b, _| {
            let first = start[b * BLOCK] as usize;
            // SAFETY: blocks lie end to end, so their ranges do not overlap.
            let to = unsafe { entries.slice(first..first + blocks[b].len()) };
            to.copy_from_slice(&blocks[b]);
        });
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Empties the lists of `count` particles.
    pub fn clear(&mut self, count: usize) {
        self.start.clear();
        self.start.resize(count + 1, 0);
        self.entries.clear();
    }
    fn range(&self, i: usize) -> Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }
    /// The entries of particle i.
    pub fn of(&self, i: usize) -> &[T] {
        &self.entries[self.range(i)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_the_same_for_any_team() {
        let expected = |i: usize| (0..i % 7).map(|k| (i * 10 + k) as u32).collect::<Vec<_>>();
        for count in [0, 1, 1023, 1024, 5000] {
            for threads in [1, 3] {
                let team = Team::new(threads).unwrap();
                let mut lists = Lists::default();
                lists.fill(&team, count, |i, out| out.extend(expected(i)));
                for i in 0..count {
                    assert_eq!(lists.of(i), expected(i));
                }
                assert_eq!(lists.len(), (0..count).map(|i| i % 7).sum::<usize>());
            }
        }
    }
}
