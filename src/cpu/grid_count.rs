//! Counts the particles of each grid cell.
//! Cells are as wide as the largest reach of a pair, so 27 cells hold every candidate. The grid is
//! dense inside the bounds, and a hash of the cell where the bounds are unreasonably large.
//! Reads: list reference [m], radius [m], bounds. Writes: cell of each particle, counts.
//! Order: integers, exact in any order.

use super::Scratch;
use super::team::{BLOCK, Shared, Team};
use crate::world::World;
use glam::{DVec3, IVec3, Vec3, Vec4};

/// Dense cells per particle beyond which the grid is hashed: memory stays proportional to the
/// number of particles however far one of them flies.
const DENSE_CELLS_PER_PARTICLE: usize = 8;

/// A uniform grid over the particles of the lists.
#[derive(Default)]
pub(crate) struct Grid {
    low: DVec3,
    inv_cell: f64,
    /// Cells along each axis when dense.
    counts: IVec3,
    /// Buckets less one when hashed (a power of two), else `None`.
    hash_mask: Option<u32>,
    /// Bucket of each particle, by slot.
    pub bucket: Vec<u32>,
    /// First sorted particle of each bucket, and the end.
    pub start: Vec<u32>,
    /// [x, y, z, radius] in order of bucket.
    pub sorted: Vec<Vec4>,
    /// Their slots.
    pub sorted_slot: Vec<u32>,
}

impl Grid {
    /// Lays the grid over `bounds` with cells of at least `reach`.
    fn lay(&mut self, bounds: [Vec3; 2], reach: f32, particle_count: usize) {
        let [low, high] = bounds.map(|b| b.as_dvec3());
        // Wider by a hair, so that rounding never hides a pair at the full reach.
        self.inv_cell = 1.0 / (f64::from(reach) * 1.0001);
        let cells = ((high - low) * self.inv_cell).floor() + 1.0;
        let most = (particle_count * DENSE_CELLS_PER_PARTICLE + 4096) as f64;
        let buckets = if cells.x * cells.y * cells.z <= most {
            self.low = low;
            self.counts = cells.as_ivec3();
            self.hash_mask = None;
            (cells.x * cells.y * cells.z) as usize
        } else {
            let buckets = (2 * particle_count).next_power_of_two().max(64);
            self.low = DVec3::ZERO;
            self.hash_mask = Some(buckets as u32 - 1);
            buckets
        };
        self.start.clear();
        self.start.resize(buckets + 1, 0);
    }

    /// The cell of a point. In f64 the products are exact, so two points within reach are never
    /// more than one cell apart, however far from the origin they lie. Cells beyond 2^30 are one:
    /// the distance test sorts them out.
    #[inline]
    pub fn cell(&self, at: Vec3) -> IVec3 {
        let cell = floor((at.as_dvec3() - self.low) * self.inv_cell);
        match self.hash_mask {
            None => cell.clamp(IVec3::ZERO, self.counts - 1),
            Some(_) => cell.clamp(IVec3::splat(-(1 << 30)), IVec3::splat(1 << 30)),
        }
    }

    /// The bucket of a cell, or `None` outside a dense grid.
    #[inline]
    pub fn bucket_of(&self, cell: IVec3) -> Option<u32> {
        match self.hash_mask {
            None => {
                let n = self.counts;
                let inside = cell.cmpge(IVec3::ZERO).all() && cell.cmplt(n).all();
                inside.then(|| {
                    let (c, n) = (cell.as_i64vec3(), n.as_i64vec3());
                    ((c.z * n.y + c.y) * n.x + c.x) as u32
                })
            }
            Some(mask) => {
                let c = cell.as_uvec3();
                let mixed = c.x.wrapping_mul(0x8da6_b343)
                    ^ c.y.wrapping_mul(0xd816_3841)
                    ^ c.z.wrapping_mul(0xcb1a_b31f);
                Some((mixed ^ (mixed >> 15)) & mask)
            }
        }
    }

    /// The sorted particles of the cells x - 1 to x + 1 in the row of `cell`, which lie side by side
    /// in a dense grid.
    #[inline]
    pub fn row_of_three(&self, cell: IVec3) -> std::ops::Range<usize> {
        let n = self.counts;
        if cell.y < 0 || cell.y >= n.y || cell.z < 0 || cell.z >= n.z {
            return 0..0;
        }
        let row = (cell.z as usize * n.y as usize + cell.y as usize) * n.x as usize;
        let (first, last) = ((cell.x - 1).max(0) as usize, (cell.x + 1).min(n.x - 1) as usize);
        self.start[row + first] as usize..self.start[row + last + 1] as usize
    }

    /// Different cells may share a bucket only when hashed.
    pub fn is_hashed(&self) -> bool {
        self.hash_mask.is_some()
    }
}

/// Rounds down. The portable x86-64 has no instruction for it, and a call per axis would be the
/// dearest part of a query.
#[inline]
fn floor(v: DVec3) -> IVec3 {
    let down = |v: f64| {
        let cut = v as i32;
        cut.saturating_sub(i32::from(f64::from(cut) > v))
    };
    IVec3::new(down(v.x), down(v.y), down(v.z))
}

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let p = &world.particles;
    let grid = &mut scratch.grid;
    let largest = p.radius.iter().fold(0.0f32, |a, &b| a.max(b));
    grid.lay(scratch.bounds, 2.0 * largest * world.params.margin, p.len());
    let mut bucket = std::mem::take(&mut grid.bucket);
    bucket.resize(p.len(), 0);
    let rows = (Shared::new(&mut bucket), &world.list_reference[..]);
    let laid = &*grid;
    team.rows(rows, BLOCK, |_, (bucket, at)| {
        for (bucket, at) in bucket.iter_mut().zip(at) {
            *bucket = laid.bucket_of(laid.cell(at.truncate())).unwrap_or(0);
        }
    });
    for &b in &bucket {
        grid.start[b as usize + 1] += 1;
    }
    grid.bucket = bucket;
}
