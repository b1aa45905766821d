//! Stages of the trees and of sorting, and the layout of what they leave.
//!
//! - `octree_nodes`, 12 words a node there is room for: low corner, high corner, first place, end,
//!   first child, how many children, parent, children that are bounded; then 16 words a block of
//!   places and a word a place, while it is built;
//! - `bvh_nodes`, n particles: 16 words a node (twelve of volumes, first, split, last, subtrees that
//!   are bounded), from word 16 n the parents of nodes, from 17 n those of places, from 18 n the
//!   phases of both subtrees of each node.

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::cpu::bvh_boxes::MIXED;
use crate::cpu::bvh_build::{Bvh, NONE};
use crate::cpu::octree_build::Octree;
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::layout::{COUNTED, state as s};
use crate::vulkan::plan::Plan;
use crate::world::World;

/// Words of a node of the octree, and of a block of places while it is built.
const OCTREE_NODE: usize = 12;
const OCTREE_BLOCK: usize = 16;
/// Words of a node of the tree of volumes.
const BVH_NODE: usize = 16;

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    use Groups::{Blocks, One, Particles};
    let digit = match dispatch.part {
        Part::Digit(digit) => u32::from(digit),
        _ => 0,
    };
    let list: &[(&str, Groups)] = match dispatch.pass {
        Pass::MortonCodes => &[
            ("sum", Particles),
            ("mean", One),
            ("spread", Particles),
            ("box", One),
            ("encode", Particles),
        ],
        Pass::RadixCount | Pass::RadixScatter => &[("main", Blocks)],
        Pass::RadixScan => &[("main", One)],
        // Nodes are shared out among as many as there are particles: how many there are is not
        // known here.
        Pass::OctreeBuild => {
            &[("count", Blocks), ("scan", One), ("write", Blocks), ("bound", Particles)]
        }
        Pass::SortParticles => &[
            ("gather", Particles),
            ("put", Particles),
            ("gather_incidence", Particles),
            ("put_incidence", Particles),
        ],
        _ => &[("main", Particles)],
    };
    out.extend(list.iter().map(|&(entry, groups)| Stage::new(entry, groups).with([digit, 0, 0])));
}

/// Words of `octree_nodes`.
pub(crate) fn octree_words(plan: &Plan) -> usize {
    let (n, nodes) = (plan.particles, plan.room.nodes);
    OCTREE_NODE * nodes + OCTREE_BLOCK * n.div_ceil(COUNTED) + n
}

/// Words of `bvh_nodes`.
pub(crate) fn bvh_words(plan: &Plan) -> usize {
    (BVH_NODE + 4) * plan.particles
}

/// `codes`, `radix_next`, `octree_nodes`, `bvh_nodes` from what the CPU has.
pub(crate) fn encode(buffer: Buffer, _: &World, scratch: &Scratch, plan: &Plan, out: &mut [u32]) {
    let (broad, n) = (&scratch.broad, plan.particles);
    match buffer {
        Buffer::Codes => {
            for (half, pairs) in broad.radix.pairs.iter().enumerate() {
                let words = &pairs.as_flattened()[..2 * pairs.len().min(n)];
                out[2 * n * half..][..words.len()].copy_from_slice(words);
            }
        }
        Buffer::RadixNext => {
            let len = broad.radix.next.len().min(out.len());
            out[..len].copy_from_slice(&broad.radix.next[..len]);
        }
        Buffer::OctreeNodes => encode_octree(&broad.octree, plan, out),
        _ => encode_bvh(&broad.bvh, n, out),
    }
}

fn encode_octree(octree: &Octree, plan: &Plan, out: &mut [u32]) {
    if octree.nodes.len() > plan.room.nodes {
        return;
    }
    for (i, node) in octree.nodes.iter().enumerate() {
        let (low, high) = (node.bounds.low, node.bounds.high);
        let corners = [low.x, low.y, low.z, high.x, high.y, high.z].map(f32::to_bits);
        let (places, children) = (node.places(), node.children());
        let numbers = [places.start, places.end, children.start, children.len()];
        let words = &mut out[OCTREE_NODE * i..OCTREE_NODE * (i + 1)];
        words[..6].copy_from_slice(&corners);
        words[6..10].copy_from_slice(&numbers.map(|number| number as u32));
        if i == 0 {
            words[10] = NONE;
        }
        for child in children {
            out[OCTREE_NODE * child + 10] = i as u32;
        }
    }
}

fn encode_bvh(bvh: &Bvh, n: usize, out: &mut [u32]) {
    if bvh.leaf_parent.len() != n {
        return;
    }
    for (i, node) in bvh.nodes.iter().enumerate() {
        let words = &mut out[BVH_NODE * i..BVH_NODE * (i + 1)];
        words[..12].copy_from_slice(&node.volumes.map(f32::to_bits));
        words[12..15].copy_from_slice(&[node.first, node.split, node.last]);
        // Where all collide with all the CPU keeps no phases: nothing may be left out.
        let bodies = bvh.bodies.get(i).copied().unwrap_or([MIXED; 2]);
        out[18 * n + 2 * i..][..2].copy_from_slice(&bodies);
    }
    out[16 * n..][..bvh.node_parent.len()].copy_from_slice(&bvh.node_parent);
    out[17 * n..][..n].copy_from_slice(&bvh.leaf_parent);
}

/// What `state` holds of these passes.
pub(crate) fn encode_state(_: &World, scratch: &Scratch, plan: &Plan, out: &mut [u32]) {
    let broad = &scratch.broad;
    let (low, scale) = broad.radix.frame;
    let numbers = [low.x, low.y, low.z, scale];
    out[s::MORTON_LOW..=s::MORTON_SCALE].copy_from_slice(&numbers.map(f32::to_bits));
    let nodes = broad.octree.nodes.len();
    out[s::OCTREE_NODES] = if nodes > plan.room.nodes { 0 } else { nodes as u32 };
}
