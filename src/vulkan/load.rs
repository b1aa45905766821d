//! To the device: buffers of the right size, and in them what the world has and the device lacks.
//!
//! Edits mark the rows of particles that they changed. What else may have changed is compared with
//! what was loaded: constraints by their revision, shapes of obstacles by value (meshes by address),
//! pins, poses, winds, parameters, materials and forces word by word when a step writes them.

use super::commands::Recorder;
use super::encode::{self, Encoder, Listing, Traits};
use super::layout::state::MEMORY_PAIRS;
use super::lists::{DeviceList, Places, of_list};
use super::memory::{DeviceBuffer, Place};
use super::plan::Plan;
use super::{Vulkan, layout, stages};
use crate::cpu::Scratch;
use crate::error::{Error, Result};
use crate::step::Dispatch;
use crate::table::{Buffer, Changes, Domain, Mark};
use crate::world::collider::Shape;
use crate::world::{Kind, ListDescription, ListId, Method, World};
use ash::vk;
use std::borrow::Cow;

/// Besides the columns of particles, what lies where the number of particles puts it, or says in which
/// slots they are.
const LAID_BY_COUNT: [Buffer; 3] = [Buffer::ContactMemory, Buffer::Surfaces, Buffer::Links];

/// Where in `last_written` the words of `globals` are.
const GLOBALS: usize = Buffer::COUNT;

/// What of a world is compared with what the device has.
pub(super) struct Loaded {
    /// Of the rows of each stored kind.
    revisions: [u64; Kind::SETS.len()],
    /// What the softness of constraints depends on besides their own numbers.
    softness: (Method, u32, f32),
    shapes: Vec<Shape>,
    /// Of the bodies.
    bodies: u64,
}

impl Loaded {
    fn of(world: &World, h: f32) -> Self {
        let p = &world.params;
        let iterations = if p.method == Method::Pbd { p.iterations } else { 0 };
        Loaded {
            revisions: revisions(world),
            softness: (p.method, iterations, h),
            shapes: world.colliders.iter().map(|c| c.shape.clone()).collect(),
            bodies: world.bodies.revision,
        }
    }

    /// Marks the buffers that this and the world as it is now differ in.
    fn mark_differences(&self, now: &Loaded, missing: &mut Changes) {
        for (at, buffer) in rows().enumerate() {
            if self.revisions[at] != now.revisions[at] || self.softness != now.softness {
                missing.mark_whole(buffer);
            }
        }
        if self.bodies != now.bodies {
            let bodies = [Buffer::Bodies, Buffer::Links, Buffer::BodyFields, Buffer::Touches];
            bodies.into_iter().for_each(|buffer| missing.mark_whole(buffer));
        }
        let same = self.shapes.len() == now.shapes.len()
            && self.shapes.iter().zip(&now.shapes).all(|(a, b)| a.is_same(b));
        if !same {
            missing.mark_whole(Buffer::Colliders);
        }
    }

    /// The device changed its rows, and the world did likewise.
    pub fn follow_rows(&mut self, world: &World) {
        self.revisions = revisions(world);
        self.bodies = world.bodies.revision;
    }
}

/// The buffers with rows of constraints.
fn rows() -> impl Iterator<Item = Buffer> {
    Kind::SETS.into_iter().map(Kind::buffer)
}

fn revisions(world: &World) -> [u64; Kind::SETS.len()] {
    world.sets.all().map(|rows| rows.revision())
}

/// Buffers with a mark.
pub(super) fn marked(mark: Mark) -> impl Iterator<Item = Buffer> {
    Buffer::ALL.iter().copied().filter(move |buffer| buffer.is(mark))
}

/// Arrays of particles that the world takes back after a step.
pub(super) fn fetched_columns() -> impl Iterator<Item = Buffer> {
    marked(Mark::Fetched).filter(|buffer| buffer.domain() == Domain::Particle)
}

impl Vulkan {
    /// Brings the device up to date with a world that may have been edited.
    pub(super) fn bring(&mut self, world: &mut World, h: f32) -> Result<()> {
        self.fetch(world)?;
        self.missing.take(&mut world.changes);
        self.load(world, &Scratch::default(), h, None)
    }

    /// Loads what the device lacks of the world; all of it, and what the CPU's passes left, if the
    /// device is to go on `before` a dispatch.
    pub(super) fn load(
        &mut self,
        world: &World,
        scratch: &Scratch,
        h: f32,
        before: Option<&Dispatch>,
    ) -> Result<()> {
        // Until all of it is there.
        self.edited = true;
        let now = Loaded::of(world, h);
        let most = self.most(world);
        let old = self.plan.clone().filter(|plan| plan.most == most);
        match (&self.loaded, &old) {
            (Some(loaded), Some(old)) if before.is_none() => {
                loaded.mark_differences(&now, &mut self.missing);
                if old.particles != world.particles.len() || self.missing.has_slots() {
                    LAID_BY_COUNT.iter().for_each(|&buffer| self.missing.mark_whole(buffer));
                }
            }
            _ => self.missing.mark_everything(),
        }
        let room = self.room.clone().filter(|_| old.is_some());
        let mut plan = Plan::for_at_most(most, world, room, self.workgroup).holding(scratch);
        if let Some(old) = &self.plan {
            plan = plan.with_spare_of(old);
        }
        if self.plan.as_ref().map(Plan::full) == Some(plan.full()) {
            self.plan = Some(plan.clone());
        } else {
            self.check_size(&plan.full())?;
            self.lay(&plan)?;
        }
        let rows_changed = rows().any(|buffer| self.missing.has(buffer));
        self.traits = Some(match self.traits {
            Some(traits) if !rows_changed => traits.with_particles_of(world),
            _ => Traits::of(world, h),
        });
        self.send(&Encoder { world, scratch, plan: &plan, h, list: ListId::CONTACTS }, before)?;
        if self.missing.is_everything() {
            self.list_keys.clear();
        }
        self.missing = Changes::default();
        self.loaded = Some(now);
        self.h = h;
        self.edited = false;
        Ok(())
    }

    /// Uploads what is missing.
    fn send(&mut self, from: &Encoder, before: Option<&Dispatch>) -> Result<()> {
        let (n, particles) = (from.plan.particles, &from.world.particles);
        let missing = |buffer: &&Buffer| {
            before.is_some() || buffer.is(Mark::Loaded) && self.missing.has(**buffer)
        };
        let (written, loaded): (Vec<Buffer>, Vec<Buffer>) =
            Buffer::ALL.iter().filter(missing).partition(|buffer| buffer.is(Mark::Written));
        let slots = self.missing.runs_of_slots(n);
        let mut loads: Vec<(&DeviceBuffer, usize, Cow<[u32]>)> = Vec::new();
        for buffer in loaded {
            let to = &self.buffers[buffer as usize];
            let whole = before.is_some() || self.missing.is_everything();
            match (buffer.column(particles), buffer.width()) {
                (Some(column), Some(width)) if before.is_none() => {
                    let edited = std::iter::once(self.missing.rows(buffer, n));
                    for rows in edited.chain(slots.iter().cloned()).filter(|rows| !rows.is_empty())
                    {
                        let words = &column[width * rows.start..width * rows.end];
                        loads.push((to, width * rows.start, Cow::Borrowed(words)));
                    }
                }
                _ if buffer == Buffer::ContactMemory && !whole => {
                    let words = from.words(buffer, before);
                    let [pairs, entries] = from.memory_in_use();
                    for part in stages::contacts::in_use(from.plan, pairs, entries) {
                        loads.push((to, part.start, Cow::Owned(words[part].to_vec())));
                    }
                    loads.push((&self.state, MEMORY_PAIRS, Cow::Owned(vec![pairs as u32])));
                }
                _ => loads.push((to, 0, Cow::Owned(from.words(buffer, before)))),
            }
        }
        if self.missing.is_everything() {
            loads.push((&self.state, 0, Cow::Owned(from.state())));
        }
        // What steps make themselves is given only where passes of the CPU made it.
        for list in self.lists.iter().filter(|_| before.is_some()) {
            let plan = from.plan.for_list(list.id);
            let from = Encoder { list: list.id, plan: &plan, ..*from };
            let own = of_list().filter_map(|b| Some((list.own(b)?, from.words(b, before))));
            loads.extend(own.map(|(held, words)| (held, 0, Cow::Owned(words))));
            loads.push((&list.state, 0, Cow::Owned(from.state())));
        }
        let mut uploaded = self.upload(&loads)?;
        for buffer in written {
            let mut words = from.words(buffer, before);
            self.buffers[buffer as usize].host_mut()[..words.len()].copy_from_slice(&words);
            uploaded += words.len();
            // Meshes are not written again step by step.
            if buffer == Buffer::Colliders {
                words.truncate(stages::environment::meshes_at(from.world));
            }
            self.last_written[buffer as usize] = words;
        }
        self.uploaded += 4 * uploaded as u64;
        Ok(())
    }

    /// Refuses what takes more workgroups than a dispatch may have.
    pub(super) fn check_size(&self, plan: &Plan) -> Result<()> {
        let most = self.device.limits.max_compute_work_group_count[0] as usize;
        let rows = plan.sets.iter().map(|set| set.cap).max().unwrap_or(0);
        let items = plan.particles.max(rows);
        if items.div_ceil(self.workgroup as usize) <= most {
            return Ok(());
        }
        Err(Error::TooLarge {
            what: format!("the world on {}", self.device.name),
            needed: format!("{items} invocations at once"),
            limit: format!(
                "a dispatch there has {most} groups of {}; use fewer particles, or --backend cpu",
                self.workgroup
            ),
        })
    }

    /// Particles to have room for. While particles come and go it does not become less.
    fn most(&self, world: &World) -> usize {
        let held = self.plan.as_ref().map_or(0, |plan| plan.most);
        world.particles_at_most().max(if world.has_taps() { held } else { 0 })
    }

    /// Makes the buffers of a plan; those that have their size stay as they are. Where there is no
    /// memory for one of them, nothing has changed.
    pub(super) fn lay(&mut self, plan: &Plan) -> Result<()> {
        let (memory, full) = (&self.memory, plan.full());
        // Buffers that are wanted and not held in that size, each with its place.
        let lacking = |held: &[DeviceBuffer], wanted: &[(String, usize, Place)]| {
            let mut made = Vec::new();
            for (at, (name, words, place)) in wanted.iter().enumerate() {
                if held.get(at).is_none_or(|old| old.words != (*words).max(4)) {
                    made.push((at, memory.buffer(name, *words, *place)?));
                }
            }
            Ok::<_, Error>(made)
        };
        let place = |b: Buffer| if b.is(Mark::Written) { Place::Written } else { Place::Device };
        let all: Vec<_> =
            Buffer::ALL.iter().map(|&b| (b.name(), full.words(b), place(b))).collect();
        let saved: Vec<_> = marked(Mark::Restored)
            .map(|b| (format!("saved {}", b.name()), full.words(b), Place::Device))
            .collect();
        // Columns that the world takes back, what contacts hold, the order that particles were put in.
        let read: Vec<_> = fetched_columns()
            .chain([Buffer::ContactMemory])
            .map(|b| (format!("fetched {}", b.name()), full.words(b), Place::Read))
            .chain([("order".into(), full.words(Buffer::Sorted), Place::Read)])
            .collect();
        let globals = [("globals".to_string(), encode::globals_words(plan), Place::Written)];
        let made = lacking(&self.buffers, &all)?;
        let saved = lacking(&self.saved, &saved)?;
        let read = lacking(&self.read, &read)?;
        let globals = lacking(self.globals.as_slice(), &globals)?;
        let held = |id: ListId| self.lists.iter().find(|list| list.id == id);
        let lists = plan.room.lists().map(|id| DeviceList::lay(memory, &full, id, held(id)));
        let lists: Vec<_> = lists.collect::<Result<_>>()?;

        for &(at, _) in &made {
            let buffer = Buffer::ALL[at];
            self.last_written[at].clear();
            match buffer.is(Mark::Loaded) {
                true => self.missing.mark_whole(buffer),
                // Lists may have been in it.
                false => self.list_keys.clear(),
            }
        }
        put(&mut self.buffers, made);
        put(&mut self.saved, saved);
        put(&mut self.read, read);
        for (_, new) in globals {
            self.globals = Some(new);
            self.last_written[GLOBALS].clear();
        }
        self.put_lists(plan, lists);
        self.recorded = None;
        self.plan = Some(plan.clone());
        let Vulkan { pipelines, globals, state, buffers, lists, .. } = self;
        let places = Places { globals, state, buffers, lists };
        pipelines.bind_all(|list, buffer, at| places.of(list, buffer, at));
        Ok(())
    }

    /// Takes the lists of a plan: new ones, and for `None` the one that is there. Others go.
    fn put_lists(&mut self, plan: &Plan, made: Vec<Option<DeviceList>>) {
        let mut old = std::mem::take(&mut self.lists);
        for (id, made) in plan.room.lists().zip(made) {
            let held = old.iter().position(|list| list.id == id).map(|at| old.swap_remove(at));
            if made.is_some() {
                self.list_keys.remove(&id);
            }
            self.lists.extend(made.or(held));
        }
        self.pipelines.forget_lists(|id| self.lists.iter().any(|list| list.id == id));
    }

    /// Puts words into buffers of the device, each from some word on. Returns how many.
    fn upload(&self, loads: &[(&DeviceBuffer, usize, Cow<[u32]>)]) -> Result<usize> {
        let total = loads.iter().map(|(_, _, words)| words.len()).sum();
        if total == 0 {
            return Ok(0);
        }
        let mut staging = self.memory.buffer("staging", total, Place::Staging)?;
        let mut from = 0;
        for (_, _, words) in loads {
            staging.host_mut()[from..from + words.len()].copy_from_slice(words);
            from += words.len();
        }
        self.commands.once(|recorder| {
            let mut from = 0;
            for (buffer, first, words) in loads {
                recorder.copy_between((staging.raw, from), (buffer.raw, *first), words.len());
                from += words.len();
            }
            recorder.barrier();
        })?;
        Ok(total)
    }

    /// Gets the words of a buffer of the device.
    pub(super) fn download(&self, buffer: &DeviceBuffer, words: usize) -> Result<Vec<u32>> {
        if words == 0 {
            return Ok(Vec::new());
        }
        let staging = self.memory.buffer("staging", words, Place::Read)?;
        self.commands.once(|recorder| {
            recorder.barrier();
            recorder.copy(buffer.raw, staging.raw, words);
            recorder.barrier();
        })?;
        Ok(staging.host()[..words].to_vec())
    }

    /// Writes what a step takes from the host, where it changed: parameters, forces, materials, poses
    /// of obstacles, pins. The lists that `renew` names are made wherever the particles are.
    pub(super) fn write_step(&mut self, world: &World, h: f32, renew: &[ListId]) -> Result<()> {
        let (Some(plan), Some(traits)) = (&self.plan, &self.traits) else { return Ok(()) };
        let Vulkan { globals, buffers, last_written, lists, material_pairs, .. } = self;
        let mut count = 0;
        if let Some(globals) = globals {
            let description = &ListDescription::contacts(&world.params);
            let list = Listing { description, renew: renew.contains(&ListId::CONTACTS) };
            let words = encode::globals(world, plan, traits, h, &list);
            count += write_changed(globals, &mut last_written[GLOBALS], &words);
        }
        if material_pairs.update(world, h) {
            let (at, words) = (Buffer::Materials as usize, encode::materials(material_pairs));
            count += write_changed(&mut buffers[at], &mut last_written[at], &words);
        }
        for list in lists {
            count += list.write(world, plan, traits, h, renew.contains(&list.id));
        }
        if plan.colliders > 0 {
            let at = Buffer::Colliders as usize;
            let mut words = last_written[at].clone();
            stages::environment::encode_step(world, h, &mut words);
            count += write_changed(&mut buffers[at], &mut last_written[at], &words);
        }
        if plan.winds > 0 {
            let at = Buffer::Winds as usize;
            let mut words = vec![0; plan.words(Buffer::Winds)];
            stages::surfaces::encode_winds(world, plan, h, &mut words);
            count += write_changed(&mut buffers[at], &mut last_written[at], &words);
        }
        let at = Buffer::Pins as usize;
        let mut words = last_written[at].clone();
        encode::pins_of_step(world, plan, h, &mut words);
        count += write_changed(&mut buffers[at], &mut last_written[at], &words);
        self.uploaded += 4 * count as u64;
        Ok(())
    }

    /// What a step changes, where that is kept meanwhile, and how many words it has. Rows of
    /// constraints change only where they can break or yield.
    pub(super) fn kept<'a>(
        &'a self,
        plan: &'a Plan,
        breakable: bool,
    ) -> impl Iterator<Item = (vk::Buffer, vk::Buffer, usize)> + 'a {
        let changes = move |b: &Buffer| breakable || !matches!(b.domain(), Domain::Rows(_));
        let buffers = marked(Mark::Restored).zip(&self.saved).filter(move |(b, _)| changes(b));
        let buffers = buffers.map(|(b, to)| (self.buffers[b as usize].raw, to.raw, plan.words(b)));
        buffers.chain([(self.state.raw, self.saved_state.raw, layout::state::WORDS)])
    }

    /// Whether a list had no room.
    pub(super) fn ran_out(&self) -> bool {
        let overflows = |state: &[u32]| {
            Buffer::ALL.iter().filter_map(|b| b.overflow()).any(|word| state[word] > 0)
        };
        self.read_states().any(|(_, state)| overflows(state))
    }

    /// Goes back to where the step began; its lists are gone.
    pub(super) fn restore(&mut self, world: &World) -> Result<()> {
        self.list_keys.clear();
        let Some(plan) = &self.plan else { return Ok(()) };
        self.commands.once(|recorder| {
            for (to, from, words) in self.kept(plan, world.has_breakable()) {
                recorder.copy(from, to, words);
            }
            recorder.barrier();
            recorder.copy(self.state.raw, self.read_state.raw, layout::state::WORDS);
            recorder.barrier();
        })?;
        Ok(())
    }

    /// Makes room for what was counted, and half more, and goes back to where the step began.
    pub(super) fn grow(&mut self, world: &World) -> Result<()> {
        let Some(mut plan) = self.plan.clone() else { return Ok(()) };
        for (list, state) in self.read_states() {
            plan.room = plan.room.grown(list, state);
        }
        self.restore(world)?;
        // What contacts and bodies hold is laid out by the room there is, and may be newer than the
        // world's. It is at hand before anything is replaced, or it would be lost where there is no memory.
        let memory = self.contact_memory(usize::MAX)?.unwrap_or_default();
        let mut kept = vec![(Buffer::ContactMemory, vec![0; plan.words(Buffer::ContactMemory)])];
        stages::contacts::encode_memory(&memory, &plan, &mut kept[0].1);
        if let Some(touches) = self.touches()? {
            let mut words = vec![0; plan.words(Buffer::Touches)];
            stages::bodies::encode_touches(&touches, &plan, &mut words);
            kept.push((Buffer::Touches, words));
        }
        let total = kept.iter().map(|(_, words)| words.len()).sum();
        let mut staging = self.memory.buffer("staging", total, Place::Staging)?;
        let mut from = 0;
        for (_, words) in &kept {
            staging.host_mut()[from..from + words.len()].copy_from_slice(words);
            from += words.len();
        }
        self.lay(&plan)?;
        self.room = Some(plan.room);
        self.commands.once(|recorder| {
            let mut from = 0;
            for (buffer, words) in &kept {
                let to = self.buffers[*buffer as usize].raw;
                recorder.copy_between((staging.raw, from), (to, 0), words.len());
                from += words.len();
            }
            recorder.barrier();
        })?;
        Ok(())
    }

    /// Copies particles to where the host reads.
    pub(super) fn copy_particles(&self, recorder: &Recorder) {
        let Some(plan) = self.plan.as_ref().map(Plan::full) else { return };
        for (buffer, read) in fetched_columns().zip(&self.read) {
            recorder.copy(self.buffers[buffer as usize].raw, read.raw, plan.words(buffer));
        }
    }
}

/// Puts new buffers in their places.
fn put(held: &mut Vec<DeviceBuffer>, made: Vec<(usize, DeviceBuffer)>) {
    for (at, new) in made {
        match held.get_mut(at) {
            Some(old) => *old = new,
            None => held.push(new),
        }
    }
}

/// Writes the words that differ from those written last. Returns how many.
pub(super) fn write_changed(
    buffer: &mut DeviceBuffer,
    last: &mut Vec<u32>,
    words: &[u32],
) -> usize {
    let host = buffer.host_mut();
    if last.len() != words.len() {
        host[..words.len()].copy_from_slice(words);
        *last = words.to_vec();
        return words.len();
    }
    let mut count = 0;
    for ((place, last), &word) in host.iter_mut().zip(last).zip(words) {
        if *last != word {
            (*place, *last) = (word, word);
            count += 1;
        }
    }
    count
}
