//! The points nearest to given places, through the tree of boxes.
//!
//! A subtree is gone into only while its box is no farther than the worst of the nearest known; of
//! two the nearer goes first. Distances are taken in f64, where no difference or square of f32
//! over- or underflows, and with monotone rounding, so a box is never farther than what it holds.

use super::broad::Broad;
use super::bvh::volume::{Aabb, Volume};
use crate::cpu::bvh_build::{Bvh, LEVELS};
use crate::cpu::team::{Shared, Team};
use glam::{DVec3, Vec3};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Queries a block holds.
const BLOCK: usize = 64;
/// Points of a subtree that are looked at one by one.
const LEAF: u32 = 8;

/// A point and its squared distance, as bits: those of a distance, never negative, are in its order.
type Known = (u64, u32);

/// The `each` nearest of all points to each query, as (slot, distance), nearest first, lower slot
/// first among equals. The tree must have boxes; there are at least `each` points.
pub(crate) fn find(team: &Team, broad: &Broad, queries: &[Vec3], each: usize) -> Vec<(u32, f32)> {
    let mut found = vec![(0, 0.0); queries.len() * each];
    if each == 0 {
        return found;
    }
    let rows = Shared::new(&mut found);
    let mut heaps: Vec<BinaryHeap<Known>> =
        (0..team.threads()).map(|_| BinaryHeap::new()).collect();
    team.blocks_at(&mut heaps, queries.len(), BLOCK, |range, heap| {
        for q in range {
            let mut search = Search { broad, from: queries[q].as_dvec3(), each, heap };
            search.run();
            // SAFETY: each query has its own rows.
            let row = unsafe { rows.slice(q * each..(q + 1) * each) };
            // The farthest comes off first.
            for out in row.iter_mut().rev() {
                let (distance_sq, slot) = heap.pop().expect("as many as asked for");
                *out = (slot, f64::from_bits(distance_sq).sqrt() as f32);
            }
        }
    });
    found
}

struct Search<'a> {
    broad: &'a Broad,
    from: DVec3,
    each: usize,
    /// The nearest known, the farthest of them on top; among equals the one with the highest slot.
    heap: &'a mut BinaryHeap<Known>,
}

impl Search<'_> {
    fn run(&mut self) {
        let Bvh { nodes, .. } = &self.broad.bvh;
        if nodes.is_empty() {
            return self.look_at(0..self.broad.sorted.len());
        }
        // Going down a level puts off at most one subtree.
        let mut stack = [(0.0, 0u32); LEVELS + 1];
        let mut len = 1;
        while len > 0 {
            len -= 1;
            let (bound, at) = stack[len];
            if self.is_beyond(bound) {
                continue;
            }
            let node = &nodes[at as usize];
            let bounds = [0, 1].map(|side| self.bound(&Aabb::unpack(&node.volumes, side)));
            let small = node.small(LEAF);
            let nearer = usize::from(bounds[1] < bounds[0]);
            // Off the stack comes what was put there last: first small ones, nearer first, then
            // large ones, the nearer on top.
            for side in [nearer, 1 - nearer] {
                if small >> side & 1 == 1 && !self.is_beyond(bounds[side]) {
                    self.look_at(node.range(side));
                }
            }
            for side in [1 - nearer, nearer] {
                if small >> side & 1 == 0 {
                    stack[len] = (bounds[side], node.split + side as u32);
                    len += 1;
                }
            }
        }
    }

    /// At equal distance a lower slot may still be better.
    fn is_beyond(&self, bound: f64) -> bool {
        self.heap.len() == self.each
            && self.heap.peek().is_some_and(|worst| bound > f64::from_bits(worst.0))
    }

    /// Squared distance to a box.
    fn bound(&self, volume: &Aabb) -> f64 {
        let [low, high] = volume.corners().map(|c| c.as_dvec3());
        let d = (low - self.from).max(self.from - high).max(DVec3::ZERO);
        d.x * d.x + d.y * d.y + d.z * d.z
    }

    fn look_at(&mut self, run: Range<usize>) {
        for k in run {
            let d = self.broad.sorted.point(k).truncate().as_dvec3() - self.from;
            let distance_sq = d.x * d.x + d.y * d.y + d.z * d.z;
            let known = (distance_sq.to_bits(), self.broad.sorted.slot(k));
            if self.heap.len() < self.each {
                self.heap.push(known);
            } else if let Some(mut worst) = self.heap.peek_mut()
                && known < *worst
            {
                *worst = known;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Search;
    use crate::world::Params;
    use proptest::prelude::*;

    fn brute(points: &[Vec3], from: Vec3, k: usize) -> Vec<u32> {
        let distance_sq = |i: u32| {
            let d = points[i as usize].as_dvec3() - from.as_dvec3();
            d.x * d.x + d.y * d.y + d.z * d.z
        };
        let mut all: Vec<u32> = (0..points.len() as u32).collect();
        all.sort_by(|&a, &b| distance_sq(a).total_cmp(&distance_sq(b)).then(a.cmp(&b)));
        all.truncate(k);
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whole coordinates make many ties, and few of them many points in one place.
        #[test]
        fn the_nearest_are_those_of_a_sort_of_all(
            points in prop::collection::vec(prop::array::uniform3(-20i32..20), 0..300),
            queries in prop::collection::vec(prop::array::uniform3(-30i32..30), 0..20),
            k in 0usize..40,
            wide in prop::sample::select(vec![1, 3, 30]),
            scale in prop::sample::select(vec![1.0f32, 1e-22, 1e18, 0.37]),
            threads in 1usize..4,
        ) {
            let place = |p: &[i32; 3]| Vec3::from(p.map(|v| (v % wide) as f32)) * scale;
            let points: Vec<Vec3> = points.iter().map(place).collect();
            let queries: Vec<Vec3> = queries.iter().map(place).collect();
            let mut search = Search::new(Params::default(), threads).unwrap();
            let nearest = search.nearest(&points, &queries, k).unwrap();
            prop_assert_eq!(nearest.len(), queries.len());
            for (q, &query) in queries.iter().enumerate() {
                let found = nearest.of(q);
                let slots: Vec<u32> = found.iter().map(|n| n.0).collect();
                prop_assert_eq!(&slots, &brute(&points, query, k));
                for &(i, distance) in found {
                    let wanted = points[i as usize].as_dvec3().distance(query.as_dvec3()) as f32;
                    prop_assert!((distance - wanted).abs() <= 1e-6 * wanted);
                }
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let mut search = Search::new(Params::default(), 1).unwrap();
        let bad = [Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0)];
        let message = search.nearest(&bad, &[Vec3::ZERO], 1).err().unwrap().to_string();
        assert!(message.contains("points: point 1"), "{message}");
        let message = search.nearest(&[Vec3::ZERO], &bad, 1).err().unwrap().to_string();
        assert!(message.contains("queries: query 1"), "{message}");
    }
}
