//! Bounds every node of the tree, from the particles up.
//! volume(node) = volume(left) joined with volume(right); a particle's holds it with its reach, so
//! two particles within reach have volumes that touch, and so have all nodes above them.
//! A node also learns the phase of its particles when they share a group: the whole subtree is
//! nothing to a particle of a phase that does not collide with it [thesis 5.3.3].
//! Reads: sorted particles, phase of each, the tree. Writes: volumes and phases of the nodes.
//! Order: a node after its children, whoever finishes last; the same for any number of threads.

use super::bvh_build::{Bvh, NONE, Node};
use super::search::broad::Broad;
use super::search::bvh::volume::{Aabb, Sphere, Volume};
use super::search::sorted::Sorted;
use super::team::{Shared, Team};
use crate::world::{BvhVolume, Params, Phase};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::AcqRel;

/// Sorted particles whose way up one worker goes. What lies inside a block needs no waiting.
const BLOCK: usize = 1024;
/// The bits of a phase that decide who collides.
const DECIDING: u32 = Phase::MAX_GROUP | Phase::SELF_COLLIDE;
/// The phase of particles of different groups.
pub(crate) const MIXED: u32 = u32::MAX;

pub(crate) fn run(team: &Team, broad: &mut Broad, params: &Params, phase: &[u32]) {
    // Where all collide with all there is nothing to skip.
    let skips = phase.iter().any(|p| p & Phase::SELF_COLLIDE == 0);
    let phase = if skips { phase } else { &[] };
    let Broad { sorted, bvh, .. } = broad;
    match params.bvh_volume {
        BvhVolume::Aabb => bound::<Aabb>(team, bvh, sorted, phase),
        BvhVolume::Sphere => bound::<Sphere>(team, bvh, sorted, phase),
    }
}

/// The deciding phase of a particle.
#[inline(always)]
pub(crate) fn body(phase: u32) -> u32 {
    phase & DECIDING
}

/// The phase of all of two sets: their group, and whether any of them is self-colliding.
#[inline(always)]
pub(crate) fn body_of_both(a: u32, b: u32) -> u32 {
    // MIXED differs from every other phase in bits beyond the group.
    if (a ^ b) & !Phase::SELF_COLLIDE == 0 { a | b } else { MIXED }
}

fn bound<V: Volume>(team: &Team, bvh: &mut Bvh, sorted: &Sorted, phase: &[u32]) {
    let Bvh { nodes, node_parent, leaf_parent, bodies, arrived, .. } = bvh;
    bodies.resize(if phase.is_empty() { 0 } else { nodes.len() }, [MIXED; 2]);
    arrived.clear();
    arrived.resize_with(nodes.len(), AtomicU8::default);
    // As single words: the workers of both subtrees write into the same node.
    let words = Shared::new(bytemuck::cast_slice_mut::<Node, f32>(nodes));
    let body_words = Shared::new(bodies.as_flattened_mut());
    let (node_parent, leaf_parent, arrived) = (&node_parent[..], &leaf_parent[..], &arrived[..]);

    team.blocks(sorted.len(), BLOCK, |_, block| {
        for k in block.clone() {
            let mut volume = V::of(sorted.point(k));
            let mut body = if phase.is_empty() { 0 } else { body(phase[sorted.slot(k) as usize]) };
            let mut first = k;
            let mut parent = leaf_parent[k];
            while parent != NONE {
                let at = parent as usize;
                // SAFETY: these words of the node are not written by this pass.
                let [node_first, split, last] =
                    [12, 13, 14].map(|w| unsafe { words.read(16 * at + w) }.to_bits() as usize);
                let side = usize::from(first > split);
                for (w, value) in volume.words(side) {
                    // SAFETY: `arrived` lets one worker come from each side, and these are the
                    // words of this side.
                    unsafe { *words.at(16 * at + w) = value };
                }
                if !phase.is_empty() {
                    // SAFETY: as above.
                    unsafe { *body_words.at(2 * at + side) = body };
                }
                let inside = block.start <= node_first && last < block.end;
                let alone = if inside {
                    // The left side's places come before the right side's, all in this loop.
                    side == 0
                } else {
                    arrived[at].fetch_add(1, AcqRel) == 0
                };
                if alone {
                    break;
                }
                // SAFETY: both sides have arrived, so nobody writes here any more, and what the
                // other one wrote is seen: this loop did, or the counter was released by it.
                let both = unsafe { words.slice(16 * at..16 * at + 12) };
                let both: &[f32; 12] = (&*both).try_into().expect("twelve words");
                volume = V::unpack(both, 0).join(V::unpack(both, 1));
                if !phase.is_empty() {
                    // SAFETY: as above.
                    let [a, b] = [0, 1].map(|s| unsafe { *body_words.at(2 * at + s) });
                    body = body_of_both(a, b);
                }
                first = node_first;
                parent = node_parent[at];
            }
        }
    });
}
