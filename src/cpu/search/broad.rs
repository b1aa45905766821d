//! What the passes of the broad phase hand to each other, whoever asked for neighbours.
//!
//! Each particle has a reach; two are neighbours when |a - b| <= reach a + reach b. Contacts reach
//! margin x radius, smoothing kernels half their length: the structures need not know which.

use super::candidates::Candidates;
use super::lists::{Desk, Lists};
use super::sorted::Sorted;
use crate::cpu::bvh_build::Bvh;
use crate::cpu::grid_count::Grid;
use crate::cpu::octree_build::Octree;
use crate::cpu::radix_count::Radix;
use crate::cpu::team::{BLOCK, Shared, Team};
use crate::cpu::{
    bvh_boxes, bvh_build, find_neighbors_brute, find_neighbors_bvh, find_neighbors_grid,
    find_neighbors_octree, grid_count, grid_scan, grid_sort, morton_codes, octree_build,
    radix_count, radix_scan, radix_scatter,
};
use crate::error::Result;
use crate::simd::{Kernel, Simd};
use crate::step::{Dispatch, Part, Pass};
use crate::world::Params;
use glam::{DVec3, Vec3, Vec4};
use std::ops::Range;

/// Points and the structures over them.
#[derive(Default)]
pub(crate) struct Broad {
    /// [x, y, z, reach] by slot.
    pub points: Vec<Vec4>,
    pub extent: Extent,
    pub sorted: Sorted,
    pub grid: Grid,
    pub radix: Radix,
    pub octree: Octree,
    pub bvh: Bvh,
    extents: Vec<Extent>,
}

/// Box around the finite points, the least and the largest reach, and the sum of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub low: Vec3,
    pub high: Vec3,
    pub least: f32,
    pub largest: f32,
    pub sum: f64,
}

impl Default for Extent {
    fn default() -> Self {
        Extent { low: Vec3::MAX, high: Vec3::MIN, least: f32::MAX, largest: 0.0, sum: 0.0 }
    }
}

impl Extent {
    fn add(&mut self, point: Vec4) {
        let at = point.truncate();
        if at.is_finite() {
            self.low = self.low.min(at);
            self.high = self.high.max(at);
        }
        self.least = self.least.min(point.w);
        self.largest = self.largest.max(point.w);
        self.sum += f64::from(point.w);
    }
    fn join(&mut self, other: &Extent) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
        self.sum += other.sum;
    }
    /// Sides of the box, m; 0 when there is no finite point.
    pub fn size(&self) -> DVec3 {
        (self.high.as_dvec3() - self.low.as_dvec3()).max(DVec3::ZERO)
    }
    /// Everything reaches equally far.
    pub fn is_equal(&self) -> bool {
        self.least == self.largest
    }
}

impl Broad {
    /// Runs a pass that builds a structure over the points. `phase` is empty or one a point.
    pub fn build(&mut self, team: &Team, dispatch: &Dispatch, params: &Params, phase: &[u32]) {
        match (dispatch.pass, dispatch.part) {
            (Pass::GridCount, _) => grid_count::run(team, self),
            (Pass::GridScan, _) => grid_scan::run(self),
            (Pass::GridSort, _) => grid_sort::run(team, self),
            (Pass::MortonCodes, _) => morton_codes::run(team, self),
            (Pass::RadixCount, Part::Digit(digit)) => radix_count::run(team, self, digit),
            (Pass::RadixScan, _) => radix_scan::run(self),
            (Pass::RadixScatter, Part::Digit(digit)) => radix_scatter::run(team, self, digit),
            (Pass::OctreeBuild, _) => octree_build::run(team, self, params),
            (Pass::BvhBuild, _) => bvh_build::run(team, self),
            (Pass::BvhBoxes, _) => bvh_boxes::run(team, self, params, phase),
            _ => unreachable!("{dispatch} builds no structure"),
        }
    }

    /// Runs a pass that makes lists through the structure.
    pub fn find<A: Accept>(
        &self,
        team: &Team,
        pass: Pass,
        params: &Params,
        accept: &A,
        lists: &mut Lists<A::Entry, SearchTools>,
    ) -> Result<()> {
        match pass {
            Pass::FindNeighborsGrid => find_neighbors_grid::run(team, self, accept, lists),
            Pass::FindNeighborsOctree => find_neighbors_octree::run(team, self, accept, lists),
            Pass::FindNeighborsBvh => find_neighbors_bvh::run(team, self, params, accept, lists),
            Pass::FindNeighborsBrute => find_neighbors_brute::run(team, self, accept, lists),
            other => unreachable!("{} finds no neighbours", other.name()),
        }
    }

    /// Bytes held by the points and a structure over them.
    pub fn bytes(&self) -> usize {
        16 * self.points.capacity()
            + self.sorted.bytes()
            + self.grid.bytes()
            + self.radix.bytes()
            + self.octree.bytes()
            + self.bvh.bytes()
    }

    /// Points alone, without a structure.
    #[cfg(feature = "vulkan")]
    pub fn of_points(points: impl Iterator<Item = Vec4>) -> Self {
        let mut broad = Broad { points: points.collect(), ..Broad::default() };
        broad.points.iter().for_each(|&point| broad.extent.add(point));
        broad
    }

    /// Takes `count` new points.
    pub fn load(&mut self, team: &Team, count: usize, point: impl Fn(usize) -> Vec4 + Sync) {
        self.points.resize(count, Vec4::ZERO);
        self.extents.clear();
        self.extents.resize(count.div_ceil(BLOCK), Extent::default());
        let extents = Shared::new(&mut self.extents);
        team.rows(Shared::new(&mut self.points), BLOCK, |range, points| {
            let mut extent = Extent::default();
            for (i, row) in range.clone().zip(points) {
                *row = point(i);
                extent.add(*row);
            }
            // SAFETY: each block has its own extent.
            unsafe { *extents.at(range.start / BLOCK) = extent };
        });
        self.extent = Extent::default();
        for extent in &self.extents {
            self.extent.join(extent);
        }
    }
}

/// What a worker needs to search: room for what it finds, for what it tests, and for where that
/// stands.
#[derive(Default)]
pub(crate) struct SearchTools {
    pub hits: Vec<u32>,
    pub candidates: Candidates,
    pub runs: Vec<Range<usize>>,
}

/// What becomes of the particles found within reach of another.
pub(crate) trait Accept: Sync {
    type Entry: Copy + Default + Send + Sync;
    /// Particle i wants only slots above this, which is at least its own.
    #[inline(always)]
    fn floor(&self, _i: usize) -> Option<i32> {
        None
    }
    /// Where the slots found go: an empty vector, or the list itself when they are kept as they are.
    fn room<'a>(out: &'a mut Vec<Self::Entry>, hits: &'a mut Vec<u32>) -> &'a mut Vec<u32>;
    /// Appends what particle i keeps of the slots found, in whatever order the structure met them.
    fn keep<S: Simd>(&self, i: usize, hits: &mut Vec<u32>, out: &mut Vec<Self::Entry>);
}

/// Keeps every slot, in the order found.
pub(crate) struct AsFound;

impl Accept for AsFound {
    type Entry = u32;
    #[inline(always)]
    fn room<'a>(out: &'a mut Vec<u32>, _: &'a mut Vec<u32>) -> &'a mut Vec<u32> {
        out
    }
    #[inline(always)]
    fn keep<S: Simd>(&self, _: usize, _: &mut Vec<u32>, _: &mut Vec<u32>) {}
}

/// A structure that knows the candidates of the particles of an item: a block of places, a leaf.
pub(crate) trait Structure: Sync {
    /// Appends the neighbours of the particles of each item to the desk, list by list.
    fn search<S: Simd, const EQUAL: bool, A: Accept>(
        &self,
        broad: &Broad,
        items: Range<usize>,
        accept: &A,
        desk: &mut Desk<A::Entry, SearchTools>,
    );
}

/// Makes the lists through a structure over `items` items, `size` a block.
pub(crate) fn find<A: Accept>(
    team: &Team,
    broad: &Broad,
    structure: &impl Structure,
    blocks: (usize, usize),
    accept: &A,
    lists: &mut Lists<A::Entry, SearchTools>,
) -> Result<()> {
    lists.fill(team, broad.points.len(), blocks, |items, desk| {
        team.simd.run(Search { broad, structure, items, accept, desk });
    })
}

struct Search<'a, 'd, T, A: Accept> {
    broad: &'a Broad,
    structure: &'a T,
    items: Range<usize>,
    accept: &'a A,
    desk: &'a mut Desk<'d, A::Entry, SearchTools>,
}

impl<T: Structure, A: Accept> Kernel for Search<'_, '_, T, A> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let Search { broad, structure, items, accept, desk } = self;
        if broad.extent.is_equal() {
            structure.search::<S, true, A>(broad, items, accept, desk);
        } else {
            structure.search::<S, false, A>(broad, items, accept, desk);
        }
    }
}
