//! Sorts the contact candidates into colours, so that `colored` can solve them in place.
//! Greedy in order of slot: each pair takes the lowest colour that neither particle has yet; pairs
//! beyond 63 colours (a large particle among many small ones) go to the serial overflow colour.
//! Reads: neighbour lists. Writes: contact rows by colour (particles, contact distance m).
//! Order: serial, one look at each pair; deterministic.

use super::Scratch;
use super::contact_block::{Arrays, ContactBlock, Solve};
use super::neighbors::Neighbors;
use super::team::{Shared, Team};
use crate::error::{Error, Result};
use crate::world::MemoryNeed;
use crate::world::constraints::OVERFLOW_COLOR;
use glam::Vec4;
use std::ops::Range;

/// Rows a block holds.
const BLOCK: usize = 1024;

/// A contact candidate: i < j, and the distance of the centres at which they touch, m.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub i: usize,
    pub j: usize,
    pub contact: f32,
}

/// A row and its colour.
#[derive(Clone, Copy)]
struct Listed {
    a: u32,
    b: u32,
    contact: f32,
    color: u32,
}

/// Contact candidates, each pair once, in order of colour. No two rows of a colour share a
/// particle, but for the overflow colour.
#[derive(Default)]
pub(crate) struct ContactRows {
    a: Vec<u32>,
    b: Vec<u32>,
    contact: Vec<f32>,
    color_start: Vec<u32>,
    /// The rows in order of the lists.
    listed: Vec<Listed>,
    /// Colours in use around each particle.
    used: Vec<u64>,
}

/// The arrays of [`ContactRows::solve`], shared by the workers.
struct Rows<'a> {
    at: Shared<'a, Vec4>,
    other: Shared<'a, Vec4>,
    weight: &'a [f32],
}

impl Rows<'_> {
    fn pointers(&self) -> Arrays {
        let (at, other) = (self.at.start().cast(), self.other.start().cast());
        Arrays { at, other, weight: self.weight.as_ptr() }
    }
}

impl ContactRows {
    /// A row, and what it was listed as.
    const BYTES_PER_PAIR: usize = 12 + size_of::<Listed>();

    /// How many colours are in use.
    pub fn color_count(&self) -> usize {
        self.color_start.len().saturating_sub(1)
    }
    /// The rows of a colour.
    fn rows(&self, color: usize) -> Range<usize> {
        self.color_start[color] as usize..self.color_start[color + 1] as usize
    }

    /// Solves every row in place, colour after colour. See [`ContactBlock`] for the arrays.
    pub fn solve(
        &self,
        team: &Team,
        at: &mut [Vec4],
        other: &mut [Vec4],
        weight: &[f32],
        solve: Solve,
        omega: f32,
    ) {
        let count = self.used.len();
        assert!(at.len() == count && other.len() == count && weight.len() == count);
        let arrays = Rows { at: Shared::new(at), other: Shared::new(other), weight };
        for color in 0..self.color_count() {
            let rows = self.rows(color);
            // Rows of the overflow colour share particles: each is a block of its own, in order.
            let alone = color == OVERFLOW_COLOR;
            let (size, step) = if alone { (rows.len(), 1) } else { (BLOCK, BLOCK) };
            team.blocks(rows.len(), size.max(1), |_, block| {
                for first in block.clone().step_by(step) {
                    let from = rows.start + first;
                    let columns = (&self.a[from..], &self.b[from..], &self.contact[from..]);
                    let count = step.min(block.end - first);
                    let arrays = arrays.pointers();
                    // SAFETY: slots are below the number of particles the rows were made for, which
                    // is that of the arrays; rows of a colour share no particle, blocks no row, and
                    // the overflow colour is run by one worker.
                    let block = unsafe { ContactBlock::new(arrays, columns, count, solve, omega) };
                    team.simd.run(block);
                }
            });
        }
    }

    /// Calls `visit(pair, a's values, b's values)` for every pair, colour after colour: within a
    /// colour in parallel, in the overflow colour one after the other. `values` are arrays by slot.
    pub fn sweep<const K: usize>(
        &self,
        team: &Team,
        values: [&mut [Vec4]; K],
        visit: impl Fn(Pair, [&mut Vec4; K], [&mut Vec4; K]) + Sync,
    ) {
        let count = values.iter().map(|v| v.len()).min().unwrap_or(0);
        let values = values.map(Shared::new);
        for color in 0..self.color_count() {
            let rows = self.rows(color);
            let block = if color == OVERFLOW_COLOR { rows.len().max(1) } else { BLOCK };
            team.blocks(rows.len(), block, |_, block| {
                for k in rows.start + block.start..rows.start + block.end {
                    let (i, j) = (self.a[k] as usize, self.b[k] as usize);
                    assert!(i < count && j < count && i != j);
                    // SAFETY: in bounds and different as asserted; rows of a colour share no
                    // particle, and the overflow colour is one block.
                    let at = |slot: usize| values.each_ref().map(|v| unsafe { v.at(slot) });
                    visit(Pair { i, j, contact: self.contact[k] }, at(i), at(j));
                }
            });
        }
    }

    fn fill(&mut self, neighbors: &Neighbors, particle_count: usize) {
        self.used.clear();
        self.used.resize(particle_count, 0);
        self.listed.clear();
        let mut count = [0u32; OVERFLOW_COLOR + 1];
        for i in 0..particle_count {
            let mut used = self.used[i];
            for n in neighbors.above(i) {
                let other = &mut self.used[n.slot as usize];
                let color = (used | *other).trailing_ones().min(OVERFLOW_COLOR as u32);
                // The overflow colour has no bit: any number of rows may take it.
                let bit = 1u64 << color & !(1 << OVERFLOW_COLOR);
                used |= bit;
                *other |= bit;
                count[color as usize] += 1;
                self.listed.push(Listed { a: i as u32, b: n.slot, contact: n.contact, color });
            }
            self.used[i] = used;
        }
        let colors = count.iter().rposition(|&c| c > 0).map_or(0, |last| last + 1);
        self.color_start.clear();
        self.color_start.push(0);
        let mut next = [0u32; OVERFLOW_COLOR + 1];
        for c in 0..colors {
            next[c] = self.color_start[c];
            self.color_start.push(next[c] + count[c]);
        }
        let rows = self.listed.len();
        self.a.resize(rows, 0);
        self.b.resize(rows, 0);
        self.contact.resize(rows, 0.0);
        for &Listed { a, b, contact, color } in &self.listed {
            let next = &mut next[color as usize];
            let row = *next as usize;
            *next += 1;
            (self.a[row], self.b[row], self.contact[row]) = (a, b, contact);
        }
    }
}

pub(crate) fn run(scratch: &mut Scratch, particle_count: usize) -> Result<()> {
    let Scratch { contact_rows: rows, neighbors, .. } = scratch;
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
    rows.fill(neighbors, particle_count);
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
