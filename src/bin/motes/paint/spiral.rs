//! Sample points on a disc for the lookups that average over one: few per pixel, and turned from
//! pixel to pixel.

use glam::Vec2;

/// Golden angle [rad]: successive taps never line up.
const TURN: f32 = 2.399_963;

/// Turns of the spiral, one per pixel of a repeating 4x4 block: regular enough that halving a
/// picture averages most of it away, irregular enough that no ring shows.
const TURNS: usize = 16;
const ORDER: [u8; TURNS] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/// Points of the unit disc in sixteen turns.
#[derive(Clone, Debug)]
pub struct Spiral {
    turns: [Vec<Vec2>; TURNS],
}

impl Spiral {
    pub fn new(taps: usize) -> Self {
        let turns = std::array::from_fn(|turn| {
            let start = ORDER[turn] as f32 * std::f32::consts::TAU / TURNS as f32;
            let jitter = ORDER[(turn * 5 + 3) % TURNS] as f32 / TURNS as f32;
            (0..taps)
                .map(|tap| {
                    let far = ((tap as f32 + 0.3 + 0.5 * jitter) / taps as f32).sqrt();
                    Vec2::from_angle(start + tap as f32 * TURN) * far
                })
                .collect()
        });
        Self { turns }
    }

    /// The points for a pixel.
    #[inline]
    pub fn at(&self, x: u32, y: u32) -> &[Vec2] {
        &self.turns[((y & 3) * 4 + (x & 3)) as usize]
    }
}
