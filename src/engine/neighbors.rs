//! The neighbour lists of an engine, to be read between two steps.

use super::Engine;
use crate::cpu::search::neighbors::{Neighbor as Entry, Neighbors, whole};
use crate::error::{Error, Result};
use crate::world::{ListDescription, ListId, ParticleId, Particles};
use glam::{Vec3, Vec4};

/// A particle in the list of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Who.
    pub particle: ParticleId,
    /// The distance of the centres at which the two touch, m; 0 in a list that keeps everything.
    pub contact: f32,
}

/// A neighbour list as the last step left it.
pub struct NeighborList<'a> {
    particles: &'a Particles,
    made: Made<'a>,
}

enum Made<'a> {
    /// With where each particle was.
    Here(&'a Neighbors, &'a [Vec4]),
    #[cfg(feature = "vulkan")]
    Fetched(crate::vulkan::FetchedList),
}

impl NeighborList<'_> {
    /// The neighbours of a particle in order of slot; none when there is no such particle. They are
    /// all that were within reach when the last substep predicted where it would end, and some that
    /// were farther away, though within the skin.
    pub fn of(&self, particle: ParticleId) -> impl ExactSizeIterator<Item = Neighbor> {
        let (slot, ids) = (self.particles.slot(particle), self.particles.ids());
        let parts = slot.map_or((&[][..], &[][..]), |slot| self.parts(slot));
        whole(parts).map(|entry| Neighbor {
            particle: ParticleId(ids[entry.slot as usize]),
            contact: entry.contact,
        })
    }
    /// Where a particle was when the list was made, m; `None` when there is no such particle.
    pub fn made_at(&self, particle: ParticleId) -> Option<Vec3> {
        let reference = match &self.made {
            Made::Here(_, reference) => reference,
            #[cfg(feature = "vulkan")]
            Made::Fetched(made) => &made.reference[..],
        };
        self.particles.slot(particle).map(|slot| reference[slot].truncate())
    }
    /// Entries of all particles together.
    pub fn len(&self) -> usize {
        match &self.made {
            Made::Here(made, _) => made.len(),
            #[cfg(feature = "vulkan")]
            Made::Fetched(made) => made.entries.len(),
        }
    }
    /// True when nobody has a neighbour.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How often the engine has made this list since it first stepped the world.
    pub fn builds(&self) -> u64 {
        match &self.made {
            Made::Here(made, _) => made.builds,
            #[cfg(feature = "vulkan")]
            Made::Fetched(made) => made.builds,
        }
    }
    pub(super) fn entries(&self, slot: usize) -> impl ExactSizeIterator<Item = Entry> {
        whole(self.parts(slot))
    }
    fn parts(&self, slot: usize) -> (&[u32], &[Entry]) {
        match &self.made {
            Made::Here(made, _) => made.parts(slot),
            #[cfg(feature = "vulkan")]
            Made::Fetched(made) => (&[], made.of(slot)),
        }
    }
}

impl Engine {
    /// A neighbour list as the last step left it: one that was added to the world
    /// ([`World::add_list`](crate::World::add_list)), or `contacts`. From a device it is fetched.
    ///
    /// # Errors
    /// When the world has no such list. When there is none that fits the world: before the first
    /// step, after particles were added, removed or changed, and after the list was added. The next
    /// step makes it.
    pub fn neighbors(&self, name: &str) -> Result<NeighborList<'_>> {
        let id = match (self.world.lists.named(name), name) {
            (Some(list), _) => list.id,
            (None, ListDescription::CONTACTS) => ListId::CONTACTS,
            (None, _) => return Err(self.world.no_list(name)),
        };
        let made = match self.listed_for == Some(self.world.particle_revision) && self.is_ours() {
            true => self.made(id)?,
            false => None,
        };
        let particles = &self.world.particles;
        made.map(|made| NeighborList { particles, made }).ok_or_else(|| {
            let why = "has not been made since the world was changed, or nothing can touch";
            Error::value("list", format!("{name:?} {why}; step the world first"))
        })
    }

    fn made(&self, id: ListId) -> Result<Option<Made<'_>>> {
        // Where nothing can touch any more, the contacts of an earlier step may be left.
        if id == ListId::CONTACTS && self.schedule.broad_phase.is_none() {
            return Ok(None);
        }
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &self.vulkan {
            return Ok(vulkan.neighbors(id)?.map(Made::Fetched));
        }
        let (scratch, world) = (&self.cpu.scratch, &self.world);
        let (made, reference) = match world.lists.get(id) {
            Some(list) => (scratch.added.get(id), &list.reference),
            None => (Some(&scratch.neighbors), &world.particles.list_reference),
        };
        let made = made.filter(|made| made.built);
        Ok(made.map(|made| Made::Here(made, reference)))
    }
}
