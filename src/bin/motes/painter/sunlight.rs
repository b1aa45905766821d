//! How much of the sun arrives at a surface, looked up in the sun's depth map.

use super::shadow::ShadowMap;
use super::tiles::SIDE;
use glam::{Vec2, Vec3};
use motes::simd::{Simd, Vector, group_mut};
use wide::f32x4;

/// A surface must be this far [texels] behind the map to be in shadow; less leaves stripes on slopes.
pub const BIAS: f32 = 1.0;
/// Lookups start this far [texels] off the surface along its normal.
pub const LIFT: f32 = 1.6;
/// Width of the sun, as the half-width of a shadow's edge per distance from what casts it. A real
/// sun has 0.005; this is the large lamp of a studio.
const SUN_WIDTH: f32 = 0.05;
/// Widest half-width of a shadow's edge, in shares of the map's side.
const SOFT_REACH: f32 = 0.012;

/// Where a row of pixels looks into the map: first texel (below 0 where it need not look), part of
/// the way to the next, and the depth to compare with.
#[derive(Default)]
pub struct Spots {
    x: [i32; SIDE],
    y: [i32; SIDE],
    part_x: [f32; SIDE],
    part_y: [f32; SIDE],
    depth: [f32; SIDE],
}

impl ShadowMap {
    /// Where in the map to look for a group of points with normals (view space). `facing` is the
    /// cosine between normal and sun: grazing light needs more bias.
    #[inline(always)]
    pub fn place<L: Simd>(
        &self,
        spots: &mut Spots,
        g: usize,
        p: Vector<L>,
        n: Vector<L>,
        facing: L,
    ) {
        let place = &self.from_view;
        let [u, v, w] = place.axes;
        let q = p + n * L::splat(LIFT / place.scale.max(1e-30));
        let zero = L::splat(0.0);
        let left = q.along(u) + (place.start.x - 1.5);
        let top = q.along(v) + (place.start.y - 1.5);
        let bias = L::splat(BIAS) / facing.max(L::splat(0.25));
        (q.along(w) + place.start.z - bias).write(group_mut(&mut spots.depth, g));
        let wide = L::splat(self.tiles.width as f32 - 4.0);
        let tall = L::splat(self.tiles.height as f32 - 4.0);
        let within_x = L::both(left.reaches(zero), wide.above(left));
        let within_y = L::both(top.reaches(zero), tall.above(top));
        let inside = L::both(L::both(within_x, within_y), facing.above(zero));
        // Down to the texel before; half-way cases may go either way, with a part of 0 or 1.
        let (x, y) = ((left - 0.5).rounded(), (top - 0.5).rounded());
        (left - x).write(group_mut(&mut spots.part_x, g));
        (top - y).write(group_mut(&mut spots.part_y, g));
        let outside = L::splat(-1.0);
        *group_mut(&mut spots.x, g) = L::select(inside, x.max(zero), outside).nearest();
        *group_mut(&mut spots.y, g) = L::select(inside, y.max(zero), outside).nearest();
    }

    /// The share of the sun that reaches each spot, from 0 to 1: the mean of 4 x 4 texel tests,
    /// weighted so that it changes smoothly from texel to texel.
    #[inline(always)]
    pub fn lit(&self, spots: &Spots) -> [f32; SIDE] {
        let mut lit = [1.0; SIDE];
        for (i, lit) in lit.iter_mut().enumerate() {
            if spots.x[i] < 0 {
                continue;
            }
            let at = spots.y[i] as usize * self.stride + spots.x[i] as usize;
            if let Some(texels) = self.depth.get(at..at + 3 * self.stride + 4) {
                *lit = open(texels, self.stride, spots.part_x[i], spots.part_y[i], spots.depth[i]);
            }
        }
        lit
    }

    /// As `lit` for one point, with a sun that has a size: shadows are sharp where they start and
    /// soften with the distance to what casts them (Fernando 2005, percentage-closer soft shadows).
    pub fn lit_softly(
        &self,
        p: Vec3,
        normal: Vec3,
        taps: impl Iterator<Item = Vec2> + Clone,
    ) -> f32 {
        let at = self.from_view.point(p + normal * (LIFT / self.from_view.scale.max(1e-30)));
        let size = Vec2::new(self.tiles.width as f32, self.tiles.height as f32);
        let spot = at.truncate();
        if !(spot.cmpge(Vec2::ZERO).all() && spot.cmplt(size).all()) {
            return 1.0;
        }
        // How much deeper the surface itself is, per texel: without it every slope shades itself.
        let [u, v, w] = self.from_view.axes.map(|axis| axis.dot(normal));
        let slope = (Vec2::new(u, v) / -w.min(-0.2 * self.from_view.scale)).clamp_length_max(3.0);
        let covered_by = |step: Vec2| {
            let q = (spot + step).clamp(Vec2::ZERO, size - 1.0);
            let depth = self.depth[q.y as usize * self.stride + q.x as usize];
            let limit = at.z - BIAS + slope.dot(step) - 0.1 * step.length();
            (depth < limit).then_some(depth)
        };
        let reach = SOFT_REACH * size.max_element();
        let (mut count, mut sum) = (0.0, 0.0);
        for tap in taps.clone() {
            if let Some(depth) = covered_by(tap * reach) {
                count += 1.0;
                sum += depth;
            }
        }
        if count == 0.0 {
            return 1.0;
        }
        let width = ((at.z - sum / count) * SUN_WIDTH).clamp(1.5, reach);
        let (mut shut, mut all) = (0.0, 0.0);
        for tap in taps {
            all += 1.0;
            shut += if covered_by(tap * width).is_some() { 1.0 } else { 0.0 };
        }
        1.0 - shut / all
    }
}

/// The weighted share of 4 x 4 texels that are not before `depth`, from the first of `texels` on.
#[inline(always)]
fn open(texels: &[f32], stride: usize, part_x: f32, part_y: f32, depth: f32) -> f32 {
    let depth = f32x4::splat(depth);
    let row = |j: usize| match texels[j * stride..].first_chunk() {
        Some(&four) => f32x4::new(four).simd_ge(depth),
        None => f32x4::ZERO,
    };
    let one = f32x4::ONE;
    let outer = (row(0) & f32x4::splat(1.0 - part_y)) + (row(3) & f32x4::splat(part_y));
    let sums = outer + ((row(1) & one) + (row(2) & one));
    let [a, b, c, d] = sums.to_array();
    (a * (1.0 - part_x) + b + c + d * part_x) * (1.0 / 9.0)
}
