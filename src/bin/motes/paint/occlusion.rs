//! How enclosed a pixel is, judged from the depths around it: ambient obscurance after McGuire et
//! al. 2011 (the Alchemy estimator), with few taps on a spiral that turns from pixel to pixel.

use super::lens::Lens;
use super::raster::Visibility;
use super::spiral::Spiral;
use glam::Vec3;

/// Farthest tap [px]; close-ups would otherwise read all over memory. No more than a tile,
/// because tiles without a solid nearby are taken to be open.
const REACH_LIMIT: f32 = 32.0;

/// How far and how strongly things darken each other in one picture.
#[derive(Clone, Debug)]
pub struct Occlusion {
    /// How far away things still darken [m].
    radius: f32,
    strength: f32,
    spiral: Spiral,
}

impl Occlusion {
    pub fn new(radius: f32, taps: usize) -> Self {
        Self { radius, strength: 1.2, spiral: Spiral::new(taps) }
    }

    /// The share of ambient light that arrives at the pixel (x, y) with a point and normal in view
    /// space, from 0 to 1.
    #[inline]
    pub fn open(&self, lens: &Lens, seen: &Visibility, x: u32, y: u32, p: Vec3, n: Vec3) -> f32 {
        let reach = (self.radius / (lens.pixel * p.z)).min(REACH_LIMIT);
        if reach < 1.0 {
            return 1.0;
        }
        let r_sq = (reach * lens.pixel * p.z).powi(2);
        let inv_r_sq = 1.0 / r_sq;
        let taps = self.spiral.at(x, y);
        let (right, bottom) = (seen.tiles.width as i32 - 1, seen.tiles.height as i32 - 1);
        let mut shut = 0.0;
        for tap in taps {
            let qx = (x as i32 + (tap.x * reach) as i32).clamp(0, right) as u32;
            let qy = (y as i32 + (tap.y * reach) as i32).clamp(0, bottom) as u32;
            let depth = seen.depth[seen.tiles.row_index(qy) + seen.tiles.column_index(qx)];
            let v = Vec3::new(lens.ray_x(qx), lens.ray_y(qy), 1.0) * depth - p;
            let v_sq = v.length_squared();
            // Infinite depth gives not-a-number or less than 0 here, and both count as open.
            let near = 1.0 - v_sq * inv_r_sq;
            if near > 0.0 {
                let rise = (v.dot(n) - 0.002 * p.z).max(0.0);
                shut += near * near * rise / (v_sq + 0.01 * r_sq).sqrt();
            }
        }
        (1.0 - self.strength * 2.0 * shut / taps.len().max(1) as f32).clamp(0.0, 1.0)
    }
}
