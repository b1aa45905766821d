//! Lines over a lit tile: smooth edges, tested against the depth of the solids.

use super::Line;
use super::color::linear;
use super::lens::Lens;
use super::project::{Stroke, stroke};
use super::shade::Light;
use super::tiles::{Bins, Footprint, SIDE, TILE, TILE_AREA, Tiles, key_index};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

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
        for row in rows {
            for column in columns.clone() {
                let corner = Vec2::new(origin.0 as f32, origin.1 as f32);
                let p = corner + Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
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
