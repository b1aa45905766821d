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
use super::contact::tiles::{COLORS, Tiles};
use super::search::broad::Broad;
use super::search::lists::Lists;
use super::search::neighbors::{Neighbor, Neighbors};
use super::team::{Shared, Team};
use crate::error::Result;
use crate::simd::{LANES, prefetch};
use crate::world::Held;
use glam::Vec4;
#[cfg(feature = "vulkan")]
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Pairs nearer than this share of their contact distance when lists are made are likely to touch
/// in most iterations, others in few: kept apart, whole batches of the others are passed over.
const CLOSE: f32 = 1.02;
/// Colours of close pairs in a tile, and of others. Pairs that find none free (a large particle
/// among many small ones) take the last, which has a batch for each.
const PAIR_COLORS: u32 = 32;

/// A colour of tiles with fewer batches than this is solved by the calling worker alone: that takes
/// some microseconds, and handing it out would take one or two.
const LIGHT: usize = 128;
/// Particles whose tiles make a block when pairs are coloured: up to a tenth of a millisecond of work in
/// a pile, and a few microseconds where little touches.
const COLORED: usize = 1024;

/// A pair of a tile and its colour there: close ones first.
#[derive(Clone, Copy)]
struct Listed {
    a: u32,
    b: u32,
    contact: f32,
    pair_color: u32,
}

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
            palette.listed.sort_by_key(|pair| pair.pair_color);
            for &Listed { a, b, contact, pair_color } in &palette.listed {
                visit(tile, pair_color, [a, b], contact);
            }
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

/// What a worker colours the pairs of a tile with.
#[derive(Default)]
struct Palette {
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
    fn add_tile(
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

    /// Appends the pairs in batches, and is clean again.
    fn finish(&mut self, out: &mut Vec<Batch>) {
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

pub(crate) fn run(team: &Team, scratch: &mut Scratch) -> Result<()> {
    let Scratch { contact_rows: rows, neighbors, broad, .. } = scratch;
    let filled = rows.fill(team, neighbors, broad);
    neighbors.built = filled.is_ok();
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::contact::Friction;
    use crate::cpu::contact::block::Mixed;
    use crate::cpu::contact::lift::Lift;
    use crate::cpu::contact::listed::Pairs;
    use crate::simd::Level;
    use crate::world::material::MaterialPairs;
    use crate::{Backend, Coefficients, Engine, Grains, Material, Particle, Phase, World};
    use glam::Vec3;
    use std::collections::{HashMap, HashSet};

    /// A shaken heap, stepped once, with balls of these sizes (in radii) in the middle.
    fn heap(balls: &[f32]) -> Engine {
        let mut world = World::new();
        // One long substep: so the lists are long.
        (world.params.substeps, world.params.iterations) = (1, 8);
        let heap = Grains { counts: [19, 18, 17], jitter: 0.3, ..Grains::default() };
        let radius = heap.radius;
        let ids = world.add_grains(&heap).unwrap();
        let middle = world.position(ids[3000]).unwrap();
        for (k, size) in balls.iter().enumerate() {
            world
                .add_particle(&Particle {
                    position: middle + Vec3::X * (k as f32 * radius),
                    velocity: Vec3::ZERO,
                    mass: 1.0,
                    radius: size * radius,
                    phase: Phase::group(77 + k as u32),
                })
                .unwrap();
        }
        let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        engine.step(1.0 / 60.0).unwrap();
        engine
    }

    #[test]
    fn batches_share_no_particle_nor_do_tiles_of_a_color_and_every_pair_is_there_once() {
        for balls in [&[][..], &[4.0], &[4.0, 25.0]] {
            let engine = heap(balls);
            let scratch = engine.scratch();
            let rows = &scratch.contact_rows;
            let mut pairs = HashSet::new();
            let mut add = |a, b| assert!(a < b && pairs.insert((a, b)), "{a} {b} again");
            for color in 0..COLORS {
                let mut owner = HashMap::new();
                for &tile in rows.tiles.of_color(color) {
                    for batch in rows.batches.of(tile as usize) {
                        let mut seen = HashSet::new();
                        for (a, b, _) in batch.rows() {
                            assert!(seen.insert(a) && seen.insert(b), "colour {color}");
                            add(a, b);
                        }
                        for slot in seen {
                            assert_eq!(*owner.entry(slot).or_insert(tile), tile);
                        }
                    }
                }
            }
            let far = rows.batches.of(rows.tiles.len());
            for (a, b, _) in far.iter().flat_map(Batch::rows) {
                add(a, b);
            }
            assert!(pairs.len() > 5000);
            assert_eq!(pairs.len(), scratch.neighbors.pair_count());
            assert_eq!(far.is_empty(), balls.len() < 2, "a ball wider than tiles");
        }
    }

    /// What the device is given, and compared with, is what the CPU solves.
    #[cfg(feature = "vulkan")]
    #[test]
    fn colored_pairs_stand_in_the_order_of_the_batches() {
        let engine = heap(&[4.0, 25.0]);
        let scratch = engine.scratch();
        let rows = &scratch.contact_rows;
        let mut colored = vec![Vec::new(); rows.tiles.len()];
        rows.for_each_colored_pair(
            &scratch.neighbors,
            &scratch.broad,
            |tile, _, [a, b], contact| {
                colored[tile].push((a, b, contact));
            },
        );
        for (tile, colored) in colored.into_iter().enumerate() {
            let batches = rows.batches.of(tile).iter();
            assert_eq!(batches.flat_map(Batch::rows).collect::<Vec<_>>(), colored);
        }
    }

    #[test]
    fn touching_pairs_are_counted_as_one_by_one() {
        let engine = heap(&[4.0, 25.0]);
        let scratch = engine.scratch();
        let at = engine.world().particles.now();
        let touches = |i: usize, n: &&Neighbor| {
            let d = at.between(i, n.slot as usize);
            d.length_squared() < n.contact * n.contact
        };
        let of = |i: usize| scratch.neighbors.above(i).iter().filter(|n| touches(i, n)).count();
        let expected: usize = (0..at.len()).map(of).sum();
        assert!(expected > 100, "{expected}");
        for level in Level::all() {
            let mut team = Team::new(2).unwrap();
            team.simd = level;
            let (particles, mut rows) = (&engine.world().particles, ContactRows::default());
            rows.fill(&team, &scratch.neighbors, &scratch.broad).unwrap();
            rows.take_bases(&team, &particles.position);
            assert_eq!(rows.count_touching(&team, &particles.start), expected, "{level:?}");
        }
    }

    /// The batches in the order in which they are solved, with what they hold.
    fn in_order(rows: &ContactRows) -> impl Iterator<Item = (&Batch, &Grips)> {
        let tiles = (0..COLORS).flat_map(|color| rows.tiles.of_color(color));
        let tiles = tiles.map(|&tile| tile as usize).chain([rows.tiles.len()]);
        let places = tiles.flat_map(|tile| rows.batches.range(tile));
        places.map(|at| (&rows.batches.all()[at], &rows.grips[at]))
    }

    /// What a contact held before: every third did. Some slipped further than friction draws back.
    fn held_before(pairs: &Pairs, a: u32, b: u32) -> Option<Held> {
        let pair = [a as usize, b as usize];
        let at = pairs.apart(pair, pairs.start[pair[0]], pairs.start[pair[1]]);
        let slip = Vec3::new(1e-4, -2e-4, 3e-4) * (b % 7) as f32;
        // Some of them met just before.
        let share = if b % 4 == 3 { -0.5 } else { 0.5 };
        // Some of them slid.
        let given = Vec3::new(1e-3, 2e-4 * (b % 5) as f32, 0.0);
        let held =
            Held { pressed: 1e-3, given, anchor: at - slip, limit: 0.5, share, ..Held::NOTHING };
        (a + b).is_multiple_of(3).then_some(held)
    }

    /// Every level and team gives the bits of the formula applied row by row, of the positions and of
    /// what contacts hold; large balls among small ones use up the colours and reach beyond the
    /// tiles.
    #[test]
    fn rows_are_solved_alike_by_every_level_and_team() {
        let engine = heap(&[4.0, 25.0]);
        let Scratch { neighbors, broad, .. } = engine.scratch();
        let particles = engine.world().particles();
        // Squeezed, so that most touch; some coincide, some are held, one is nowhere.
        // Half of the way is counted from where the step began, half is moved.
        let base: Vec<Vec4> = particles.positions().iter().map(|v| *v * 0.5).collect();
        let squeezed = |k: usize, v: &Vec4| match k % 50 {
            7 => (Vec3::new(0.01, 0.02, 0.03) - base[k].truncate()).extend(v.w),
            _ if k == 123 => Vec4::splat(f32::NAN),
            _ => (v.truncate() * 0.3).extend(v.w),
        };
        let predicted: Vec<Vec4> =
            particles.positions().iter().enumerate().map(|(k, v)| squeezed(k, v)).collect();
        let weight = |k: usize| if k.is_multiple_of(11) { 0.0 } else { 1.0 + k as f32 };
        let positions = particles.positions().iter().enumerate();
        let start: Vec<Vec4> =
            positions.map(|(k, v)| (v.truncate() * 0.4).extend(weight(k))).collect();
        // Three materials, none of which slides on itself as on the others.
        let mut of_three = World::new();
        for mu in [0.2, 0.9] {
            let coefficients =
                Coefficients { friction_kinetic: Some(mu), ..Coefficients::default() };
            of_three.add_material(&Material { name: String::new(), coefficients }).unwrap();
        }
        let mut material_pairs = MaterialPairs::default();
        material_pairs.update(&of_three);
        let mixed: Vec<u32> = (0..predicted.len() as u32).map(|k| k % 3).collect();
        let alike = vec![0; predicted.len()];
        let (omega, push_out) = (0.9, 1e-3);
        // Three of four are loose grains.
        let flag = |k: u32| if k % 4 == 1 { Phase::SHAPED } else { Phase::SELF_COLLIDE };
        let phases: Vec<u32> = (0..predicted.len() as u32).map(flag).collect();
        let lift = Lift { up: Vec3::new(0.1, 0.3, -0.2), phases: &phases };
        for materials in [&alike, &mixed] {
            let (position, start, material_pairs) = (&base[..], &start[..], &material_pairs);
            let pairs = Pairs { position, start, materials, material_pairs, push_out, lift };
            let rubs = match materials[1] {
                0 => Rubs::Alike(Friction::between(material_pairs.pair(0, 0))),
                _ => Rubs::Mixed(Mixed { pairs: material_pairs, materials }),
            };
            // Row by row.
            let mut p = predicted.clone();
            let mut rows = ContactRows::default();
            let alone = Team::new(1).unwrap();
            rows.fill(&alone, neighbors, broad).unwrap();
            rows.recall(&alone, |_, _| None);
            let listed = in_order(&rows).flat_map(|(batch, _)| batch.rows());
            let mut all: Vec<_> = listed
                .map(|(a, b, contact)| {
                    let mut held = Held::NOTHING;
                    if let Some(before) = held_before(&pairs, a, b) {
                        held = before;
                    }
                    pairs.begin([a as usize, b as usize], contact, &mut held);
                    ([a as usize, b as usize], contact, held)
                })
                .collect();
            let went_on = all.iter().filter(|(.., held)| held.pressed >= 0.0);
            let plain = |[a, b]: [usize; 2]| start[a].w / (start[a].w + start[b].w);
            let lifted = went_on.clone().filter(|(pair, _, held)| held.share != plain(*pair));
            let (went_on, lifted) = (went_on.count(), lifted.count());
            assert!(
                went_on > 2000 && lifted > went_on / 5 && lifted < went_on,
                "{lifted} of {went_on}"
            );
            for _ in 0..3 {
                let mut moved = 0;
                for ([a, b], contact, held) in &mut all {
                    let at = pairs.apart([*a, *b], p[*a], p[*b]);
                    if pairs.acts(*contact, at, held) {
                        let (push, share) = pairs.solve([*a, *b], *contact, at, held, omega);
                        p[*a] += (push * share).extend(0.0);
                        p[*b] += (push * (share - 1.0)).extend(0.0);
                        moved += u32::from(push != Vec3::ZERO);
                    }
                }
                assert!(moved > 5000, "{moved}");
            }
            let nowhere = p.iter().filter(|p| !p.is_finite()).count();
            assert_eq!(nowhere, 1, "who is nowhere draws nobody along");
            for level in Level::all() {
                for threads in [1, 3] {
                    let mut team = Team::new(threads).unwrap();
                    team.simd = level;
                    let mut rows = ContactRows::default();
                    rows.fill(&team, neighbors, broad).unwrap();
                    rows.recall(&team, |a, b| held_before(&pairs, a, b));
                    rows.take_bases(&team, position);
                    let mut q = predicted.clone();
                    let work = Work::Begin { push_out, lift };
                    rows.work(&team, &mut q, start, rubs, work);
                    for _ in 0..3 {
                        let work = Work::Solve { omega, push_out };
                        rows.work(&team, &mut q, start, rubs, work);
                    }
                    let what = format!("{level:?}, {threads} threads");
                    let bits = |v: &[Vec4]| -> Vec<[u32; 4]> {
                        v.iter().map(|v| v.to_array().map(f32::to_bits)).collect()
                    };
                    assert!(bits(&q) == bits(&p), "{what}");
                    let mut expected = all.iter();
                    for (batch, grips) in in_order(&rows) {
                        for k in batch.lanes() {
                            let ([a, b], _, held) = expected.next().unwrap();
                            assert_eq!([batch.a[k] as usize, batch.b[k] as usize], [*a, *b]);
                            let got = batch.held(grips, k);
                            assert_eq!(got.pressed, held.pressed, "{what} {a} {b}");
                            if got.pressed > 0.0 {
                                assert_eq!(got, *held, "{what} {a} {b}");
                            }
                        }
                    }
                    assert!(expected.next().is_none());
                }
            }
        }
    }
}
