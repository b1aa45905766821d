//! Lines over a lit tile: smooth edges, tested against the depth of the solids.

use super::Line;
use super::color::linear;
use super::lens::Lens;
use super::project::{Stroke, stroke};
use super::shade::Light;
use super::tiles::{Bins, Footprint, SIDE, TILE, TILE_AREA, Tiles, key_index};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Lines win against surfaces up to this share of the depth in front of them: a cloth's edges lie
/// exactly in its triangles.
pub const PULL: f32 = 0.003;

/// The lines of a picture, binned.
#[derive(Debug, Default)]
pub struct Strokes {
    strokes: Vec<Stroke>,
    footprints: Vec<Footprint>,
    bins: Bins,
    pairs: Vec<(Stroke, Footprint)>,
    binned: usize,
}

impl Strokes {
    /// Projects and bins the lines; `scale` widens them for pictures that will be halved.
    pub fn prepare(&mut self, lens: &Lens, tiles: &Tiles, lines: &[Line], scale: f32) {
        lines.par_iter().map(|l| stroke(lens, l, scale)).collect_into_vec(&mut self.pairs);
        self.strokes.clear();
        self.strokes.extend(self.pairs.iter().map(|pair| pair.0));
        self.footprints.clear();
        self.footprints.extend(self.pairs.iter().map(|pair| pair.1));
        self.binned = self.bins.fill(tiles, &self.footprints, 0);
        // Far lines first: near ones are blended over them.
        self.bins.per_tile().into_par_iter().for_each(|keys| {
            keys.sort_unstable_by(|a, b| b.cmp(a));
        });
    }

    /// Blends the lines of a tile over its light.
    pub fn draw(
        &self,
        tile: usize,
        origin: (u32, u32),
        lines: &[Line],
        depth: &[f32; TILE_AREA],
        light: &mut Light,
    ) {
        for &key in self.bins.tile(tile) {
            let index = key_index(key) as usize;
            self.draw_one(index, linear(lines[index].color), origin, depth, light);
        }
        // More lines than one round of bins holds: the rest is looked at one by one.
        for (index, line) in lines.iter().enumerate().skip(self.binned) {
            self.draw_one(index, linear(line.color), origin, depth, light);
        }
    }

    fn draw_one(
        &self,
        index: usize,
        color: Vec3,
        origin: (u32, u32),
        depth: &[f32; TILE_AREA],
        light: &mut Light,
    ) {
        let stroke = &self.strokes[index];
        let along = stroke.b - stroke.a;
        let inv_length_sq = 1.0 / along.length_squared().max(1e-12);
        let reach = stroke.half_width + 0.5;
        let distance = |p: Vec2| {
            let s = ((p - stroke.a).dot(along) * inv_length_sq).clamp(0.0, 1.0);
            (s, (stroke.a + along * s).distance(p))
        };
        // A long slanted line has a footprint full of tiles that it misses.
        let half = TILE as f32 * 0.5;
        let middle = Vec2::new(origin.0 as f32 + half, origin.1 as f32 + half);
        if distance(middle).1 > reach + half * std::f32::consts::SQRT_2 {
            return;
        }
        let (columns, rows) = self.footprints[index].within(origin);
        let corner = Vec2::new(origin.0 as f32, origin.1 as f32);
        for row in rows {
            let y = corner.y + row as f32 + 0.5;
            for column in span(stroke, reach, y, corner.x, columns.clone()) {
                let p = Vec2::new(corner.x + column as f32 + 0.5, y);
                let (s, away) = distance(p);
                let cover = (reach - away).clamp(0.0, 1.0) * stroke.opacity;
                if cover <= 0.0 {
                    continue;
                }
                let inv_depth = stroke.inv_depth[0] * (1.0 - s) + stroke.inv_depth[1] * s;
                let i = row * SIDE + column;
                if inv_depth * depth[i] >= 1.0 - PULL {
                    for (light, color) in light.iter_mut().zip(color.to_array()) {
                        light[i] += (color - light[i]) * cover;
                    }
                }
            }
        }
    }
}

/// The columns of a row at `y` that a line may touch: what is farther from its axis is left out, so
/// that thousands of lines across the picture cost their length, not the picture's area.
fn span(stroke: &Stroke, reach: f32, y: f32, left: f32, columns: Range<usize>) -> Range<usize> {
    let along = stroke.b - stroke.a;
    // A pixel more on both sides, for what is rounded.
    let half = reach * along.length() / along.y.abs() + 1.0;
    let middle = stroke.a.x + along.x * ((y - stroke.a.y) / along.y) - left;
    let (low, high) = (middle - half, middle + half);
    if !(low.is_finite() && high.is_finite()) {
        return columns;
    }
    columns.start.max(low as usize)..columns.end.min((high + 1.0).max(0.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_holds_every_pixel_of_a_line_and_few_others() {
        let mut seed = 1u32;
        let mut random = |scale: f32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((seed >> 8) as f32 / (1 << 23) as f32 - 1.0) * scale
        };
        let (mut touched, mut looked_at, mut all) = (0, 0, 0);
        for k in 0..3000 {
            let scale = [60.0, 500.0, 3e4][k % 3];
            let mut point = || Vec2::new(random(scale), random(scale));
            let (a, mut b) = (point(), point());
            match k % 7 {
                0 => b.y = a.y,
                1 => b.x = a.x,
                2 => b = a,
                _ => {}
            }
            let half_width = 0.5 + (k % 4) as f32;
            let stroke = Stroke { a, b, inv_depth: [1.0; 2], half_width, opacity: 1.0 };
            let reach = half_width + 0.5;
            for row in 0..TILE as usize {
                let y = row as f32 + 0.5;
                let span = span(&stroke, reach, y, 0.0, 0..TILE as usize);
                looked_at += span.len();
                all += TILE as usize;
                for column in 0..TILE as usize {
                    let p = Vec2::new(column as f32 + 0.5, y);
                    let along = b - a;
                    let s = (p - a).dot(along) / along.length_squared().max(1e-12);
                    let is_touched = (a + along * s.clamp(0.0, 1.0)).distance(p) < reach;
                    touched += usize::from(is_touched);
                    assert!(!is_touched || span.contains(&column), "{stroke:?} {column} {row}");
                }
            }
        }
        assert!(touched > 10_000, "{touched} pixels were tested");
        assert!(looked_at * 2 < all, "{looked_at} of {all} pixels are looked at");
    }
}
