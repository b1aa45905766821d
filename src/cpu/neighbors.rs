//! Contact candidates of each particle, in order of slot whatever found them.

use super::broad::Accept;
use super::joined::Joined;
use super::lists::Lists;
use crate::world::{Particles, Phase};

/// A particle that may come to touch, and at which distance of the centres it does, m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Neighbor {
    pub slot: u32,
    pub contact: f32,
}

/// Candidates of each particle; every pair stands in both lists.
#[derive(Default)]
pub(crate) struct Neighbors {
    pub lists: Lists<Neighbor>,
    /// False until the lists have been made by this backend.
    pub built: bool,
}

/// Decides which pairs within reach are candidates.
pub(crate) struct Filter<'a> {
    pub particles: &'a Particles,
    pub joined: &'a Joined,
}

impl Accept for Filter<'_> {
    type Entry = Neighbor;
    #[inline(always)]
    fn room<'a>(_: &'a mut Vec<Neighbor>, hits: &'a mut Vec<u32>) -> &'a mut Vec<u32> {
        hits
    }
    /// Sorted by slot, so that every structure gives the same lists.
    #[inline]
    fn keep(&self, i: usize, hits: &mut Vec<u32>, out: &mut Vec<Neighbor>) {
        hits.sort_unstable();
        for slot in hits.drain(..) {
            if let Some(contact) = self.contact(i, slot as usize) {
                out.push(Neighbor { slot, contact });
            }
        }
    }
}

impl Filter<'_> {
    /// The contact distance of a pair, or `None` when it must not collide. Pairs that rest closer
    /// than their radii keep their rest distance, so a folded cloth is not blown apart.
    #[inline]
    fn contact(&self, a: usize, b: usize) -> Option<f32> {
        let p = self.particles;
        let (phase_a, phase_b) = (Phase(p.phase[a]), Phase(p.phase[b]));
        if !phase_a.collides(phase_b) || (p.position[a].w == 0.0 && p.position[b].w == 0.0) {
            return None;
        }
        if self.joined.contains(a, b) {
            return None;
        }
        let touch = p.radius[a] + p.radius[b];
        if phase_a.group_number() != phase_b.group_number() {
            return Some(touch);
        }
        if phase_a.0 & phase_b.0 & Phase::SHAPED == 0 {
            return Some(touch);
        }
        let apart = (p.rest[a] - p.rest[b]).truncate().length();
        Some(touch.min(apart))
    }
}

impl Neighbors {
    /// Candidates of particle i.
    #[inline]
    pub fn of(&self, i: usize) -> &[Neighbor] {
        self.lists.of(i)
    }
    /// Candidates of particle i in slots above it: each pair once.
    #[inline]
    pub fn above(&self, i: usize) -> &[Neighbor] {
        let list = self.of(i);
        &list[list.partition_point(|n| n.slot as usize <= i)..]
    }
    /// Listed pairs.
    pub fn pair_count(&self) -> usize {
        self.lists.len() / 2
    }
}
