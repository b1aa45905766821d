//! Candidates of a few particles that stand together, packed so that each meets only them.

use super::sorted::{Probe, Sorted};
use crate::simd::{LANES, Simd};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// The box around a few places, and the largest reach of who stands there, in every lane.
///
/// Its distance to a candidate is computed in the same steps as that of a pair. Rounding is
/// monotone, so it is never above that of any pair: no neighbour is lost, without any slack.
pub(crate) struct Region<S> {
    low: [S; 3],
    high: [S; 3],
    reach: S,
}

impl<S: Simd> Region<S> {
    /// Around points [x, y, z, reach], but for those that are not finite: they are near nothing.
    #[inline(always)]
    pub fn around(points: impl Iterator<Item = Vec4>) -> Self {
        let (mut low, mut high, mut reach) = (Vec3::MAX, Vec3::MIN, 0.0f32);
        for point in points.filter(|p| p.truncate().is_finite()) {
            low = low.min(point.truncate());
            high = high.max(point.truncate());
            reach = reach.max(point.w);
        }
        Region {
            low: low.to_array().map(S::splat),
            high: high.to_array().map(S::splat),
            reach: S::splat(reach),
        }
    }
}

/// How far a coordinate lies outside a range, from what it lies below and above it.
#[inline(always)]
fn outside<S: Simd>(below: S, above: S) -> S {
    let larger = S::select(below.above(above), below, above);
    let zero = S::splat(0.0);
    S::select(larger.above(zero), larger, zero)
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

    /// Packs those of a run that may be within reach of the region.
    #[inline(always)]
    pub fn add_near<S: Simd, const EQUAL: bool>(
        &mut self,
        sorted: &Sorted,
        run: Range<usize>,
        region: &Region<S>,
    ) {
        assert!(run.end <= sorted.count);
        self.make_room(run.len() + LANES);
        let Region { low, high, reach } = *region;
        let (x, y, z) = (sorted.x.as_ptr(), sorted.y.as_ptr(), sorted.z.as_ptr());
        let mut count = self.count;
        let mut j = run.start;
        while j < run.end {
            // SAFETY: j is in the run and the sorted columns have LANES more behind it; there is
            // room for the run and LANES more, and `count` rises by at most the lanes tested.
            unsafe {
                let (at_x, at_y, at_z) = (S::load(x.add(j)), S::load(y.add(j)), S::load(z.add(j)));
                let dx = outside(low[0] - at_x, at_x - high[0]);
                let dy = outside(low[1] - at_y, at_y - high[1]);
                let dz = outside(low[2] - at_z, at_z - high[2]);
                let other = if EQUAL { reach } else { S::load(sorted.reach.as_ptr().add(j)) };
                let sum = reach + other;
                let mut mask = (dx * dx + dy * dy + dz * dz).at_most(sum * sum);
                mask &= (1u32 << (run.end - j).min(LANES)) - 1;
                S::pick(mask, x.add(j).cast(), self.x.as_mut_ptr().add(count).cast());
                S::pick(mask, y.add(j).cast(), self.y.as_mut_ptr().add(count).cast());
                S::pick(mask, z.add(j).cast(), self.z.as_mut_ptr().add(count).cast());
                if !EQUAL {
                    let (from, to) = (sorted.reach.as_ptr(), self.reach.as_mut_ptr());
                    S::pick(mask, from.add(j).cast(), to.add(count).cast());
                }
                S::pick(mask, sorted.slot.as_ptr().add(j), self.slot.as_mut_ptr().add(count));
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
        // A particle is not its own neighbour: for this probe it is nowhere. Where only slots above
        // its own count it need not be moved; the loads below would wait for that.
        let x = self.x[own];
        if probe.floor.is_none() {
            self.x[own] = f32::NAN;
        }
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
                let mut mask = (dx * dx + dy * dy + dz * dz).at_most(limit);
                if let Some(floor) = probe.floor {
                    mask &= S::words_above(self.slot.as_ptr().add(j), floor);
                }
                S::pick(mask, self.slot.as_ptr().add(j), hits.as_mut_ptr().add(len));
                len += mask.count_ones() as usize;
            }
        }
        if probe.floor.is_none() {
            self.x[own] = x;
        }
        // SAFETY: `len` words were written.
        unsafe { hits.set_len(len) };
    }
}
