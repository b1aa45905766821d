//! Light for what each pixel sees: sun with shadows, sky and bounce, occlusion, highlight and rim.
//! Everything happens in view space and in linear light, a row of a tile at a time.

use super::color::decoding;
use super::ground::Floor;
use super::look::Look;
use super::occlusion::Occlusion;
use super::raster::{SEES_GROUND, SEES_NOTHING};
use super::shadow::ShadowMap;
use super::spiral::Spiral;
use super::sunlight::Spots;
use super::surface::{Row3, Surfaces};
use super::tiles::{SIDE, TILE_AREA};
use glam::Vec3;
use motes::simd::{Kernel, LANES, Simd, Vector, group, group_mut};

/// The light of a tile's pixels, by channel.
pub type Light = [[f32; TILE_AREA]; 3];

/// What is needed to light a pixel.
pub struct Shade<'a> {
    pub surfaces: Surfaces<'a>,
    pub shadow: &'a ShadowMap,
    pub occlusion: &'a Occlusion,
    pub floor: &'a Floor,
    pub look: &'a Look,
    /// Towards the sun in view space.
    pub sun: Vec3,
    /// Taps of soft shadows; hard ones without.
    pub soft: Option<&'a Spiral>,
}

/// A tile to be lit.
pub struct Lit<'a> {
    pub shade: &'a Shade<'a>,
    pub tile: usize,
    pub light: &'a mut Light,
}

impl Kernel for Lit<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Lit { shade, tile, light } = self;
        let Surfaces { lens, seen, .. } = shade.surfaces;
        let (left, top) = seen.tiles.origin(tile);
        let rows = (seen.tiles.height - top).min(SIDE as u32) as usize;
        let busy = seen.is_busy_around(tile);
        let mut ray_x = [0.0; SIDE];
        for (ray_x, x) in ray_x.iter_mut().zip(left..) {
            *ray_x = lens.ray_x(x);
        }
        for row in 0..rows {
            let y = top + row as u32;
            let depth = &seen.depth(tile).as_chunks().0[row];
            let sees = &seen.seen(tile).as_chunks().0[row];
            let open = match busy {
                true => shade.occlusion.row::<L>((left, y), depth),
                false => [1.0; SIDE],
            };
            let row = Row { x: left, y, ray_x: &ray_x, ray_y: lens.ray_y(y), depth, sees, open };
            shade.row::<L>(&row, light, (y - top) as usize * (SIDE / LANES));
        }
    }
}

/// A row of a tile's pixels.
struct Row<'a> {
    x: u32,
    y: u32,
    ray_x: &'a [f32; SIDE],
    ray_y: f32,
    depth: &'a [f32; SIDE],
    sees: &'a [u32; SIDE],
    /// Share of the sky that is not hidden.
    open: [f32; SIDE],
}

impl Row<'_> {
    #[inline(always)]
    fn rays<L: Simd>(&self, g: usize) -> Vector<L> {
        let x = L::read(group(self.ray_x, g));
        Vector { x, y: L::splat(self.ray_y), z: L::splat(1.0) }
    }

    /// 1 for the pixels of a group that see solids, and 1 for those that see the ground; else 0.
    #[inline(always)]
    fn kinds(&self, g: usize) -> [[f32; LANES]; 2] {
        let (mut solid, mut ground) = ([0.0; LANES], [0.0; LANES]);
        for (k, &seen) in group(self.sees, g).iter().enumerate() {
            solid[k] = if seen < SEES_GROUND { 1.0 } else { 0.0 };
            ground[k] = if seen == SEES_GROUND { 1.0 } else { 0.0 };
        }
        [solid, ground]
    }
}

impl Shade<'_> {
    /// Lights a row, whose first group in the tile is `first`.
    #[inline(always)]
    fn row<L: Simd>(&self, row: &Row, light: &mut Light, first: usize) {
        let some = row.sees.iter().fold(false, |any, &seen| any | (seen != SEES_NOTHING));
        if !some {
            for g in 0..SIDE / LANES {
                self.background(row.rays::<L>(g)).write(light, first + g);
            }
            return;
        }
        let bends = self.surfaces.bends(row.sees, row.ray_x, row.ray_y);
        let colors = self.surfaces.colors(row.sees, decoding());
        let (mut normals, mut facing) = ([[0.0; SIDE]; 3], [0.0; SIDE]);
        let mut spots = Spots::default();
        for g in 0..SIDE / LANES {
            let p = row.rays(g) * L::read(group(row.depth, g));
            let n = bends.normals(g, p);
            n.write(&mut normals, g);
            let cosine = n.along(self.sun).max(L::splat(0.0));
            cosine.write(group_mut(&mut facing, g));
            self.shadow.place(&mut spots, g, p, n, cosine);
        }
        let sun = match self.soft {
            None => self.shadow.lit(&spots),
            Some(spiral) => self.lit_softly(spiral, row, &normals, &facing),
        };
        for g in 0..SIDE / LANES {
            let rays = row.rays::<L>(g);
            let open = L::read(group(&row.open, g));
            let sun = L::read(group(&sun, g));
            let [is_solid, is_ground] = row.kinds(g);
            let mut lit = Vector::splat(Vec3::ZERO);
            if is_solid != [1.0; LANES] {
                lit = self.background(rays);
            }
            if is_ground != [0.0; LANES] {
                let depth = L::read(group(row.depth, g));
                let is_ground = L::read(&is_ground).above(L::splat(0.5));
                lit = self.ground(rays, depth, is_ground, sun, open, lit);
            }
            if is_solid != [0.0; LANES] {
                let facing = L::read(group(&facing, g));
                let (n, color) = (Vector::read(&normals, g), Vector::read(&colors, g));
                let solid = self.solid(rays, n, color, sun * facing, open);
                lit = Vector::select(L::read(&is_solid).above(L::splat(0.5)), solid, lit);
            }
            lit.write(light, first + g);
        }
    }

    #[inline(always)]
    fn background<L: Simd>(&self, rays: Vector<L>) -> Vector<L> {
        self.look.background(rays.along(self.surfaces.up) / rays.dot(rays).sqrt())
    }

    /// Lays the floor over the background.
    #[inline(always)]
    fn ground<L: Simd>(
        &self,
        rays: Vector<L>,
        depth: L,
        is_ground: L::Mask,
        sun: L,
        open: L,
        behind: Vector<L>,
    ) -> Vector<L> {
        let (color, share) = self.floor.pattern(self.surfaces.lens, self.look, rays, depth);
        let arrives = Vector::between(self.look.floor_shade, Vec3::ONE, sun) * (open * 0.65 + 0.35);
        let share = L::select(is_ground, share, L::splat(0.0));
        behind + (color.times(arrives) - behind) * share
    }

    /// `sun` is what arrives of it, with the cosine to the normal.
    #[inline(always)]
    fn solid<L: Simd>(
        &self,
        rays: Vector<L>,
        n: Vector<L>,
        color: Vector<L>,
        sun: L,
        open: L,
    ) -> Vector<L> {
        let look = self.look;
        let zero = L::splat(0.0);
        let view = rays * (L::splat(-1.0) / rays.dot(rays).sqrt());
        let above = n.along(self.surfaces.up) * 0.5 + 0.5;
        let sky = Vector::between(look.bounce_light, look.sky_light, above) * open;
        // The highlight is brightest where the normal lies half-way between sun and eye.
        let half = Vector::splat(self.sun) + view;
        let shine = (n.dot(half) / (half.dot(half) + 1e-9).sqrt()).max(zero);
        let shine = power_48(shine) * sun * look.highlight;
        let graze = (L::splat(1.0) - n.dot(view)).within_one();
        let rim = graze * graze * (graze * graze) * look.rim;
        let sun_light = Vector::splat(look.sun_light);
        color.times(sun_light * sun + sky) + sun_light * shine + sky * rim
    }

    fn lit_softly(
        &self,
        spiral: &Spiral,
        row: &Row,
        normals: &Row3<SIDE>,
        facing: &[f32; SIDE],
    ) -> [f32; SIDE] {
        std::array::from_fn(|i| {
            if facing[i] <= 0.0 || row.sees[i] == SEES_NOTHING {
                return 1.0;
            }
            let p = Vec3::new(row.ray_x[i], row.ray_y, 1.0) * row.depth[i];
            let normal = Vec3::new(normals[0][i], normals[1][i], normals[2][i]);
            self.shadow.lit_softly(p, normal, spiral.at(row.x + i as u32, row.y))
        })
    }
}

#[inline(always)]
fn power_48<L: Simd>(x: L) -> L {
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    let x16 = x8 * x8;
    x16 * x16 * x16
}
