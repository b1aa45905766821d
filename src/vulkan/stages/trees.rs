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
use crate::vulkan::layout::trees::{
    BVH_ARRIVED, BVH_FIRST, BVH_NODE, OCTREE_FIRST, OCTREE_NODE, OCTREE_PARENT,
};
use crate::vulkan::layout::{COUNTED, state as s};
use crate::vulkan::plan::Plan;
use crate::world::World;

/// Words of a block of places while the octree is built.
const OCTREE_BLOCK: usize = 16;

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
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
            ("gather_walls", Particles),
            ("put_walls", Particles),
        ],
        _ => &[("main", Particles)],
    };
    out.extend(list.iter().map(|&(entry, groups)| Stage::new(entry, groups).with([digit, 0, 0])));
    // Nothing is to be done where no pass goes over triangles, or where there are no bodies.
    if dispatch.pass == Pass::SortParticles {
        let each = |entry| Stage::new(entry, Particles);
        if plan.fans > 0 {
            out.extend([each("gather_fans"), each("put_fans")]);
        }
        if plan.links > 0 {
            out.extend([each("gather_links"), each("put_links")]);
        }
    }
}

/// Words of `radix_next`.
pub(crate) fn radix_words(plan: &Plan) -> usize {
    plan.particles.div_ceil(COUNTED) * 1024
}

/// Words of `octree_nodes`.
pub(crate) fn octree_words(plan: &Plan) -> usize {
    let (n, nodes) = (plan.particles, plan.room[Buffer::OctreeNodes]);
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
    if octree.nodes.len() > plan.room[Buffer::OctreeNodes] {
        return;
    }
    for (i, node) in octree.nodes.iter().enumerate() {
        let (low, high) = (node.bounds.low, node.bounds.high);
        let corners = [low.x, low.y, low.z, high.x, high.y, high.z].map(f32::to_bits);
        let (places, children) = (node.places(), node.children());
        let numbers = [places.start, places.end, children.start, children.len()];
        let words = &mut out[OCTREE_NODE * i..OCTREE_NODE * (i + 1)];
        words[..OCTREE_FIRST].copy_from_slice(&corners);
        words[OCTREE_FIRST..OCTREE_PARENT].copy_from_slice(&numbers.map(|number| number as u32));
        if i == 0 {
            words[OCTREE_PARENT] = NONE;
        }
        for child in children {
            out[OCTREE_NODE * child + OCTREE_PARENT] = i as u32;
        }
    }
}

fn encode_bvh(bvh: &Bvh, n: usize, out: &mut [u32]) {
    if bvh.leaf_parent.len() != n {
        return;
    }
    for (i, node) in bvh.nodes.iter().enumerate() {
        let words = &mut out[BVH_NODE * i..BVH_NODE * (i + 1)];
        words[..BVH_FIRST].copy_from_slice(&node.volumes.map(f32::to_bits));
        words[BVH_FIRST..BVH_ARRIVED].copy_from_slice(&[node.first, node.split, node.last]);
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
    out[s::OCTREE_NODES] = if nodes > plan.room[Buffer::OctreeNodes] { 0 } else { nodes as u32 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use crate::cpu::team::Team;
    use crate::report::StepReport;
    use crate::step::lists;
    use crate::vulkan::Vulkan;
    use crate::vulkan::program::Turn;
    use crate::world::{BroadPhase, ListId, Particle, Phase};
    use glam::{Vec3, Vec4};

    /// A device, or `None` where there is none and none is required.
    fn device() -> Option<Vulkan> {
        crate::vulkan::harness::trial::opened(|| Vulkan::new(None))
    }

    /// The engine quarantines what is not finite before the lists see it, and makes none for no
    /// particles; should either come through, the trees must bear it.
    #[test]
    fn points_that_are_not_finite_and_no_points_at_all_do_no_harm() {
        let Some(mut vulkan) = device() else { return };
        for (broad_phase, count) in [
            (BroadPhase::Octree, 0),
            (BroadPhase::Octree, 300),
            (BroadPhase::Bvh, 0),
            (BroadPhase::Bvh, 300),
        ] {
            let mut world = World::new();
            let mut cpu = Cpu::new(Team::new(1).unwrap());
            let at = |i: usize| Vec3::new((i % 7) as f32, (i / 7 % 7) as f32, (i / 49) as f32);
            for i in 0..count {
                let phase = Phase::group(1).self_colliding();
                let (position, velocity) = (at(i), Vec3::ZERO);
                let particle = Particle { position, velocity, mass: 1.0, radius: 0.6, phase };
                world.add_particle(&particle).unwrap();
            }
            world.params.octree_leaf = 4;
            world.params.bvh_leaf = 4;
            cpu.begin_substep(&world, 0.01);
            cpu.scratch.broad.load(&cpu.team, count, |i| match i % 11 {
                3 => Vec4::new(f32::NAN, 1.0, 1.0, 0.7),
                5 => Vec4::new(1.0, f32::INFINITY, 1.0, 0.7),
                7 => Vec4::new(1.0, 1.0, f32::NEG_INFINITY, 0.7),
                _ => at(i).extend(0.7),
            });
            let dispatches = lists::passes(broad_phase);
            vulkan.load(&world, &cpu.scratch, 0.01, dispatches.first()).unwrap();
            vulkan.write_step(&world, 0.01, &[ListId::CONTACTS]).unwrap();
            let plan = vulkan.plan.clone().unwrap();
            for dispatch in dispatches {
                let list = ListId::CONTACTS;
                let turn = Turn { substep: 0, list, dispatch, when_stale: false };
                vulkan.prepare(&turn, &plan).unwrap();
                let this = &vulkan;
                this.commands.once(|recorder| _ = this.dispatch(&turn, &plan, recorder)).unwrap();
                cpu.run(&dispatch, &mut world, &mut StepReport::default()).unwrap();
            }
            let buffer = &vulkan.buffers[Buffer::Neighbors as usize];
            let words = vulkan.download(buffer, plan.words(Buffer::Neighbors)).unwrap();
            let mut listed = 0;
            for i in 0..count {
                let (first, length) = (words[2 * i] as usize, words[2 * i + 1] as usize);
                let slots: Vec<u32> =
                    (first..first + length).map(|k| words[2 * (count + k)]).collect();
                let expected: Vec<u32> =
                    cpu.scratch.neighbors.of(i).iter().map(|n| n.slot).collect();
                assert_eq!(slots, expected, "{broad_phase:?}: list of {i}");
                listed += length;
            }
            assert_eq!(listed > 300, count > 0);
        }
        assert_eq!(vulkan.device.messages(), Vec::<String>::new());
    }
}
