//! Sample points on a disc for the lookups that average over one: few per pixel, and turned from
//! pixel to pixel.

use glam::Vec2;
use motes::simd::LANES;

/// Golden angle [rad]: successive taps never line up.
const TURN: f32 = 2.399_963;

/// Turns of the spiral, one per pixel of a repeating 4x4 block: regular enough that halving a
/// picture averages most of it away, irregular enough that no ring shows.
const TURNS: usize = 16;
const ORDER: [u8; TURNS] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/// Points of the unit disc in sixteen turns, point by point.
#[derive(Clone, Debug)]
pub struct Spiral {
    points: Vec<[Vec2; TURNS]>,
    /// The same for each row of the block, repeated to a group of pixels.
    rows: [Vec<[[f32; LANES]; 2]>; 4],
}

impl Spiral {
    pub fn new(taps: usize) -> Self {
        let point = |tap: usize, turn: usize| {
            let start = ORDER[turn] as f32 * std::f32::consts::TAU / TURNS as f32;
            let jitter = ORDER[(turn * 5 + 3) % TURNS] as f32 / TURNS as f32;
            let far = ((tap as f32 + 0.3 + 0.5 * jitter) / taps as f32).sqrt();
            Vec2::from_angle(start + tap as f32 * TURN) * far
        };
        let turned = |tap| std::array::from_fn(|turn| point(tap, turn));
        let points: Vec<[Vec2; TURNS]> = (0..taps).map(turned).collect();
        let rows = std::array::from_fn(|row| {
            let at = |turns: &[Vec2; TURNS], i: usize| turns[row * 4 + i % 4];
            let split = |turns: &[Vec2; TURNS]| {
                [std::array::from_fn(|i| at(turns, i).x), std::array::from_fn(|i| at(turns, i).y)]
            };
            points.iter().map(split).collect()
        });
        Self { points, rows }
    }

    /// Points per pixel.
    pub fn taps(&self) -> usize {
        self.points.len()
    }

    /// The points for a pixel.
    #[inline(always)]
    pub fn at(&self, x: u32, y: u32) -> impl Iterator<Item = Vec2> + Clone {
        let turn = ((y & 3) * 4 + (x & 3)) as usize;
        self.points.iter().map(move |turns| turns[turn])
    }

    /// The points for the pixels of a row, from any that is a multiple of eight on: by component.
    #[inline(always)]
    pub fn row(&self, y: u32) -> impl Iterator<Item = &[[f32; LANES]; 2]> {
        self.rows[(y & 3) as usize].iter()
    }
}
