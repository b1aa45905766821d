//! Splits the particles in Morton order into an octree, and bounds every node.
//! A node is a run of places whose codes begin with the same bits; it is split by the next three
//! while it holds more than `octree_leaf` particles and lies above `octree_depth`. Its box is that
//! of its particles grown by their reach, whatever cell of space the bits stand for: a node of
//! small particles is small, one large particle makes its ancestors large and nobody else.
//! Reads: sorted codes, sorted particles [x, y, z, reach] m. Writes: nodes, leaves.
//! Order: level by level, nodes in order of place; boxes by minimum and maximum: deterministic.

use super::search::broad::Broad;
use super::search::sorted::Sorted;
use super::team::{Shared, Team};
use crate::world::Params;
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Nodes a block holds.
const BLOCK: usize = 256;
/// Bits of a code.
const CODE_BITS: u32 = 30;

/// A box, low and high corner. The default holds nothing and meets nothing.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub low: Vec4,
    pub high: Vec4,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { low: Vec4::INFINITY, high: Vec4::NEG_INFINITY }
    }
}

impl Bounds {
    /// Around a particle [x, y, z, reach]. Rounding is monotone, so the boxes of two particles
    /// within reach of each other always meet; the hair covers the rounding of the distance test.
    #[inline(always)]
    pub fn around(point: Vec4) -> Self {
        let reach = Vec3::splat(point.w * 1.000_001).extend(0.0);
        let at = point.truncate().extend(0.0);
        if at.is_finite() { Bounds { low: at - reach, high: at + reach } } else { Self::default() }
    }
    pub fn join(self, other: Self) -> Self {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
    #[inline(always)]
    pub fn meets(&self, other: &Bounds) -> bool {
        self.low.cmple(other.high).bitmask() & other.low.cmple(self.high).bitmask() == 0b1111
    }
}

/// A run of sorted particles.
#[derive(Clone, Copy, Default)]
pub(crate) struct Node {
    pub bounds: Bounds,
    /// Places in the sorted order.
    first: u32,
    end: u32,
    /// Children stand side by side; a leaf has none.
    first_child: u32,
    child_count: u32,
}

impl Node {
    #[inline(always)]
    pub fn places(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
    #[inline(always)]
    pub fn children(&self) -> Range<usize> {
        self.first_child as usize..(self.first_child + self.child_count) as usize
    }
    pub fn is_leaf(&self) -> bool {
        self.child_count == 0
    }
}

/// A linear octree.
#[derive(Default)]
pub(crate) struct Octree {
    /// Level by level, the root first.
    pub nodes: Vec<Node>,
    /// Nodes without children, in order of place.
    pub leaves: Vec<u32>,
    /// First node of each level, and the end.
    level: Vec<u32>,
    /// Ends of the children's places, eight for each node of the level being split.
    split: Vec<[u32; 8]>,
}

impl Octree {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + 4 * self.leaves.capacity()
    }

    fn grow(&mut self, team: &Team, codes: &[[u32; 2]], leaf: u32, depth: u32) {
        self.nodes.clear();
        self.level.clear();
        self.level.push(0);
        if !codes.is_empty() {
            self.nodes.push(Node { end: codes.len() as u32, ..Node::default() });
        }
        for level in 0..depth.min(CODE_BITS / 3) {
            let first = self.level[level as usize] as usize;
            self.level.push(self.nodes.len() as u32);
            let parents = &self.nodes[first..];
            self.split.resize(parents.len(), [0; 8]);
            let shift = CODE_BITS - 3 * (level + 1);
            team.rows((Shared::new(&mut self.split), parents), BLOCK, |_, (split, parents)| {
                for (split, parent) in split.iter_mut().zip(parents) {
                    let mut at = parent.first;
                    if parent.end - parent.first <= leaf {
                        *split = [at; 8];
                        continue;
                    }
                    for (octant, end) in split.iter_mut().enumerate() {
                        let rest = &codes[at as usize..parent.end as usize];
                        at +=
                            rest.partition_point(|c| (c[0] >> shift & 7) as usize <= octant) as u32;
                        *end = at;
                    }
                }
            });
            for n in 0..self.split.len() {
                let first_child = self.nodes.len() as u32;
                let mut start = self.nodes[first + n].first;
                for end in self.split[n] {
                    if end > start {
                        self.nodes.push(Node { first: start, end, ..Node::default() });
                        start = end;
                    }
                }
                let child_count = self.nodes.len() as u32 - first_child;
                let parent = &mut self.nodes[first + n];
                (parent.first_child, parent.child_count) = (first_child, child_count);
            }
            if self.nodes.len() as u32 == self.level[level as usize + 1] {
                break;
            }
        }
        self.level.push(self.nodes.len() as u32);
    }

    /// Boxes from the deepest level up.
    fn bound(&mut self, team: &Team, sorted: &Sorted) {
        for level in (1..self.level.len()).rev() {
            let (above, below) = self.nodes.split_at_mut(self.level[level] as usize);
            let nodes = &mut above[self.level[level - 1] as usize..];
            let first_below = self.level[level] as usize;
            team.rows(Shared::new(nodes), BLOCK, |_, nodes| {
                for node in nodes {
                    let mut bounds = Bounds::default();
                    if node.is_leaf() {
                        for k in node.places() {
                            bounds = bounds.join(Bounds::around(sorted.point(k)));
                        }
                    }
                    for child in node.children() {
                        bounds = bounds.join(below[child - first_below].bounds);
                    }
                    node.bounds = bounds;
                }
            });
        }
    }

    fn list_leaves(&mut self) {
        self.leaves.clear();
        let leaf = |&n: &u32| self.nodes[n as usize].is_leaf();
        self.leaves.extend((0..self.nodes.len() as u32).filter(leaf));
        self.leaves.sort_unstable_by_key(|&n| self.nodes[n as usize].first);
    }
}

pub(crate) fn run(team: &Team, broad: &mut Broad, params: &Params) {
    let Broad { octree, radix, sorted, .. } = broad;
    octree.grow(team, radix.sorted(), params.octree_leaf, params.octree_depth);
    octree.bound(team, sorted);
    octree.list_leaves();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaves_hold_every_place_once_and_no_more_than_asked(
            mut codes in prop::collection::vec(0u32..1 << 30, 0..400),
            shift in 0u32..29, leaf in 1u32..9, depth in 1u32..11,
        ) {
            codes.iter_mut().for_each(|c| *c >>= shift);
            codes.sort();
            let pairs: Vec<[u32; 2]> = codes.iter().zip(0..).map(|(&c, i)| [c, i]).collect();
            let team = Team::new(2).unwrap();
            let mut octree = Octree::default();
            octree.grow(&team, &pairs, leaf, depth);
            octree.list_leaves();
            let mut next = 0;
            for &n in &octree.leaves {
                let places = octree.nodes[n as usize].places();
                prop_assert_eq!(places.start, next);
                next = places.end;
                let level = octree.level.partition_point(|&first| first <= n) - 1;
                prop_assert!(level as u32 <= depth);
                if places.len() > leaf as usize {
                    prop_assert_eq!(level as u32, depth);
                }
            }
            prop_assert_eq!(next, codes.len());
        }
    }
}
