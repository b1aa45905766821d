//! Which primitive each pixel sees, and how far away: the visibility buffer. Nothing is lit here, so
//! hidden surfaces cost a depth test and no more.

use super::lens::Lens;
use super::project::{Ball, Facet};
use super::tiles::{Bins, Footprint, TILE, TILE_AREA, Tiles, key_index, key_near};
use rayon::prelude::*;

/// The pixel sees the background.
pub const SEES_NOTHING: u32 = u32::MAX;
/// The pixel sees the ground plane.
pub const SEES_GROUND: u32 = u32::MAX - 1;

/// Primitives drawn between two looks at a tile's farthest depth.
const PEEK: usize = 16;

/// Depth and primitive per pixel, stored by tile. Spheres are numbered first, triangles after them.
#[derive(Debug, Default)]
pub struct Visibility {
    pub tiles: Tiles,
    pub depth: Vec<f32>,
    pub seen: Vec<u32>,
    /// Tiles that some solid may touch.
    busy: Vec<bool>,
    bins: Bins,
}

/// What the rasteriser draws: footprints of all balls, then of all facets.
#[derive(Clone, Copy)]
pub struct Solids<'a> {
    pub balls: &'a [Ball],
    pub facets: &'a [Facet],
    pub footprints: &'a [Footprint],
}

impl Visibility {
    /// Draws the solids; `ground` is the height of the ground plane.
    pub fn draw(&mut self, lens: &Lens, solids: Solids, ground: Option<f32>) {
        self.tiles = Tiles::new(lens.size.x as u32, lens.size.y as u32);
        let tiles = self.tiles;
        self.depth.resize(tiles.count() * TILE_AREA, 0.0);
        self.seen.resize(tiles.count() * TILE_AREA, 0);
        self.busy.clear();
        self.busy.resize(tiles.count(), false);
        let mut first = 0;
        loop {
            let fresh = first == 0;
            first = self.bins.fill(&tiles, solids.footprints, first);
            for (tile, busy) in self.busy.iter_mut().enumerate() {
                *busy |= !self.bins.tile(tile).is_empty();
            }
            self.bins
                .per_tile()
                .into_par_iter()
                .zip(self.depth.par_chunks_mut(TILE_AREA))
                .zip(self.seen.par_chunks_mut(TILE_AREA))
                .enumerate()
                .for_each(|(tile, ((keys, depth), seen))| {
                    let origin = tiles.origin(tile);
                    let mut target = Target { lens, origin, depth, seen };
                    if fresh {
                        target.clear(&tiles, ground);
                    }
                    target.draw(keys, solids);
                });
            if first >= solids.footprints.len() {
                break;
            }
        }
    }
}

impl Visibility {
    /// True when a solid may touch the tile or one around it; only there can anything be occluded.
    pub fn is_busy_around(&self, tile: usize) -> bool {
        let (columns, rows) = (self.tiles.columns as usize, self.tiles.rows as usize);
        let (column, row) = (tile % columns, tile / columns);
        (row.saturating_sub(1)..(row + 2).min(rows)).any(|row| {
            (column.saturating_sub(1)..(column + 2).min(columns))
                .any(|column| self.busy[row * columns + column])
        })
    }
}

/// The farthest depth of a tile: nothing behind it can be seen.
pub fn farthest(depth: &[f32]) -> f32 {
    // Eight running maxima, so that the loop vectorises.
    let mut lanes = [0.0_f32; 8];
    for eight in depth.chunks_exact(8) {
        for (lane, &d) in lanes.iter_mut().zip(eight) {
            *lane = if d > *lane { d } else { *lane };
        }
    }
    lanes.iter().fold(0.0, |a, &b| a.max(b))
}

/// Draws keys nearest first and stops when everything left is hidden.
pub fn nearest_first(keys: &mut [u64], depth: &mut [f32], mut draw: impl FnMut(&mut [f32], u32)) {
    keys.sort_unstable();
    let mut limit = farthest(depth);
    for (i, &key) in keys.iter().enumerate() {
        if key_near(key) >= limit {
            break;
        }
        draw(depth, key_index(key));
        if i % PEEK == PEEK - 1 {
            limit = farthest(depth);
        }
    }
}

struct Target<'a> {
    lens: &'a Lens,
    origin: (u32, u32),
    depth: &'a mut [f32],
    seen: &'a mut [u32],
}

impl Target<'_> {
    fn clear(&mut self, tiles: &Tiles, ground: Option<f32>) {
        let lens = self.lens;
        // Seen from below the ground would hide everything, so there it is left out.
        let drop = ground.map(|height| lens.eye.y - height).filter(|drop| *drop > 0.0);
        for row in 0..TILE {
            let y = self.origin.1 + row;
            let fall_y = -lens.axes.forward.y - lens.axes.up.y * lens.ray_y(y);
            for column in 0..TILE {
                let x = self.origin.0 + column;
                let i = (row * TILE + column) as usize;
                let fall = fall_y - lens.axes.right.y * lens.ray_x(x);
                (self.depth[i], self.seen[i]) = match drop {
                    // Beyond the picture's edge: hides all, so that it never delays the early stop.
                    _ if x >= tiles.width || y >= tiles.height => (0.0, SEES_NOTHING),
                    Some(drop) if fall > 1e-6 => (drop / fall, SEES_GROUND),
                    _ => (f32::INFINITY, SEES_NOTHING),
                };
            }
        }
    }

    fn draw(&mut self, keys: &mut [u64], solids: Solids) {
        let Target { lens, origin, depth, seen } = self;
        nearest_first(keys, depth, |depth, index| {
            let footprint = &solids.footprints[index as usize];
            match solids.balls.get(index as usize) {
                Some(ball) => draw_ball(lens, *origin, depth, seen, footprint, ball, index),
                None => {
                    let facet = &solids.facets[index as usize - solids.balls.len()];
                    draw_facet(lens, *origin, depth, seen, footprint, facet, index);
                }
            }
        });
    }
}

/// Ray d against |p - c| = r, started at the ray's point in the plane z = c.z: there all terms are
/// as small as the sphere, so a small far sphere loses no digits.
fn draw_ball(
    lens: &Lens,
    origin: (u32, u32),
    depth: &mut [f32],
    seen: &mut [u32],
    footprint: &Footprint,
    ball: &Ball,
    index: u32,
) {
    let (columns, rows) = footprint.within(origin);
    let c = ball.center;
    let r_sq = ball.radius * ball.radius;
    for row in rows {
        let dy = lens.ray_y(origin.1 + row);
        let oy = dy * c.z - c.y;
        let (d_sq_y, o_sq_y, od_y) = (1.0 + dy * dy, oy * oy - r_sq, oy * dy);
        let first = (row * TILE) as usize;
        let span = first + columns.start as usize..first + columns.end as usize;
        let start = origin.0 + columns.start;
        for ((x, depth), seen) in (start..).zip(&mut depth[span.clone()]).zip(&mut seen[span]) {
            let dx = lens.ray_x(x);
            let ox = dx * c.z - c.x;
            let d_sq = d_sq_y + dx * dx;
            let od = od_y + ox * dx;
            let inside = od * od - d_sq * (o_sq_y + ox * ox);
            if inside < 0.0 || footprint.near >= *depth {
                continue;
            }
            let t = c.z - (od + inside.sqrt()) / d_sq;
            if t < *depth && t >= lens.near {
                *depth = t;
                *seen = index;
            }
        }
    }
}

fn draw_facet(
    lens: &Lens,
    origin: (u32, u32),
    depth: &mut [f32],
    seen: &mut [u32],
    footprint: &Footprint,
    facet: &Facet,
    index: u32,
) {
    let (columns, rows) = footprint.within(origin);
    let [e0, e1, e2] = facet.edges;
    for row in rows {
        let dy = lens.ray_y(origin.1 + row);
        for column in columns.clone() {
            let d = glam::Vec3::new(lens.ray_x(origin.0 + column), dy, 1.0);
            let slope = facet.normal.dot(d);
            // Neighbours must overlap by a hair: their shared edge is rounded twice.
            let hair = slope * -2e-5;
            if slope <= 0.0 || e0.dot(d) < hair || e1.dot(d) < hair || e2.dot(d) < hair {
                continue;
            }
            let t = facet.depth / slope;
            let i = (row * TILE + column) as usize;
            if t < depth[i] && t >= lens.near {
                depth[i] = t;
                seen[i] = index;
            }
        }
    }
}
