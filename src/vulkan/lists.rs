//! Neighbour lists that were added to a world, on the device.
//!
//! The passes that make lists know of one list only: its description is words of `globals`, what they
//! find out about it is words of `state`, and it lies in `neighbors`. A list that was added has those
//! buffers of its own, bound where the shaders of the contacts' list have theirs. What is made anew for
//! each list (points, grid, trees) they share: they are made one after the other.

use super::commands::Recorder;
use super::encode::{Listing, Traits};
use super::layout::state as s;
use super::memory::{DeviceBuffer, Memory, Place};
use super::plan::Plan;
use super::{Vulkan, encode};
use crate::cpu::search::neighbors::Neighbor;
use crate::error::Result;
use crate::table::{Buffer, Mark};
use crate::world::{ListFilter, ListId, ListKey, World};
use ash::vk;
use glam::Vec4;

/// What the device has of a list that was added.
pub(super) struct DeviceList {
    pub id: ListId,
    pub globals: DeviceBuffer,
    /// The words of `globals` that were written last.
    pub last_written: Vec<u32>,
    pub state: DeviceBuffer,
    pub read_state: DeviceBuffer,
    /// Those that every list has one of, in the order of [`of_list`].
    own: Vec<DeviceBuffer>,
    /// It is made again when constraints break.
    follows_breaks: bool,
    /// How often it was made.
    pub builds: u64,
}

/// A list as it was fetched.
pub(crate) struct FetchedList {
    /// First entry and length of each particle's list.
    places: Vec<[u32; 2]>,
    pub entries: Vec<Neighbor>,
    /// Where each particle was when the list was made.
    pub reference: Vec<Vec4>,
    pub builds: u64,
}

impl FetchedList {
    /// The entries of a slot.
    pub fn of(&self, slot: usize) -> &[Neighbor] {
        let [first, length] = self.places[slot].map(|word| word as usize);
        &self.entries[first..first + length]
    }
}

/// The buffers that every list has one of.
pub(super) fn of_list() -> impl Iterator<Item = Buffer> {
    Buffer::ALL.iter().copied().filter(|buffer| buffer.is(Mark::OfList))
}

/// What each list of the world depends on besides positions, the contacts' first.
pub(super) fn keys(world: &World) -> impl Iterator<Item = (ListId, ListKey)> {
    let added = world.lists.iter();
    let added = added.map(|list| (list.id, ListKey::of_list(world, &list.description)));
    std::iter::once((ListId::CONTACTS, ListKey::of(world))).chain(added)
}

/// The lists that the CPU would make in its next step wherever the particles are.
pub(super) fn due(world: &World) -> Vec<ListId> {
    let had = |id| match world.lists.get(id) {
        Some(list) => list.key,
        None => Some(world.list_key),
    };
    keys(world).filter(|&(id, key)| had(id) != Some(key)).map(|(id, _)| id).collect()
}

impl DeviceList {
    /// Makes the buffers of a list; those of `old` that have their size are kept.
    pub fn lay(
        memory: &Memory,
        plan: &Plan,
        id: ListId,
        old: Option<&DeviceList>,
    ) -> Result<Option<Self>> {
        let plan = plan.for_list(id);
        let words = encode::globals_words(&plan);
        let fits = |old: &DeviceList| {
            let own = of_list().zip(&old.own).all(|(b, held)| held.words == plan.words(b).max(4));
            own && old.globals.words == words
        };
        if old.is_some_and(fits) {
            return Ok(None);
        }
        let own = of_list().map(|b| memory.buffer(&b.name(), plan.words(b), Place::Device));
        Ok(Some(DeviceList {
            id,
            globals: memory.buffer("globals", words, Place::Written)?,
            last_written: Vec::new(),
            state: memory.buffer("state", s::WORDS, Place::Device)?,
            read_state: memory.buffer("state", s::WORDS, Place::Read)?,
            own: own.collect::<Result<_>>()?,
            follows_breaks: false,
            builds: old.map_or(0, |old| old.builds),
        }))
    }

    /// The buffer that this list has of its own, if every list has one.
    pub fn own(&self, buffer: Buffer) -> Option<&DeviceBuffer> {
        of_list().zip(&self.own).find(|(own, _)| *own == buffer).map(|(_, held)| held)
    }

    /// Writes the words of `globals` for a step; returns how many.
    pub fn write(
        &mut self,
        world: &World,
        plan: &Plan,
        traits: &Traits,
        h: f32,
        renew: bool,
    ) -> usize {
        let Some(list) = world.lists.get(self.id) else { return 0 };
        let description = &list.description;
        self.follows_breaks = description.filter == ListFilter::MayTouch;
        let listing = Listing { description, renew };
        let words = encode::globals(world, &plan.for_list(self.id), traits, h, &listing);
        super::load::write_changed(&mut self.globals, &mut self.last_written, &words)
    }

    /// Copies to the list's `state` what it takes from the state of the step.
    pub fn follow(&self, state: vk::Buffer, recorder: &Recorder) {
        if self.follows_breaks {
            recorder.copy_between((state, s::BROKEN), (self.state.raw, s::BROKEN), 1);
            recorder.barrier();
        }
    }
}

/// Where the buffers of the device are.
pub(super) struct Places<'a> {
    pub globals: &'a Option<DeviceBuffer>,
    pub state: &'a DeviceBuffer,
    pub buffers: &'a [DeviceBuffer],
    pub lists: &'a [DeviceList],
}

impl Places<'_> {
    /// What a pass that is about a list binds: globals and state stand before its buffers.
    pub fn of(&self, list: ListId, buffer: Option<Buffer>, at: usize) -> vk::Buffer {
        let list = self.lists.iter().find(|added| added.id == list);
        let shared = |buffer: Buffer| &self.buffers[buffer as usize];
        match (buffer, at) {
            (Some(buffer), _) => {
                list.and_then(|list| list.own(buffer)).unwrap_or_else(|| shared(buffer)).raw
            }
            (None, 0) => {
                let globals = list.map(|list| &list.globals).or(self.globals.as_ref());
                globals.map_or(self.state.raw, |globals| globals.raw)
            }
            (None, _) => list.map_or(self.state, |list| &list.state).raw,
        }
    }
}

impl Vulkan {
    /// The `state` of a list.
    pub(super) fn state_of(&self, list: ListId) -> &DeviceBuffer {
        self.lists.iter().find(|added| added.id == list).map_or(&self.state, |list| &list.state)
    }

    /// The buffer of a list, or that of all where lists share it.
    pub(super) fn buffer_of(&self, list: ListId, buffer: Buffer) -> &DeviceBuffer {
        let added = self.lists.iter().find(|added| added.id == list);
        added.and_then(|list| list.own(buffer)).unwrap_or(&self.buffers[buffer as usize])
    }

    /// Every list, with what the last step found out about it.
    pub(super) fn read_states(&self) -> impl Iterator<Item = (ListId, &[u32])> {
        let added = self.lists.iter().map(|list| (list.id, list.read_state.host()));
        std::iter::once((ListId::CONTACTS, self.read_state.host())).chain(added)
    }

    /// A list as the last step left it; `None` when there is none.
    pub(crate) fn neighbors(&self, list: ListId) -> Result<Option<FetchedList>> {
        let Some(plan) = self.plan.as_ref().filter(|_| self.list_keys.contains_key(&list)) else {
            return Ok(None);
        };
        let Some((_, state)) = self.read_states().find(|(id, _)| *id == list) else {
            return Ok(None);
        };
        let (n, used) = (plan.particles, state[s::NEIGHBORS_USED] as usize);
        let words = self.download(self.buffer_of(list, Buffer::Neighbors), 2 * (n + used))?;
        let reference = self.download(self.buffer_of(list, Buffer::ListReference), 4 * n)?;
        let pairs: &[[u32; 2]] = bytemuck::cast_slice(&words);
        let (places, entries) = pairs.split_at(n);
        let entry =
            |&[slot, contact]: &[u32; 2]| Neighbor { slot, contact: f32::from_bits(contact) };
        let row = |row: &[u32]| Vec4::from_slice(bytemuck::cast_slice(row));
        let added = self.lists.iter().find(|added| added.id == list);
        Ok(Some(FetchedList {
            places: places.to_vec(),
            entries: entries.iter().map(entry).collect(),
            reference: reference.chunks_exact(4).map(row).collect(),
            builds: added.map_or(self.contact_builds, |list| list.builds),
        }))
    }
}
