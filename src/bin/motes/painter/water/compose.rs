//! The surface of fluids laid over what is behind it: Fresnel reflection of the sky and the sun, what
//! is behind through a bent ray and Beer's law, light that the fluid scatters, and foam.

use super::Water;
use super::narrow::eight;
use crate::painter::canvas::unpack;
use crate::painter::color::decoding;
use crate::painter::lens::Lens;
use crate::painter::look::Look;
use crate::painter::raster::Visibility;
use crate::painter::shade::Light;
use crate::painter::tiles::SIDE;
use glam::Vec3;
use motes::simd::{Kernel, LANES, Simd, Vector, group_mut};

/// The share that water reflects of light that falls on it straight: ((1.33 - 1) / (1.33 + 1))².
pub const STRAIGHT: f32 = 0.02;
/// How far a bent ray comes out beside the straight one, per thickness: 1 - 1 / 1.33.
pub const BEND: f32 = 0.25;
/// Bent rays end at most this far away [px].
pub const MOST_BEND: f32 = 40.0;
/// Light of the sun and of the sky that a fluid scatters.
pub const SUN_SCATTER: f32 = 0.35;
pub const SKY_SCATTER: f32 = 0.6;
/// How much a depth of the clarity hides what is behind it, as the exponent of Beer's law.
pub const MURK: f32 = 0.5;
/// Brightness of the sun in the surface.
pub const GLINT: f32 = 2.0;
/// The part of foam that is there on a full surface, and the one where droplets are few.
pub const FOAM: [f32; 2] = [0.1, 0.8];
/// How much light foam throws back.
pub const FOAM_LIGHT: f32 = 0.92;
/// The thickness close to a full surface, as a share of how deep foam is seen: the mean of a share
/// that falls from 1 to 0.
pub const FULL: f32 = 0.5;

/// The picture without fluids.
pub struct Behind<'a> {
    /// sRGB, row after row.
    pub pixels: &'a [u32],
    pub seen: &'a Visibility,
}

/// Lays the surface over a tile, whose light and depths are written.
pub struct Compose<'a> {
    pub water: &'a Water,
    pub behind: &'a Behind<'a>,
    pub lens: &'a Lens,
    pub look: &'a Look,
    /// Up and towards the sun, in view space.
    pub up: Vec3,
    pub sun: Vec3,
    pub tile: usize,
    pub light: &'a mut Light,
    pub depth: &'a mut [f32],
}

impl Kernel for Compose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(mut self) {
        let tiles = self.water.tiles();
        let (left, top) = tiles.origin(self.tile);
        let rows = (tiles.height - top).min(SIDE as u32) as usize;
        for row in 0..rows {
            for g in 0..SIDE / LANES {
                if left as usize + g * LANES < tiles.width as usize {
                    self.group::<L>(left as usize + g * LANES, top as usize + row, row, g);
                }
            }
        }
    }
}

impl Compose<'_> {
    /// Eight pixels from (x, y) on, group `g` of a row of the tile.
    #[inline(always)]
    fn group<L: Simd>(&mut self, x: usize, y: usize, row: usize, g: usize) {
        let at = row * (SIDE / LANES) + g;
        let (depths, start) = self.water.surface.row(y);
        let here = L::read(eight(depths, start + x));
        let solid = L::read(group_mut(self.depth, at));
        let is_water = L::both(solid.above(here), here.reaches(L::splat(self.lens.near)));
        let mut light: Vector<L> = self.light_behind(x, y, [0.0; LANES], [0.0; LANES], None);
        if L::any(is_water) {
            let mut ray_x = [0.0; LANES];
            for (ray_x, x) in ray_x.iter_mut().zip(x as u32..) {
                *ray_x = self.lens.ray_x(x);
            }
            let ray_y = L::splat(self.lens.ray_y(y as u32));
            let ray = Vector { x: L::read(&ray_x), y: ray_y, z: L::splat(1.0) };
            let normal = self.water.normal(self.lens, (x, y), ray, here);
            let lit = self.lit(x, y, ray, here, normal);
            light = Vector::select(is_water, lit, light);
            L::select(is_water, here, solid).write(group_mut(self.depth, at));
        }
        light.write(self.light, at);
    }

    /// The light of water at a depth.
    #[inline(always)]
    fn lit<L: Simd>(&self, x: usize, y: usize, ray: Vector<L>, here: L, n: Vector<L>) -> Vector<L> {
        let (look, scale) = (self.look, &self.water.scale);
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let [red, green, blue, thick, close, foam] = self.water.bulk.eight::<L>(x, y);
        let takes = Vector { x: red, y: green, z: blue };

        // What is behind, where the bent ray ends.
        let bend = thick * BEND / (here * self.lens.pixel);
        let most = L::splat(MOST_BEND);
        let cut = |way: L| (way * bend).max(zero - most).min(most);
        let (mut right, mut up, mut nearest) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        cut(-n.x).rounded().write(&mut right);
        cut(-n.y).rounded().write(&mut up);
        here.write(&mut nearest);
        let behind: Vector<L> = self.light_behind(x, y, right, up, Some(nearest));
        let clear = fade(thick * (MURK / scale.clarity));
        let through = behind.times(fading(takes)) * clear;

        // What the fluid scatters has the colour of a depth of the clarity.
        let per_depth = L::splat(scale.clarity) / thick.max(L::splat(1e-9));
        let color = fading(takes * per_depth);
        let above = n.along(self.up) * 0.5 + 0.5;
        let sky = Vector::between(look.bounce_light, look.sky_light, above);
        let shine = sky * L::splat(SKY_SCATTER) + Vector::splat(look.sun_light * SUN_SCATTER);
        let own = color.times(shine) * (one - clear);

        // What it reflects.
        let view = ray * (L::splat(-1.0) / ray.dot(ray).sqrt());
        let straight = n.dot(view).within_one();
        let graze = one - straight;
        let graze_sq = graze * graze;
        let share = graze_sq * graze_sq * graze * (1.0 - STRAIGHT) + STRAIGHT;
        let mirrored = n * (straight * 2.0) - view;
        let reflected = look.background(mirrored.along(self.up));
        let half = Vector::splat(self.sun) + view;
        let shine = (n.dot(half) / (half.dot(half) + 1e-9).sqrt()).within_one();
        let glint = Vector::splat(look.sun_light) * (power_256(shine) * GLINT);
        let water = (through + own) * (one - share) + reflected * share + glint;

        let sparse = one - (close * (1.0 / (FULL * scale.skin))).within_one();
        let foamy = foam / close.max(L::splat(1e-9)) * (sparse * FOAM[1] + FOAM[0]);
        let sun = n.along(self.sun).max(zero);
        let white = (sky + Vector::splat(look.sun_light) * sun) * L::splat(FOAM_LIGHT);
        water + (white - water) * foamy.within_one()
    }

    /// Light of the picture behind, so far to the right and up of eight pixels; straight behind where
    /// that is outside of the picture or before the surface.
    #[inline(always)]
    fn light_behind<L: Simd>(
        &self,
        x: usize,
        y: usize,
        right: [f32; LANES],
        up: [f32; LANES],
        surface: Option<[f32; LANES]>,
    ) -> Vector<L> {
        let seen = self.behind.seen;
        let (width, height) = (seen.tiles.width as usize, seen.tiles.height as usize);
        let codes = decoding();
        let mut channels = [[0.0; LANES]; 3];
        for k in 0..LANES.min(width - x) {
            let mut place = (x + k, y);
            if let Some(surface) = surface {
                let there = (x + k).wrapping_add_signed(right[k] as isize);
                let row = y.wrapping_add_signed(-(up[k] as isize));
                if there < width && row < height && seen.at(there, row) > surface[k] {
                    place = (there, row);
                }
            }
            let color = unpack(self.behind.pixels[place.1 * width + place.0]);
            for (channel, code) in channels.iter_mut().zip(color) {
                channel[k] = codes[code as usize];
            }
        }
        Vector::read(&channels, 0)
    }
}

/// What Beer's law leaves, channel by channel: e to the minus x as the eighth power of a series, with
/// an error below 0.2 % of all light.
#[inline(always)]
fn fading<L: Simd>(takes: Vector<L>) -> Vector<L> {
    Vector { x: fade(takes.x), y: fade(takes.y), z: fade(takes.z) }
}

#[inline(always)]
fn fade<L: Simd>(x: L) -> L {
    let x = x * 0.125;
    let root = L::splat(1.0) / (((x * (1.0 / 6.0) + 0.5) * x + 1.0) * x + 1.0);
    let square = root * root;
    let fourth = square * square;
    fourth * fourth
}

#[inline(always)]
fn power_256<L: Simd>(x: L) -> L {
    let x2 = x * x;
    let x4 = x2 * x2;
    let x16 = x4 * x4 * x4 * x4;
    let x64 = x16 * x16 * x16 * x16;
    x64 * x64 * x64 * x64
}
