//! How the surface lies: normals from its depths.

use super::Water;
use super::narrow::eight;
use crate::painter::lens::Lens;
use motes::simd::{LANES, Simd, Vector};

impl Water {
    /// Normals towards the eye of eight pixels of a row from (x, y) on, for their rays and depths.
    #[inline(always)]
    pub fn normal<L: Simd>(
        &self,
        lens: &Lens,
        (x, y): (usize, usize),
        ray: Vector<L>,
        here: L,
    ) -> Vector<L> {
        let (depths, start) = self.surface.row(y);
        let (at, stride, range) = (start + x, self.surface.stride(), self.scale.range);
        let right = slope(here, eight(depths, at + 1), eight(depths, at - 1), range);
        let up = slope(here, eight(depths, at - stride), eight(depths, at + stride), range);
        // The surface from a pixel to the next, to the right and upwards.
        let wide = here * lens.pixel;
        let along = Vector { x: wide + ray.x * right, y: ray.y * right, z: right };
        let across = Vector { x: ray.x * up, y: wide + ray.y * up, z: up };
        let normal = across.cross(along);
        normal * (L::splat(1.0) / normal.dot(normal).sqrt())
    }
}

/// How depths change from a pixel to the next, as those neighbours have it that belong to the surface.
#[inline(always)]
fn slope<L: Simd>(here: L, after: &[f32; LANES], before: &[f32; LANES], range: f32) -> L {
    let (on, off) = (L::read(after) - here, here - L::read(before));
    let (zero, range) = (L::splat(0.0), L::splat(range));
    let (is_on, is_off) = (range.above(on.abs()), range.above(off.abs()));
    let one_of_both = L::select(is_on, on, L::select(is_off, off, zero));
    L::select(L::both(is_on, is_off), (on + off) * 0.5, one_of_both)
}
