//! Finds the grid cell of each particle, and counts the particles of each slab of cells.
//! Cells are as wide as the largest reach of a pair, so 27 cells hold every candidate. The grid is
//! dense inside the bounds, and a hash of the cell where the bounds are unreasonably large. A slab
//! is a run of buckets that fits the cache; the sort goes by slab first and by bucket inside it.
//! Reads: points [x, y, z, reach] m, their extent. Writes: bucket of each particle, counts of each
//! slab by block of particles.
//! Order: integers, each block its own counts; deterministic.

use super::search::broad::{Broad, Extent};
use super::team::{Shared, Team};
use glam::{DVec3, IVec3, Vec3, Vec4};
use std::ops::Range;

/// Dense cells per particle beyond which the grid is hashed: memory stays proportional to the
/// number of particles however far one of them flies.
const DENSE_CELLS_PER_PARTICLE: usize = 8;
/// Particles a slab should hold.
const SLAB: usize = 4096;
/// Particles whose slabs are counted together.
pub(crate) const COUNTED: usize = 8192;

/// A uniform grid over the points.
#[derive(Default)]
pub(crate) struct Grid {
    /// Origin and cells a metre when dense.
    pub low: Vec4,
    pub per_metre: f32,
    /// Cells a metre when hashed, from the origin of the world.
    per_metre_hashed: f64,
    /// Cells along each axis when dense, with an empty one at both ends.
    pub counts: IVec3,
    /// Buckets less one when hashed (a power of two), else `None`.
    pub hash_mask: Option<u32>,
    /// Buckets of a slab, as a power of two.
    pub slab_bits: u32,
    pub slabs: usize,
    /// Bucket of each particle, by slot.
    pub bucket: Vec<u32>,
    /// By block of particles: how many are in each slab; after the scan where they go.
    pub slab_next: Vec<u32>,
    /// First particle of each slab, and the end; empty until the scan.
    pub slab_start: Vec<u32>,
    /// (bucket, slot) in order of slab.
    pub by_slab: Vec<[u32; 2]>,
    /// First sorted particle of each bucket, and the end.
    pub start: Vec<u32>,
}

impl Grid {
    /// Lays the grid over the points with cells of at least the largest reach of a pair.
    pub fn lay(&mut self, extent: &Extent, particle_count: usize) {
        let (reach, size) = (2.0 * f64::from(extent.largest), extent.size());
        // Wider by a hair, so that rounding never hides a pair at the full reach: a dense cell is
        // found in f32, with an error of 1.2e-7 of its number, a hashed one in f64.
        self.per_metre_hashed = 1.0 / (reach * 1.0001);
        let per_metre = 1.0 / (reach * (1.000_001 + 4e-7 * (size / reach).max_element()));
        let cells = (size * per_metre).floor() + 3.0;
        let most = (particle_count * DENSE_CELLS_PER_PARTICLE + 4096).min(u32::MAX as usize) as f64;
        let buckets = if cells.x * cells.y * cells.z <= most {
            self.low = extent.low.extend(0.0);
            self.per_metre = per_metre as f32;
            self.counts = cells.as_ivec3();
            self.hash_mask = None;
            (cells.x * cells.y * cells.z) as usize
        } else {
            let buckets = (2 * particle_count).next_power_of_two().max(64);
            self.hash_mask = Some((buckets - 1) as u32);
            buckets
        };
        self.start.resize(buckets + 1, 0);
        let slabs = particle_count.div_ceil(SLAB).clamp(1, 1024);
        self.slab_bits = buckets.div_ceil(slabs).next_power_of_two().trailing_zeros();
        self.slabs = buckets.div_ceil(1 << self.slab_bits);
    }

    /// The bucket of a point in a dense grid. What lies outside the bounds (nothing finite does)
    /// goes to the cells at the border: the distance test sorts it out.
    #[inline(always)]
    fn dense_bucket(&self, point: Vec4) -> u32 {
        let cell = ((point - self.low) * self.per_metre).truncate().as_ivec3();
        let c = (cell.clamp(IVec3::ZERO, self.counts - 3) + 1).as_uvec3();
        let n = self.counts.as_uvec3();
        (c.z * n.y + c.y) * n.x + c.x
    }

    /// The cell of a point in a hashed grid. In f64 the products are exact enough that two points
    /// within reach are never more than one cell apart, however far from the origin they lie.
    /// Cells beyond 2^30 are one: the distance test sorts it out.
    #[inline]
    pub fn hashed_cell(&self, at: Vec3) -> IVec3 {
        let cell = floor(at.as_dvec3() * self.per_metre_hashed);
        cell.clamp(IVec3::splat(-(1 << 30)), IVec3::splat(1 << 30))
    }

    /// The bucket of a cell in a hashed grid.
    #[inline]
    fn hashed_bucket(&self, cell: IVec3) -> u32 {
        let c = cell.as_uvec3();
        let mixed = c.x.wrapping_mul(0x8da6_b343)
            ^ c.y.wrapping_mul(0xd816_3841)
            ^ c.z.wrapping_mul(0xcb1a_b31f);
        (mixed ^ (mixed >> 15)) & self.hash_mask.unwrap_or(0)
    }

    /// The sorted particles of a cell's bucket in a hashed grid.
    #[inline]
    pub fn hashed_run(&self, cell: IVec3) -> Range<usize> {
        let b = self.hashed_bucket(cell) as usize;
        self.start[b] as usize..self.start[b + 1] as usize
    }

    /// The sorted particles around some buckets in a row of a dense grid: nine rows, each of the
    /// cells beside them and one more at both ends, which lie side by side. Only buckets with
    /// particles have neighbours on all sides. At most [`Grid::longest_row`] at a time.
    #[inline(always)]
    pub fn rows(&self, buckets: Range<usize>) -> [Range<usize>; 9] {
        let (nx, ny) = (self.counts.x as usize, self.counts.y as usize);
        let mut rows = [const { 0..0 }; 9];
        for (k, run) in rows.iter_mut().enumerate() {
            // Below the middle by one layer and one row, then up.
            let row = buckets.start + (k / 3) * nx * ny + (k % 3) * nx - nx * ny - nx;
            let end = (row + buckets.len() + 1).min(self.start.len() - 1);
            *run = self.start[row - 1] as usize..self.start[end] as usize;
        }
        rows
    }

    /// Most buckets that [`Grid::rows`] can take without a cell in two of its rows.
    pub fn longest_row(&self) -> usize {
        self.counts.x as usize - 2
    }
    /// Different cells may share a bucket only when hashed.
    pub fn is_hashed(&self) -> bool {
        self.hash_mask.is_some()
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        4 * (self.bucket.capacity() + 2 * self.by_slab.capacity() + self.start.capacity())
    }
}

/// Rounds down. The portable x86-64 has no instruction for it, and a call per axis would be the
/// dearest part of the count.
#[inline]
fn floor(v: DVec3) -> IVec3 {
    let down = |v: f64| {
        let cut = v as i32;
        cut.saturating_sub(i32::from(f64::from(cut) > v))
    };
    IVec3::new(down(v.x), down(v.y), down(v.z))
}

pub(crate) fn run(team: &Team, broad: &mut Broad) {
    let Broad { points, extent, grid, .. } = broad;
    grid.lay(extent, points.len());
    grid.slab_start.clear();
    let mut bucket = std::mem::take(&mut grid.bucket);
    let mut counts = std::mem::take(&mut grid.slab_next);
    bucket.resize(points.len(), 0);
    counts.clear();
    counts.resize(points.len().div_ceil(COUNTED) * grid.slabs, 0);
    let (laid, all_counts) = (&*grid, Shared::new(&mut counts));
    team.rows((Shared::new(&mut bucket), &points[..]), COUNTED, |range, (bucket, points)| {
        let first = range.start / COUNTED * laid.slabs;
        // SAFETY: each block has its own counts.
        let counts = unsafe { all_counts.slice(first..first + laid.slabs) };
        if laid.is_hashed() {
            for (bucket, point) in bucket.iter_mut().zip(points) {
                *bucket = laid.hashed_bucket(laid.hashed_cell(point.truncate()));
            }
        } else {
            for (bucket, point) in bucket.iter_mut().zip(points) {
                *bucket = laid.dense_bucket(*point);
            }
        }
        for bucket in bucket {
            counts[(*bucket >> laid.slab_bits) as usize] += 1;
        }
    });
    (grid.bucket, grid.slab_next) = (bucket, counts);
}
