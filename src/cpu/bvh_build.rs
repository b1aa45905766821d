//! Makes a binary radix tree over the sorted codes [Karras 2012, algorithm 5.1 of the thesis].
//! key k = code << 32 | k, so keys differ; a node holds the keys that share its prefix and splits
//! where the next bit changes. With d(i, j) the length of the prefix that keys i and j share:
//! node i begins or ends at key i, on the side whose neighbour shares more with it; it goes on as
//! long as d(i, j) > d(i, neighbour on the other side); it splits where d(first, k) > d(first, last)
//! ends.
//! Reads: (code, slot) pairs in order. Writes: first, split, last of each node; parents.
//! Order: each node by itself; integers, the same for any number of threads.

use super::bvh_boxes::MIXED;
use super::search::broad::Broad;
use super::team::{BLOCK, Shared, Team};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// What the root has for a parent.
pub(crate) const NONE: u32 = u32::MAX;
/// Levels of a tree at most: a level uses up at least one of 30 + 32 bits of the keys.
pub(crate) const LEVELS: usize = 62;

/// A tree of volumes over the sorted particles: one node less than there are particles.
///
/// A subtree is known by its range of places: inside a node the left one is `first..=split`, the
/// right one `split + 1..=last`. If it holds two or more it is itself a node, and its number is the
/// end that touches the split: `split` on the left, `split + 1` on the right. The root is node 0.
#[derive(Default)]
pub(crate) struct Bvh {
    pub nodes: Vec<Node>,
    /// Parent of each node; [`NONE`] for the root.
    pub node_parent: Vec<u32>,
    /// Parent of each sorted particle; [`NONE`] for one that is alone.
    pub leaf_parent: Vec<u32>,
    /// Phase common to all of a node's left and right subtree, see `bvh_boxes`. May be empty.
    pub bodies: Vec<[u32; 2]>,
    /// Children of a node whose volume is known, in the making.
    pub arrived: Vec<AtomicU8>,
}

/// A node: one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    /// Volumes of both subtrees, packed for one test (see `bvh::volume`).
    pub volumes: [f32; 12],
    pub first: u32,
    pub split: u32,
    pub last: u32,
    pub unused: u32,
}

// SAFETY: all zeros is a node.
unsafe impl Zeroable for Node {}
// SAFETY: repr(C), sixteen words without padding, every bit pattern allowed.
unsafe impl Pod for Node {}

impl Node {
    /// Places of the left (0) or right (1) subtree.
    pub fn range(&self, side: usize) -> Range<usize> {
        match side {
            0 => self.first as usize..self.split as usize + 1,
            _ => self.split as usize + 1..self.last as usize + 1,
        }
    }
    /// Bit 0 when the left subtree, bit 1 when the right one holds at most `leaf` particles.
    #[inline(always)]
    pub fn small(&self, leaf: u32) -> u32 {
        u32::from(self.split - self.first < leaf) | u32::from(self.last - self.split <= leaf) << 1
    }
}

impl Bvh {
    /// The subtree of at most `leaf` particles that place k is in, as large as there is: its
    /// places, and its parent.
    #[inline]
    pub fn group(&self, k: usize, leaf: u32) -> (Range<usize>, u32) {
        let (mut places, mut parent) = (k..k + 1, self.leaf_parent[k]);
        while parent != NONE {
            let node = &self.nodes[parent as usize];
            if node.last - node.first >= leaf {
                break;
            }
            places = node.first as usize..node.last as usize + 1;
            parent = self.node_parent[parent as usize];
        }
        (places, parent)
    }
    /// Phase of all of the subtree that begins at `first` and has this parent, see `bvh_boxes`.
    #[inline]
    pub fn body(&self, first: usize, parent: u32) -> u32 {
        match self.bodies.get(parent as usize) {
            Some(bodies) => bodies[usize::from(first > self.nodes[parent as usize].split as usize)],
            None => MIXED,
        }
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of::<Node>() * self.nodes.capacity()
            + 4 * (self.node_parent.capacity() + self.leaf_parent.capacity())
            + 8 * self.bodies.capacity()
            + self.arrived.capacity()
    }
}

pub(crate) fn run(team: &Team, broad: &mut Broad) {
    let Broad { radix, bvh, .. } = broad;
    let codes = radix.sorted();
    bvh.build(team, codes.len(), |k| u64::from(codes[k][0]) << 32 | k as u64);
}

impl Bvh {
    /// Builds the tree over keys that ascend and differ.
    pub fn build(&mut self, team: &Team, count: usize, key: impl Fn(usize) -> u64 + Sync) {
        assert!(count < NONE as usize, "too many particles for a tree");
        let node_count = count.saturating_sub(1);
        let Bvh { nodes, node_parent, leaf_parent, .. } = self;
        nodes.resize(node_count, Node::default());
        node_parent.resize(node_count, NONE);
        leaf_parent.resize(count, NONE);
        // Nobody else writes these.
        node_parent.first_mut().into_iter().for_each(|root| *root = NONE);
        if let [alone] = &mut leaf_parent[..] {
            *alone = NONE;
        }
        let (node_parent, leaf_parent) = (Shared::new(node_parent), Shared::new(leaf_parent));
        team.rows(Shared::new(nodes), BLOCK, |range, nodes| {
            for (i, node) in range.zip(nodes) {
                let (first, split, last) = span(count, &key, i);
                let adopt = |alone: bool, child: usize| {
                    let parents = if alone { &leaf_parent } else { &node_parent };
                    // SAFETY: in bounds, and every child has one parent.
                    unsafe { *parents.at(child) = i as u32 };
                };
                adopt(first == split, split);
                adopt(split + 1 == last, split + 1);
                *node = Node {
                    first: first as u32,
                    split: split as u32,
                    last: last as u32,
                    ..Node::default()
                };
            }
        });
    }
}

/// First place, split and last place of node i.
#[inline]
fn span(count: usize, key: &impl Fn(usize) -> u64, i: usize) -> (usize, usize, usize) {
    let own = key(i);
    // Bits shared with key i, -1 beyond the ends.
    let shared = |j: isize| match usize::try_from(j) {
        Ok(j) if j < count => (own ^ key(j)).leading_zeros() as i32,
        _ => -1,
    };
    let i = i as isize;
    let (below, above) = (shared(i - 1), shared(i + 1));
    let (step, least) = if above > below { (1, below) } else { (-1, above) };

    // The other end: beyond it the prefix is no longer than that shared with our outer neighbour.
    let mut far = 2;
    while shared(i + far * step) > least {
        far *= 2;
    }
    let mut length = 0;
    let mut t = far / 2;
    while t > 0 {
        if shared(i + (length + t) * step) > least {
            length += t;
        }
        t /= 2;
    }
    let end = i + length * step;

    // The split: the farthest that shares more than the whole node does.
    let common = shared(end);
    let mut near = 0;
    let mut t = length;
    while t > 1 {
        t = (t + 1) / 2;
        if shared(i + (near + t) * step) > common {
            near += t;
        }
    }
    let split = i + near * step + step.min(0);
    (i.min(end) as usize, split as usize, i.max(end) as usize)
}
