//! Contact candidates of each particle, in order of slot whatever found them.

use super::joined::Joined;
use super::lists::Lists;
use super::team::Team;
use crate::world::{Particles, Phase, World};
use glam::Vec4;

/// A particle that may come to touch, and at which distance of the centres it does, m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Neighbor {
    pub slot: u32,
    pub contact: f32,
}

/// Candidates of each particle; every pair stands in both lists.
#[derive(Default)]
pub(crate) struct Neighbors {
    lists: Lists<Neighbor>,
    /// False until the lists have been made by this backend.
    pub built: bool,
}

/// Decides which pairs within reach are candidates.
pub(crate) struct Filter<'a> {
    particles: &'a Particles,
    joined: &'a Joined,
}

impl Filter<'_> {
    /// Lists the pair when it may collide.
    #[inline]
    pub fn push(&self, a: usize, b: usize, out: &mut Vec<Neighbor>) {
        if let Some(contact) = self.contact(a, b) {
            out.push(Neighbor { slot: b as u32, contact });
        }
    }

    /// The contact distance of a pair, or `None` when it must not collide. Pairs that rest closer
    /// than their radii keep their rest distance, so a folded cloth is not blown apart.
    pub fn contact(&self, a: usize, b: usize) -> Option<f32> {
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
    /// Makes the lists anew: `search(i, filter, out)` hands every j within reach of i to the filter.
    /// Lists are sorted by slot here, so every structure gives the same ones.
    pub fn fill(
        &mut self,
        team: &Team,
        world: &World,
        joined: &Joined,
        search: impl Fn(usize, &Filter, &mut Vec<Neighbor>) + Sync,
    ) {
        let filter = Filter { particles: &world.particles, joined };
        self.lists.fill(team, world.particles.len(), |i, out| {
            let first = out.len();
            search(i, &filter, out);
            out[first..].sort_unstable_by_key(|n| n.slot);
        });
        self.built = true;
    }

    /// Candidates of particle i.
    pub fn of(&self, i: usize) -> &[Neighbor] {
        self.lists.of(i)
    }
    /// Candidates of particle i in slots above it: each pair once.
    pub fn above(&self, i: usize) -> &[Neighbor] {
        let list = self.of(i);
        &list[list.partition_point(|n| n.slot as usize <= i)..]
    }
    /// Listed pairs.
    pub fn pair_count(&self) -> usize {
        self.lists.len() / 2
    }
}

/// Whether two listed rows [x, y, z, radius] are within reach of each other.
#[inline]
pub(crate) fn within_reach(a: Vec4, b: Vec4, margin: f32) -> bool {
    let d = a - b;
    let reach = (a.w + b.w) * margin;
    d.x * d.x + d.y * d.y + d.z * d.z <= reach * reach
}
