//! Who is in which body: the table of links, and the links around each particle.

use crate::table::columns;
use crate::world::World;
use glam::Vec4;
use serde::{Deserialize, Serialize};
use std::ops::Range;

columns! {
    /// The links of all bodies, one body after the other.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub(crate) struct LinkTable, row LinkRow {
        /// The slot of the particle.
        particle: u32 [any],
        /// Where it rests, from the centre of the body, m; and its part of the mass of the body.
        rest: Vec4 [finite],
        /// The part of its own mass that it has in this body.
        share: f32 [finite],
    } besides {}
}

impl LinkTable {
    pub fn len(&self) -> usize {
        self.particle.len()
    }
}

/// For each particle, by slot, its links: a particle gathers what its bodies ask of it, so that no
/// two threads write to the same one. They are in the order of the links.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinksAround {
    /// Where those of each particle begin, and the end.
    start: Vec<u32>,
    links: Vec<u32>,
    /// Which body each link is of.
    body: Vec<u32>,
    /// The revisions of the particles and of the bodies that they were made for.
    made_for: Option<(u64, u64)>,
}

impl LinksAround {
    /// Makes them again if particles or bodies changed.
    pub fn update(&mut self, world: &World) {
        let revisions = (world.particle_revision, world.bodies.revision);
        if self.made_for == Some(revisions) {
            return;
        }
        self.made_for = Some(revisions);
        let (links, count) = (&world.bodies.links, world.particles.len());
        self.body.clear();
        for (number, body) in world.bodies.rows.iter().enumerate() {
            self.body.extend(body.links().map(|_| number as u32));
        }
        self.start.clear();
        self.start.resize(count + 1, 0);
        for &slot in &links.particle {
            self.start[slot as usize + 1] += 1;
        }
        for slot in 0..count {
            self.start[slot + 1] += self.start[slot];
        }
        let mut next = self.start.clone();
        self.links.clear();
        self.links.resize(links.len(), 0);
        for (link, &slot) in links.particle.iter().enumerate() {
            let place = &mut next[slot as usize];
            self.links[*place as usize] = link as u32;
            *place += 1;
        }
    }

    /// The entries of a particle.
    #[inline]
    pub fn range(&self, slot: usize) -> Range<usize> {
        self.start[slot] as usize..self.start[slot + 1] as usize
    }

    /// The link and the body of an entry.
    #[inline]
    pub fn entry(&self, entry: usize) -> (usize, usize) {
        let link = self.links[entry] as usize;
        (link, self.body[link] as usize)
    }
}
