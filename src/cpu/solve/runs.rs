//! Where the particles of eight rows lie side by side. A mesh that was made row by row gives
//! colours whose first corners are particles i, i+1, i+2 .. and whose second ones j, j+1, j+2 ..;
//! then a vector needs two numbers instead of sixteen indices, and whole loads and stores instead
//! of gathered ones.

use crate::simd::LANES;
use crate::world::constraints::ConstraintSet;
use std::ops::Range;

/// Whole vectors of rows whose particles all lie in the same way.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'a, const N: usize> {
    /// The first row of each vector, counted from the first of its block.
    pub row: &'a [u32],
    /// The first slot of each corner of each vector.
    pub slot: &'a [[u32; N]],
}

/// The whole vectors of a block, by how their particles lie: one after the other, every other one,
/// or anywhere. The rows of a colour may be solved in any order, so these are.
pub(super) struct Plan<'a, const N: usize> {
    pub beside: Runs<'a, N>,
    pub skipping: Runs<'a, N>,
    pub apart: Runs<'a, N>,
}

/// The plans of all blocks of all colours.
#[derive(Default)]
pub(super) struct Plans {
    row: Vec<u32>,
    slot: Vec<u32>,
    /// Where the three sorts of each block begin and end.
    cuts: Vec<[u32; 4]>,
}

impl Plans {
    /// Blocks hold `size` rows, a multiple of a vector's.
    pub fn update<const N: usize>(&mut self, set: &ConstraintSet<N>, size: usize) {
        assert!(size.is_multiple_of(LANES));
        let Plans { row, slot, cuts } = self;
        row.clear();
        slot.clear();
        cuts.clear();
        let mut sorts = Vec::new();
        for color in 0..set.color_count() {
            let rows = set.color_range(color);
            cuts.resize(number(color, &rows, size), [0; 4]);
            for first in rows.clone().step_by(size) {
                let block = first..(first + size).min(rows.end);
                let vectors = block.clone().step_by(LANES).take(block.len() / LANES);
                sorts.clear();
                sorts.extend(vectors.clone().map(|first| sort(set, first)));
                let mut cut = [row.len() as u32; 4];
                for wanted in 0..3 {
                    let of_it = vectors.clone().zip(&sorts).filter(|&(_, &is)| is == wanted);
                    for (first, _) in of_it {
                        row.push((first - block.start) as u32);
                        slot.extend((0..N).map(|k| set.corner[k][first]));
                    }
                    cut[wanted + 1] = row.len() as u32;
                }
                cuts.push(cut);
            }
        }
    }

    /// The plan of the block that begins `first` rows into a colour of `rows`.
    pub fn of<const N: usize>(
        &self,
        color: usize,
        rows: &Range<usize>,
        first: usize,
        size: usize,
    ) -> Plan<'_, N> {
        let cut = self.cuts[number(color, rows, size) + first / size].map(|run| run as usize);
        let runs = |from: usize, to: usize| Runs {
            row: &self.row[from..to],
            slot: self.slot[N * from..N * to].as_chunks().0,
        };
        Plan {
            beside: runs(cut[0], cut[1]),
            skipping: runs(cut[1], cut[2]),
            apart: runs(cut[2], cut[3]),
        }
    }
}

/// The number of a colour's first block. The last block of a colour may be short. Each colour adds
/// one to its numbers, so the blocks of a colour end before those of the next one begin.
fn number(color: usize, rows: &Range<usize>, size: usize) -> usize {
    rows.start / size + color
}

/// How the particles of eight rows lie.
fn sort<const N: usize>(set: &ConstraintSet<N>, first: usize) -> usize {
    let are = |step| {
        set.corner[..N].iter().all(|corner| {
            let slots = &corner[first..first + LANES];
            slots.windows(2).all(|pair| pair[0].checked_add(step) == Some(pair[1]))
        })
    };
    match () {
        () if are(1) => 0,
        () if are(2) => 1,
        () => 2,
    }
}
