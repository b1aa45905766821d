//! Which primitive each pixel sees, and how far away: the visibility buffer. Nothing is lit here, so
//! hidden surfaces cost a depth test and no more.

use super::front::Front;
use super::lens::Lens;
use super::project::{Ball, Facet};
use super::tiles::{Bins, Footprint, Order, SIDE, TILE, TILE_AREA, Tiles};
use motes::simd::{self, Kernel, LANES, Simd, group, group_mut};
use rayon::prelude::*;
use std::ops::Range;

/// The pixel sees the background.
pub const SEES_NOTHING: u32 = u32::MAX;
/// The pixel sees the ground plane.
pub const SEES_GROUND: u32 = u32::MAX - 1;

/// Depth and primitive per pixel, stored by tile. Spheres are numbered first, triangles after them.
#[derive(Debug, Default)]
pub struct Visibility {
    pub tiles: Tiles,
    depth: Vec<f32>,
    seen: Vec<u32>,
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
            let depth = self.depth.as_chunks_mut().0;
            let seen = self.seen.as_chunks_mut().0;
            let order = self.bins.order;
            let tiled = self.bins.per_tile().into_par_iter().zip(depth).zip(seen).enumerate();
            // Left to itself, rayon makes four pieces for two threads, and tiles cost very differently.
            tiled.with_max_len(tiles.columns as usize / 2 + 1).for_each(
                |(tile, ((keys, depth), seen))| {
                    let target = Target { lens, origin: tiles.origin(tile), depth, seen };
                    simd::fastest(Fill { target, keys, order, solids, ground, fresh });
                },
            );
            if first >= solids.footprints.len() {
                break;
            }
        }
    }

    /// Depths of a tile.
    #[inline(always)]
    pub fn depth(&self, tile: usize) -> &[f32; TILE_AREA] {
        &self.depth.as_chunks().0[tile]
    }

    /// What the pixels of a tile see.
    #[inline(always)]
    pub fn seen(&self, tile: usize) -> &[u32; TILE_AREA] {
        &self.seen.as_chunks().0[tile]
    }

    /// The depth of a pixel within the picture.
    #[inline(always)]
    pub fn at(&self, x: usize, y: usize) -> f32 {
        let tile = y / SIDE * self.tiles.columns as usize + x / SIDE;
        self.depth(tile)[y % SIDE * SIDE + x % SIDE]
    }

    /// True when a solid may touch the tile.
    pub fn is_busy(&self, tile: usize) -> bool {
        self.busy[tile]
    }

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

struct Target<'a> {
    lens: &'a Lens,
    origin: (u32, u32),
    depth: &'a mut [f32; TILE_AREA],
    seen: &'a mut [u32; TILE_AREA],
}

impl Target<'_> {
    #[inline(always)]
    fn clear<L: Simd>(&mut self, rays: &Rays, ground: Option<f32>) {
        let lens = self.lens;
        // Seen from below the ground would hide everything, so there it is left out.
        let drop = ground.map(|height| lens.eye.y - height).filter(|drop| *drop > 0.0);
        for row in 0..SIDE {
            let fall = -lens.axes.forward.y - lens.axes.up.y * rays.y[row];
            for g in 0..SIDE / LANES {
                let at = row * (SIDE / LANES) + g;
                let (depth, seen) = (group_mut(self.depth, at), group_mut(self.seen, at));
                let Some(drop) = drop else {
                    depth.fill(f32::INFINITY);
                    seen.fill(SEES_NOTHING);
                    continue;
                };
                let fall = L::splat(fall) - L::read(group(&rays.x, g)) * lens.axes.right.y;
                let hit = fall.above(L::splat(1e-6));
                let far = L::splat(f32::INFINITY);
                L::select(hit, L::splat(drop) / fall, far).write(depth);
                let [ground, nothing] = [SEES_GROUND, SEES_NOTHING].map(f32::from_bits);
                L::select(hit, L::splat(ground), L::splat(nothing)).write_words(seen);
            }
        }
        // Beyond the picture's edge: hides all, so that it never delays the early stop.
        let columns = (lens.size.x as u32 - self.origin.0).min(TILE) as usize;
        let rows = (lens.size.y as u32 - self.origin.1).min(TILE) as usize;
        for row in 0..SIDE {
            let beyond = row * SIDE + if row < rows { columns } else { 0 }..(row + 1) * SIDE;
            self.depth[beyond.clone()].fill(0.0);
            self.seen[beyond].fill(SEES_NOTHING);
        }
    }
}

struct Fill<'a> {
    target: Target<'a>,
    keys: &'a [u64],
    order: Order,
    solids: Solids<'a>,
    ground: Option<f32>,
    fresh: bool,
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Fill { mut target, keys, order, solids, ground, fresh } = self;
        let rays = Rays::new::<L>(target.lens, target.origin);
        if fresh {
            target.clear::<L>(&rays, ground);
        }
        let mut front = Front::new(keys, order);
        while let Some(index) = front.next::<L>(target.depth) {
            let footprint = &solids.footprints[index as usize];
            let (columns, rows) = footprint.within(target.origin);
            if front.hides(&columns, &rows, footprint.near) {
                continue;
            }
            let groups = simd::groups(&columns);
            match solids.balls.get(index as usize) {
                Some(ball) => target.ball::<L>(&rays, groups, rows, ball, index),
                None => {
                    let facet = &solids.facets[index as usize - solids.balls.len()];
                    target.facet::<L>(&rays, groups, rows, facet, index);
                }
            }
            front.drew();
        }
    }
}

/// The rays through a tile's pixels.
struct Rays {
    x: [f32; SIDE],
    y: [f32; SIDE],
    /// One over the squared length of each ray.
    inv_sq: [f32; TILE_AREA],
}

impl Rays {
    #[inline(always)]
    fn new<L: Simd>(lens: &Lens, origin: (u32, u32)) -> Self {
        let mut rays = Self { x: [0.0; SIDE], y: [0.0; SIDE], inv_sq: [0.0; TILE_AREA] };
        for i in 0..SIDE {
            rays.x[i] = lens.ray_x(origin.0 + i as u32);
            rays.y[i] = lens.ray_y(origin.1 + i as u32);
        }
        for (row, y) in rays.inv_sq.as_chunks_mut::<SIDE>().0.iter_mut().zip(rays.y) {
            for g in 0..SIDE / LANES {
                let x = L::read(group(&rays.x, g));
                (L::splat(1.0) / (x * x + (1.0 + y * y))).write(group_mut(row, g));
            }
        }
        rays
    }
}

impl Target<'_> {
    /// Keeps what is nearer, where the mask is set.
    #[inline(always)]
    fn keep<L: Simd>(&mut self, at: usize, hit: L::Mask, t: L, index: u32) {
        let (depth, seen) = (group_mut(self.depth, at), group_mut(self.seen, at));
        let old = L::read(depth);
        let within = L::both(old.above(t), t.reaches(L::splat(self.lens.near)));
        let nearer = L::both(hit, within);
        if L::any(nearer) {
            L::select(nearer, t, old).write(depth);
            let index = L::splat(f32::from_bits(index));
            L::select(nearer, index, L::read_words(seen)).write_words(seen);
        }
    }

    /// Ray d against |p - c| = r, started at the ray's point in the plane z = c.z: there all terms
    /// are as small as the sphere, so a small far sphere loses no digits.
    #[inline(always)]
    fn ball<L: Simd>(
        &mut self,
        rays: &Rays,
        groups: Range<usize>,
        rows: Range<usize>,
        ball: &Ball,
        index: u32,
    ) {
        let c = ball.center;
        let r_sq = ball.radius * ball.radius;
        let near = L::splat(c.z - ball.radius);
        for row in rows {
            let dy = rays.y[row];
            let oy = dy * c.z - c.y;
            let (d_sq_y, o_sq_y, od_y) = (1.0 + dy * dy, oy * oy - r_sq, oy * dy);
            for g in groups.clone() {
                let at = row * (SIDE / LANES) + g;
                let dx = L::read(group(&rays.x, g));
                let ox = dx * c.z - c.x;
                let od = ox * dx + od_y;
                let inside = od * od - (dx * dx + d_sq_y) * (ox * ox + o_sq_y);
                // Most balls of a pile are hidden; those need no roots.
                let old = L::read(group(self.depth, at));
                let hit = L::both(inside.reaches(L::splat(0.0)), old.above(near));
                if L::any(hit) {
                    let root = inside.max(L::splat(0.0)).sqrt();
                    let t = L::splat(c.z) - (od + root) * L::read(group(&rays.inv_sq, at));
                    self.keep(at, hit, t, index);
                }
            }
        }
    }

    #[inline(always)]
    fn facet<L: Simd>(
        &mut self,
        rays: &Rays,
        groups: Range<usize>,
        rows: Range<usize>,
        facet: &Facet,
        index: u32,
    ) {
        let [e0, e1, e2] = facet.edges;
        let n = facet.normal;
        for row in rows {
            let dy = rays.y[row];
            let at_row = |e: glam::Vec3| e.y * dy + e.z;
            let (r0, r1, r2, rn) = (at_row(e0), at_row(e1), at_row(e2), at_row(n));
            for g in groups.clone() {
                let dx = L::read(group(&rays.x, g));
                let slope = dx * n.x + rn;
                // Neighbours must overlap by a hair: their shared edge is rounded twice.
                let hair = slope * -2e-5;
                let hit = L::both(
                    L::both(slope.above(L::splat(0.0)), (dx * e0.x + r0).reaches(hair)),
                    L::both((dx * e1.x + r1).reaches(hair), (dx * e2.x + r2).reaches(hair)),
                );
                if L::any(hit) {
                    let t = L::splat(facet.depth) / slope;
                    self.keep(row * (SIDE / LANES) + g, hit, t, index);
                }
            }
        }
    }
}
