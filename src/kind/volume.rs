//! A tetrahedron of rest volume: C = (p1-p0)x(p2-p0).(p3-p0)/6 - V0 (Müller 2007).

use super::Constrain;
use crate::simd::{Number, Vector};
use glam::Vec4;

/// The volume constraint.
pub(crate) struct Volume;

impl Constrain<4> for Volume {
    const UNIT: &'static str = "m³";
    const EDGES: &'static [[usize; 2]] = &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

    /// The signed volume.
    fn measure(p: &[Vec4; 4]) -> f32 {
        let [a, b, c, d] = p.map(Vec4::truncate);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    fn strain(p: &[Vec4; 4], rest: f32) -> f32 {
        Self::error(p, rest).abs() / rest.abs().max(1e-30)
    }

    fn yielded(p: &[Vec4; 4], rest: f32, limit: f32) -> f32 {
        let now = Self::measure(p);
        now / (1.0 + limit.copysign(now / rest - 1.0))
    }
}

impl Volume {
    /// The volume and its gradients, in the order of the particles.
    #[inline(always)]
    pub fn gradients<L: Number>([a, b, c, d]: [Vector<L>; 4]) -> (L, [Vector<L>; 4]) {
        let (u, v, w) = (b - a, c - a, d - a);
        let sixth = L::splat(1.0 / 6.0);
        let gb = v.cross(w) * sixth;
        let gc = w.cross(u) * sixth;
        let gd = u.cross(v) * sixth;
        (gd.dot(w), [-(gb + gc + gd), gb, gc, gd])
    }
}
