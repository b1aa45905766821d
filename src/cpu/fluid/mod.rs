//! What the passes of fluids share: the kernels, and how walls fill them.

pub(crate) mod kernel;
pub(crate) mod near;
pub(crate) mod walls;

use crate::cpu::search::broad::SearchTools;
use crate::cpu::search::lists::Lists;
use crate::cpu::team::{BLOCK, Shared, Team};
use crate::simd::{LANES, Simd, Vector};
use crate::world::Phase;
use crate::world::material::MaterialPairs;
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What the passes of fluids hand to each other.
#[derive(Default)]
pub(crate) struct FluidScratch {
    /// Where each particle was when the step began, m, and its radius, m.
    pub base: Vec<Vec4>,
    /// How far from there it is predicted in this iteration, m, and lambda, kg m².
    pub lambdas: Vec<Vec4>,
    /// The gradient of what walls add to the density ratio, 1/m, and how much of that ratio comes
    /// from before the substep.
    pub shores: Vec<Vec4>,
    /// The curl of the velocity, 1/s, and its length.
    pub curls: Vec<Vec4>,
    /// The gradient of how much of the same fluid is there, 1/m.
    pub normals: Vec<Vec4>,
    /// Whether all particles are equally large.
    pub equal: bool,
}

impl FluidScratch {
    /// Takes the particles as a substep finds them.
    pub fn begin(&mut self, team: &Team, position: &[Vec4], radius: &[f32]) {
        let n = position.len();
        for rows in [&mut self.base, &mut self.lambdas, &mut self.shores] {
            rows.resize(n, Vec4::ZERO);
        }
        let (first, differ) = (radius.first(), AtomicBool::new(false));
        let rows = (Shared::new(&mut self.base), position, radius);
        team.rows(rows, BLOCK, |_, (base, position, radius)| {
            for ((base, x), &r) in base.iter_mut().zip(position).zip(radius) {
                *base = x.truncate().extend(r);
            }
            if radius.iter().any(|r| Some(r) != first) {
                differ.store(true, Relaxed);
            }
        });
        self.equal = !differ.into_inner();
    }
}

/// How particles flow beside each other, by what they are made of.
pub(super) enum Flows<'a> {
    /// All are of one material.
    Alike([f32; 4]),
    /// The rows of pairs, the material of each particle, and how many materials there are.
    Mixed(&'a [[f32; 4]], &'a [u32], u32),
}

impl<'a> Flows<'a> {
    pub fn of(pairs: &'a MaterialPairs, materials: &'a [u32]) -> Self {
        let (rows, count) = (bytemuck::cast_slice(pairs.flows()), pairs.count());
        if let Some(row) = pairs.common_flow() {
            return Flows::Alike(bytemuck::cast(row));
        }
        assert!(rows.len() >= count * count && materials.iter().all(|&id| (id as usize) < count));
        Flows::Mixed(rows, materials, count as u32)
    }

    /// What a particle has on its own.
    pub fn own(&self, i: usize) -> [f32; 4] {
        match self {
            Flows::Alike(row) => *row,
            Flows::Mixed(rows, materials, count) => rows[(materials[i] * (count + 1)) as usize],
        }
    }

    /// The rows of a particle and eight others, by column. All slots are of particles.
    #[inline(always)]
    pub fn between<S: Simd>(&self, i: usize, slots: &[u32; LANES]) -> [S; 4] {
        match self {
            Flows::Alike(row) => row.map(S::splat),
            Flows::Mixed(rows, materials, count) => {
                let first = materials[i] * count;
                let places = slots.map(|j| first + materials[j as usize]);
                // SAFETY: there is a row for any two materials, and those of all particles are known.
                unsafe { S::gather(rows.as_ptr(), places.as_ptr()) }
            }
        }
    }
}

/// The slots of up to eight entries from one on; slot i where the list has ended.
#[inline(always)]
pub(super) fn eight(list: &[u32], from: usize, i: u32) -> [u32; LANES] {
    let mut slots = [i; LANES];
    for (slot, entry) in slots.iter_mut().zip(&list[from..]) {
        *slot = *entry;
    }
    slots
}

/// The neighbours of particles, where the substep begins or where it ends.
pub(super) struct Around<'a> {
    pub lists: &'a Lists<u32, SearchTools>,
    base: &'a [Vec4],
    moved: &'a [Vec4],
    phase: &'a [u32],
}

/// Up to eight neighbours of a particle.
pub(super) struct Eight<S: Simd> {
    pub slots: [u32; LANES],
    /// From each of them to the particle, m.
    pub apart: Vector<S>,
    pub radius: S,
    /// Where there is one.
    pub there: S::Mask,
    /// Where there is one that is fluid.
    pub flows: S::Mask,
}

impl<'a> Around<'a> {
    pub fn new(
        lists: &'a Lists<u32, SearchTools>,
        base: &'a [Vec4],
        moved: &'a [Vec4],
        phase: &'a [u32],
    ) -> Self {
        let n = lists.particles();
        assert!(base.len() == n && moved.len() == n && phase.len() == n);
        Around { lists, base, moved, phase }
    }

    /// Whether a particle is fluid.
    #[inline(always)]
    pub fn is_fluid(&self, i: usize) -> bool {
        self.phase[i] & Phase::FLUID != 0
    }

    /// m.
    #[inline(always)]
    pub fn radius(&self, i: usize) -> f32 {
        self.base[i].w
    }

    /// How far a particle is from its `position`, m, and its inverse mass.
    #[inline(always)]
    pub fn moved(&self, i: usize) -> Vec4 {
        self.moved[i]
    }

    /// Where the list of a particle is taken from, eight by eight.
    #[inline(always)]
    pub fn starts(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.lists.of(i).len()).step_by(LANES)
    }

    /// The eight neighbours of a particle from one on.
    #[inline(always)]
    pub fn eight<S: Simd>(&self, i: usize, from: usize) -> Eight<S> {
        let list = self.lists.of(i);
        let slots = eight(list, from, i as u32);
        let mut flows = [0.0; LANES];
        for (flow, &j) in flows.iter_mut().zip(&slots) {
            *flow = (self.phase[j as usize] & Phase::FLUID) as f32;
        }
        let (at, to) = (self.rows::<S>(self.base, &slots), self.rows::<S>(self.moved, &slots));
        let there = S::splat((list.len() - from) as f32).above(S::read(&NUMBERS));
        let flows = S::both(there, S::read(&flows).above(S::splat(0.0)));
        let apart =
            (spread::<S>(self.base[i]) - place(at)) + (spread::<S>(self.moved[i]) - place(to));
        Eight { slots, apart, radius: at[3], there, flows }
    }

    /// The rows of eight particles, by column.
    #[inline(always)]
    pub fn rows<S: Simd>(&self, rows: &[Vec4], slots: &[u32; LANES]) -> [S; 4] {
        assert!(rows.len() == self.base.len());
        // SAFETY: slots of a list are particles, of which each has a row.
        unsafe { S::gather(rows.as_ptr().cast(), slots.as_ptr()) }
    }
}

/// 0 to 7: which lane is which.
pub(super) const NUMBERS: [f32; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// A row of a particle in all lanes: the first three numbers.
#[inline(always)]
pub(super) fn spread<S: Simd>(row: Vec4) -> Vector<S> {
    Vector { x: S::splat(row.x), y: S::splat(row.y), z: S::splat(row.z) }
}

/// Of eight rows the first three columns.
#[inline(always)]
pub(super) fn place<S: Simd>([x, y, z, _]: [S; 4]) -> Vector<S> {
    Vector { x, y, z }
}

/// The sum of lanes, from the first to the last, as a device adds them.
#[inline(always)]
pub(super) fn sum<S: Simd>(lanes: S) -> f32 {
    let mut values = [0.0; LANES];
    lanes.write(&mut values);
    let mut sum = 0.0;
    for value in values {
        sum += value;
    }
    sum
}

/// The sums of each component.
#[inline(always)]
pub(super) fn sums<S: Simd>(lanes: Vector<S>) -> Vec3 {
    Vec3::new(sum(lanes.x), sum(lanes.y), sum(lanes.z))
}

/// The sums of four columns, in the same order.
#[inline(always)]
pub(super) fn rows<S: Simd>(columns: [S; 4]) -> Vec4 {
    let mut halves = [Vec4::ZERO; 8];
    for (k, pair) in S::transpose(columns).into_iter().enumerate() {
        let mut values = [0.0; LANES];
        pair.write(&mut values);
        (halves[k], halves[k + 4]) = (Vec4::from_slice(&values), Vec4::from_slice(&values[4..]));
    }
    let mut sum = Vec4::ZERO;
    for row in halves {
        sum += row;
    }
    sum
}
