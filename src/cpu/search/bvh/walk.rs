//! Ways through the tree: every subtree whose volume touches the query's, and no other.
//!
//! Subtrees of a few particles are handed over as runs of places as soon as their parent is seen;
//! only the larger ones are gone into. The three ways differ in how they find back to a right
//! subtree that was put off for the left one.

use super::volume::Volume;
use crate::cpu::bvh_boxes::MIXED;
use crate::cpu::bvh_build::{Bvh, LEVELS, NONE, Node};
use crate::simd::Simd;
use crate::world::{BvhStart, Phase};
use std::marker::PhantomData;
use std::ops::Range;

/// What is looked for.
pub(crate) struct Query<V: Volume, S: Simd> {
    volume: V::Query<S>,
    /// Phase of all who ask, as in `bvh_boxes`.
    body: u32,
    lanes: PhantomData<S>,
}

impl<V: Volume, S: Simd> Query<V, S> {
    #[inline(always)]
    pub fn new(volume: V, body: u32) -> Self {
        Query { volume: volume.query::<S>(), body, lanes: PhantomData }
    }

    /// Bit 0 when the left subtree of a node may hold neighbours, bit 1 when the right one may.
    #[inline(always)]
    fn near(&self, bvh: &Bvh, at: u32, node: &Node) -> u32 {
        let mut near = V::near::<S>(&self.volume, &node.volumes);
        if self.body != MIXED && near != 0 {
            for side in 0..2 {
                let body = bvh.bodies[at as usize][side];
                if body != MIXED && !Phase(self.body).collides(Phase(body)) {
                    near &= !(1 << side);
                }
            }
        }
        near
    }
}

/// Subtrees of a node, as bits.
const LEFT: u32 = 1;
const RIGHT: u32 = 2;
const BOTH: u32 = 3;

/// How a walk goes on. One node's number and a word or a stack are all it knows.
pub(crate) trait Way: Default {
    /// Begins at a node.
    fn enter(&mut self, top: u32);
    /// The node to go to from `at`, of which these subtrees are wanted.
    fn next(&mut self, bvh: &Bvh, at: u32, node: &Node, wanted: u32) -> Option<u32>;
}

/// What becomes of the runs of places a walk meets.
pub(crate) trait Visit {
    fn visit(&mut self, run: Range<usize>);
}

/// A tree, and how it is gone through.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub bvh: &'a Bvh,
    pub start: BvhStart,
    /// Subtrees of at most this many particles are runs.
    pub leaf: u32,
}

impl Walk<'_> {
    /// Visits whatever may hold neighbours of a subtree that begins at place `first` and has the
    /// parent `parent`, but not that subtree. From the root down, or from the subtree up
    /// [algorithm 5.5]: then the nodes above it are not asked whether they touch what is in them.
    #[inline(always)]
    pub fn around<V: Volume, S: Simd, W: Way>(
        &self,
        (mut first, parent): (usize, u32),
        query: &Query<V, S>,
        way: &mut W,
        visit: &mut impl Visit,
    ) {
        let Walk { bvh, start, .. } = *self;
        let mut from = parent;
        while from != NONE {
            // Of the node we come from only the other side is new.
            let node = &bvh.nodes[from as usize];
            let other = if first <= node.split as usize { RIGHT } else { LEFT };
            let top = if start == BvhStart::Root { 0 } else { from };
            self.below(top, (from, other), query, way, visit);
            if start == BvhStart::Root {
                return;
            }
            first = node.first as usize;
            from = bvh.node_parent[from as usize];
        }
    }

    /// Visits whatever may hold neighbours below the node `top`, on but one side of the node `from`.
    /// Two runs that lie side by side come as one.
    #[inline(always)]
    fn below<V: Volume, S: Simd, W: Way>(
        &self,
        top: u32,
        (from, other): (u32, u32),
        query: &Query<V, S>,
        way: &mut W,
        visit: &mut impl Visit,
    ) {
        let Walk { bvh, leaf, .. } = *self;
        way.enter(top);
        let mut at = top;
        loop {
            debug_assert!((at as usize) < bvh.nodes.len());
            // SAFETY: `top` is a node, and every way leads from nodes to their children and parents.
            let node = unsafe { bvh.nodes.get_unchecked(at as usize) };
            let mut near = query.near(bvh, at, node);
            if at == from {
                near &= other;
            }
            let small = node.small(leaf);
            let runs = near & small;
            if runs != 0 {
                let first = if runs == RIGHT { node.split + 1 } else { node.first };
                let last = if runs == LEFT { node.split } else { node.last };
                visit.visit(first as usize..last as usize + 1);
            }
            match way.next(bvh, at, node, near & !small) {
                Some(next) => at = next,
                None => return,
            }
        }
    }
}

/// Puts off nodes on a stack [algorithm 5.2]. Going down a level puts off at most one, and a tree
/// has at most 62 levels.
pub(crate) struct Stack {
    nodes: [u32; LEVELS.next_power_of_two()],
    len: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Stack { nodes: [0; LEVELS.next_power_of_two()], len: 0 }
    }
}

impl Way for Stack {
    #[inline(always)]
    fn enter(&mut self, _: u32) {
        self.len = 0;
    }
    #[inline(always)]
    fn next(&mut self, _: &Bvh, _: u32, node: &Node, wanted: u32) -> Option<u32> {
        match wanted {
            0 if self.len == 0 => None,
            0 => {
                self.len -= 1;
                Some(self.nodes[self.len % self.nodes.len()])
            }
            LEFT => Some(node.split),
            RIGHT => Some(node.split + 1),
            _ => {
                debug_assert!(self.len < self.nodes.len());
                self.nodes[self.len % self.nodes.len()] = node.split + 1;
                self.len += 1;
                Some(node.split)
            }
        }
    }
}

/// The other subtree of the node's parent, which must be a node as well.
#[inline(always)]
fn sibling(bvh: &Bvh, at: u32) -> u32 {
    let parent = &bvh.nodes[bvh.node_parent[at as usize] as usize];
    parent.split + u32::from(at == parent.split)
}

/// Counts [algorithm 5.3, Barringer and Akenine-Möller 2013]: a digit a level, 0 while the first of
/// two subtrees is gone into, 1 for the second or only one; adding one carries up to where the next
/// one was put off. A tree of 62 levels needs 62 bits.
#[derive(Default)]
pub(crate) struct Sparse {
    trail: u64,
    top: u32,
}

impl Way for Sparse {
    #[inline(always)]
    fn enter(&mut self, top: u32) {
        *self = Sparse { trail: 0, top };
    }
    #[inline(always)]
    fn next(&mut self, bvh: &Bvh, mut at: u32, node: &Node, wanted: u32) -> Option<u32> {
        if wanted != 0 {
            self.trail = self.trail << 1 | u64::from(wanted != BOTH);
            return Some(node.split + u32::from(wanted == RIGHT));
        }
        self.trail += 1;
        while self.trail & 1 == 0 {
            at = bvh.node_parent[at as usize];
            self.trail >>= 1;
        }
        if at == self.top { None } else { Some(sibling(bvh, at)) }
    }
}

/// Remembers in a bit a level whether the other subtree was put off [algorithm 5.4, MBVH2, Áfra and
/// Szirmay-Kalos 2014]; no bit left means done. A tree of 62 levels needs 62 bits.
#[derive(Default)]
pub(crate) struct Mbvh2 {
    trail: u64,
}

impl Way for Mbvh2 {
    #[inline(always)]
    fn enter(&mut self, _: u32) {
        self.trail = 0;
    }
    #[inline(always)]
    fn next(&mut self, bvh: &Bvh, mut at: u32, node: &Node, wanted: u32) -> Option<u32> {
        if wanted != 0 {
            self.trail = self.trail << 1 | u64::from(wanted == BOTH);
            return Some(node.split + u32::from(wanted == RIGHT));
        }
        if self.trail == 0 {
            return None;
        }
        // Up to the level where one was put off, and across.
        for _ in 0..self.trail.trailing_zeros() {
            at = bvh.node_parent[at as usize];
        }
        self.trail >>= self.trail.trailing_zeros();
        self.trail ^= 1;
        Some(sibling(bvh, at))
    }
}
