//! How much of a fluid lies behind a pixel: each droplet spreads its volume over a disc, and what it
//! takes from light with it. Done for every second pixel of every second row.

use super::narrow::Narrow;
use super::scale::Scale;
use crate::painter::Droplet;
use crate::painter::color::linear;
use crate::painter::lens::Lens;
use crate::painter::raster::Visibility;
use crate::painter::tiles::{Bins, Footprint, SIDE, Tiles, key_index};
use glam::{Vec2, Vec3};
use motes::simd::{self, Kernel, LANES, Simd, group, group_mut};
use rayon::prelude::*;
use std::f32::consts::PI;

/// What a sample sums up: how much red, green and blue light is taken (the exponent of Beer's law),
/// thickness [m], thickness close to the surface [m], and how much of that is foam [m].
pub const CHANNELS: usize = 6;
/// Discs are at least this large [px], so that each holds some samples.
pub const LEAST_SPREAD: f32 = 3.0;
/// The volume of a droplet over its radius cubed: at rest they are two radii apart.
pub const VOLUME: f32 = 8.0;
/// The darkest that a channel of a colour counts, since light must not be taken endlessly.
pub const DARKEST: f32 = 0.01;

/// Sums of the samples: the channels of a row after each other, rows after rows.
#[derive(Debug, Default)]
pub struct Bulk {
    size: [usize; 2],
    stride: usize,
    sums: Vec<f32>,
    discs: Vec<Disc>,
    footprints: Vec<Footprint>,
    bins: Bins,
    /// Depths of the surface and of the solids at the samples.
    surface: Vec<f32>,
    solid: Vec<f32>,
}

/// A droplet on the screen.
#[derive(Clone, Copy, Debug)]
struct Disc {
    /// Middle [samples], and depth [m].
    center: Vec3,
    /// One over the squared radius [1/samples²].
    inv_sq: f32,
    /// Thickness in the middle [m].
    top: f32,
    /// What a metre takes from light.
    takes: Vec3,
    foam: f32,
}

/// What a metre of a fluid of this colour takes from light; a depth of `clarity` gives the colour.
pub fn takes(color: [u8; 3], clarity: f32) -> Vec3 {
    let light = linear(color).clamp(Vec3::splat(DARKEST), Vec3::ONE);
    -Vec3::new(light.x.ln(), light.y.ln(), light.z.ln()) / clarity
}

impl Bulk {
    /// Sums up the droplets before the solids.
    pub fn draw(
        &mut self,
        droplets: &[Droplet],
        lens: &Lens,
        scale: &Scale,
        surface: &Narrow,
        behind: &Visibility,
    ) {
        let full = behind.tiles;
        let tiles = Tiles::new(full.width.div_ceil(2), full.height.div_ceil(2));
        self.size = [tiles.width as usize, tiles.height as usize];
        self.stride = tiles.columns as usize * SIDE;
        let count = self.stride * tiles.rows as usize * SIDE;
        self.surface.resize(count, f32::INFINITY);
        self.solid.resize(count, f32::INFINITY);
        self.look(surface, behind);

        let disc = |droplet: &Droplet| disc(lens, scale, &tiles, droplet);
        let discs = droplets.par_iter().map(disc);
        discs.unzip_into_vecs(&mut self.discs, &mut self.footprints);
        self.sums.resize(count * CHANNELS, 0.0);
        let mut first = 0;
        loop {
            let fresh = first == 0;
            first = self.bins.fill(&tiles, &self.footprints, first);
            let (discs, footprints) = (&self.discs, &self.footprints);
            let (surface, solid, stride) = (&self.surface, &self.solid, self.stride);
            let columns = tiles.columns as usize;
            let bins = self.bins.per_tile();
            let bands = self.sums.par_chunks_exact_mut(stride * SIDE * CHANNELS);
            // A worker takes a row of tiles, because that is one contiguous piece.
            bins.par_chunks(columns).zip(bands).enumerate().with_max_len(1).for_each(
                |(row, (keys, sums))| {
                    if fresh {
                        sums.fill(0.0);
                    }
                    let at = row * SIDE * stride;
                    for (column, keys) in keys.iter().enumerate() {
                        let origin = ((column * SIDE) as u32, (row * SIDE) as u32);
                        let (surface, solid) = (&surface[at..], &solid[at..]);
                        let (left, sums) = (column * SIDE, &mut *sums);
                        let of = Of { keys, discs, footprints, surface, solid, scale };
                        simd::fastest(Sum { of, origin, left, stride, sums });
                    }
                },
            );
            if first >= self.footprints.len() {
                break;
            }
        }
    }

    /// Takes the depths at the samples.
    fn look(&mut self, surface: &Narrow, behind: &Visibility) {
        let ([width, height], stride, tiles) = (self.size, self.stride, behind.tiles);
        let rows = self.surface.par_chunks_exact_mut(stride);
        let rows = rows.zip(self.solid.par_chunks_exact_mut(stride)).take(height).enumerate();
        rows.for_each(|(y, (near, solid))| {
            let (depths, start) = surface.row(2 * y);
            let band = 2 * y / SIDE * tiles.columns as usize;
            let inner = 2 * y % SIDE * SIDE;
            for x in 0..width {
                near[x] = depths[start + 2 * x];
                solid[x] = behind.depth(band + 2 * x / SIDE)[inner + 2 * x % SIDE];
            }
        });
    }

    /// The sums for eight pixels of a row from `x` on, a multiple of eight: means of the samples
    /// around them.
    #[inline(always)]
    pub fn eight<L: Simd>(&self, x: usize, y: usize) -> [L; CHANNELS] {
        const HALF: usize = LANES / 2;
        let last = [self.size[0] - 1, self.size[1] - 1];
        let (above, below) = (y / 2, (y / 2 + y % 2).min(last[1]));
        std::array::from_fn(|channel| {
            let row = |y: usize| &self.sums[(y * CHANNELS + channel) * self.stride..];
            let (above, below) = (row(above), row(below));
            let mut samples = [0.0; HALF + 1];
            for (k, sample) in samples.iter_mut().enumerate() {
                let at = (x / 2 + k).min(last[0]);
                *sample = 0.5 * (above[at] + below[at]);
            }
            let mut lanes = [0.0; LANES];
            for k in 0..HALF {
                lanes[2 * k] = samples[k];
                lanes[2 * k + 1] = 0.5 * (samples[k] + samples[k + 1]);
            }
            L::read(&lanes)
        })
    }

    /// The thickness at a sample [m].
    #[cfg(test)]
    pub fn thickness(&self, x: usize, y: usize) -> f32 {
        self.sums[(y * CHANNELS + 3) * self.stride + x]
    }
}

fn disc(lens: &Lens, scale: &Scale, tiles: &Tiles, droplet: &Droplet) -> (Disc, Footprint) {
    let center = lens.point(droplet.center);
    let wide = lens.pixel * center.z;
    let radius = (droplet.radius * scale.spread / wide).max(LEAST_SPREAD);
    let (top, reach) = (VOLUME * droplet.radius.powi(3), radius * wide);
    // Sample (0, 0) is the middle of the first pixel.
    let at = (lens.pixel_of(center.truncate() / center.z) - 0.5) * 0.5;
    let made = Disc {
        center: at.extend(center.z),
        inv_sq: 4.0 / (radius * radius),
        // The mean of 1 - x² over a disc is a half.
        top: 2.0 * top / (PI * reach * reach),
        takes: takes(droplet.color, scale.clarity),
        foam: scale.foam(droplet),
    };
    let drawable = droplet.radius > 0.0 && made.top.is_finite() && center.z > lens.near;
    if !drawable || !made.center.is_finite() {
        return (made, Footprint::NOTHING);
    }
    // Footprints count from the corner of a sample, not from its middle.
    let (at, reach) = (at + 0.5, Vec2::splat(0.5 * radius));
    (made, Footprint::new(at - reach, at + reach, center.z, tiles.width, tiles.height))
}

#[derive(Clone, Copy)]
struct Of<'a> {
    keys: &'a [u64],
    discs: &'a [Disc],
    footprints: &'a [Footprint],
    surface: &'a [f32],
    solid: &'a [f32],
    scale: &'a Scale,
}

/// Sums up the droplets of a tile, whose first column is `left` of the band.
struct Sum<'a> {
    of: Of<'a>,
    origin: (u32, u32),
    left: usize,
    stride: usize,
    sums: &'a mut [f32],
}

impl Kernel for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Sum { of, origin, left, stride, sums } = self;
        let zero = L::splat(0.0);
        let counting = L::read(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let inv_skin = 1.0 / of.scale.skin;
        for &key in of.keys {
            let index = key_index(key) as usize;
            let (disc, (columns, rows)) = (of.discs[index], of.footprints[index].within(origin));
            let [red, green, blue] = disc.takes.to_array();
            for row in rows {
                let dy = (origin.1 as usize + row) as f32 - disc.center.y;
                for g in simd::groups(&columns) {
                    let from = origin.0 as f32 + (g * LANES) as f32 - disc.center.x;
                    let dx = counting + from;
                    let share = (dx * dx + dy * dy) * -disc.inv_sq + 1.0;
                    let at = left / LANES + g;
                    let depth = L::splat(disc.center.z);
                    let solid = L::read(group(&of.solid[row * stride..], at));
                    let is_seen = L::both(share.above(zero), solid.above(depth));
                    if !L::any(is_seen) {
                        continue;
                    }
                    let thick = L::select(is_seen, share * disc.top, zero);
                    let surface = L::read(group(&of.surface[row * stride..], at));
                    // Where there is no surface, all is close to it.
                    let shallow = ((depth - surface) * -inv_skin + 1.0).within_one();
                    let close = thick * shallow;
                    let adds = [thick * red, thick * green, thick * blue, thick, close];
                    let sums = &mut sums[row * stride * CHANNELS..];
                    for (channel, adds) in adds.into_iter().enumerate() {
                        add(&mut sums[channel * stride..], at, adds);
                    }
                    if disc.foam > 0.0 {
                        add(&mut sums[5 * stride..], at, close * disc.foam);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add<L: Simd>(row: &mut [f32], at: usize, more: L) {
    let sums = group_mut(row, at);
    (L::read(sums) + more).write(sums);
}
