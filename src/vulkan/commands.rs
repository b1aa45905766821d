//! Command buffers: recording what the device does, and having it done.

use super::device::{Device, check};
use crate::error::Result;
use crate::report::StepReport;
use crate::step::Pass;
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// Records and submits. One at a time: every submission is waited for.
pub(crate) struct Commands {
    device: Arc<Device>,
    pool: vk::CommandPool,
    fence: vk::Fence,
    /// For copies, recorded anew each time.
    copying: vk::CommandBuffer,
}

/// A command buffer in the making.
pub(crate) struct Recorder<'a> {
    pub device: &'a ash::Device,
    pub raw: vk::CommandBuffer,
}

impl Commands {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the family is the device's; pool and fence are destroyed by Drop.
        let pool = unsafe { device.raw.create_command_pool(&info, None) };
        let mut commands = Commands {
            device: Arc::clone(device),
            pool: check("making a command pool", pool)?,
            fence: vk::Fence::null(),
            copying: vk::CommandBuffer::null(),
        };
        // SAFETY: as above.
        let fence = unsafe { device.raw.create_fence(&vk::FenceCreateInfo::default(), None) };
        commands.fence = check("making a fence", fence)?;
        commands.copying = commands.buffer()?;
        Ok(commands)
    }

    /// A command buffer; it goes with the pool.
    fn buffer(&self) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let buffers = unsafe { self.device.raw.allocate_command_buffers(&info) };
        Ok(check("making a command buffer", buffers)?[0])
    }

    /// A command buffer for these passes; it must go before `self` does.
    pub fn sequence(&self, passes: Vec<Pass>) -> Result<Sequence> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(passes.len() as u32 + 1);
        let raw = self.buffer()?;
        // SAFETY: the device is alive; destroyed with the sequence.
        let queries = unsafe { self.device.raw.create_query_pool(&info, None) };
        Ok(Sequence {
            raw,
            passes,
            queries: check("making timestamps", queries)?,
            pool: self.pool,
            device: Arc::clone(&self.device),
        })
    }

    /// Fills a command buffer anew.
    pub fn record(
        &self,
        buffer: vk::CommandBuffer,
        fill: impl FnOnce(&Recorder) -> Result<()>,
    ) -> Result<()> {
        let device = &self.device.raw;
        // SAFETY: the buffer is one of this pool's and not in use, since submissions are waited for.
        let begun =
            unsafe { device.begin_command_buffer(buffer, &vk::CommandBufferBeginInfo::default()) };
        check("recording", begun)?;
        fill(&Recorder { device, raw: buffer })?;
        // SAFETY: it was begun above.
        check("recording", unsafe { device.end_command_buffer(buffer) })
    }

    /// Has command buffers done, and waits.
    pub fn submit(&self, buffers: &[vk::CommandBuffer]) -> Result<()> {
        let device = &self.device.raw;
        let work = [vk::SubmitInfo::default().command_buffers(buffers)];
        // SAFETY: the buffers are recorded, and what they use is alive until the wait is over.
        unsafe {
            check(
                "starting the device",
                device.queue_submit(self.device.queue, &work, self.fence),
            )?;
            let done = device.wait_for_fences(&[self.fence], true, u64::MAX);
            check("waiting for the device", done)?;
            check("waiting for the device", device.reset_fences(&[self.fence]))
        }
    }

    /// Records and does something once.
    pub fn once(&self, fill: impl FnOnce(&Recorder)) -> Result<()> {
        self.record(self.copying, |recorder| {
            fill(recorder);
            Ok(())
        })?;
        self.submit(&[self.copying])
    }
}

/// A command buffer that is kept, with a timestamp behind each of its passes.
pub(crate) struct Sequence {
    pub raw: vk::CommandBuffer,
    /// Whose time ends at each timestamp but the first.
    passes: Vec<Pass>,
    queries: vk::QueryPool,
    pool: vk::CommandPool,
    device: Arc<Device>,
}

impl Sequence {
    /// Records where the time of the first pass begins.
    pub fn begin(&self, recorder: &Recorder) {
        let count = self.passes.len() as u32 + 1;
        // SAFETY: the buffer is being recorded, and the pool has so many places.
        unsafe { recorder.device.cmd_reset_query_pool(recorder.raw, self.queries, 0, count) };
        self.stamp(0, recorder);
    }

    /// Records the end of the pass before timestamp `at`.
    pub fn stamp(&self, at: usize, recorder: &Recorder) {
        if self.device.tick > 0.0 {
            let (stage, at) = (vk::PipelineStageFlags::BOTTOM_OF_PIPE, at as u32);
            // SAFETY: the buffer is being recorded, and the pool has this place.
            unsafe { recorder.device.cmd_write_timestamp(recorder.raw, stage, self.queries, at) };
        }
    }

    /// Adds what every pass took when it was done last.
    pub fn times(&self, report: &mut StepReport) -> Result<()> {
        let mut ticks = vec![0u64; self.passes.len() + 1];
        if self.device.tick > 0.0 {
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            // SAFETY: every timestamp was written, since what was submitted is done.
            let got = unsafe {
                self.device.raw.get_query_pool_results(self.queries, 0, &mut ticks, flags)
            };
            check("reading timestamps", got)?;
        }
        for (&pass, pair) in self.passes.iter().zip(ticks.windows(2)) {
            let ns = pair[1].saturating_sub(pair[0]) as f64 * self.device.tick;
            report.passes.add(pass, Duration::from_nanos(ns as u64));
        }
        Ok(())
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        // SAFETY: every submission was waited for, and the pool outlives what is recorded from it.
        unsafe {
            self.device.raw.destroy_query_pool(self.queries, None);
            self.device.raw.free_command_buffers(self.pool, &[self.raw]);
        }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // SAFETY: every submission was waited for.
        unsafe {
            // A lost device answers with an error, and has nothing left to wait for.
            let _ = self.device.raw.device_wait_idle();
            self.device.raw.destroy_fence(self.fence, None);
            self.device.raw.destroy_command_pool(self.pool, None);
        }
    }
}

impl Recorder<'_> {
    /// Everything before is seen by everything after.
    pub fn barrier(&self) {
        use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(Access::SHADER_WRITE | Access::TRANSFER_WRITE)
            .dst_access_mask(
                Access::SHADER_READ
                    | Access::SHADER_WRITE
                    | Access::TRANSFER_READ
                    | Access::TRANSFER_WRITE
                    | Access::INDIRECT_COMMAND_READ
                    | Access::HOST_READ,
            )];
        let before = Stage::COMPUTE_SHADER | Stage::TRANSFER;
        let after = before | Stage::DRAW_INDIRECT | Stage::HOST;
        // SAFETY: the buffer is being recorded.
        unsafe {
            self.device.cmd_pipeline_barrier(
                self.raw,
                before,
                after,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    /// Copies `words` words from the start of one buffer to that of another.
    pub fn copy(&self, from: vk::Buffer, to: vk::Buffer, words: usize) {
        self.copy_from((from, 0), to, words);
    }

    /// Makes `words` words from some word on 0.
    pub fn fill(&self, buffer: vk::Buffer, first: usize, words: usize) {
        let (offset, size) = (4 * first as u64, 4 * words as u64);
        // SAFETY: the buffer is being recorded; callers fill no more than there is.
        unsafe { self.device.cmd_fill_buffer(self.raw, buffer, offset, size, 0) };
    }

    /// Copies `words` words from some word of one buffer to the start of another.
    pub fn copy_from(&self, (from, first): (vk::Buffer, usize), to: vk::Buffer, words: usize) {
        if words > 0 {
            let region =
                [vk::BufferCopy::default().src_offset(4 * first as u64).size(4 * words as u64)];
            // SAFETY: the buffer is being recorded; callers copy no more than both hold.
            unsafe { self.device.cmd_copy_buffer(self.raw, from, to, &region) };
        }
    }
}
