//! Particles by tile: cubes some particles wide, in 27 colours.
//!
//! A tile's colour is its place modulo three along each axis, so two tiles of a colour have two
//! others between them: what reaches no further than the tiles around its own can be worked on in
//! all tiles of a colour at once. A tile's particles and their rows fit the first cache.

use crate::cpu::grid_count::COUNTED;
use crate::cpu::search::broad::Extent;
use crate::cpu::team::{Shared, Team};
use glam::{IVec3, Vec4};

/// Sides of a tile, in mean reaches of a pair: some 200 particles of a pile, three microseconds of
/// contacts. From 4 to 9 a sweep takes the same within a tenth; larger ones leave fewer tiles of a
/// colour for workers to share.
const SIDE: f32 = 5.0;
/// Tiles per axis, so that a coordinate in tiles is exact in f32.
const FARTHEST: i32 = 1 << 20;
pub(crate) const COLORS: usize = 27;

/// Which tile each particle is in, and who is in each tile.
#[derive(Default)]
pub(crate) struct Tiles {
    pub low: Vec4,
    pub per_metre: f32,
    /// Tiles along each axis, multiples of three. Space wraps around, which keeps colours and lets
    /// one particle fly far.
    pub counts: IVec3,
    /// Tile of each particle, by slot.
    pub tile: Vec<u32>,
    /// Slots in order of tile, ties in order of slot.
    pub order: Vec<u32>,
    /// Members of each tile that has any, as ranges of `order`.
    members: Vec<(u32, u32)>,
    /// Those tiles by colour.
    by_color: [Vec<u32>; COLORS],
    /// By block of particles: how many are in each tile, then where they go.
    next: Vec<u32>,
}

impl Tiles {
    /// Lays tiles over points [x, y, z, reach] and sorts the particles into them.
    pub fn fill(&mut self, team: &Team, points: &[Vec4], extent: &Extent) {
        self.lay(extent, points.len());
        let tiles = self.counts.element_product() as usize;
        let (mut tile, mut next) = (std::mem::take(&mut self.tile), std::mem::take(&mut self.next));
        tile.resize(points.len(), 0);
        next.clear();
        next.resize(points.len().div_ceil(COUNTED) * tiles, 0);
        let (laid, all_next) = (&*self, Shared::new(&mut next));
        team.rows((Shared::new(&mut tile), points), COUNTED, |range, (tile, points)| {
            let first = range.start / COUNTED * tiles;
            // SAFETY: each block has its own counts.
            let counts = unsafe { all_next.slice(first..first + tiles) };
            for (tile, point) in tile.iter_mut().zip(points) {
                *tile = laid.number(laid.place(*point));
                counts[*tile as usize] += 1;
            }
        });
        self.scan(&mut next, tiles);
        self.order.resize(points.len(), 0);
        let (order, all_next) = (Shared::new(&mut self.order), Shared::new(&mut next));
        team.rows(&tile[..], COUNTED, |range, tile| {
            let first = range.start / COUNTED * tiles;
            // SAFETY: each block has its own places.
            let next = unsafe { all_next.slice(first..first + tiles) };
            for (slot, &tile) in range.zip(tile) {
                let place = &mut next[tile as usize];
                // SAFETY: the scan gave every particle a place of its own.
                unsafe { *order.at(*place as usize) = slot as u32 };
                *place += 1;
            }
        });
        (self.tile, self.next) = (tile, next);
    }

    /// Side of a tile for a mean reach, m.
    pub fn side(mean_reach: f64) -> f64 {
        f64::from(SIDE) * 2.0 * mean_reach
    }

    /// Lays tiles over points without sorting anything into them.
    pub fn lay(&mut self, extent: &Extent, count: usize) {
        let side = Self::side(extent.sum / count.max(1) as f64);
        self.low = extent.low.extend(0.0);
        self.per_metre = (1.0 / side) as f32;
        // Far fewer tiles than particles.
        let most = ((count as f64 / 8.0).cbrt() as i32 / 3 * 3).max(3);
        let tiles = (extent.size() / side).min(glam::DVec3::splat(1e6)).as_ivec3() + 1;
        let wanted = (tiles + 2) / 3 * 3;
        let fits = wanted.as_i64vec3().element_product() <= i64::from(most).pow(3);
        self.counts = if fits { wanted } else { wanted.min(IVec3::splat(most)) };
    }

    /// The tile a point is in, before space wraps around. Not finite: the first.
    #[inline(always)]
    fn place(&self, point: Vec4) -> IVec3 {
        let place = ((point - self.low) * self.per_metre).truncate().as_ivec3();
        place.clamp(IVec3::ZERO, IVec3::splat(FARTHEST))
    }

    #[inline(always)]
    fn number(&self, place: IVec3) -> u32 {
        let at = place % self.counts;
        ((at.z * self.counts.y + at.y) * self.counts.x + at.x) as u32
    }

    /// Turns the counts into places, and lists the tiles that have members.
    fn scan(&mut self, next: &mut [u32], tiles: usize) {
        let Tiles { counts, members, by_color, .. } = self;
        members.clear();
        by_color.iter_mut().for_each(Vec::clear);
        let n = counts.as_uvec3();
        let mut sum = 0;
        for number in 0..tiles {
            let first = sum;
            for next in next.iter_mut().skip(number).step_by(tiles) {
                sum += std::mem::replace(next, sum);
            }
            if sum > first {
                let number = number as u32;
                let (x, y, z) = (number % n.x, number / n.x % n.y, number / n.x / n.y);
                let color = (z % 3 * 3 + y % 3) * 3 + x % 3;
                by_color[color as usize].push(members.len() as u32);
                members.push((first, sum));
            }
        }
    }

    /// How many tiles have particles.
    pub fn len(&self) -> usize {
        self.members.len()
    }
    /// The particles of a tile.
    pub fn members(&self, tile: usize) -> &[u32] {
        let (first, end) = self.members[tile];
        &self.order[first as usize..end as usize]
    }
    /// Where the particles of a tile stand in the order: the first, and the end.
    #[cfg(feature = "vulkan")]
    pub fn range(&self, tile: usize) -> (u32, u32) {
        self.members[tile]
    }
    /// The tiles of a colour.
    pub fn of_color(&self, color: usize) -> &[u32] {
        &self.by_color[color]
    }
    /// Whether every pair within reach lies in one tile or in two that touch, whatever the
    /// rounding. Else [`Tiles::touch`] must be asked.
    pub fn hold_every_pair(&self, extent: &Extent) -> bool {
        // A place is off by less than an eighth, see FARTHEST.
        2.0 * extent.largest * self.per_metre < 0.8
    }
    /// Whether two points lie in one tile or in two that touch.
    pub fn touch(&self, a: Vec4, b: Vec4) -> bool {
        (self.place(a) - self.place(b)).abs().max_element() <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::search::broad::Broad;
    use std::collections::HashMap;

    fn tiles_of(points: &[Vec4]) -> (Tiles, Extent) {
        let team = Team::new(2).unwrap();
        let mut broad = Broad::default();
        broad.load(&team, points.len(), |i| points[i]);
        let mut tiles = Tiles::default();
        tiles.fill(&team, points, &broad.extent);
        (tiles, broad.extent)
    }

    fn block(side: usize) -> Vec<Vec4> {
        let at = |k: usize| k as f32 * 0.02;
        (0..side.pow(3))
            .map(|k| Vec4::new(at(k % side), at(k / side % side), at(k / side / side), 0.012))
            .collect()
    }

    #[test]
    fn every_particle_is_in_one_tile() {
        for mut points in [vec![], vec![Vec4::splat(f32::NAN)], block(1), block(20)] {
            if let Some(first) = points.first_mut() {
                *first = Vec4::new(1e7, -1e7, 0.0, 0.012);
            }
            let (tiles, _) = tiles_of(&points);
            let mut seen: Vec<u32> =
                (0..tiles.len()).flat_map(|t| tiles.members(t)).copied().collect();
            seen.sort();
            assert!(seen.into_iter().eq(0..points.len() as u32));
            let mut colored: Vec<u32> =
                (0..COLORS).flat_map(|c| tiles.of_color(c)).copied().collect();
            colored.sort();
            assert!(colored.into_iter().eq(0..tiles.len() as u32));
        }
    }

    /// The promise that lets tiles of a colour be worked on at once.
    #[test]
    fn tiles_of_a_color_have_no_neighbor_in_common() {
        for far in [None, Some(Vec4::new(500.0, 500.0, 500.0, 0.012))] {
            let mut points = block(24);
            points.extend(far);
            let (tiles, extent) = tiles_of(&points);
            assert!(tiles.hold_every_pair(&extent));
            let near = |a: Vec4, b: Vec4| (a - b).truncate().length() <= a.w + b.w;
            for color in 0..COLORS {
                // Who may be moved by which tile.
                let mut owner = HashMap::new();
                for &tile in tiles.of_color(color) {
                    for &a in tiles.members(tile as usize) {
                        for (b, point) in points.iter().enumerate() {
                            if near(points[a as usize], *point) {
                                assert!(tiles.touch(points[a as usize], *point));
                                assert_eq!(*owner.entry(b).or_insert(tile), tile);
                            }
                        }
                    }
                }
            }
            assert!(tiles.len() > 27, "{}", tiles.len());
        }
    }
}
