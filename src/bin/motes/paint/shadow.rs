//! The sun's view of the content: an orthographic depth map of spheres and triangles, and how much
//! of the sun a point sees. All lengths in the map are in texels.

use super::content::Content;
use super::lens::Lens;
use super::raster::nearest_first;
use super::tiles::{Bins, Footprint, TILE, TILE_AREA, Tiles};
use super::{Picture, Sphere, Triangle};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// A surface must be this far [texels] behind the map to be in shadow; less leaves stripes on slopes.
const BIAS: f32 = 1.0;
/// Lookups start this far [texels] off the surface along its normal.
const LIFT: f32 = 1.6;
/// Width of the sun, as the half-width of a shadow's edge per distance from what casts it. A real
/// sun has 0.005; this is the large lamp of a studio.
const SUN_WIDTH: f32 = 0.05;
/// Widest half-width of a shadow's edge, in shares of the map's side.
const SOFT_REACH: f32 = 0.012;

/// The sun's depth map.
#[derive(Debug, Default)]
pub struct ShadowMap {
    tiles: Tiles,
    depth: Vec<f32>,
    discs: Vec<(Vec3, f32)>,
    facets: Vec<Facet>,
    footprints: Vec<Footprint>,
    bins: Bins,
    from_view: Placement,
}

/// World or view space to the map: texel (u, v) and depth, each `axis . p + start`.
#[derive(Clone, Copy, Debug, Default)]
struct Placement {
    axes: [Vec3; 3],
    start: Vec3,
    /// Texels per metre.
    scale: f32,
}

impl Placement {
    #[inline]
    fn point(&self, p: Vec3) -> Vec3 {
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

        self.depth.resize(tiles.count() * TILE_AREA, 0.0);
        let (discs, facets, footprints) = (&self.discs, &self.facets, &self.footprints);
        let mut first = 0;
        loop {
            let fresh = first == 0;
            first = self.bins.fill(&tiles, footprints, first);
            self.bins
                .per_tile()
                .into_par_iter()
                .zip(self.depth.par_chunks_mut(TILE_AREA))
                .enumerate()
                .for_each(|(tile, (keys, depth))| {
                    let origin = tiles.origin(tile);
                    if fresh {
                        depth.fill(f32::INFINITY);
                    }
                    nearest_first(keys, depth, |depth, index| {
                        let footprint = &footprints[index as usize];
                        match discs.get(index as usize) {
                            Some(&(c, radius)) => draw_disc(origin, depth, footprint, c, radius),
                            None => {
                                let facet = &facets[index as usize - discs.len()];
                                draw_facet(origin, depth, footprint, facet);
                            }
                        }
                    });
                });
            if first >= footprints.len() {
                break;
            }
        }
    }

    /// Forgets the map: everything is lit.
    pub fn clear(&mut self) {
        self.tiles = Tiles::default();
    }

    /// The share of the sun that reaches a point with a normal (view space), from 0 to 1: the mean
    /// of 4 x 4 texel tests, weighted so that it changes smoothly from texel to texel. `facing` is
    /// the cosine between normal and sun: grazing light needs more bias.
    #[inline]
    pub fn lit(&self, p: Vec3, normal: Vec3, facing: f32) -> f32 {
        let at = self.place(p, normal);
        let corner = at.truncate() - Vec2::splat(1.5);
        let limit = Vec2::new(self.tiles.width as f32, self.tiles.height as f32) - 4.0;
        if !(corner.cmpge(Vec2::ZERO).all() && corner.cmplt(limit).all()) {
            return 1.0;
        }
        let (x, y) = (corner.x as u32, corner.y as u32);
        let part = corner - Vec2::new(x as f32, y as f32);
        let depth = at.z - BIAS / facing.max(0.25);
        let column = |i: u32| self.tiles.column_index(x + i);
        let (a, b, c, d) = (column(0), column(1), column(2), column(3));
        let line = |j: u32| {
            let row = self.tiles.row_index(y + j);
            let open = |i: usize| (self.depth[row + i] >= depth) as u32 as f32;
            open(a) * (1.0 - part.x) + open(b) + open(c) + open(d) * part.x
        };
        (line(0) * (1.0 - part.y) + line(1) + line(2) + line(3) * part.y) / 9.0
    }

    /// As `lit`, with a sun that has a size: shadows are sharp where they start and soften with the
    /// distance to what casts them (Fernando 2005, percentage-closer soft shadows).
    pub fn lit_softly(&self, p: Vec3, normal: Vec3, taps: &[Vec2]) -> f32 {
        let at = self.place(p, normal);
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
            let i = self.tiles.row_index(q.y as u32) + self.tiles.column_index(q.x as u32);
            let limit = at.z - BIAS + slope.dot(step) - 0.1 * step.length();
            (self.depth[i] < limit).then_some(self.depth[i])
        };
        let reach = SOFT_REACH * size.max_element();
        let (mut count, mut sum) = (0.0, 0.0);
        for tap in taps {
            if let Some(depth) = covered_by(*tap * reach) {
                count += 1.0;
                sum += depth;
            }
        }
        if count == 0.0 {
            return 1.0;
        }
        let width = ((at.z - sum / count) * SUN_WIDTH).clamp(1.5, reach);
        let shut = taps.iter().filter(|tap| covered_by(**tap * width).is_some()).count();
        1.0 - shut as f32 / taps.len() as f32
    }

    /// A point of a surface in the map, lifted off it.
    #[inline]
    fn place(&self, p: Vec3, normal: Vec3) -> Vec3 {
        self.from_view.point(p + normal * (LIFT / self.from_view.scale.max(1e-30)))
    }
}

/// Places the map so that it holds the content's box, with a margin for the widest lookup.
fn fit(content: &Content, sun: Vec3, side: u32) -> (Placement, Tiles) {
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
        start: Vec3::new(MARGIN, MARGIN, 0.0) - low * scale,
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

fn draw_disc(origin: (u32, u32), depth: &mut [f32], footprint: &Footprint, c: Vec3, radius: f32) {
    let (columns, rows) = footprint.within(origin);
    let r_sq = radius * radius;
    for row in rows {
        let dy = (origin.1 + row) as f32 + 0.5 - c.y;
        let left = r_sq - dy * dy;
        let first = (row * TILE) as usize;
        let span = &mut depth[first + columns.start as usize..first + columns.end as usize];
        for (x, depth) in (origin.0 + columns.start..).zip(span) {
            let dx = x as f32 + 0.5 - c.x;
            let inside = left - dx * dx;
            if inside > 0.0 && footprint.near < *depth {
                *depth = depth.min(c.z - inside.sqrt());
            }
        }
    }
}

fn draw_facet(origin: (u32, u32), depth: &mut [f32], footprint: &Footprint, facet: &Facet) {
    let (columns, rows) = footprint.within(origin);
    let [w0, w1, w2] = facet.weights;
    for row in rows {
        for column in columns.clone() {
            let (x, y) = (origin.0 + column, origin.1 + row);
            let at = Vec3::new(x as f32 + 0.5, y as f32 + 0.5, 1.0);
            // An edge-on triangle has weights that are not numbers, and fails here.
            if w0.dot(at) >= 0.0 && w1.dot(at) >= 0.0 && w2.dot(at) >= 0.0 {
                let i = (row * TILE + column) as usize;
                depth[i] = depth[i].min(facet.depth.dot(at));
            }
        }
    }
}
