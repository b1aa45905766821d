//! The command buffers of a step: recording them from its [`Program`], and having them done.

use super::Vulkan;
use super::chunk::Chunk;
use super::commands::{Recorder, Recording};
use super::layout::{bodies as pairs, state as s};
use super::lists::Places;
use super::plan::Plan;
use super::program::{self, Program, Size, Turn};
use crate::error::Result;
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::{Pass, Schedule};
use crate::world::World;
use ash::vk;
use std::collections::HashSet;

/// Command buffers of a submission, at most. A device that also shows pictures must not be kept busy
/// for long at a time.
const BATCH: usize = 512;

/// A step, ready to be submitted.
pub(super) struct Recorded {
    schedule: Schedule,
    pub program: Program,
    /// By their number in the program; those that were never done are not recorded yet.
    chunks: Vec<Option<Chunk>>,
    /// What comes before the passes: counters begin anew, and what the step changes is kept.
    opening: Recording,
    /// What comes after the passes: results are copied to where the host reads.
    closing: Recording,
}

impl Recorded {
    /// The command buffers of a step in their order. What is kept is kept behind a sort: an attempt
    /// that ran out of room goes back to the sorted particles.
    fn each(
        &self,
        sorts: bool,
        visit: &mut impl FnMut(vk::CommandBuffer, Option<&Chunk>) -> Result<()>,
    ) -> Result<()> {
        let mut opened = false;
        self.program.each(sorts, &mut |number| {
            if !opened && Some(number) != self.program.sort() {
                visit(self.opening.raw, None)?;
                opened = true;
            }
            match &self.chunks[number] {
                Some(chunk) => visit(chunk.raw(), Some(chunk)),
                None => Ok(()),
            }
        })?;
        visit(self.closing.raw, None)
    }

    /// Adds the time of every pass but those of a sort.
    pub fn times(&self, report: &mut StepReport) -> Result<()> {
        for (chunk, plays) in self.chunks.iter().zip(self.program.counts()) {
            if let Some(chunk) = chunk.as_ref().filter(|_| plays > 0) {
                chunk.times(plays, report)?;
            }
        }
        Ok(())
    }

    /// Adds the time of the passes of a sort.
    pub fn sort_times(&self, report: &mut StepReport) -> Result<()> {
        let chunk = self.program.sort().and_then(|sort| self.chunks[sort].as_ref());
        chunk.map_or(Ok(()), |chunk| chunk.times(1, report))
    }

    /// How many kernels each chunk has.
    pub fn kernels(&self) -> impl Iterator<Item = usize> {
        let of = |chunk: &Chunk| chunk.log.iter().map(|(_, kernels)| kernels.len()).sum();
        self.chunks.iter().map(move |chunk| chunk.as_ref().map_or(0, of))
    }
}

impl Vulkan {
    /// Records what of the step is not recorded yet.
    pub(super) fn record_step(
        &mut self,
        world: &World,
        schedule: &Schedule,
        sorts: bool,
    ) -> Result<()> {
        let Some(plan) = self.plan.as_ref().map(Plan::full) else { return Ok(()) };
        let same = self.recorded.take().filter(|recorded| recorded.schedule == *schedule);
        let mut recorded = match same {
            Some(recorded) => recorded,
            None => {
                self.recordings += 1;
                self.begin_recording(world, schedule, &plan)?
            }
        };
        let Recorded { program, chunks, .. } = &mut recorded;
        let mut prepared = HashSet::new();
        for (number, (turns, chunk)) in program.chunks.iter().zip(chunks).enumerate() {
            if chunk.is_some() || (program.sort() == Some(number) && !sorts) {
                continue;
            }
            for turn in turns {
                if prepared.insert((turn.list, turn.dispatch)) {
                    self.prepare(turn, &plan)?;
                }
            }
            let this = &*self;
            *chunk = Some(Chunk::record(&self.commands, &self.device, turns, |turn, recorder| {
                let kernels = this.dispatch(turn, &plan, recorder);
                if turn.dispatch.pass == Pass::SortParticles {
                    this.copy_order(&plan, recorder);
                }
                kernels
            })?);
        }
        self.recorded = Some(recorded);
        Ok(())
    }

    /// A step none of whose passes is recorded yet.
    fn begin_recording(&self, world: &World, schedule: &Schedule, plan: &Plan) -> Result<Recorded> {
        let breakable = world.has_breakable();
        let opening = self.commands.keep(|recorder| {
            let (first, words) = (s::LIST_BUILDS, s::NEIGHBORS_USED - s::LIST_BUILDS);
            let states = self.lists.iter().map(|list| &list.state);
            for state in states.chain([&self.state]) {
                recorder.fill(state.raw, first, words);
                recorder.fill(state.raw, s::OVERFLOW_BODY_PAIRS, 1);
            }
            // Pairs of bodies are those of a substep; where none are looked for, there are none.
            recorder.fill(self.buffers[Buffer::BodyPairs as usize].raw, 0, pairs::PAIRS);
            recorder.barrier();
            for (from, to, words) in self.kept(plan, breakable) {
                recorder.copy(from, to, words);
            }
            recorder.barrier();
        })?;
        let closing = self.commands.keep(|recorder| {
            self.copy_states(recorder);
            if !self.keep {
                self.copy_particles(recorder);
            }
            recorder.barrier();
        })?;
        let program = Program::of(schedule, plan, self.unrolled);
        let chunks = program.chunks.iter().map(|_| None).collect();
        Ok(Recorded { schedule: schedule.clone(), program, chunks, opening, closing })
    }

    /// Has the recorded step done, and waits: in one submission, unless chunks are done very often.
    pub(super) fn submit_step(&mut self, sorts: bool) -> Result<()> {
        let Some(recorded) = &self.recorded else { return Ok(()) };
        #[cfg(feature = "harness")]
        if let Some(log) = &mut self.log {
            log.push(Vec::new());
        }
        let mut batch = Vec::new();
        recorded.each(sorts, &mut |buffer, _chunk| {
            #[cfg(feature = "harness")]
            if let (Some(chunk), Some(attempt)) =
                (_chunk, self.log.as_mut().and_then(|log| log.last_mut()))
            {
                attempt.extend_from_slice(&chunk.log);
            }
            batch.push(buffer);
            if batch.len() < BATCH {
                return Ok(());
            }
            self.commands.submit(&batch)?;
            batch.clear();
            Ok(())
        })?;
        if !batch.is_empty() {
            self.commands.submit(&batch)?;
        }
        Ok(())
    }

    /// Copies what the step found out to where the host reads.
    pub(super) fn copy_states(&self, recorder: &Recorder) {
        recorder.copy(self.state.raw, self.read_state.raw, s::WORDS);
        for list in &self.lists {
            recorder.copy(list.state.raw, list.read_state.raw, s::WORDS);
        }
    }

    /// Makes the pipelines of a dispatch.
    pub(super) fn prepare(&mut self, turn: &Turn, plan: &Plan) -> Result<()> {
        let Vulkan { pipelines, globals, state, buffers, lists, .. } = self;
        let places = Places { globals, state, buffers, lists };
        let (dispatch, list) = (&turn.dispatch, turn.list);
        for stage in program::kernels(dispatch, plan) {
            pipelines.prepare(dispatch.pass, &stage, list, |b, at| places.of(list, b, at))?;
        }
        Ok(())
    }

    /// Records the kernels of a dispatch, each with a barrier behind it; returns their names.
    pub(super) fn dispatch(
        &self,
        turn: &Turn,
        plan: &Plan,
        recorder: &Recorder,
    ) -> Vec<&'static str> {
        let mut names = Vec::new();
        let list = self.lists.iter().find(|list| list.id == turn.list);
        if let Some(list) = list.filter(|_| turn.dispatch.pass == Pass::Bounds) {
            list.follow(self.state.raw, recorder);
        }
        let state = list.map_or(&self.state, |list| &list.state).raw;
        for stage in program::kernels(&turn.dispatch, plan) {
            self.pipelines.record(turn, &stage, recorder);
            // SAFETY: the buffer is being recorded; indirect arguments lie inside `state`.
            unsafe {
                match program::size(stage.groups, plan, turn.when_stale) {
                    Size::Fixed(count) => recorder.device.cmd_dispatch(recorder.raw, count, 1, 1),
                    Size::Indirect(slot) => {
                        let offset = 4 * (s::ARGUMENTS as u64 + 3 * u64::from(slot));
                        recorder.device.cmd_dispatch_indirect(recorder.raw, state, offset);
                    }
                }
            }
            recorder.barrier();
            names.push(stage.entry);
        }
        names
    }
}
