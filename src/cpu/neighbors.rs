//! Contact candidates of each particle, in order of slot whatever found them.

use super::broad::Accept;
use super::joined::Joined;
use super::lists::Lists;
use super::team::{BLOCK, Shared, Team};
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
    pub traits: Vec<Traits>,
    /// False until the lists have been made by this backend.
    pub built: bool,
}

/// What the filter asks of every particle found, in one place of memory.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traits {
    radius: f32,
    phase: Phase,
}

/// Marks a particle that nothing moves, in a bit that phases leave free.
const PINNED: u32 = 1 << 31;

/// Decides which pairs within reach are candidates.
pub(crate) struct Filter<'a> {
    particles: &'a Particles,
    joined: &'a Joined,
    traits: &'a [Traits],
}

impl<'a> Filter<'a> {
    /// A filter over the particles as they are now; `traits` is room to work in.
    pub fn new(
        team: &Team,
        particles: &'a Particles,
        joined: &'a Joined,
        traits: &'a mut Vec<Traits>,
    ) -> Self {
        let Particles { position, radius, phase, .. } = particles;
        traits.resize(particles.len(), Traits::default());
        let rows = (Shared::new(traits), &position[..], &radius[..], &phase[..]);
        team.rows(rows, BLOCK, |_, (traits, position, radius, phase)| {
            for (i, traits) in traits.iter_mut().enumerate() {
                let pinned = if position[i].w == 0.0 { PINNED } else { 0 };
                *traits = Traits { radius: radius[i], phase: Phase(phase[i] & !PINNED | pinned) };
            }
        });
        Filter { particles, joined, traits }
    }
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
        sort(hits);
        let (a, partners) = (self.traits[i], self.joined.of(i));
        out.reserve(hits.len());
        for slot in hits.drain(..) {
            let b = self.traits[slot as usize];
            let both = a.phase.0 & b.phase.0;
            if !a.phase.collides(b.phase) || both & PINNED != 0 || partners.contains(&slot) {
                continue;
            }
            let mut contact = a.radius + b.radius;
            // Pairs that rest closer than their radii keep their rest distance, so a folded cloth
            // is not blown apart.
            if both & Phase::SHAPED != 0 && a.phase.group_number() == b.phase.group_number() {
                let rest = &self.particles.rest;
                contact = contact.min((rest[i] - rest[slot as usize]).truncate().length());
            }
            out.push(Neighbor { slot, contact });
        }
    }
}

/// Sorts a few slots that mostly come in order.
#[inline]
fn sort(slots: &mut [u32]) {
    if slots.len() > 32 {
        slots.sort_unstable();
        return;
    }
    for k in 1..slots.len() {
        let slot = slots[k];
        let mut to = k;
        while to > 0 && slots[to - 1] > slot {
            slots[to] = slots[to - 1];
            to -= 1;
        }
        slots[to] = slot;
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
