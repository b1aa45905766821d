//! The narrow-range filter (Truong and Yuksel 2018, "A Narrow-Range Filter for Screen-Space Fluid
//! Rendering"): a blur of depths that takes what belongs to the same surface and nothing else. Along
//! rows and then along columns, twice; then over a small disc, which takes away the stripes that this
//! leaves at edges.
//!
//! For a pixel of depth z the two samples at a distance count for nothing when one of them is nearer
//! than the range; what is farther counts as z + sink. The range begins as z +- range and grows with
//! every sample that is within it, so that slopes are followed and gaps are not crossed.

use super::scale::{Scale, TAPS};
use crate::painter::raster::Visibility;
use crate::painter::tiles::SIDE;
use motes::simd::{self, Kernel, LANES, Simd, group_mut};
use rayon::prelude::*;

/// How often rows and columns are filtered.
pub const ROUNDS: usize = 2;
/// Pairs of samples of the disc, on one side of the pixel and nearest first: right, down.
pub const DISC: [(isize, isize); 10] =
    [(1, 0), (0, 1), (1, 1), (-1, 1), (2, 0), (0, 2), (2, 1), (1, 2), (-1, 2), (-2, 1)];
/// How far the disc reaches [samples].
pub const DISC_REACH: f32 = 3.0;
/// Rows that a worker takes at once.
const BAND: usize = 16;

/// Depths of a surface, row after row; infinite where it is not. The margin around them is as wide
/// as the filter looks, so that no sample lies outside.
#[derive(Debug, Default)]
pub struct Narrow {
    size: [usize; 2],
    step: usize,
    margin: usize,
    stride: usize,
    depth: Vec<f32>,
    /// What comes between rows and columns.
    other: Vec<f32>,
}

/// The eight values from a place on.
#[inline(always)]
pub fn eight(from: &[f32], at: usize) -> &[f32; LANES] {
    from.get(at..).and_then(|rest| rest.first_chunk()).unwrap_or(&[f32::INFINITY; LANES])
}

impl Narrow {
    /// Makes room for a surface of this size, seen nowhere.
    pub fn clear(&mut self, width: usize, height: usize, step: usize) {
        if (self.size, self.step) == ([width, height], step) {
            return;
        }
        (self.size, self.step) = ([width, height], step);
        self.margin = (TAPS * step).next_multiple_of(LANES);
        self.stride = width.next_multiple_of(LANES) + 2 * self.margin;
        let all = self.stride * (height + 2 * self.margin);
        for depths in [&mut self.depth, &mut self.other] {
            depths.clear();
            depths.resize(all, f32::INFINITY);
        }
    }

    /// Takes depths that are stored by tile.
    pub fn take(&mut self, seen: &Visibility, step: usize) {
        let tiles = seen.tiles;
        self.clear(tiles.width as usize, tiles.height as usize, step);
        let ([width, height], columns) = (self.size, tiles.columns as usize);
        let (first, margin, stride) = (self.margin * self.stride, self.margin, self.stride);
        let rows = &mut self.depth[first..first + height * stride];
        rows.par_chunks_mut(stride * SIDE).enumerate().for_each(|(band, rows)| {
            for (y, row) in rows.chunks_mut(stride).enumerate() {
                let row = &mut row[margin..margin + width];
                for (column, row) in row.chunks_mut(SIDE).enumerate() {
                    let tile = seen.depth(band * columns + column);
                    row.copy_from_slice(&tile[y * SIDE..][..row.len()]);
                }
            }
        });
    }

    /// Smooths the depths.
    pub fn smooth(&mut self, scale: &Scale) {
        let (step, stride) = (self.step, self.stride);
        let along = |jump: usize| -> Vec<Tap> {
            (1..=TAPS).map(|k| Tap { jump: (k * jump) as isize, far: k as f32 }).collect()
        };
        let (rows, columns) = (along(step), along(step * stride));
        for _ in 0..ROUNDS {
            self.sweep(scale, &rows, TAPS as f32);
            self.sweep(scale, &columns, TAPS as f32);
        }
        let disc = DISC.map(|(right, down)| Tap {
            jump: (right + down * stride as isize) * step as isize,
            far: ((right * right + down * down) as f32).sqrt(),
        });
        self.sweep(scale, &disc, DISC_REACH);
    }

    fn sweep(&mut self, scale: &Scale, taps: &[Tap], limit: f32) {
        let ([width, height], margin, stride) = (self.size, self.margin, self.stride);
        let from = &self.depth[..];
        let first = margin * stride;
        let rows = &mut self.other[first..first + height * stride];
        rows.par_chunks_mut(stride * BAND).enumerate().with_max_len(1).for_each(|(band, rows)| {
            for (row, to) in rows.chunks_mut(stride).enumerate() {
                let start = first + (band * BAND + row) * stride + margin;
                let to = &mut to[margin..margin + width.next_multiple_of(LANES)];
                simd::fastest(Sweep { from, start, taps, limit, to, scale });
            }
        });
        std::mem::swap(&mut self.depth, &mut self.other);
    }

    /// Where the first depth of a row lies, and all depths: a step to the side is one on, a step down
    /// a stride. So many are beside every pixel.
    pub fn row(&self, y: usize) -> (&[f32], usize) {
        (&self.depth, (self.margin + y) * self.stride + self.margin)
    }

    /// From a row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The depth of a pixel [m].
    #[cfg(test)]
    pub fn at(&self, x: usize, y: usize) -> f32 {
        let (depths, start) = self.row(y);
        depths[start + x]
    }

    /// Sets the depth of a pixel [m].
    #[cfg(test)]
    pub fn set(&mut self, x: usize, y: usize, depth: f32) {
        let at = self.row(y).1 + x;
        self.depth[at] = depth;
    }
}

/// A pair of samples: places from the pixel to one of them and back to the other, and how far away
/// they are [samples].
struct Tap {
    jump: isize,
    far: f32,
}

/// Filters a row with pairs of samples, nearest first.
struct Sweep<'a> {
    from: &'a [f32],
    start: usize,
    taps: &'a [Tap],
    /// The filter looks no farther than this [samples].
    limit: f32,
    to: &'a mut [f32],
    scale: &'a Scale,
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Sweep { from, start, taps, limit, to, scale } = self;
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        for g in 0..to.len() / LANES {
            let at = start + g * LANES;
            let to = group_mut(to, g);
            let here = L::read(eight(from, at));
            let is_water = L::splat(f32::MAX).above(here);
            if !L::any(is_water) {
                to.fill(f32::INFINITY);
                continue;
            }
            let reach = (L::splat(scale.reach) / here).min(L::splat(limit));
            let mut reaches = [0.0; LANES];
            reach.write(&mut reaches);
            let most = reaches.iter().fold(0.0, |a: f32, &b| a.max(b));
            let inv_reach = one / reach;
            let (mut near, mut far) = (here - scale.range, here + scale.range);
            let (mut sum, mut weights) = (zero, zero);
            for tap in taps {
                if tap.far >= most {
                    break;
                }
                let before = L::read(eight(from, at.wrapping_add_signed(-tap.jump)));
                let after = L::read(eight(from, at.wrapping_add_signed(tap.jump)));
                let is_shut = L::either(near.above(before), near.above(after));
                let x = inv_reach * tap.far;
                let open = (one - x * x).max(zero);
                let weight = L::select(is_shut, zero, open * open);
                let (is_far, is_far_too) = (before.above(far), after.above(far));
                let sink = L::splat(scale.sink);
                let found = L::select(is_far, sink, before - here)
                    + L::select(is_far_too, sink, after - here);
                sum = sum + weight * found;
                weights = weights + weight;
                let nearer = (before - scale.range).min(after - scale.range).min(near);
                let farther = L::select(is_far, far, before + scale.range)
                    .max(L::select(is_far_too, far, after + scale.range))
                    .max(far);
                near = L::select(is_shut, near, nearer);
                far = L::select(is_shut, far, farther);
            }
            // The pixel itself counts as one sample.
            let smooth = here + sum / (weights * 2.0 + 1.0);
            L::select(is_water, smooth, L::splat(f32::INFINITY)).write(to);
        }
    }
}
