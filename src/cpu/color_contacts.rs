//! Sorts the contact candidates into batches of eight that share no particle, so that `colored`
//! can solve them in place.
//! Space is cut into tiles of 27 colours; a pair belongs to the tile of its lower slot, and tiles of
//! a colour share no particle. Inside a tile pairs that are close come first, and each takes the
//! lowest colour that neither of its particles has yet: greedy in order of tile, slot and list.
//! Reads: neighbour lists, points [x, y, z, reach] m. Writes: contact batches by tile (particles,
//! contact distance m).
//! Order: each tile alone; deterministic.

use super::Scratch;
use super::broad::Broad;
use super::contact_block::{Arrays, Batch, ContactBlock, Solve};
use super::neighbors::Neighbors;
use super::team::{Shared, Team};
use super::tiles::{COLORS, Tiles};
use crate::error::{Error, Result};
use crate::simd::LANES;
use crate::world::MemoryNeed;
use crossbeam_utils::CachePadded;
use glam::Vec4;

/// Pairs nearer than this share of their contact distance when lists are made are likely to touch
/// in most iterations, others in few: kept apart, whole batches of the others are passed over.
const CLOSE: f32 = 1.02;
/// Colours of close pairs in a tile, and of others. Pairs that find none free (a large particle
/// among many small ones) take the last, which has a batch for each.
const TINTS: u32 = 32;

/// A contact candidate: i < j, and the distance of the centres at which they touch, m.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub i: usize,
    pub j: usize,
    pub contact: f32,
}

/// A pair of a tile and its colour there: close ones first.
#[derive(Clone, Copy, Default)]
struct Listed {
    a: u32,
    b: u32,
    contact: f32,
    tint: u32,
}

/// Contact candidates, each pair once, in batches.
#[derive(Default)]
pub(crate) struct ContactRows {
    tiles: Tiles,
    batches: Vec<Batch>,
    /// First batch of each tile, and the end.
    batch_start: Vec<u32>,
    /// Pairs of particles in tiles that do not touch: solved last, one after the other.
    apart: Vec<Batch>,
    /// Pairs in order of tile and list, and the first of each tile.
    listed: Vec<Listed>,
    listed_start: Vec<u32>,
    /// One for each worker.
    palettes: Vec<CachePadded<Palette>>,
    particle_count: usize,
}

/// What a worker needs to colour a tile.
#[derive(Default)]
struct Palette {
    /// Tints in use around each particle: those of close pairs in the lower half.
    used: Vec<u64>,
}

impl ContactRows {
    /// A pair in its batch, and as it was listed.
    const BYTES_PER_PAIR: usize = size_of::<Batch>() / LANES + size_of::<Listed>();

    /// Solves every pair in place, tile after tile.
    pub fn solve(
        &self,
        team: &Team,
        predicted: &mut [Vec4],
        start: &mut [Vec4],
        solve: Solve,
        omega: f32,
    ) {
        let count = self.particle_count;
        assert!(predicted.len() == count && start.len() == count);
        let (predicted, start) = (Shared::new(predicted), Shared::new(start));
        let run = |batches: &[Batch]| {
            let (predicted, start) = (predicted.start().cast(), start.start().cast());
            // SAFETY: slots are below the number of particles the batches were made for, which is
            // that of the arrays. Those of a batch are different, and tiles that are solved at the
            // same time share none.
            let block =
                unsafe { ContactBlock::new(Arrays { predicted, start }, batches, solve, omega) };
            team.simd.run(block);
        };
        for color in 0..self.color_count() {
            let tiles = self.tiles.of_color(color);
            team.blocks(tiles.len(), 1, |tile, _| run(self.of_tile(tiles.start + tile)));
        }
        run(&self.apart);
    }

    /// Calls `visit(pair, a's values, b's values)` for every pair, in the order of `solve`.
    /// `values` are arrays by slot.
    pub fn sweep<const K: usize>(
        &self,
        team: &Team,
        values: [&mut [Vec4]; K],
        visit: impl Fn(Pair, [&mut Vec4; K], [&mut Vec4; K]) + Sync,
    ) {
        let count = values.iter().map(|v| v.len()).min().unwrap_or(0);
        let values = values.map(Shared::new);
        let run = |batches: &[Batch]| {
            for (a, b, contact) in batches.iter().flat_map(Batch::rows) {
                let (i, j) = (a as usize, b as usize);
                assert!(i < count && j < count && i != j);
                // SAFETY: in bounds and different as asserted; tiles that are visited at the same
                // time share no particle.
                let at = |slot: usize| values.each_ref().map(|v| unsafe { v.at(slot) });
                visit(Pair { i, j, contact }, at(i), at(j));
            }
        };
        for color in 0..self.color_count() {
            let tiles = self.tiles.of_color(color);
            team.blocks(tiles.len(), 1, |tile, _| run(self.of_tile(tiles.start + tile)));
        }
        run(&self.apart);
    }

    /// Colours of tiles; none before the first lists.
    fn color_count(&self) -> usize {
        if self.batch_start.is_empty() { 0 } else { COLORS }
    }
    fn of_tile(&self, tile: usize) -> &[Batch] {
        &self.batches[self.batch_start[tile] as usize..self.batch_start[tile + 1] as usize]
    }

    fn fill(&mut self, team: &Team, neighbors: &Neighbors, broad: &Broad) {
        let points = &broad.points[..];
        self.particle_count = points.len();
        self.tiles.fill(team, points, &broad.extent);
        let snug = self.tiles.hold_every_pair(&broad.extent);
        self.count_pairs(team, neighbors);
        self.color_tiles(team, neighbors, points, snug);
        self.fill_batches(team);
        self.apart.clear();
        if !snug {
            for i in 0..points.len() {
                for n in neighbors.above(i) {
                    if !self.tiles.touch(points[i], points[n.slot as usize]) {
                        let (a, b) = ([i as u32; LANES], [n.slot; LANES]);
                        self.apart.push(Batch { a, b, contact: [n.contact; LANES] });
                    }
                }
            }
        }
    }

    /// How many pairs each tile has at most, as places.
    fn count_pairs(&mut self, team: &Team, neighbors: &Neighbors) {
        let (tiles, start) = (&self.tiles, &mut self.listed_start);
        start.resize(tiles.len() + 1, 0);
        team.rows(Shared::new(&mut start[1..]), 64, |range, counts| {
            for (tile, count) in range.zip(counts) {
                let of = |&slot: &u32| neighbors.above(slot as usize).len() as u32;
                *count = tiles.members(tile).iter().map(of).sum();
            }
        });
        accumulate(start);
        let most = start.last().map_or(0, |&end| end as usize);
        self.listed.resize(most, Listed::default());
    }

    /// Lists and colours the pairs of each tile, and counts its batches.
    fn color_tiles(&mut self, team: &Team, neighbors: &Neighbors, points: &[Vec4], snug: bool) {
        let ContactRows { tiles, listed, listed_start, batch_start, palettes, .. } = self;
        let (tiles, listed_start) = (&*tiles, &*listed_start);
        let workers = team.threads().max(palettes.len());
        palettes.resize_with(workers, Default::default);
        for palette in &mut *palettes {
            palette.used.resize(points.len(), 0);
        }
        batch_start.resize(tiles.len() + 1, 0);
        let (all_listed, counts) = (Shared::new(listed), Shared::new(&mut batch_start[1..]));
        team.blocks_at(palettes, tiles.len(), 1, |range, palette| {
            for tile in range {
                let own = listed_start[tile] as usize..listed_start[tile + 1] as usize;
                // SAFETY: each tile has its own places, and its own count.
                let (listed, batches) = unsafe { (all_listed.slice(own), counts.at(tile)) };
                let members = tiles.members(tile);
                // Lists lie where the search left them: ask for all, or each is waited for.
                for &a in members {
                    neighbors.lists.prefetch(a as usize);
                }
                let mut next = 0;
                for &a in members {
                    let at = points[a as usize];
                    for n in neighbors.above(a as usize) {
                        let other = points[n.slot as usize];
                        if !snug && !tiles.touch(at, other) {
                            continue;
                        }
                        let limit = n.contact * CLOSE;
                        let close = (at - other).truncate().length_squared() <= limit * limit;
                        let tint = palette.mix(a, n.slot, close);
                        listed[next] = Listed { a, b: n.slot, contact: n.contact, tint };
                        next += 1;
                    }
                }
                // What is left out has no tint.
                listed[next..].fill(Listed { tint: NO_TINT, ..Listed::default() });
                palette.clean(&listed[..next]);
                *batches = Batches::of(listed).count;
            }
        });
        accumulate(batch_start);
    }

    fn fill_batches(&mut self, team: &Team) {
        let count = self.batch_start.last().map_or(0, |&end| end as usize);
        self.batches.resize(count, Batch::default());
        let ContactRows { tiles, listed, listed_start, batch_start, batches, .. } = self;
        let all_batches = Shared::new(batches);
        team.blocks(tiles.len(), 1, |tile, _| {
            let range = |start: &[u32]| start[tile] as usize..start[tile + 1] as usize;
            // SAFETY: each tile has its own batches.
            let batches = unsafe { all_batches.slice(range(batch_start)) };
            let listed = &listed[range(listed_start)];
            Batches::of(listed).fill(listed, batches);
        });
    }
}

/// The tint of a place that holds no pair.
const NO_TINT: u32 = 2 * TINTS;

impl Palette {
    /// The lowest tint that neither particle has yet.
    #[inline]
    fn mix(&mut self, a: u32, b: u32, close: bool) -> u32 {
        let (a, b, half) = (a as usize, b as usize, if close { 0 } else { TINTS });
        let around = ((self.used[a] | self.used[b]) >> half) as u32;
        let tint = around.trailing_ones().min(TINTS - 1);
        // The last has no bit: any number of pairs may take it.
        let bit = u64::from(1 << tint & !(1u32 << (TINTS - 1))) << half;
        self.used[a] |= bit;
        self.used[b] |= bit;
        half + tint
    }

    fn clean(&mut self, listed: &[Listed]) {
        for pair in listed {
            self.used[pair.a as usize] = 0;
            self.used[pair.b as usize] = 0;
        }
    }
}

/// Where the batches of a tile's tints are among its own.
struct Batches {
    first: [u32; NO_TINT as usize + 1],
    count: u32,
}

impl Batches {
    fn of(listed: &[Listed]) -> Self {
        let mut pairs = [0u32; NO_TINT as usize + 1];
        for pair in listed {
            pairs[pair.tint as usize] += 1;
        }
        let (mut first, mut count) = ([0; NO_TINT as usize + 1], 0);
        for tint in 0..NO_TINT {
            first[tint as usize] = count;
            count += pairs[tint as usize].div_ceil(Self::rows(tint));
        }
        Batches { first, count }
    }

    /// Pairs of a tint that fit a batch: those of the last ones share particles.
    fn rows(tint: u32) -> u32 {
        if tint % TINTS == TINTS - 1 { 1 } else { LANES as u32 }
    }

    fn fill(&self, listed: &[Listed], batches: &mut [Batch]) {
        let mut next = [0u32; NO_TINT as usize + 1];
        for pair in listed.iter().filter(|pair| pair.tint < NO_TINT) {
            let tint = pair.tint as usize;
            let rows = Self::rows(pair.tint);
            let batch = &mut batches[(self.first[tint] + next[tint] / rows) as usize];
            let lane = (next[tint] % rows) as usize;
            next[tint] += 1;
            (batch.a[lane], batch.b[lane], batch.contact[lane]) = (pair.a, pair.b, pair.contact);
        }
        for tint in 0..NO_TINT {
            let (first, pairs) = (self.first[tint as usize], next[tint as usize]);
            if Self::rows(tint) == 1 {
                let alone = &mut batches[first as usize..(first + pairs) as usize];
                alone.iter_mut().for_each(|batch| batch.repeat_from(1));
            } else if !pairs.is_multiple_of(LANES as u32) {
                let last = &mut batches[(first + pairs / LANES as u32) as usize];
                last.repeat_from(pairs as usize % LANES);
            }
        }
    }
}

/// Turns counts, from the second on, into places.
fn accumulate(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

pub(crate) fn run(team: &Team, scratch: &mut Scratch) -> Result<()> {
    let Scratch { contact_rows: rows, neighbors, broad, .. } = scratch;
    let pairs = neighbors.pair_count();
    if pairs > rows.listed.capacity() {
        let bytes = pairs * ContactRows::BYTES_PER_PAIR;
        if let Some(free) = MemoryNeed::free_for(bytes) {
            neighbors.built = false;
            return Err(Error::TooLarge {
                what: format!("{pairs} contact candidates"),
                needed: format!("{} MiB", bytes >> 20),
                limit: format!(
                    "this machine has {} MiB free; use fewer or smaller particles",
                    free >> 20
                ),
            });
        }
        rows.listed.reserve_exact(pairs + pairs / 8 - rows.listed.len());
    }
    rows.fill(team, neighbors, broad);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::contact::{Friction, Meeting, Party};
    use super::*;
    use crate::simd::Level;
    use crate::{Backend, Engine, Grains, Particle, Phase, World};
    use glam::Vec3;
    use std::collections::HashSet;

    #[test]
    fn rows_of_a_color_share_no_particle_and_hold_every_pair_once() {
        let mut world = World::new();
        let heap = Grains { counts: [9, 8, 7], jitter: 0.3, ..Grains::default() };
        world.add_grains(&heap).unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        engine.step(1.0 / 60.0).unwrap();
        let scratch = engine.scratch();
        let rows = &scratch.contact_rows;
        let mut pairs = HashSet::new();
        for color in 0..rows.color_count() {
            let mut seen = HashSet::new();
            for k in rows.rows(color) {
                assert!(seen.insert(rows.a[k]) && seen.insert(rows.b[k]), "colour {color}");
                pairs.insert((rows.a[k], rows.b[k]));
            }
        }
        assert!(pairs.len() > 500);
        assert_eq!(pairs.len(), scratch.neighbors.pair_count());
    }

    /// Every level and team gives the bits of the formula applied row by row; a large ball among
    /// small ones fills the overflow colour.
    #[test]
    fn rows_are_solved_alike_by_every_level_and_team() {
        let mut world = World::new();
        let heap = Grains { counts: [9, 8, 7], jitter: 0.3, ..Grains::default() };
        let radius = heap.radius;
        let ids = world.add_grains(&heap).unwrap();
        let middle = world.position(ids[250]).unwrap();
        world
            .add_particle(&Particle {
                position: middle,
                velocity: Vec3::ZERO,
                mass: 1.0,
                radius: 4.0 * radius,
                phase: Phase::group(77),
            })
            .unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        engine.step(1.0 / 60.0).unwrap();
        let rows = &engine.scratch().contact_rows;
        assert_eq!(rows.color_count(), OVERFLOW_COLOR + 1, "the overflow colour is in use");
        let particles = engine.world().particles();
        // Squeezed, so that most touch; some coincide, some are held, one is nowhere.
        let squeezed = |k: usize, v: &Vec4| match k % 50 {
            7 => Vec4::new(0.01, 0.02, 0.03, v.w),
            _ if k == 123 => Vec4::splat(f32::NAN),
            _ => (v.truncate() * 0.8).extend(v.w),
        };
        let at: Vec<Vec4> =
            particles.positions().iter().enumerate().map(|(k, v)| squeezed(k, v)).collect();
        let start: Vec<Vec4> = particles.positions().to_vec();
        let weight: Vec<f32> =
            (0..at.len()).map(|k| if k % 11 == 0 { 0.0 } else { 1.0 + k as f32 }).collect();
        let friction = Friction { fixed: 0.5, kinetic: 0.4 };
        for solve in [Solve::Overlap, Solve::Contact(friction)] {
            let [mut at_one, mut start_one] = [at.clone(), start.clone()];
            let mut moved = 0;
            for color in 0..rows.color_count() {
                for k in rows.rows(color) {
                    moved += one_by_one(
                        [rows.a[k] as usize, rows.b[k] as usize],
                        rows.contact[k],
                        (&mut at_one, &mut start_one),
                        &weight,
                        solve,
                    );
                }
            }
            assert!(moved > 500, "{moved}");
            for level in Level::all() {
                for threads in [1, 3] {
                    let mut team = Team::new(threads).unwrap();
                    team.simd = level;
                    let [mut at, mut start] = [at.clone(), start.clone()];
                    rows.solve(&team, &mut at, &mut start, &weight, solve, 0.9);
                    let bits = |v: &[Vec4]| -> Vec<[u32; 4]> {
                        v.iter().map(|v| v.to_array().map(f32::to_bits)).collect()
                    };
                    assert!(bits(&at) == bits(&at_one), "{level:?}, {threads} threads");
                    assert!(bits(&start) == bits(&start_one), "{level:?}, {threads} threads");
                }
            }
        }
    }

    /// The formula for a row alone; 1 when something moved.
    fn one_by_one(
        [a, b]: [usize; 2],
        contact: f32,
        (at, start): (&mut [Vec4], &mut [Vec4]),
        weight: &[f32],
        solve: Solve,
    ) -> u32 {
        let party = |k: usize| Party {
            at: at[k].truncate().into(),
            start: start[k].truncate().into(),
            weight: weight[k],
        };
        let meeting = Meeting { a: party(a), b: party(b), contact, lower: 1.0 };
        let (push, touching) = match solve {
            Solve::Overlap => meeting.without_friction(),
            Solve::Contact(friction) => meeting.with_friction(friction),
        };
        let (to_a, to_b, movable) = meeting.share(push, 0.9);
        if !(touching && movable) {
            return 0;
        }
        let arrays = if let Solve::Overlap = solve { vec![at, start] } else { vec![at] };
        for array in arrays {
            array[a] += Vec3::from(to_a).extend(0.0);
            array[b] += Vec3::from(to_b).extend(0.0);
        }
        1
    }
}
