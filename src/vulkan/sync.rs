//! Brings back from the device what a step changed, and the order that it put particles in.

use super::commands::Recorder;
use super::layout::{SET_FIRST, SET_HEADER, SET_LIVE, column, state as s};
use super::load::fetched_columns;
use super::plan::{Plan, SetPlan};
use super::stages::{self, contacts};
use super::{Traits, Vulkan};
use crate::error::{Error, Result};
use crate::gpu;
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::{Loop, Schedule};
use crate::world::{ConstraintRows, ContactMemory, Kind, ListKey, Solver, Touches, World};
use std::collections::HashMap;
use std::sync::Arc;

impl Vulkan {
    /// Brings the report up to date with a step that is done, and the world as far as it must be.
    /// `copied`: particles have been copied to where the host reads.
    pub(super) fn finish(
        &mut self,
        world: &mut World,
        schedule: &Schedule,
        h: f32,
        copied: bool,
        report: &mut StepReport,
    ) -> Result<()> {
        if let Some(recorded) = &self.recorded {
            recorded.times(report)?;
        }
        let state = self.read_state.host().to_vec();
        let word = |at: usize| state[at] as usize;
        self.ahead = true;
        if copied {
            self.take(world)?;
        } else if word(s::BROKEN) + word(s::QUARANTINED) > 0 {
            // The next schedule and its lists depend on who is joined to whom, and on who is held.
            self.fetch(world)?;
        }
        report.broken += word(s::BROKEN);
        world.broken += word(s::BROKEN) as u64;
        report.quarantined += word(s::QUARANTINED) as u64;
        world.quarantined += word(s::QUARANTINED) as u64;
        if word(s::QUARANTINED) > 0 {
            world.particle_revision += 1; // pinned pairs are not listed
            self.traits = Some(Traits::of(world, h));
        }
        let pairs = word(s::NEIGHBORS_USED);
        let both = world.params.solver == Solver::Jacobi;
        if schedule.broad_phase.is_some() {
            report.listed += if both { pairs / 2 } else { pairs };
        }
        if !world.colliders.is_empty() {
            report.listed += word(s::ENVIRONMENT_LISTED);
        }
        report.contacts += word(s::CONTACTS);
        report.list_builds += word(s::LIST_BUILDS) as u32;
        self.contact_builds += word(s::LIST_BUILDS) as u64;
        for list in &mut self.lists {
            list.builds += u64::from(list.read_state.host()[s::LIST_BUILDS]);
        }
        report.iterations += schedule.turns(Loop::Iterations);
        world.lists_since_sort = state[s::LISTS_SINCE_SORT];
        // The lists are on the device. An engine that steps this world on the CPU makes its own.
        world.list_key = ListKey::default();
        world.lists.expire();
        world.listed |= schedule.broad_phase.is_some();
        for _ in 0..schedule.turns(Loop::Substeps) {
            world.time += f64::from(h);
        }
        Ok(())
    }

    /// Brings particles and constraints from the device, if it is ahead. Returns whether it was.
    pub fn fetch(&mut self, world: &mut World) -> Result<bool> {
        if !self.ahead {
            return Ok(false);
        }
        self.commands.once(|recorder| {
            recorder.barrier();
            self.copy_particles(recorder);
            recorder.barrier();
        })?;
        self.take(world)?;
        Ok(true)
    }

    /// Copies the positions as they are now to a buffer of the same device. False when the device
    /// does not have them: before the first step, and after an edit, the world has newer ones.
    pub fn positions_to(&self, to: &gpu::Buffer) -> Result<bool> {
        let Some(plan) = self.plan.as_ref().filter(|_| !self.edited) else { return Ok(false) };
        let (needed, room) = (16 * plan.particles, to.bytes);
        if !Arc::ptr_eq(&self.device, to.device()) {
            return Err(Error::value("to", "the buffer is on another device than the engine"));
        }
        if room < needed {
            let message = format!("the buffer has {room} bytes, and {needed} are needed");
            return Err(Error::value("to", message));
        }
        self.commands.once(|recorder| {
            recorder.barrier();
            recorder.copy(self.buffers[Buffer::Position as usize].raw, to.raw, 4 * plan.particles);
        })?;
        Ok(true)
    }

    /// Takes the particles that were copied, and the constraints where they may have changed: all,
    /// or nothing when the device is lost meanwhile.
    fn take(&mut self, world: &mut World) -> Result<()> {
        let changed = if world.has_breakable() { self.rows()? } else { None };
        let bodies = match &self.plan {
            Some(plan) if plan.bodies > 0 => {
                let buffer = &self.buffers[Buffer::Bodies as usize];
                self.download(buffer, plan.words(Buffer::Bodies))?
            }
            _ => Vec::new(),
        };
        let touches = self.touches()?;
        let entries = self.read_state.host()[s::ENVIRONMENT_USED] as usize;
        let memory = self.contact_memory(entries)?;
        for (buffer, read) in fetched_columns().zip(&self.read) {
            if let Some(column) = buffer.column_mut(&mut world.particles) {
                column.copy_from_slice(&read.host()[..column.len()]);
            }
        }
        let particles = &mut world.particles;
        let rests = particles.start.iter().zip(&particles.position);
        for (predicted, (rest, x)) in particles.predicted.iter_mut().zip(rests) {
            *predicted = rest.truncate().extend(x.w); // as `rebase` leaves it
        }
        if !bodies.is_empty() {
            stages::bodies::decode(&bodies, world);
        }
        if let Some(touches) = touches {
            world.bodies.touches = touches;
        }
        if let Some(memory) = memory {
            world.contact_memory = memory;
        }
        if let (Some(plan), Some(changed)) = (&self.plan, changed) {
            for ((rows, set), words) in
                world.sets.all_mut().into_iter().zip(&plan.sets).zip(&changed)
            {
                take(rows, set, words);
            }
        }
        self.follow_rows(world);
        self.fetched += 1;
        self.ahead = false;
        Ok(())
    }

    /// What rigid bodies press on each other, as the device has it; nothing where none can.
    pub(super) fn touches(&self) -> Result<Option<Touches>> {
        let Some(plan) = self.plan.as_ref().filter(|plan| plan.pairs) else { return Ok(None) };
        let buffer = &self.buffers[Buffer::Touches as usize];
        let head = self.download(buffer, stages::bodies::touches_in_use(plan, None))?;
        let words = self.download(buffer, stages::bodies::touches_in_use(plan, Some(&head)))?;
        Ok(Some(stages::bodies::decode_touches(&words)))
    }

    /// What contacts hold, as the device has it, if no more than so many `entries` of contacts with
    /// obstacles are in use. Room to read it was made before, so a step that is done cannot fail
    /// here for want of memory.
    pub(super) fn contact_memory(&self, entries: usize) -> Result<Option<ContactMemory>> {
        let read = self.read.get(fetched_columns().count());
        let (Some(plan), Some(read)) = (&self.plan, read) else { return Ok(None) };
        let pairs = self.read_state.host()[s::MEMORY_PAIRS] as usize;
        let memory = self.buffers[Buffer::ContactMemory as usize].raw;
        self.commands.once(|recorder| {
            recorder.barrier();
            for part in contacts::in_use(plan, pairs, entries) {
                let first = part.start;
                recorder.copy_between((memory, first), (read.raw, first), part.len());
            }
            recorder.barrier();
        })?;
        Ok(Some(contacts::decode_memory(plan, read.host(), pairs)))
    }

    /// Brings the multipliers of the last substep into the world's rows. Steps do not need them
    /// there, so fetching leaves them out.
    pub fn fetch_multipliers(&self, world: &mut World) -> Result<()> {
        let (Some(plan), Some(words)) = (&self.plan, self.rows()?) else { return Ok(()) };
        for ((rows, set), words) in world.sets.all_mut().into_iter().zip(&plan.sets).zip(&words) {
            let lambda = by_serial(set, words, column::LAMBDA);
            for (value, serial) in rows.lambda.iter_mut().zip(&rows.serial) {
                *value = lambda.get(serial).copied().unwrap_or(0.0);
            }
        }
        Ok(())
    }

    /// The world's rows are as the device has them.
    fn follow_rows(&mut self, world: &World) {
        if let Some(loaded) = &mut self.loaded {
            loaded.follow_rows(world);
        }
    }

    /// The rows of each kind as they are on the device; no words where there are none.
    fn rows(&self) -> Result<Option<Vec<Vec<u32>>>> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let get = |(kind, set): (Kind, &SetPlan)| match (set.cap, kind.buffer()) {
            (0, _) => Ok(Vec::new()),
            (_, buffer) => self.download(&self.buffers[buffer as usize], plan.words(buffer)),
        };
        Kind::SETS.into_iter().zip(&plan.sets).map(get).collect::<Result<_>>().map(Some)
    }

    /// Copies the order that particles were put in, and what lies before it, to where the host reads.
    pub(super) fn copy_order(&self, plan: &Plan, recorder: &Recorder) {
        let sorted = self.buffers[Buffer::Sorted as usize].raw;
        if let Some(order) = self.read.last() {
            recorder.copy(sorted, order.raw, plan.words(Buffer::Sorted));
        }
        recorder.barrier();
    }

    /// Follows the order that the device just put particles in.
    pub(super) fn take_order(&mut self, world: &mut World) {
        if let Some(sorted) = self.read.last() {
            let count = world.particles.len();
            world.reorder(&sorted.host()[4 * count..5 * count]);
        }
        self.follow_rows(world);
    }
}

/// A column of the rows that a device has of a kind, by the number of each row.
fn by_serial(set: &SetPlan, words: &[u32], wanted: usize) -> HashMap<u32, f32> {
    if set.cap == 0 {
        return HashMap::new();
    }
    let at = |k: usize, row: usize| words[SET_HEADER + (set.corners + k) * set.cap + row];
    let live = |color: usize| {
        let first = words[SET_FIRST + color] as usize;
        first..first + words[SET_LIVE + color] as usize
    };
    let rows = (0..set.colors.len()).flat_map(live);
    rows.map(|row| (at(column::SERIAL, row), f32::from_bits(at(wanted, row)))).collect()
}

/// Follows what the device did to the rows of a kind: those that broke go, those that yielded take
/// their new rest values.
fn take(rows: &mut ConstraintRows, set: &SetPlan, words: &[u32]) {
    if set.cap == 0 {
        return;
    }
    let rest = by_serial(set, words, column::REST);
    let gone: Vec<bool> = rows.serial.iter().map(|serial| !rest.contains_key(serial)).collect();
    if gone.contains(&true) {
        rows.remove_marked(&gone);
    }
    for (value, serial) in rows.rest.iter_mut().zip(&rows.serial) {
        if let Some(&new) = rest.get(serial) {
            *value = new;
        }
    }
}
