//! Candidates of a few particles that stand together, gathered so that each meets only them.

use super::Sorted;
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
    zero: S,
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
            zero: S::splat(0.0),
        }
    }
}

impl Sorted {
    /// Takes the particles of a run, as they stand.
    #[inline(always)]
    pub fn take(&mut self, from: &Sorted, run: Range<usize>) {
        self.make_room(run.len());
        let count = self.count;
        for (to, from) in [
            (&mut self.x, &from.x),
            (&mut self.y, &from.y),
            (&mut self.z, &from.z),
            (&mut self.reach, &from.reach),
        ] {
            to[count..count + run.len()].copy_from_slice(&from[run.clone()]);
        }
        self.slot[count..count + run.len()].copy_from_slice(&from.slot[run.clone()]);
        self.count += run.len();
    }

    /// Appends those of a run that may be within reach of the region.
    #[inline(always)]
    pub fn gather<S: Simd, const EQUAL: bool>(
        &mut self,
        from: &Sorted,
        run: Range<usize>,
        region: &Region<S>,
    ) {
        assert!(run.end <= from.count);
        self.make_room(run.len());
        let Region { low, high, reach, zero } = region;
        let mut j = run.start;
        while j < run.end {
            // SAFETY: j < count, and every column has LANES more; there is room for the run and
            // LANES more, and `count` rises by at most the lanes tested.
            unsafe {
                let [x, y, z] = [&from.x, &from.y, &from.z].map(|c| S::load(c.as_ptr().add(j)));
                let dx = (low[0] - x).max(x - high[0]).max(*zero);
                let dy = (low[1] - y).max(y - high[1]).max(*zero);
                let dz = (low[2] - z).max(z - high[2]).max(*zero);
                let sum = *reach + if EQUAL { *reach } else { S::load(from.reach.as_ptr().add(j)) };
                let mut mask = (dx * dx + dy * dy + dz * dz).at_most(sum * sum);
                mask &= (1u32 << (run.end - j).min(LANES)) - 1;
                let at = self.count;
                for (from, to) in
                    [(&from.x, &mut self.x), (&from.y, &mut self.y), (&from.z, &mut self.z)]
                {
                    S::pick(mask, from.as_ptr().add(j).cast(), to.as_mut_ptr().add(at).cast());
                }
                if !EQUAL {
                    S::pick(
                        mask,
                        from.reach.as_ptr().add(j).cast(),
                        self.reach.as_mut_ptr().add(at).cast(),
                    );
                }
                S::pick(mask, from.slot.as_ptr().add(j), self.slot.as_mut_ptr().add(at));
                self.count += mask.count_ones() as usize;
            }
            j += LANES;
        }
    }

    /// Empties the columns; what they held stays as room.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Room for this many more, and [`LANES`] behind them.
    #[inline(always)]
    fn make_room(&mut self, more: usize) {
        if self.count + more + LANES > self.slot.len() {
            self.grow(more);
        }
    }
    #[cold]
    fn grow(&mut self, more: usize) {
        let room = (2 * (self.count + more + LANES)).next_power_of_two();
        for column in [&mut self.x, &mut self.y, &mut self.z, &mut self.reach] {
            column.resize(room, f32::NAN);
        }
        self.slot.resize(room, u32::MAX);
    }
}
