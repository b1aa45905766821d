//! Light for what each pixel sees: sun with shadows, sky and bounce, occlusion, highlight and rim.
//! Everything happens in view space and in linear light.

use super::Picture;
use super::color::linear;
use super::ground::Floor;
use super::lens::Lens;
use super::look::Look;
use super::occlusion::Occlusion;
use super::raster::{SEES_GROUND, SEES_NOTHING, Solids, Visibility};
use super::shadow::ShadowMap;
use super::spiral::Spiral;
use super::tiles::TILE;
use glam::Vec3;

/// What is needed to light a pixel.
pub struct Shade<'a> {
    pub picture: &'a Picture,
    pub lens: &'a Lens,
    pub solids: Solids<'a>,
    pub seen: &'a Visibility,
    pub shadow: &'a ShadowMap,
    pub occlusion: &'a Occlusion,
    pub floor: &'a Floor,
    pub look: &'a Look,
    /// Sun and up in view space.
    pub sun: Vec3,
    pub up: Vec3,
    /// Taps of soft shadows; hard ones without.
    pub soft: Option<&'a Spiral>,
    /// One occlusion value for the pixels of a 2x2 block that see the same thing.
    pub shared: bool,
}

/// A pixel on its way through the lights.
#[derive(Clone, Copy)]
struct Spot {
    x: u32,
    y: u32,
    ray: Vec3,
    p: Vec3,
}

/// The last occlusion of each 2x2 block of a tile, and of what.
type Shared = [(u32, f32); (TILE * TILE / 4) as usize];

impl Shade<'_> {
    /// Lights the pixels of a tile.
    pub fn tile(&self, tile: usize, depth: &[f32], seen: &[u32], light: &mut [Vec3]) {
        let origin = self.seen.tiles.origin(tile);
        let columns = (self.seen.tiles.width - origin.0).min(TILE);
        let rows = (self.seen.tiles.height - origin.1).min(TILE);
        let busy = self.seen.is_busy_around(tile);
        let mut shared: Shared = [(SEES_NOTHING, 1.0); (TILE * TILE / 4) as usize];
        for row in 0..rows {
            let y = origin.1 + row;
            let ray_y = self.lens.ray_y(y);
            for column in 0..columns {
                let x = origin.0 + column;
                let i = (row * TILE + column) as usize;
                let ray = Vec3::new(self.lens.ray_x(x), ray_y, 1.0);
                let spot = Spot { x, y, ray, p: ray * depth[i] };
                let block = &mut shared[(row / 2 * (TILE / 2) + column / 2) as usize];
                let mut open = |normal: Vec3| {
                    if !busy {
                        return 1.0;
                    }
                    if !self.shared || block.0 != seen[i] {
                        let value = self.occlusion.open(self.lens, self.seen, x, y, spot.p, normal);
                        *block = (seen[i], value);
                    }
                    block.1
                };
                light[i] = match seen[i] {
                    SEES_NOTHING => self.background(ray),
                    SEES_GROUND => self.ground(spot, depth[i], &mut open),
                    index => self.solid(spot, index as usize, &mut open),
                };
            }
        }
    }

    fn background(&self, ray: Vec3) -> Vec3 {
        self.look.background(ray.dot(self.up) / ray.length())
    }

    #[inline]
    fn ground(&self, spot: Spot, depth: f32, open: &mut impl FnMut(Vec3) -> f32) -> Vec3 {
        let (color, share) = self.floor.pattern(self.lens, self.look, spot.ray, depth);
        if share <= 0.0 {
            return self.background(spot.ray);
        }
        let shade = self.look.floor_shade;
        let sun = (Vec3::ONE - shade) * self.sun_at(spot, self.up, self.up.dot(self.sun));
        let lit = color * (sun + shade) * (0.35 + 0.65 * open(self.up));
        if share < 1.0 { self.background(spot.ray).lerp(lit, share) } else { lit }
    }

    #[inline]
    fn solid(&self, spot: Spot, index: usize, open: &mut impl FnMut(Vec3) -> f32) -> Vec3 {
        let (normal, color) = match self.solids.balls.get(index) {
            Some(ball) => {
                let normal = (spot.p - ball.center) / ball.radius;
                (normal, self.picture.spheres[index].color)
            }
            None => {
                let index = index - self.solids.balls.len();
                (self.facet_normal(index, spot.ray), self.picture.triangles[index].color)
            }
        };
        let look = self.look;
        let view = -spot.ray / spot.ray.length();
        let facing = normal.dot(self.sun);
        let sun = if facing > 0.0 { self.sun_at(spot, normal, facing) * facing } else { 0.0 };
        let ambient = look.bounce_light.lerp(look.sky_light, normal.dot(self.up) * 0.5 + 0.5);
        let sky = ambient * open(normal);
        let half = (self.sun + view).normalize_or_zero();
        let shine = normal.dot(half).max(0.0).powi(48) * sun * look.highlight;
        let graze = (1.0 - normal.dot(view).clamp(0.0, 1.0)).powi(4) * look.rim;
        linear(color) * (look.sun_light * sun + sky) + look.sun_light * shine + sky * graze
    }

    /// The corner normals mixed by where the ray hits, turned to the eye on two-sided triangles.
    fn facet_normal(&self, index: usize, ray: Vec3) -> Vec3 {
        let facet = &self.solids.facets[index];
        let triangle = &self.picture.triangles[index];
        let [a, b, c] = facet.edges.map(|e| e.dot(ray));
        let mixed = triangle.n[0] * a + triangle.n[1] * b + triangle.n[2] * c;
        // The facet is oriented so that its own normal points away from the eye.
        let flat = -facet.normal.normalize_or_zero();
        let normal = self.lens.direction(mixed).try_normalize().unwrap_or(flat);
        if triangle.two_sided && normal.dot(flat) < 0.0 { -normal } else { normal }
    }

    #[inline]
    fn sun_at(&self, spot: Spot, normal: Vec3, facing: f32) -> f32 {
        match self.soft {
            Some(taps) => self.shadow.lit_softly(spot.p, normal, taps.at(spot.x, spot.y)),
            None => self.shadow.lit(spot.p, normal, facing),
        }
    }
}
