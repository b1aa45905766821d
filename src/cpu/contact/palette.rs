//! How the pairs of a tile get colours: each takes the lowest that neither of its particles has yet,
//! in order of tile, slot and list. Pairs of a colour share no particle, so eight of them make a batch.

use super::block::Batch;
use super::tiles::Tiles;
use crate::cpu::search::neighbors::{Neighbor, Neighbors};
use crate::simd::{LANES, prefetch};
use glam::Vec4;

/// Pairs nearer than this share of their contact distance when lists are made are likely to touch
/// in most iterations, others in few: kept apart, whole batches of the others are passed over.
const CLOSE: f32 = 1.02;
/// Colours of close pairs in a tile, and of others. Pairs that find none free (a large particle
/// among many small ones) take the last, which has a batch for each.
const PAIR_COLORS: u32 = 32;

/// A pair of a tile and its colour there: close ones first.
#[derive(Clone, Copy)]
struct Listed {
    a: u32,
    b: u32,
    contact: f32,
    pair_color: u32,
}

/// What a worker colours the pairs of a tile with.
#[derive(Default)]
pub(crate) struct Palette {
    /// Pair colours in use around each particle: those of close pairs in the lower half.
    used: Vec<u64>,
    /// The tile's pairs in order.
    listed: Vec<Listed>,
    /// Pairs of each pair_color.
    count: Vec<u32>,
}

impl Palette {
    fn begin(&mut self, particle_count: usize) {
        self.used.resize(particle_count, 0);
        self.listed.clear();
        self.count.clear();
        self.count.resize(2 * PAIR_COLORS as usize, 0);
    }

    /// Colours the pairs of a tile.
    #[inline(always)]
    pub fn add_tile(
        &mut self,
        tiles: &Tiles,
        tile: usize,
        holds_every_pair: bool,
        neighbors: &Neighbors,
        points: &[Vec4],
    ) {
        let members = tiles.members(tile);
        // Lists lie where the search left them: ask for all, or each is waited for.
        for &a in members {
            neighbors.lists.prefetch(a as usize);
            prefetch(&points[a as usize]);
        }
        self.begin(points.len());
        for &a in members {
            let at = points[a as usize];
            let list = neighbors.above(a as usize).iter();
            if holds_every_pair {
                self.add(a, at, list, points);
            } else {
                let touch = |n: &&Neighbor| tiles.touch(at, points[n.slot as usize]);
                self.add(a, at, list.filter(touch), points);
            }
        }
    }

    /// Gives the pairs of particle a, which is at `at`, the lowest pair_color that neither has yet.
    #[inline(always)]
    fn add<'n>(
        &mut self,
        a: u32,
        at: Vec4,
        list: impl Iterator<Item = &'n Neighbor>,
        points: &[Vec4],
    ) {
        let Palette { used, listed, count } = self;
        let mut around_a = used[a as usize];
        for &Neighbor { slot: b, contact } in list {
            let (limit, d) = (contact * CLOSE, (at - points[b as usize]).truncate());
            let half = if d.length_squared() <= limit * limit { 0 } else { PAIR_COLORS };
            let around_b = &mut used[b as usize];
            let around = ((around_a | *around_b) >> half) as u32;
            let pair_color = around.trailing_ones().min(PAIR_COLORS - 1);
            // The last has no bit: any number of pairs may take it.
            let bit = u64::from(1 << pair_color & !(1u32 << (PAIR_COLORS - 1))) << half;
            around_a |= bit;
            *around_b |= bit;
            count[(half + pair_color) as usize] += 1;
            listed.push(Listed { a, b, contact, pair_color: half + pair_color });
        }
        used[a as usize] = around_a;
    }

    /// Calls `visit(colour, [a, b], contact distance)` for the pairs, in order of colour and list.
    #[cfg(feature = "vulkan")]
    pub fn for_each_pair(&mut self, mut visit: impl FnMut(u32, [u32; 2], f32)) {
        self.listed.sort_by_key(|pair| pair.pair_color);
        for &Listed { a, b, contact, pair_color } in &self.listed {
            visit(pair_color, [a, b], contact);
        }
    }

    /// Appends the pairs in batches, and is clean again.
    pub fn finish(&mut self, out: &mut Vec<Batch>) {
        let Palette { used, listed, count, .. } = self;
        let mut next = [0u32; 2 * PAIR_COLORS as usize];
        let mut batches = out.len() as u32;
        for (next, (pair_color, count)) in next.iter_mut().zip((0..).zip(&*count)) {
            // In rows from the first batch on.
            *next = batches * LANES as u32;
            batches += count.div_ceil(pairs_per_batch(pair_color));
        }
        out.resize(batches as usize, Batch::default());
        for &Listed { a, b, contact, pair_color } in &*listed {
            (used[a as usize], used[b as usize]) = (0, 0);
            let row = next[pair_color as usize];
            next[pair_color as usize] += LANES as u32 / pairs_per_batch(pair_color);
            let (batch, lane) = (&mut out[row as usize / LANES], row as usize % LANES);
            (batch.a[lane], batch.b[lane], batch.contact[lane]) = (a, b, contact);
            if pairs_per_batch(pair_color) == 1 {
                batch.repeat_from(1);
            }
        }
        for end in next {
            if !end.is_multiple_of(LANES as u32) {
                out[end as usize / LANES].repeat_from(end as usize % LANES);
            }
        }
    }
}

/// Pairs of a pair_color share no particle, but for those of the last.
fn pairs_per_batch(pair_color: u32) -> u32 {
    if pair_color % PAIR_COLORS == PAIR_COLORS - 1 { 1 } else { LANES as u32 }
}
