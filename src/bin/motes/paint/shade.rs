//! Light for what each pixel sees: sun with shadows, sky and bounce, occlusion, highlight and rim.
//! Everything happens in view space and in linear light, a row of a tile at a time.

use super::color::decoding;
use super::ground::Floor;
use super::lanes::{Kernel, LANES, Lanes, V3, group, group_mut};
use super::look::Look;
use super::occlusion::Occlusion;
use super::raster::{SEES_GROUND, SEES_NOTHING};
use super::shadow::ShadowMap;
use super::spiral::Spiral;
use super::sunlight::Spots;
use super::surface::{Row3, Surfaces};
use super::tiles::{SIDE, TILE_AREA};
use glam::Vec3;

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
    fn run<L: Lanes>(self) {
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
    fn rays<L: Lanes>(&self, g: usize) -> V3<L> {
        let x = L::load(group(self.ray_x, g));
        V3 { x, y: L::splat(self.ray_y), z: L::splat(1.0) }
    }

    /// Masks of the pixels in a group that see solids and ground.
    #[inline(always)]
    fn kinds(&self, g: usize) -> [[u32; LANES]; 2] {
        let (mut solid, mut ground) = ([0; LANES], [0; LANES]);
        for (k, &seen) in group(self.sees, g).iter().enumerate() {
            solid[k] = if seen < SEES_GROUND { u32::MAX } else { 0 };
            ground[k] = if seen == SEES_GROUND { u32::MAX } else { 0 };
        }
        [solid, ground]
    }
}

impl Shade<'_> {
    /// Lights a row, whose first group in the tile is `first`.
    #[inline(always)]
    fn row<L: Lanes>(&self, row: &Row, light: &mut Light, first: usize) {
        let some = row.sees.iter().fold(false, |any, &seen| any | (seen != SEES_NOTHING));
        if !some {
            for g in 0..SIDE / LANES {
                self.background(row.rays::<L>(g)).store(light, first + g);
            }
            return;
        }
        let bends = self.surfaces.bends(row.sees, row.ray_x, row.ray_y);
        let colors = self.surfaces.colors(row.sees, decoding());
        let (mut normals, mut facing) = ([[0.0; SIDE]; 3], [0.0; SIDE]);
        let mut spots = Spots::default();
        for g in 0..SIDE / LANES {
            let p = row.rays(g) * L::load(group(row.depth, g));
            let n = bends.normals(g, p);
            n.store(&mut normals, g);
            let cosine = n.along(self.sun).at_least(L::splat(0.0));
            cosine.store(group_mut(&mut facing, g));
            self.shadow.place(&mut spots, g, p, n, cosine);
        }
        let sun = match self.soft {
            None => self.shadow.lit(&spots),
            Some(spiral) => self.lit_softly(spiral, row, &normals, &facing),
        };
        for g in 0..SIDE / LANES {
            let rays = row.rays::<L>(g);
            let open = L::load(group(&row.open, g));
            let sun = L::load(group(&sun, g));
            let [is_solid, is_ground] = row.kinds(g);
            let mut lit = V3::splat(Vec3::ZERO);
            if is_solid != [u32::MAX; LANES] {
                lit = self.background(rays);
            }
            if is_ground != [0; LANES] {
                let depth = L::load(group(row.depth, g));
                lit = self.ground(rays, depth, L::load_words(&is_ground), sun, open, lit);
            }
            if is_solid != [0; LANES] {
                let facing = L::load(group(&facing, g));
                let (n, color) = (V3::load(&normals, g), V3::load(&colors, g));
                let solid = self.solid(rays, n, color, sun * facing, open);
                lit = V3::select(L::load_words(&is_solid), solid, lit);
            }
            lit.store(light, first + g);
        }
    }

    #[inline(always)]
    fn background<L: Lanes>(&self, rays: V3<L>) -> V3<L> {
        self.look.background(rays.along(self.surfaces.up) / rays.dot(rays).sqrt())
    }

    /// Lays the floor over the background.
    #[inline(always)]
    fn ground<L: Lanes>(
        &self,
        rays: V3<L>,
        depth: L,
        is_ground: L,
        sun: L,
        open: L,
        behind: V3<L>,
    ) -> V3<L> {
        let (color, share) = self.floor.pattern(self.surfaces.lens, self.look, rays, depth);
        let arrives = V3::between(self.look.floor_shade, Vec3::ONE, sun) * (open * 0.65 + 0.35);
        let share = is_ground.select(share, L::splat(0.0));
        behind + (color * arrives - behind) * share
    }

    /// `sun` is what arrives of it, with the cosine to the normal.
    #[inline(always)]
    fn solid<L: Lanes>(&self, rays: V3<L>, n: V3<L>, color: V3<L>, sun: L, open: L) -> V3<L> {
        let look = self.look;
        let zero = L::splat(0.0);
        let view = rays * (L::splat(-1.0) / rays.dot(rays).sqrt());
        let above = n.along(self.surfaces.up) * 0.5 + 0.5;
        let sky = V3::between(look.bounce_light, look.sky_light, above) * open;
        // The highlight is brightest where the normal lies half-way between sun and eye.
        let half = V3::splat(self.sun) + view;
        let shine = (n.dot(half) / (half.dot(half) + 1e-9).sqrt()).at_least(zero);
        let shine = power_48(shine) * sun * look.highlight;
        let graze = (L::splat(1.0) - n.dot(view)).within_one();
        let rim = graze * graze * (graze * graze) * look.rim;
        let sun_light = V3::splat(look.sun_light);
        color * (sun_light * sun + sky) + sun_light * shine + sky * rim
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
fn power_48<L: Lanes>(x: L) -> L {
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    let x16 = x8 * x8;
    x16 * x16 * x16
}
