//! Particles in an order that puts near ones side by side, as columns: eight candidates a test.
//!
//! Every structure sorts the particles in its own way, then hands runs of them to [`Sorted::test`].

use crate::cpu::team::Shared;
use crate::simd::{LANES, Simd};
use glam::Vec4;
use std::ops::Range;

/// Columns by place in the order. Behind the last particle stand [`LANES`] that are never hit, so
/// a run may be read past its end.
#[derive(Default)]
pub(crate) struct Sorted {
    pub(super) x: Vec<f32>,
    pub(super) y: Vec<f32>,
    pub(super) z: Vec<f32>,
    pub(super) reach: Vec<f32>,
    pub(super) slot: Vec<u32>,
    pub(super) count: usize,
}

/// A particle whose neighbours are wanted, in every lane.
#[derive(Clone, Copy)]
pub(crate) struct Probe<S> {
    pub(super) x: S,
    pub(super) y: S,
    pub(super) z: S,
    pub(super) reach: S,
    /// (2 reach)², for when all reach equally far.
    pub(super) limit: S,
    /// Only slots above this are wanted.
    pub(super) floor: Option<i32>,
}

/// Writes the columns, each place by one worker.
pub(crate) struct SortedRows<'a> {
    x: Shared<'a, f32>,
    y: Shared<'a, f32>,
    z: Shared<'a, f32>,
    reach: Shared<'a, f32>,
    slot: Shared<'a, u32>,
}

impl SortedRows<'_> {
    /// # Safety
    /// `k` is in bounds and no other worker writes it.
    #[inline(always)]
    pub unsafe fn put(&self, k: usize, slot: u32, point: Vec4) {
        // SAFETY: the caller's promise.
        unsafe {
            *self.x.at(k) = point.x;
            *self.y.at(k) = point.y;
            *self.z.at(k) = point.z;
            *self.reach.at(k) = point.w;
            *self.slot.at(k) = slot;
        }
    }
}

impl Sorted {
    /// Makes room for `count` particles and gives the columns to write.
    pub fn rows(&mut self, count: usize) -> SortedRows<'_> {
        let Sorted { x, y, z, reach, slot, .. } = self;
        for column in [&mut *x, y, z, reach] {
            column.truncate(count);
            column.resize(count + LANES, f32::NAN);
        }
        slot.resize(count + LANES, u32::MAX);
        self.count = count;
        SortedRows {
            x: Shared::new(x),
            y: Shared::new(y),
            z: Shared::new(z),
            reach: Shared::new(reach),
            slot: Shared::new(slot),
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }
    /// Who stands where.
    pub fn slots(&self) -> &[u32] {
        &self.slot[..self.count]
    }
    /// Who stands at place k.
    #[inline(always)]
    pub fn slot(&self, k: usize) -> u32 {
        self.slot[k]
    }
    /// [x, y, z, reach] of who stands at place k.
    #[inline(always)]
    pub fn point(&self, k: usize) -> Vec4 {
        Vec4::new(self.x[k], self.y[k], self.z[k], self.reach[k])
    }
    #[inline(always)]
    pub fn probe<S: Simd>(&self, k: usize, floor: Option<i32>) -> Probe<S> {
        let reach = self.reach[k];
        Probe {
            x: S::splat(self.x[k]),
            y: S::splat(self.y[k]),
            z: S::splat(self.z[k]),
            reach: S::splat(reach),
            limit: S::splat((reach + reach) * (reach + reach)),
            floor,
        }
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        5 * 4 * self.slot.capacity()
    }

    /// Appends the slots of a run that are within reach of the probe, in order, but for place `own`.
    #[inline(always)]
    pub fn test<S: Simd, const EQUAL: bool>(
        &self,
        probe: &Probe<S>,
        run: Range<usize>,
        own: usize,
        hits: &mut Vec<u32>,
    ) {
        assert!(run.end <= self.count);
        if run.start >= run.end {
            return;
        }
        hits.reserve(run.len() + LANES);
        let mut len = hits.len();
        let mut j = run.start;
        while j < run.end {
            // SAFETY: j < count, and every column has LANES more; room for the run and LANES more
            // was reserved, and `len` rises by at most the lanes tested.
            unsafe {
                let dx = S::load(self.x.as_ptr().add(j)) - probe.x;
                let dy = S::load(self.y.as_ptr().add(j)) - probe.y;
                let dz = S::load(self.z.as_ptr().add(j)) - probe.z;
                let limit = if EQUAL {
                    probe.limit
                } else {
                    let reach = S::load(self.reach.as_ptr().add(j)) + probe.reach;
                    reach * reach
                };
                let mut mask = (dx * dx + dy * dy + dz * dz).at_most(limit);
                // Lanes past the end, and the particle itself.
                mask &= (1u32 << (run.end - j).min(LANES)) - 1;
                let me = own.wrapping_sub(j);
                mask &= !(u32::from(me < LANES) << (me & 31));
                if let Some(floor) = probe.floor {
                    mask &= S::words_above(self.slot.as_ptr().add(j), floor);
                }
                S::pick(mask, self.slot.as_ptr().add(j), hits.as_mut_ptr().add(len));
                len += mask.count_ones() as usize;
            }
            j += LANES;
        }
        // SAFETY: `len` words were written.
        unsafe { hits.set_len(len) };
    }
}
