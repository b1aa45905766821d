//! The picture cut into square tiles, and which primitives touch which tile, nearest first.
//!
//! Buffers are stored tile after tile, so that each tile is one contiguous slice that one worker owns
//! and that stays in its L1 cache.

use std::ops::Range;

/// Side of a tile [px], a power of two.
pub const TILE: u32 = 1 << TILE_BITS;
const TILE_BITS: u32 = 5;
/// Side of a tile as a length of rows.
pub const SIDE: usize = TILE as usize;
/// Pixels of a tile.
pub const TILE_AREA: usize = SIDE * SIDE;

/// Most entries binned at once (64 MB of keys); more primitives than that are drawn in rounds.
const ROUND_LIMIT: usize = 8 << 20;

/// The tiles of a picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tiles {
    pub width: u32,
    pub height: u32,
    pub columns: u32,
    pub rows: u32,
}

impl Tiles {
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, columns: width.div_ceil(TILE), rows: height.div_ceil(TILE) }
    }

    pub fn count(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Left and top pixel of a tile.
    pub fn origin(&self, tile: usize) -> (u32, u32) {
        let tile = tile as u32;
        (tile % self.columns * TILE, tile / self.columns * TILE)
    }
}

/// The pixels a primitive may touch (end exclusive) and the nearest depth it may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Footprint {
    pub x0: u16,
    pub y0: u16,
    pub x1: u16,
    pub y1: u16,
    pub near: f32,
}

impl Footprint {
    /// Touches nothing: what was skipped.
    pub const NOTHING: Self = Self { x0: 0, y0: 0, x1: 0, y1: 0, near: 0.0 };

    /// The pixels whose middles may lie between `low` and `high` (pixel coordinates), cut to the size.
    /// `near` must not be negative, because its bits are used as a sort key.
    pub fn new(low: glam::Vec2, high: glam::Vec2, near: f32, width: u32, height: u32) -> Self {
        // Float to integer casts saturate and send not-a-number to 0, so nothing can wrap. They
        // round towards 0, which is down here; `floor` is a function call on plain x86-64.
        let first = |v: f32, limit: u32| (v as u32).min(limit) as u16;
        let end =
            |v: f32, limit: u32| (v as u32).saturating_add((v > 0.0) as u32).min(limit) as u16;
        let made = Self {
            x0: first(low.x, width),
            y0: first(low.y, height),
            x1: end(high.x, width),
            y1: end(high.y, height),
            near,
        };
        if made.is_empty() { Self::NOTHING } else { made }
    }

    pub fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// The part inside the tile at `origin`, relative to that tile: columns and rows.
    #[inline(always)]
    pub fn within(&self, origin: (u32, u32)) -> (Range<usize>, Range<usize>) {
        let start = |low: u16, from: u32| (low as u32).saturating_sub(from) as usize;
        let end = |high: u16, from: u32| (high as u32).saturating_sub(from).min(TILE) as usize;
        (
            start(self.x0, origin.0)..end(self.x1, origin.0),
            start(self.y0, origin.1)..end(self.y1, origin.1),
        )
    }

    fn tiles(&self) -> (Range<u32>, Range<u32>) {
        let span = |low: u16, high: u16| (low as u32) >> TILE_BITS..(high as u32).div_ceil(TILE);
        if self.is_empty() {
            (0..0, 0..0)
        } else {
            (span(self.x0, self.x1), span(self.y0, self.y1))
        }
    }
}

/// Depths sorted into buckets by their leading bits: the bits of positive numbers are in the order of
/// the numbers, and a bucket's width grows with the depth, as what can be told apart does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    start: u32,
    shift: u32,
}

/// Buckets of depths, as a power of two.
const BUCKET_BITS: u32 = 12;

impl Order {
    /// Buckets for depths with bits from `low` to `high`.
    fn new(low: u32, high: u32) -> Self {
        let bits = u32::BITS - high.saturating_sub(low).leading_zeros();
        Self { start: low, shift: bits.saturating_sub(BUCKET_BITS) }
    }

    fn bucket(&self, near: f32) -> usize {
        (near.to_bits().saturating_sub(self.start) >> self.shift) as usize
    }

    /// The least depth in the bucket of this one: no key after it has less.
    #[inline(always)]
    pub fn least(&self, near: f32) -> f32 {
        let above = near.to_bits().saturating_sub(self.start);
        f32::from_bits((above >> self.shift << self.shift) + self.start)
    }
}

/// Keys of the primitives of each tile, nearest first but for those of one bucket, which are in the
/// order of their indices: a picture does not depend on the thread count. A key is the bits of the
/// nearest depth, then the index.
#[derive(Debug, Default)]
pub struct Bins {
    pub order: Order,
    starts: Vec<u32>,
    cursors: Vec<u32>,
    keys: Vec<u64>,
    /// Primitives that touch any tile, by bucket, and where each bucket goes on.
    sorted: Vec<u32>,
    buckets: Vec<u32>,
}

/// The index of the primitive behind a key.
#[inline]
pub fn key_index(key: u64) -> u32 {
    key as u32
}

/// The nearest depth behind a key.
#[inline]
pub fn key_near(key: u64) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

impl Bins {
    /// Bins primitives from index `first` on, as many as fit one round; returns the index to go on
    /// with. Serial on purpose: 100 000 footprints take under a millisecond, less than a fork-join
    /// with atomics saves.
    pub fn fill(&mut self, tiles: &Tiles, footprints: &[Footprint], first: usize) -> usize {
        self.starts.clear();
        self.starts.resize(tiles.count() + 1, 0);
        let mut total = 0;
        let mut end = first;
        let (mut low, mut high) = (u32::MAX, 0);
        for footprint in &footprints[first.min(footprints.len())..] {
            let (columns, rows) = footprint.tiles();
            total += columns.len() * rows.len();
            if total > ROUND_LIMIT && end > first {
                break;
            }
            for row in rows {
                for column in columns.clone() {
                    self.starts[(row * tiles.columns + column) as usize + 1] += 1;
                }
            }
            if !footprint.is_empty() {
                low = low.min(footprint.near.to_bits());
                high = high.max(footprint.near.to_bits());
            }
            end += 1;
        }
        self.order = Order::new(low.min(high), high);
        self.sort(footprints, first..end);
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.cursors.clear();
        self.cursors.extend_from_slice(&self.starts);
        self.keys.resize(self.starts[tiles.count()] as usize, 0);
        for &index in &self.sorted {
            let footprint = &footprints[index as usize];
            let (columns, rows) = footprint.tiles();
            let key = (footprint.near.to_bits() as u64) << 32 | index as u64;
            for row in rows {
                for column in columns.clone() {
                    let cursor = &mut self.cursors[(row * tiles.columns + column) as usize];
                    self.keys[*cursor as usize] = key;
                    *cursor += 1;
                }
            }
        }
        end
    }

    /// Puts the primitives of a range in the order of their buckets: one pass over all of them costs
    /// less than sorting the keys of each tile, which are more.
    fn sort(&mut self, footprints: &[Footprint], range: Range<usize>) {
        self.buckets.clear();
        self.buckets.resize((1 << BUCKET_BITS) + 1, 0);
        let seen = |index: &usize| !footprints[*index].is_empty();
        for index in range.clone().filter(seen) {
            self.buckets[self.order.bucket(footprints[index].near) + 1] += 1;
        }
        for i in 1..self.buckets.len() {
            self.buckets[i] += self.buckets[i - 1];
        }
        self.sorted.resize(self.buckets[1 << BUCKET_BITS] as usize, 0);
        for index in range.filter(seen) {
            let cursor = &mut self.buckets[self.order.bucket(footprints[index].near)];
            self.sorted[*cursor as usize] = index as u32;
            *cursor += 1;
        }
    }

    /// The keys of each tile, in tile order, for workers to read or sort.
    pub fn per_tile(&mut self) -> Vec<&mut [u64]> {
        let mut rest = self.keys.as_mut_slice();
        self.starts
            .windows(2)
            .map(|pair| {
                let (mine, others) =
                    std::mem::take(&mut rest).split_at_mut((pair[1] - pair[0]) as usize);
                rest = others;
                mine
            })
            .collect()
    }

    /// The keys of one tile.
    pub fn tile(&self, tile: usize) -> &[u64] {
        &self.keys[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }
}
