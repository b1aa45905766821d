//! The sun's view of the content: an orthographic depth map of spheres and triangles. All lengths in
//! the map are in texels.

use super::content::Content;
use super::front::Front;
use super::lens::Lens;
use super::tiles::{Bins, Footprint, Order, SIDE, TILE, TILE_AREA, Tiles};
use super::{Picture, Sphere, Triangle};
use glam::{Vec2, Vec3};
use motes::simd::{self, Kernel, LANES, Simd, group_mut};
use rayon::prelude::*;
use std::ops::Range;

/// The sun's depth map.
#[derive(Debug, Default)]
pub struct ShadowMap {
    pub(super) tiles: Tiles,
    /// Row after row, `stride` texels each, so that four texels of a row lie side by side.
    pub(super) depth: Vec<f32>,
    pub(super) stride: usize,
    discs: Vec<(Vec3, f32)>,
    facets: Vec<Facet>,
    footprints: Vec<Footprint>,
    bins: Bins,
    pub(super) from_view: Placement,
}

/// World or view space to the map: texel (u, v) and depth, each `axis . p + start`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placement {
    pub axes: [Vec3; 3],
    pub start: Vec3,
    /// Texels per metre.
    pub scale: f32,
}

impl Placement {
    #[inline]
    pub fn point(&self, p: Vec3) -> Vec3 {
        let [u, v, w] = self.axes;
        Vec3::new(u.dot(p), v.dot(p), w.dot(p)) + self.start
    }
}

/// A triangle in the map: weights of the corners and depth, each affine in (u, v).
#[derive(Clone, Copy, Debug)]
struct Facet {
    weights: [Vec3; 3],
    depth: Vec3,
}

/// What throws shadows: footprints of all discs, then of all facets.
#[derive(Clone, Copy)]
struct Solids<'a> {
    discs: &'a [(Vec3, f32)],
    facets: &'a [Facet],
    footprints: &'a [Footprint],
}

impl ShadowMap {
    /// Draws the map with `side` texels along its longer side.
    pub fn draw(
        &mut self,
        picture: &Picture,
        content: &Content,
        sun: Vec3,
        lens: &Lens,
        side: u32,
    ) {
        let (place, tiles) = fit(content, sun, side);
        self.tiles = tiles;
        self.from_view = Placement {
            axes: place.axes.map(|axis| lens.direction(axis)),
            start: place.point(lens.eye),
            scale: place.scale,
        };

        picture.spheres.par_iter().map(|s| disc(&place, s)).collect_into_vec(&mut self.discs);
        picture.triangles.par_iter().map(|t| facet(&place, t)).collect_into_vec(&mut self.facets);
        self.footprints.clear();
        self.footprints.par_extend(self.discs.par_iter().map(|&(center, radius)| {
            let reach = Vec2::splat(radius);
            cover(&tiles, center.truncate() - reach, center.truncate() + reach, center.z - radius)
        }));
        self.footprints.par_extend(picture.triangles.par_iter().map(|t| {
            let p = t.p.map(|p| place.point(p));
            let low = p[0].min(p[1]).min(p[2]);
            let high = p[0].max(p[1]).max(p[2]);
            cover(&tiles, low.truncate(), high.truncate(), low.z)
        }));

        self.stride = tiles.columns as usize * SIDE;
        self.depth.resize(tiles.count() * TILE_AREA, f32::INFINITY);
        let map = Solids { discs: &self.discs, facets: &self.facets, footprints: &self.footprints };
        let stride = self.stride;
        let mut first = 0;
        loop {
            let fresh = first == 0;
            first = self.bins.fill(&tiles, map.footprints, first);
            let order = self.bins.order;
            // A worker takes a row of tiles, because that is one contiguous piece of the map.
            self.bins
                .per_tile()
                .par_chunks(tiles.columns as usize)
                .zip(self.depth.par_chunks_exact_mut(stride * SIDE))
                .enumerate()
                .with_max_len(1)
                .for_each(|(row, (keys, band))| {
                    for (column, keys) in keys.iter().enumerate() {
                        let origin = ((column * SIDE) as u32, (row * SIDE) as u32);
                        let band = &mut band[column * SIDE..];
                        if fresh {
                            let rows = band.chunks_mut(stride).take(SIDE);
                            rows.for_each(|row| row[..SIDE].fill(f32::INFINITY));
                        }
                        if !keys.is_empty() {
                            simd::fastest(Fill { map, origin, keys, order, band, stride });
                        }
                    }
                });
            if first >= map.footprints.len() {
                break;
            }
        }
    }

    /// Forgets the map: everything is lit.
    pub fn clear(&mut self) {
        self.tiles = Tiles::default();
    }
}

/// Places the map so that it holds the content's box, with a margin for the widest lookup.
pub(super) fn fit(content: &Content, sun: Vec3, side: u32) -> (Placement, Tiles) {
    const MARGIN: f32 = 6.0;
    let down = -sun;
    let (u, v) = down.any_orthonormal_pair();
    let mut low = Vec3::INFINITY;
    let mut high = Vec3::NEG_INFINITY;
    for corner in 0..8 {
        let pick = |bit: u32| if corner >> bit & 1 == 0 { content.min } else { content.max };
        let p = Vec3::new(pick(0).x, pick(1).y, pick(2).z);
        let q = Vec3::new(u.dot(p), v.dot(p), down.dot(p));
        low = low.min(q);
        high = high.max(q);
    }
    let extent = (high - low).max(Vec3::splat(1e-6));
    let side = side.max(TILE) as f32;
    let scale = (side - 2.0 * MARGIN) / extent.x.max(extent.y);
    let place = Placement {
        axes: [u * scale, v * scale, down * scale],
        // Depths start at the map's side: then they all have about the same number of digits.
        start: Vec3::new(MARGIN, MARGIN, side) - low * scale,
        scale,
    };
    let texels = |length: f32| ((length * scale + 2.0 * MARGIN).ceil().min(side)) as u32;
    (place, Tiles::new(texels(extent.x), texels(extent.y)))
}

fn cover(tiles: &Tiles, low: Vec2, high: Vec2, near: f32) -> Footprint {
    if !(low.is_finite() && high.is_finite() && near.is_finite()) {
        return Footprint::NOTHING;
    }
    Footprint::new(low, high, near.max(0.0), tiles.width, tiles.height)
}

fn disc(place: &Placement, sphere: &Sphere) -> (Vec3, f32) {
    // A sphere smaller than a texel still has to hit one middle.
    let drawable = sphere.radius > 0.0 && sphere.radius.is_finite();
    let radius = if drawable { (sphere.radius * place.scale).max(0.71) } else { f32::NAN };
    (place.point(sphere.center), radius)
}

fn facet(place: &Placement, triangle: &Triangle) -> Facet {
    let p = triangle.p.map(|p| place.point(p));
    let area = (p[1] - p[0]).truncate().perp_dot((p[2] - p[0]).truncate());
    let weight = |a: Vec3, b: Vec3| {
        let edge = (b - a).truncate() / area;
        Vec3::new(-edge.y, edge.x, edge.y * a.x - edge.x * a.y)
    };
    let weights = [weight(p[1], p[2]), weight(p[2], p[0]), weight(p[0], p[1])];
    let depth = weights[0] * p[0].z + weights[1] * p[1].z + weights[2] * p[2].z;
    Facet { weights, depth }
}

/// Draws a tile of the map: `band` starts at its first texel and has `stride` texels a row.
struct Fill<'a> {
    map: Solids<'a>,
    origin: (u32, u32),
    keys: &'a [u64],
    order: Order,
    band: &'a mut [f32],
    stride: usize,
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Fill { map, origin, keys, order, band, stride } = self;
        let mut depth = [0.0; TILE_AREA];
        for (tile, band) in depth.as_chunks_mut::<SIDE>().0.iter_mut().zip(band.chunks(stride)) {
            tile.copy_from_slice(&band[..SIDE]);
        }
        let mut front = Front::new(keys, order);
        while let Some(index) = front.next::<L>(&depth) {
            let footprint = &map.footprints[index as usize];
            let (columns, rows) = footprint.within(origin);
            if front.hides(&columns, &rows, footprint.near) {
                continue;
            }
            let groups = simd::groups(&columns);
            match map.discs.get(index as usize) {
                Some(&disc) => draw_disc::<L>(origin, &mut depth, groups, rows, disc),
                None => {
                    let facet = &map.facets[index as usize - map.discs.len()];
                    draw_facet::<L>(origin, &mut depth, groups, rows, facet);
                }
            }
            front.drew();
        }
        for (tile, band) in depth.as_chunks::<SIDE>().0.iter().zip(band.chunks_mut(stride)) {
            band[..SIDE].copy_from_slice(tile);
        }
    }
}

/// 0 to 7, one in each lane.
#[inline(always)]
fn counting<L: Simd>() -> L {
    L::read(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
}

#[inline(always)]
fn draw_disc<L: Simd>(
    origin: (u32, u32),
    depth: &mut [f32; TILE_AREA],
    groups: Range<usize>,
    rows: Range<usize>,
    (c, radius): (Vec3, f32),
) {
    let r_sq = radius * radius;
    let left = counting::<L>() + (origin.0 as f32 + 0.5 - c.x);
    let top = origin.1 as f32 + 0.5 - c.y;
    for row in rows {
        let dy = top + row as f32;
        let rest = L::splat(r_sq - dy * dy);
        for g in groups.clone() {
            let dx = left + (g * LANES) as f32;
            let depth = group_mut(depth, row * (SIDE / LANES) + g);
            let inside = rest - dx * dx;
            let old = L::read(depth);
            // Most discs of a pile are hidden; those need no roots.
            let open = L::both(inside.above(L::splat(0.0)), old.above(L::splat(c.z - radius)));
            if L::any(open) {
                let z = L::splat(c.z) - inside.max(L::splat(0.0)).sqrt();
                L::select(L::both(open, old.above(z)), z, old).write(depth);
            }
        }
    }
}

#[inline(always)]
fn draw_facet<L: Simd>(
    origin: (u32, u32),
    depth: &mut [f32; TILE_AREA],
    groups: Range<usize>,
    rows: Range<usize>,
    facet: &Facet,
) {
    let [w0, w1, w2] = facet.weights;
    let left = counting::<L>() + (origin.0 as f32 + 0.5);
    let zero = L::splat(0.0);
    for row in rows {
        let y = (origin.1 as usize + row) as f32 + 0.5;
        let at_row = |w: Vec3| w.y * y + w.z;
        let (r0, r1, r2, rz) = (at_row(w0), at_row(w1), at_row(w2), at_row(facet.depth));
        for g in groups.clone() {
            let x = left + (g * LANES) as f32;
            let depth = group_mut(depth, row * (SIDE / LANES) + g);
            // An edge-on triangle has weights that are not numbers, and fails here.
            let hit = L::both(
                L::both((x * w0.x + r0).reaches(zero), (x * w1.x + r1).reaches(zero)),
                (x * w2.x + r2).reaches(zero),
            );
            let (z, old) = (x * facet.depth.x + rz, L::read(depth));
            L::select(L::both(hit, old.above(z)), z, old).write(depth);
        }
    }
}
