//! How long each worker was busy, pass by pass ([C], 5.4).
//!
//! A helper is busy from its arrival in a region to the end of its last block; if the system takes
//! its core away meanwhile, that counts too. The calling thread is busy all the time but when it
//! waits for the others, so what it does alone counts as work. Two readings of the clock a region
//! and worker, never one a block.

use crate::step::Pass;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The row of what happens between passes.
const BETWEEN: usize = Pass::COUNT;
/// A row for each pass, and one for what happens between them.
pub(crate) const ROWS: usize = Pass::COUNT + 1;

/// The clock cards of a team.
pub(super) struct Busy {
    /// The row that time is charged to; changes between regions only.
    row: AtomicUsize,
    /// Nanoseconds by worker and row; each worker writes its own card. The first card is the
    /// calling thread's, which notes the time it waits.
    cards: Box<[CachePadded<[AtomicU64; ROWS]>]>,
}

impl Busy {
    pub fn new(workers: usize) -> Self {
        let card = || CachePadded::new([const { AtomicU64::new(0) }; ROWS]);
        Busy { row: AtomicUsize::new(BETWEEN), cards: (0..workers).map(|_| card()).collect() }
    }

    /// What follows belongs to `pass`, or lies between passes.
    pub fn charge(&self, pass: Option<Pass>) {
        self.row.store(pass.map_or(BETWEEN, |p| p as usize), Relaxed);
    }

    /// Notes time of worker `me`. Before it counts its blocks as done: then the row is still the
    /// region's, and whoever sees the region end sees the time.
    pub fn note(&self, me: usize, time: Duration) {
        let cell = &self.cards[me][self.row.load(Relaxed)];
        // Not fetch_add: nobody else writes this card.
        cell.store(cell.load(Relaxed) + time.as_nanos() as u64, Relaxed);
    }

    /// Starts anew. Between regions only.
    pub fn clear(&self) {
        self.charge(None);
        self.cards.iter().flat_map(|card| card.iter()).for_each(|cell| cell.store(0, Relaxed));
    }

    /// How long each worker was busy, given how long each row took. Between regions only.
    pub fn read<'a>(
        &'a self,
        wall: &'a [Duration; ROWS],
    ) -> impl Iterator<Item = [Duration; ROWS]> + 'a {
        self.cards.iter().enumerate().map(|(worker, card)| {
            std::array::from_fn(|row| {
                let noted = Duration::from_nanos(card[row].load(Relaxed));
                if worker == 0 { wall[row].saturating_sub(noted) } else { noted }
            })
        })
    }
}
