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
    /// Wide shadow lookups: softer, and twice the cost.
    pub soft: bool,
}

impl Shade<'_> {
    /// Lights the pixels of a tile.
    pub fn tile(&self, origin: (u32, u32), depth: &[f32], seen: &[u32], light: &mut [Vec3]) {
        let columns = (self.seen.tiles.width - origin.0).min(TILE);
        let rows = (self.seen.tiles.height - origin.1).min(TILE);
        for row in 0..rows {
            let y = origin.1 + row;
            let ray_y = self.lens.ray_y(y);
            for column in 0..columns {
                let x = origin.0 + column;
                let i = (row * TILE + column) as usize;
                let ray = Vec3::new(self.lens.ray_x(x), ray_y, 1.0);
                light[i] = match seen[i] {
                    SEES_NOTHING => self.background(ray),
                    SEES_GROUND => self.ground(x, y, ray, depth[i]),
                    index => self.solid(x, y, ray, depth[i], index as usize),
                };
            }
        }
    }

    fn background(&self, ray: Vec3) -> Vec3 {
        self.look.background(ray.dot(self.up) / ray.length())
    }

    fn ground(&self, x: u32, y: u32, ray: Vec3, depth: f32) -> Vec3 {
        let behind = self.background(ray);
        let (color, share) = self.floor.pattern(self.lens, self.look, ray, depth);
        if share <= 0.0 {
            return behind;
        }
        let p = ray * depth;
        let sun = self.sun_at(p, self.up);
        let open = self.occlusion.open(self.lens, self.seen, x, y, p, self.up);
        let floor_sun = self.look.floor_sun;
        behind.lerp(color * (floor_sun * sun + (1.0 - floor_sun) * open), share)
    }

    fn solid(&self, x: u32, y: u32, ray: Vec3, depth: f32, index: usize) -> Vec3 {
        let p = ray * depth;
        let (normal, color) = match self.solids.balls.get(index) {
            Some(ball) => {
                let normal = (p - ball.center) / ball.radius;
                (normal, self.picture.spheres[index].color)
            }
            None => {
                let index = index - self.solids.balls.len();
                (self.facet_normal(index, ray), self.picture.triangles[index].color)
            }
        };
        let look = self.look;
        let view = -ray / ray.length();
        let facing = normal.dot(self.sun);
        let sun = if facing > 0.0 { self.sun_at(p, normal) * facing } else { 0.0 };
        let open = self.occlusion.open(self.lens, self.seen, x, y, p, normal);
        let sky = look.bounce_light.lerp(look.sky_light, normal.dot(self.up) * 0.5 + 0.5) * open;
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
    fn sun_at(&self, p: Vec3, normal: Vec3) -> f32 {
        if self.soft { self.shadow.lit::<6>(p, normal) } else { self.shadow.lit::<4>(p, normal) }
    }
}
