//! Two particles at a rest distance: C = |p0 - p1| - d.

use super::Constrain;
use glam::Vec4;

/// The distance constraint.
pub(crate) struct Distance;

impl Constrain<2> for Distance {
    const UNIT: &'static str = "m";
    const EDGES: &'static [[usize; 2]] = &[[0, 1]];

    fn measure(p: &[Vec4; 2]) -> f32 {
        (p[0] - p[1]).truncate().length()
    }

    /// A compressed edge has a negative strain, so it neither breaks nor yields.
    fn strain(p: &[Vec4; 2], rest: f32) -> f32 {
        Self::error(p, rest) / rest.max(1e-9)
    }

    fn yielded(p: &[Vec4; 2], _: f32, limit: f32) -> f32 {
        Self::measure(p) / (1.0 + limit)
    }
}
