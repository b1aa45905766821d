//! The primitives of a tile, nearest first, for as long as one may still be seen.

use super::tiles::{Order, SIDE, TILE_AREA, key_index, key_near};
use motes::simd::{LANES, Simd, group, groups};
use std::ops::Range;

/// Primitives handed out between two looks at the depths.
const PEEK: usize = 16;
/// Blocks along a side of a tile.
const BLOCKS: usize = SIDE / LANES;

/// The keys of a tile in order, and how deep one can see into it.
pub struct Front<'a> {
    keys: std::slice::Iter<'a, u64>,
    order: Order,
    until_peek: usize,
    /// The farthest depth of each block of 8 x 8 pixels: nothing behind it can be seen there.
    far: [f32; BLOCKS * BLOCKS],
    farthest: f32,
}

impl<'a> Front<'a> {
    pub fn new(keys: &'a [u64], order: Order) -> Self {
        let far = [f32::INFINITY; BLOCKS * BLOCKS];
        Self { keys: keys.iter(), order, until_peek: 0, far, farthest: f32::INFINITY }
    }

    /// The next primitive; nothing when all that is left lies behind what was drawn.
    #[inline(always)]
    pub fn next<L: Simd>(&mut self, depth: &[f32; TILE_AREA]) -> Option<u32> {
        if self.keys.len() == 0 {
            return None;
        }
        if self.until_peek == 0 {
            self.until_peek = PEEK;
            self.peek::<L>(depth);
        }
        let &key = self.keys.next()?;
        (self.order.least(key_near(key)) < self.farthest).then(|| key_index(key))
    }

    /// True when something at `near` or behind it cannot be seen in these columns and rows.
    #[inline(always)]
    pub fn hides(&self, columns: &Range<usize>, rows: &Range<usize>, near: f32) -> bool {
        for y in groups(rows) {
            for x in groups(columns) {
                if near < self.far[(y * BLOCKS + x) % (BLOCKS * BLOCKS)] {
                    return false;
                }
            }
        }
        true
    }

    /// Says that a primitive was drawn: the depths may have changed.
    #[inline(always)]
    pub fn drew(&mut self) {
        self.until_peek -= 1;
    }

    #[inline(always)]
    fn peek<L: Simd>(&mut self, depth: &[f32; TILE_AREA]) {
        self.farthest = 0.0;
        for (block, far) in self.far.iter_mut().enumerate() {
            let (y, x) = (block / BLOCKS * LANES, block % BLOCKS);
            let mut columns = L::splat(0.0);
            for row in y..y + LANES {
                columns = columns.max(L::read(group(depth, row * BLOCKS + x)));
            }
            let mut column = [0.0; LANES];
            columns.write(&mut column);
            *far = column.iter().fold(0.0, |a, &b| if a > b { a } else { b });
            self.farthest = self.farthest.max(*far);
        }
    }
}
