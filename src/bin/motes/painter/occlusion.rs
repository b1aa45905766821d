//! How enclosed a pixel is, judged from the depths around it: ambient obscurance after McGuire et
//! al. 2011 (the Alchemy estimator), with few taps on a spiral that turns from pixel to pixel. Done
//! for every second pixel of every second row, and spread to those between by depth.

use super::raster::Visibility;
use super::spiral::Spiral;
use super::surface::Surfaces;
use super::tiles::SIDE;
use motes::simd::{self, Kernel, LANES, Simd, Vector, group, group_mut};
use rayon::prelude::*;

/// Farthest tap [px]; close-ups would otherwise read all over memory. No more than a tile,
/// because tiles without a solid nearby are taken to be open.
const REACH_LIMIT: f32 = 32.0;
/// How much a fully enclosed place darkens.
pub const STRENGTH: f32 = 1.2;
/// Samples along a side of a tile.
const HALF: usize = SIDE / 2;

/// The share of ambient light that arrives, at the even pixels of the even rows.
#[derive(Debug, Default)]
pub struct Occlusion {
    /// How far away things still darken [m].
    radius: f32,
    /// Samples of a row, and one of the background after them, so that a pixel has a right neighbour.
    stride: usize,
    depth: Vec<f32>,
    open: Vec<f32>,
}

impl Occlusion {
    /// Judges a picture; things darken each other up to `radius` [m] apart.
    pub fn draw(&mut self, surfaces: &Surfaces, radius: f32, spiral: &Spiral) {
        let tiles = surfaces.seen.tiles;
        let columns = tiles.columns as usize;
        self.radius = radius;
        self.stride = columns * HALF + 1;
        // The row below the last is background, too.
        let size = (tiles.rows as usize * HALF + 1) * self.stride;
        self.depth.clear();
        self.depth.resize(size, f32::INFINITY);
        self.open.clear();
        self.open.resize(size, 1.0);
        let band = HALF * self.stride;
        self.depth.par_chunks_exact_mut(band).enumerate().for_each(|(row, depth)| {
            for column in 0..columns {
                copy_half(
                    surfaces.seen,
                    row * columns + column,
                    &mut depth[column * HALF..],
                    self.stride,
                );
            }
        });
        let (depth, stride) = (&self.depth, self.stride);
        self.open.par_chunks_exact_mut(band).enumerate().with_max_len(1).for_each(|(row, open)| {
            for column in 0..columns {
                let tile = row * columns + column;
                if surfaces.seen.is_busy_around(tile) {
                    let open = &mut open[column * HALF..];
                    simd::fastest(Judge { surfaces, radius, spiral, tile, depth, stride, open });
                }
            }
        });
    }

    /// The share of ambient light for the row of a tile that starts at the pixel (x, y).
    #[inline(always)]
    pub fn row<L: Simd>(&self, (x, y): (u32, u32), depth: &[f32; SIDE]) -> [f32; SIDE] {
        let above = y as usize / 2 * self.stride + x as usize / 2;
        let below = above + y as usize % 2 * self.stride;
        let cut = |from: &[f32], at: usize| -> [f32; HALF] {
            from[at..].first_chunk().copied().unwrap_or([1.0; HALF])
        };
        let open = [cut(&self.open, above), cut(&self.open, above + 1)];
        let open_below = [cut(&self.open, below), cut(&self.open, below + 1)];
        let near = [cut(&self.depth, above), cut(&self.depth, above + 1)];
        let near_below = [cut(&self.depth, below), cut(&self.depth, below + 1)];
        let inv_radius = 1.0 / self.radius;
        let mut row = [1.0; SIDE];
        for g in 0..HALF / LANES {
            let mut depths = [[0.0; LANES]; 2];
            for k in 0..LANES {
                depths[0][k] = depth[g * 2 * LANES + 2 * k];
                depths[1][k] = depth[g * 2 * LANES + 2 * k + 1];
            }
            // Samples left and right of the even pixels are the same; of the odd ones, they are two.
            for odd in 0..2 {
                let z = L::read(&depths[odd]);
                let mut sum = Weighted { sum: L::splat(0.0), weight: L::splat(0.0) };
                sum.add(z, &open[0], &near[0], g, inv_radius);
                sum.add(z, &open[odd], &near[odd], g, inv_radius);
                sum.add(z, &open_below[0], &near_below[0], g, inv_radius);
                sum.add(z, &open_below[odd], &near_below[odd], g, inv_radius);
                (sum.sum / sum.weight).write(&mut depths[odd]);
            }
            for k in 0..LANES {
                row[g * 2 * LANES + 2 * k] = depths[0][k];
                row[g * 2 * LANES + 2 * k + 1] = depths[1][k];
            }
        }
        row
    }
}

/// A mean of samples, those at another depth counting less.
struct Weighted<L> {
    sum: L,
    weight: L,
}

impl<L: Simd> Weighted<L> {
    #[inline(always)]
    fn add(&mut self, z: L, open: &[f32], depth: &[f32], g: usize, inv_radius: f32) {
        // What is as far off as occlusion reaches does not count, if there is anything else.
        let off = (z - L::read(group(depth, g))).abs() * inv_radius;
        let weight = (L::splat(1.0) - off).max(L::splat(1e-3));
        self.sum = self.sum + L::read(group(open, g)) * weight;
        self.weight = self.weight + weight;
    }
}

fn copy_half(seen: &Visibility, tile: usize, out: &mut [f32], stride: usize) {
    let rows = seen.depth(tile).as_chunks::<SIDE>().0.iter().step_by(2);
    for (row, out) in rows.zip(out.chunks_mut(stride)) {
        for (out, depth) in out.iter_mut().zip(row.iter().step_by(2)) {
            *out = *depth;
        }
    }
}

struct Judge<'a> {
    surfaces: &'a Surfaces<'a>,
    radius: f32,
    spiral: &'a Spiral,
    tile: usize,
    depth: &'a [f32],
    stride: usize,
    open: &'a mut [f32],
}

impl Kernel for Judge<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Surfaces { lens, seen, .. } = *self.surfaces;
        let origin = seen.tiles.origin(self.tile);
        let (mut ray_x, mut left) = ([0.0; HALF], [0.0; HALF]);
        for i in 0..HALF {
            ray_x[i] = lens.ray_x(origin.0 + 2 * i as u32);
            left[i] = (origin.0 as usize / 2 + i) as f32;
        }
        for row in 0..HALF {
            let y = origin.1 + 2 * row as u32;
            let (mut sees, mut depth) = ([0; HALF], [0.0; HALF]);
            for i in 0..HALF {
                sees[i] = seen.seen(self.tile)[row * SIDE * 2 + 2 * i];
                depth[i] = seen.depth(self.tile)[row * SIDE * 2 + 2 * i];
            }
            let bends = self.surfaces.bends(&sees, &ray_x, lens.ray_y(y));
            for g in 0..HALF / LANES {
                let ray_x = L::read(group(&ray_x, g));
                let z = L::read(group(&depth, g));
                let p = Vector { x: ray_x * z, y: z * lens.ray_y(y), z };
                let n = bends.normals(g, p);
                let open = self.open(L::read(group(&left, g)), y / 2, p, n);
                // The background, whose depth is infinite or 0, is open.
                let solid = L::both(L::splat(f32::MAX).above(z), z.above(L::splat(0.0)));
                let open = L::select(solid, open, L::splat(1.0));
                open.write(group_mut(&mut self.open[row * self.stride..][..HALF], g));
            }
        }
    }
}

impl Judge<'_> {
    /// The share of ambient light at the samples from `left` on, with points and normals.
    #[inline(always)]
    fn open<L: Simd>(&self, left: L, top: u32, p: Vector<L>, n: Vector<L>) -> L {
        let Surfaces { lens, seen, .. } = *self.surfaces;
        let zero = L::splat(0.0);
        let reach = (L::splat(self.radius / lens.pixel) / p.z).min(L::splat(REACH_LIMIT));
        let inv_r = L::splat(1.0) / (reach * p.z * lens.pixel);
        let inv_r_sq = inv_r * inv_r;
        let reach = reach * 0.5;
        // The last samples that belong to the picture.
        let right = L::splat(((seen.tiles.width - 1) / 2) as f32);
        let bottom = L::splat(((seen.tiles.height - 1) / 2) as f32);
        let step = 2.0 * lens.pixel;
        let mut shut = zero;
        for [tap_x, tap_y] in self.spiral.row(top) {
            let x = (L::read(tap_x) * reach + left).rounded().max(zero).min(right);
            let y = (L::read(tap_y) * reach + top as f32).rounded().max(zero).min(bottom);
            // Counted from this row on, places are small enough for numbers to be exact.
            let places = ((y - top as f32) * self.stride as f32 + x).nearest();
            let row = top as usize * self.stride;
            let mut depth = [0.0; LANES];
            for (depth, place) in depth.iter_mut().zip(places) {
                let at = row.wrapping_add_signed(place as isize);
                *depth = self.depth.get(at).copied().unwrap_or(f32::INFINITY);
            }
            let z = L::read(&depth);
            let q =
                Vector { x: (x * step + lens.ray_x(0)) * z, y: (y * -step + lens.ray_y(0)) * z, z };
            let v = q - p;
            let away = v.dot(v) * inv_r_sq;
            let near = L::splat(1.0) - away;
            let rise = (v.dot(n) - p.z * 0.002) * inv_r;
            // Infinite depth gives not-a-number or less than 0 here, and both count as open.
            let counts = L::both(near.above(zero), rise.above(zero));
            if L::any(counts) {
                let found = near * near * rise / (away + 0.01).sqrt();
                shut = shut + L::select(counts, found, zero);
            }
        }
        let share = L::splat(1.0) - shut * (STRENGTH * 2.0 / self.spiral.taps() as f32);
        // What is too far off to have anything within a pixel is open.
        L::select(L::splat(0.5).above(reach), L::splat(1.0), share.within_one())
    }
}
