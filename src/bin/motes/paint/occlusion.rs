//! How enclosed a pixel is, judged from the depths around it: ambient obscurance after McGuire et
//! al. 2011 (the Alchemy estimator), with few taps on a spiral that turns from pixel to pixel.

use super::lens::Lens;
use super::raster::Visibility;
use glam::Vec3;

/// Golden angle [rad]: successive taps never line up.
const TURN: f32 = 2.399_963;
/// Farthest tap [px]; close-ups would otherwise read all over memory.
const REACH_LIMIT: f32 = 40.0;

/// The tap pattern for one picture.
#[derive(Clone, Debug)]
pub struct Occlusion {
    /// How far away things still darken [m].
    radius: f32,
    strength: f32,
    /// Unit taps of each turn of the spiral.
    turns: Vec<Vec<(f32, f32)>>,
}

/// Turns of the spiral, one per pixel of a repeating 4x4 block: regular enough that halving a
/// picture averages it away, irregular enough that no ring shows.
const TURNS: usize = 16;
const ORDER: [u8; TURNS] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

impl Occlusion {
    pub fn new(radius: f32, taps: usize) -> Self {
        let turns = (0..TURNS)
            .map(|turn| {
                let start = ORDER[turn] as f32 * std::f32::consts::TAU / TURNS as f32;
                let jitter = ORDER[(turn * 5 + 3) % TURNS] as f32 / TURNS as f32;
                (0..taps)
                    .map(|tap| {
                        let far = ((tap as f32 + 0.3 + 0.5 * jitter) / taps as f32).sqrt();
                        let (sin, cos) = (start + tap as f32 * TURN).sin_cos();
                        (far * cos, far * sin)
                    })
                    .collect()
            })
            .collect();
        Self { radius, strength: 1.15, turns }
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
        let taps = &self.turns[((y & 3) * 4 + (x & 3)) as usize];
        let (right, bottom) = (seen.tiles.width as i32 - 1, seen.tiles.height as i32 - 1);
        let mut shut = 0.0;
        for &(dx, dy) in taps {
            let qx = (x as i32 + (dx * reach) as i32).clamp(0, right) as u32;
            let qy = (y as i32 + (dy * reach) as i32).clamp(0, bottom) as u32;
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
