//! A chunk of a step, recorded: a command buffer that may be done several times, with a timestamp
//! behind each of its dispatches.

use super::commands::{Commands, Recorder, Recording};
use super::program::Turn;
use crate::error::Result;
use crate::gpu::{Device, check};
use crate::report::StepReport;
use crate::step::Dispatch;
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// A dispatch that was recorded, and the entry points that were.
pub(crate) type Ran = (Dispatch, Vec<&'static str>);

pub(crate) struct Chunk {
    recording: Recording,
    /// What was recorded, in order. The time of each ends at a timestamp of its own.
    pub log: Vec<Ran>,
    queries: Queries,
}

impl Chunk {
    /// Records `turns`; `dispatch` records one of them and names its kernels.
    pub fn record(
        commands: &Commands,
        device: &Arc<Device>,
        turns: &[Turn],
        mut dispatch: impl FnMut(&Turn, &Recorder) -> Vec<&'static str>,
    ) -> Result<Self> {
        let queries = Queries::new(device, turns.len() as u32 + 1)?;
        let mut log = Vec::with_capacity(turns.len());
        let recording = commands.keep(|recorder| {
            queries.begin(recorder);
            for (at, turn) in turns.iter().enumerate() {
                log.push((turn.dispatch, dispatch(turn, recorder)));
                queries.stamp(at as u32 + 1, recorder);
            }
        })?;
        Ok(Chunk { recording, log, queries })
    }

    pub fn raw(&self) -> vk::CommandBuffer {
        self.recording.raw
    }

    /// Adds the calls and the time of every pass to a report. The timestamps are those of the last
    /// of `plays` times that the chunk was done: that time is taken for each of them.
    pub fn times(&self, plays: u32, report: &mut StepReport) -> Result<()> {
        let times = self.queries.between()?;
        for ((dispatch, _), time) in self.log.iter().zip(times) {
            report.passes.add_calls(dispatch.pass, plays, time * plays);
        }
        Ok(())
    }
}

/// Timestamps.
struct Queries {
    device: Arc<Device>,
    raw: vk::QueryPool,
    count: u32,
}

impl Queries {
    fn new(device: &Arc<Device>, count: u32) -> Result<Self> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        // SAFETY: the device is alive; the pool is destroyed by Drop.
        let raw = unsafe { device.raw.create_query_pool(&info, None) };
        let raw = check("making timestamps", raw)?;
        Ok(Queries { device: Arc::clone(device), raw, count })
    }

    /// Forgets what was measured before, and records where the time of the first dispatch begins.
    fn begin(&self, recorder: &Recorder) {
        // SAFETY: the buffer is being recorded, and the pool has so many places.
        unsafe { recorder.device.cmd_reset_query_pool(recorder.raw, self.raw, 0, self.count) };
        self.stamp(0, recorder);
    }

    /// Records the end of what comes before timestamp `at`.
    fn stamp(&self, at: u32, recorder: &Recorder) {
        if self.device.tick > 0.0 {
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            // SAFETY: the buffer is being recorded, and the pool has this place.
            unsafe { recorder.device.cmd_write_timestamp(recorder.raw, stage, self.raw, at) };
        }
    }

    /// The time between each timestamp and the next. A device that cannot measure gives zeros.
    fn between(&self) -> Result<impl Iterator<Item = Duration>> {
        let mut ticks = vec![0u64; self.count as usize];
        if self.device.tick > 0.0 {
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            // SAFETY: every timestamp was written, since what was submitted is done.
            let got =
                unsafe { self.device.raw.get_query_pool_results(self.raw, 0, &mut ticks, flags) };
            check("reading timestamps", got)?;
        }
        let tick = self.device.tick;
        let pairs = (1..ticks.len()).map(move |at| ticks[at].saturating_sub(ticks[at - 1]));
        Ok(pairs.map(move |count| Duration::from_nanos((count as f64 * tick) as u64)))
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        // SAFETY: every submission was waited for.
        unsafe { self.device.raw.destroy_query_pool(self.raw, None) };
    }
}
