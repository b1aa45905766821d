//! Sorts the contact candidates into batches of eight that share no particle, so that `colored`
//! can solve them in place.
//! Space is cut into tiles of 27 colours; a pair belongs to the tile of its lower slot, and tiles of
//! a colour share no particle. Inside a tile pairs that are close come first, and each takes the
//! lowest colour that neither of its particles has yet: greedy in order of tile, slot and list.
//! Reads: neighbour lists, points [x, y, z, reach] m. Writes: contact batches by tile (particles,
//! contact distance m).
//! Order: each tile alone; deterministic.

use super::Scratch;
use super::contact::block::{Arrays, Batch, ContactBlock, Grips, Rubs, Touching, Work};
use super::contact::palette::Palette;
use super::contact::tiles::{COLORS, Tiles};
use super::search::broad::Broad;
use super::search::lists::Lists;
use super::search::neighbors::{Neighbor, Neighbors};
use super::team::{Shared, Team};
use crate::error::Result;
use crate::simd::LANES;
use crate::world::Held;
use glam::Vec4;
#[cfg(feature = "vulkan")]
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A colour of tiles with fewer batches than this is solved by the calling worker alone: that takes
/// some microseconds, and handing it out would take one or two.
const LIGHT: usize = 128;
/// Particles whose tiles make a block when pairs are coloured: up to a tenth of a millisecond of work in
/// a pile, and a few microseconds where little touches.
const COLORED: usize = 1024;

/// Contact candidates, each pair once, in batches, and what they hold.
#[derive(Default)]
pub(crate) struct ContactRows {
    tiles: Tiles,
    /// The batches of each tile. In the end, as if of one more tile, those of pairs whose particles
    /// lie in tiles that do not touch: they are solved last, one after the other.
    batches: Lists<Batch, Palette>,
    /// What the contacts of each batch hold, where the batch stands in the lists.
    grips: Vec<Grips>,
    /// The batches of each colour of tiles.
    weight: [usize; COLORS],
    particle_count: usize,
}

impl ContactRows {
    /// They are of lists that hold no longer.
    pub fn expire(&mut self) {
        self.particle_count = 0;
    }

    /// Works on every pair in place, tile after tile.
    pub fn work(
        &mut self,
        team: &Team,
        predicted: &mut [Vec4],
        start: &[Vec4],
        rubs: Rubs<'_>,
        work: Work<'_>,
    ) {
        let count = self.particle_count;
        assert!(predicted.len() == count && start.len() == count);
        let ContactRows { tiles, batches, grips, weight, .. } = self;
        let (places, batches) = batches.parts_mut();
        assert!(grips.len() == batches.len());
        let predicted = Shared::new(predicted);
        let (batches, grips) = (Shared::new(batches), Shared::new(grips));
        for_each_tile(team, tiles, weight, |tile| {
            let (predicted, start) = (predicted.start().cast(), start.as_ptr().cast());
            let range = places.range(tile);
            // SAFETY: each tile has batches of its own. Their slots are below the number of
            // particles they were made for, which is that of the arrays. Those of a batch are
            // different, and tiles that are worked on at the same time share none.
            let block = unsafe {
                let rows = (batches.slice(range.clone()), grips.slice(range));
                ContactBlock::new(Arrays { predicted, start }, rows, rubs, work)
            };
            team.simd.run(block);
        });
    }

    /// Tells every pair how its particles lie to each other where the step begins.
    pub fn take_bases(&mut self, team: &Team, position: &[Vec4]) {
        let (count, block) = (self.tiles.len() + 1, self.tiles_a_block());
        let (places, batches) = self.batches.parts_mut();
        let batches = Shared::new(batches);
        team.blocks(count, block, |_, tiles| {
            for at in tiles.flat_map(|tile| places.range(tile)) {
                // SAFETY: each tile has batches of its own.
                unsafe { batches.at(at) }.take_bases(position);
            }
        });
    }

    /// Gives every contact what `recall(a, b)` tells it held. The others have not touched yet.
    pub fn recall(&mut self, team: &Team, recall: impl Fn(u32, u32) -> Option<Held> + Sync) {
        let count = self.tiles.len() + 1;
        let block = self.tiles_a_block();
        let (places, batches) = self.batches.parts_mut();
        // As the batches: a quarter more than needed, so that it seldom has to grow.
        if batches.len() > self.grips.capacity() {
            self.grips.clear();
            self.grips.reserve_exact(batches.len() + batches.len() / 4);
        }
        self.grips.resize(batches.len(), Grips::default());
        let (batches, grips) = (Shared::new(batches), Shared::new(&mut self.grips));
        team.blocks(count, block, |_, tiles| {
            for at in tiles.flat_map(|tile| places.range(tile)) {
                // SAFETY: each tile has batches of its own.
                let (batch, grips) = unsafe { (batches.at(at), grips.at(at)) };
                for k in 0..LANES {
                    let held = recall(batch.a[k], batch.b[k]);
                    // What stood here was of other pairs.
                    batch.hold(grips, k, held.unwrap_or(Held::NOTHING));
                }
            }
        });
    }

    /// Calls `visit(a, b, what the contact holds)` for every pair that presses on each other, tile by
    /// tile: at the same time only for different a.
    pub fn for_each_pressed(&self, team: &Team, visit: impl Fn(u32, u32, Held) + Sync) {
        let of = |tile: usize| {
            for at in self.batches.range(tile) {
                let (batch, grips) = (&self.batches.all()[at], &self.grips[at]);
                for k in batch.lanes().filter(|&k| batch.pressed[k] > 0.0) {
                    visit(batch.a[k], batch.b[k], batch.held(grips, k));
                }
            }
        };
        let tiles = self.tiles.len();
        team.blocks(tiles, self.tiles_a_block(), |_, tiles| tiles.for_each(of));
        of(tiles);
    }

    /// How many pairs touch where the particles have moved by these.
    pub fn count_touching(&self, team: &Team, at: &[Vec4]) -> usize {
        assert!(at.len() == self.particle_count);
        let total = AtomicUsize::new(0);
        let count = |batches: &[Batch]| {
            // SAFETY: slots are below the number of particles the batches were made for.
            let touching = unsafe { Touching::new(at, batches) };
            total.fetch_add(team.simd.run(touching), Relaxed);
        };
        team.blocks(self.tiles.len() + 1, self.tiles_a_block(), |_, tiles| {
            tiles.for_each(|tile| count(self.batches.of(tile)));
        });
        total.into_inner()
    }

    /// How many tiles make a block of work in the mean.
    fn tiles_a_block(&self) -> usize {
        (self.tiles.len() * COLORED / self.particle_count.max(1)).max(1)
    }

    fn fill(&mut self, team: &Team, neighbors: &Neighbors, broad: &Broad) -> Result<()> {
        let points = &broad.points[..];
        self.particle_count = points.len();
        self.tiles.fill(team, points, &broad.extent);
        let tiles = &self.tiles;
        let holds_every_pair = tiles.hold_every_pair(&broad.extent);
        let (block, count) = (self.tiles_a_block(), tiles.len() + 1);
        self.batches.fill(team, count, (count, block), |range, desk| {
            for tile in range {
                let (out, palette) = desk.parts();
                if tile < tiles.len() {
                    palette.add_tile(tiles, tile, holds_every_pair, neighbors, points);
                    palette.finish(out);
                } else if !holds_every_pair {
                    out.extend(far_pairs(tiles, neighbors, points));
                }
                desk.end(tile);
            }
        })?;
        self.weight = std::array::from_fn(|color| {
            let tiles = self.tiles.of_color(color).iter();
            tiles.map(|&tile| self.batches.of(tile as usize).len()).sum()
        });
        Ok(())
    }
}

/// A batch for each pair whose particles lie in tiles that do not touch.
fn far_pairs(tiles: &Tiles, neighbors: &Neighbors, points: &[Vec4]) -> impl Iterator<Item = Batch> {
    (0..points.len()).flat_map(move |i| {
        let far = move |n: &&Neighbor| !tiles.touch(points[i], points[n.slot as usize]);
        neighbors.above(i).iter().filter(far).map(move |n| Batch {
            a: [i as u32; LANES],
            b: [n.slot; LANES],
            contact: [n.contact; LANES],
            ..Batch::default()
        })
    })
}

/// Calls `visit(tile)` for every tile: at the same time only for tiles that share no particle. In
/// the end for the batches that belong to no tile.
fn for_each_tile(
    team: &Team,
    tiles: &Tiles,
    weight: &[usize; COLORS],
    visit: impl Fn(usize) + Sync,
) {
    for (color, &weight) in weight.iter().enumerate() {
        let of_color = tiles.of_color(color);
        let visit = |k: usize| visit(of_color[k] as usize);
        if weight < LIGHT {
            (0..of_color.len()).for_each(visit);
        } else {
            team.blocks(of_color.len(), 1, |k, _| visit(k));
        }
    }
    visit(tiles.len());
}

/// What the device's contact rows are made from.
#[cfg(feature = "vulkan")]
impl ContactRows {
    /// The tiles, unless the rows expired or are of another number of particles.
    pub fn tiles(&self, particle_count: usize) -> Option<&Tiles> {
        (self.particle_count == particle_count).then_some(&self.tiles)
    }
    /// Calls `visit` with every pair of every tile: the tile, the pair's colour there, a, b and the
    /// contact distance, m; in order of tile, colour and list.
    pub fn for_each_colored_pair(
        &self,
        neighbors: &Neighbors,
        broad: &Broad,
        mut visit: impl FnMut(usize, u32, [u32; 2], f32),
    ) {
        let mut palette = Palette::default();
        let holds_every_pair = self.tiles.hold_every_pair(&broad.extent);
        for tile in 0..self.tiles.len() {
            palette.add_tile(&self.tiles, tile, holds_every_pair, neighbors, &broad.points);
            palette
                .for_each_pair(|pair_color, pair, contact| visit(tile, pair_color, pair, contact));
            palette.finish(&mut Vec::new());
        }
    }
    /// What every contact holds, by its two slots; nothing when the rows expired or are of another
    /// number of particles.
    pub fn grips(&self, particle_count: usize) -> HashMap<[u32; 2], Held> {
        if self.particle_count != particle_count || self.grips.len() != self.batches.len() {
            return HashMap::new();
        }
        let batches = self.batches.all().iter().zip(&self.grips);
        let of = |(batch, grips): (&Batch, &Grips)| {
            let (batch, grips) = (*batch, *grips);
            (0..LANES).map(move |k| ([batch.a[k], batch.b[k]], batch.held(&grips, k)))
        };
        batches.flat_map(of).collect()
    }
    /// Pairs that belong to no tile, in order: a, b, contact distance, m.
    pub fn far_pairs(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        let rows = (self.batches.particles() > 0).then(|| self.batches.of(self.tiles.len()));
        rows.into_iter().flatten().flat_map(Batch::rows)
    }
}

pub(crate) fn run(team: &Team, scratch: &mut Scratch) -> Result<()> {
    let Scratch { contact_rows: rows, neighbors, broad, .. } = scratch;
    let filled = rows.fill(team, neighbors, broad);
    neighbors.built = filled.is_ok();
    filled
}

#[cfg(test)]
mod tests;
