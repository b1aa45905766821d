//! Back from the device: what a step changed, and the order of particles.

use super::commands::{Recorder, Sequence};
use super::layout::{SET_FIRST, SET_HEADER, SET_LIVE, state as s};
use super::plan::Rows;
use super::{ORDER, Traits, Vulkan, record};
use crate::error::Result;
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::Schedule;
use crate::world::{ConstraintSet, ListKey, Solver, World};
use glam::Vec4;
use std::collections::HashMap;

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
            recorded.step.times(report)?;
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
        report.iterations += schedule.substeps * schedule.iterations;
        world.lists_since_sort = state[s::LISTS_SINCE_SORT];
        world.list_floor = f32::from_bits(state[s::LIST_FLOOR]);
        // The lists are the device's: whoever steps this world on the CPU makes his own.
        world.list_key = ListKey::default();
        if schedule.broad_phase.is_some() {
            world.list_reference.resize(world.particles.len(), Vec4::ZERO);
        }
        for _ in 0..schedule.substeps {
            world.time += f64::from(h);
        }
        Ok(())
    }

    /// Brings particles and constraints from the device, if it is ahead.
    pub fn fetch(&mut self, world: &mut World) -> Result<()> {
        if !self.ahead {
            return Ok(());
        }
        self.commands.once(|recorder| {
            recorder.barrier();
            self.copy_particles(world.particles.len(), recorder);
            recorder.barrier();
        })?;
        self.take(world)
    }

    /// Copies particles to where the host reads.
    pub(super) fn copy_particles(&self, count: usize, recorder: &Recorder) {
        for (buffer, read) in [Buffer::Position, Buffer::Velocity].into_iter().zip(&self.read) {
            recorder.copy(self.buffers[buffer as usize].raw, read.raw, 4 * count);
        }
    }

    /// Takes the particles that were copied, and the constraints where they may have changed: all,
    /// or nothing when the device is lost meanwhile.
    fn take(&mut self, world: &mut World) -> Result<()> {
        let changed = if world.has_breakable() { self.rows()? } else { None };
        let n = world.particles.len();
        let rows =
            |read: usize| -> &[Vec4] { bytemuck::cast_slice(&self.read[read].host()[..4 * n]) };
        world.particles.position.copy_from_slice(rows(0));
        world.particles.velocity.copy_from_slice(rows(1));
        world.particles.predicted.clone_from(&world.particles.position);
        if let (Some(plan), Some([distance, bend, volume])) = (&self.plan, changed) {
            take(&mut world.distance, &plan.rows[0], &distance);
            take(&mut world.bend, &plan.rows[1], &bend);
            take(&mut world.volume, &plan.rows[2], &volume);
        }
        self.fetched += 1;
        self.ahead = false;
        Ok(())
    }

    /// The rows of each kind as they are on the device; no words where there are none.
    fn rows(&self) -> Result<Option<[Vec<u32>; 3]>> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let get = |kind: usize, buffer: Buffer| match plan.rows[kind].cap {
            0 => Ok(Vec::new()),
            _ => self.download(&self.buffers[buffer as usize], plan.words(buffer)),
        };
        Ok(Some([get(0, Buffer::Distance)?, get(1, Buffer::Bend)?, get(2, Buffer::Volume)?]))
    }

    /// Records what puts particles in order of place, to be submitted before a step; the order ends
    /// where the host reads.
    pub(super) fn record_sort(&mut self, schedule: &Schedule) -> Result<Option<Sequence>> {
        let Some(plan) = self.plan.clone() else { return Ok(None) };
        let turns = record::sorting(schedule);
        for turn in &turns {
            self.prepare(&record::work(turn, &plan))?;
        }
        let sorting = self.commands.sequence(turns.iter().map(|t| t.dispatch.pass).collect())?;
        let (this, n) = (&*self, plan.particles);
        self.commands.record(sorting.raw, |recorder| {
            sorting.begin(recorder);
            for (at, turn) in turns.iter().enumerate() {
                this.dispatch(&record::work(turn, &plan), &plan, turn, recorder);
                sorting.stamp(at + 1, recorder);
            }
            let sorted = (this.buffers[Buffer::Sorted as usize].raw, 4 * n);
            recorder.copy_from(sorted, this.read[ORDER].raw, n);
            recorder.barrier();
            Ok(())
        })?;
        Ok(Some(sorting))
    }

    /// Follows the order that the device just put particles in.
    pub(super) fn take_order(&self, world: &mut World) {
        world.reorder(&self.read[ORDER].host()[..world.particles.len()]);
    }
}

/// Follows what the device did to the rows of a kind: those that broke go, those that yielded take
/// their new rest values.
fn take<const N: usize>(set: &mut ConstraintSet<N>, rows: &Rows, words: &[u32]) {
    if rows.cap == 0 {
        return;
    }
    let column = |k: usize, row: usize| words[SET_HEADER + k * rows.cap + row];
    let mut rest = HashMap::new();
    for color in 0..rows.colors.len() {
        let first = words[SET_FIRST + color] as usize;
        for row in first..first + words[SET_LIVE + color] as usize {
            rest.insert(column(N + 7, row), f32::from_bits(column(N, row)));
        }
    }
    let gone: Vec<bool> = set.serial.iter().map(|serial| !rest.contains_key(serial)).collect();
    if gone.contains(&true) {
        set.remove_marked(&gone);
    }
    for (value, serial) in set.rest.iter_mut().zip(&set.serial) {
        if let Some(&new) = rest.get(serial) {
            *value = new;
        }
    }
}
