//! Particles in an order that puts near ones side by side, as columns: eight candidates a test.
//!
//! Every structure sorts the particles in its own way, then hands runs of them to [`Sorted::test`].

use super::octree_build::Bounds;
use super::team::Shared;
use crate::simd::{LANES, Simd};
use glam::Vec4;
use std::ops::Range;

/// Columns by place in the order. Behind the last particle stand [`LANES`] that are never hit, so
/// a run may be read past its end.
#[derive(Default)]
pub(crate) struct Sorted {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    reach: Vec<f32>,
    slot: Vec<u32>,
    count: usize,
}

/// A particle whose neighbours are wanted, in every lane.
#[derive(Clone, Copy)]
pub(crate) struct Probe<S> {
    x: S,
    y: S,
    z: S,
    reach: S,
    /// (2 reach)², for when all reach equally far.
    limit: S,
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
    pub fn probe<S: Simd>(&self, k: usize) -> Probe<S> {
        let reach = self.reach[k];
        Probe {
            x: S::splat(self.x[k]),
            y: S::splat(self.y[k]),
            z: S::splat(self.z[k]),
            reach: S::splat(reach),
            limit: S::splat((reach + reach) * (reach + reach)),
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
                S::pick(mask, self.slot.as_ptr().add(j), hits.as_mut_ptr().add(len));
                len += mask.count_ones() as usize;
            }
            j += LANES;
        }
        // SAFETY: `len` words were written.
        unsafe { hits.set_len(len) };
    }
}

/// Copies of particles that are tested together, side by side: those around a cell or a leaf.
/// Packing them once for all particles inside leaves no part-filled vectors and one loop a probe.
#[derive(Default)]
pub(crate) struct Candidates {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    reach: Vec<f32>,
    slot: Vec<u32>,
    count: usize,
}

impl Candidates {
    /// Packs the particles of the runs, in order.
    #[inline(always)]
    pub fn pack<S: Simd, const EQUAL: bool>(&mut self, sorted: &Sorted, runs: &[Range<usize>]) {
        self.clear();
        for run in runs {
            self.add::<S, EQUAL>(sorted, run.clone());
        }
        self.close::<S>();
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }
    /// Must end a packing: what stands behind the last is never in reach.
    #[inline(always)]
    pub fn close<S: Simd>(&mut self) {
        self.make_room(LANES);
        // SAFETY: x has LANES more behind the last.
        unsafe { S::splat(f32::NAN).store(self.x.as_mut_ptr().add(self.count)) };
    }

    /// Packs the particles of a run.
    #[inline(always)]
    pub fn add<S: Simd, const EQUAL: bool>(&mut self, sorted: &Sorted, run: Range<usize>) {
        assert!(run.end <= sorted.count);
        // Whole vectors are copied.
        self.make_room(run.len() + LANES);
        let (x, y, z) = (self.x.as_mut_ptr(), self.y.as_mut_ptr(), self.z.as_mut_ptr());
        let (reach, slot) = (self.reach.as_mut_ptr(), self.slot.as_mut_ptr());
        let (mut from, mut to) = (run.start, self.count);
        while from < run.end {
            // SAFETY: `from` is in the run and the sorted columns have LANES more behind it; there
            // is room for the run and LANES more.
            unsafe {
                S::load(sorted.x.as_ptr().add(from)).store(x.add(to));
                S::load(sorted.y.as_ptr().add(from)).store(y.add(to));
                S::load(sorted.z.as_ptr().add(from)).store(z.add(to));
                if !EQUAL {
                    S::load(sorted.reach.as_ptr().add(from)).store(reach.add(to));
                }
                let slots = sorted.slot.as_ptr().add(from).cast::<[u32; LANES]>();
                *slot.add(to).cast() = *slots;
            }
            from += LANES;
            to += LANES;
        }
        self.count += run.len();
    }

    /// Packs the particles of a run whose own boxes meet another.
    #[inline(always)]
    pub fn add_meeting<S: Simd>(&mut self, sorted: &Sorted, run: Range<usize>, bounds: &Bounds) {
        assert!(run.end <= sorted.count);
        self.make_room(run.len() + LANES);
        let (low, high) = (bounds.low, bounds.high);
        let low = [S::splat(low.x), S::splat(low.y), S::splat(low.z)];
        let high = [S::splat(high.x), S::splat(high.y), S::splat(high.z)];
        let from: [*const f32; 4] =
            [sorted.x.as_ptr(), sorted.y.as_ptr(), sorted.z.as_ptr(), sorted.reach.as_ptr()];
        let to: [*mut f32; 4] = [
            self.x.as_mut_ptr(),
            self.y.as_mut_ptr(),
            self.z.as_mut_ptr(),
            self.reach.as_mut_ptr(),
        ];
        let (slot, mut count) = (self.slot.as_mut_ptr(), self.count);
        let mut j = run.start;
        while j < run.end {
            // SAFETY: j is in the run and the sorted columns have LANES more behind it; there is
            // room for the run and LANES more, and `count` rises by at most the lanes tested.
            unsafe {
                let reach = S::load(from[3].add(j)) * S::splat(Bounds::HAIR);
                let mut mask = (1u32 << (run.end - j).min(LANES)) - 1;
                for axis in 0..3 {
                    let at = S::load(from[axis].add(j));
                    mask &= (at - reach).at_most(high[axis]) & low[axis].at_most(at + reach);
                }
                for column in 0..4 {
                    S::pick(mask, from[column].add(j).cast(), to[column].add(count).cast());
                }
                S::pick(mask, sorted.slot.as_ptr().add(j), slot.add(count));
                count += mask.count_ones() as usize;
            }
            j += LANES;
        }
        self.count = count;
    }

    #[inline(always)]
    fn make_room(&mut self, more: usize) {
        if self.slot.len() < self.count + more {
            self.grow(self.count + more);
        }
    }

    #[inline(never)]
    fn grow(&mut self, room: usize) {
        let room = room.next_power_of_two();
        for column in [&mut self.x, &mut self.y, &mut self.z, &mut self.reach] {
            column.resize(room, f32::NAN);
        }
        self.slot.resize(room, 0);
    }

    /// Appends the slots of the candidates within reach of the probe, in order, but for candidate
    /// `own`, which is the probe itself.
    #[inline(always)]
    pub fn test<S: Simd, const EQUAL: bool>(
        &mut self,
        probe: &Probe<S>,
        own: usize,
        hits: &mut Vec<u32>,
    ) {
        hits.reserve(self.count + LANES);
        let mut len = hits.len();
        // A particle is not its own neighbour: for this probe it is nowhere.
        let x = std::mem::replace(&mut self.x[own], f32::NAN);
        assert!(self.count + LANES <= self.slot.len());
        for j in (0..self.count).step_by(LANES) {
            // SAFETY: every column has LANES more behind j as asserted (all are equally long), and
            // room for all candidates and LANES more was reserved.
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
                let mask = (dx * dx + dy * dy + dz * dz).at_most(limit);
                S::pick(mask, self.slot.as_ptr().add(j), hits.as_mut_ptr().add(len));
                len += mask.count_ones() as usize;
            }
        }
        self.x[own] = x;
        // SAFETY: `len` words were written.
        unsafe { hits.set_len(len) };
    }
}
