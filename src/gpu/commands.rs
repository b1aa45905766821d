//! Command buffers: recording what the device does, and having it done.

use super::device::Device;
use super::failure::{Failure, check};
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records and starts work, one batch at a time: the next is not recorded or started before the
/// device is done with the last. Dropping it waits for the device, so it goes before what its
/// commands use.
pub struct Commands {
    pub(crate) device: Arc<Device>,
    pub(crate) pool: vk::CommandPool,
    fence: vk::Fence,
    /// Whether the device may still be at it.
    busy: AtomicBool,
    /// For what is done once; it is recorded anew each time.
    once: vk::CommandBuffer,
}

/// A command buffer in the making.
pub struct Recorder<'a> {
    /// The calls of the device.
    pub device: &'a ash::Device,
    /// The command buffer.
    pub raw: vk::CommandBuffer,
}

impl Commands {
    /// For the queue of a device.
    pub fn new(device: &Arc<Device>) -> Result<Self, Failure> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the family is the device's; pool and fence are destroyed by Drop.
        let pool = unsafe { device.raw.create_command_pool(&info, None) };
        let mut commands = Commands {
            device: Arc::clone(device),
            pool: check("making a command pool", pool)?,
            fence: vk::Fence::null(),
            busy: AtomicBool::new(false),
            once: vk::CommandBuffer::null(),
        };
        // SAFETY: as above.
        let fence = unsafe { device.raw.create_fence(&vk::FenceCreateInfo::default(), None) };
        commands.fence = check("making a fence", fence)?;
        commands.once = commands.buffer()?;
        Ok(commands)
    }

    /// A new command buffer; it goes with the pool.
    pub fn buffer(&self) -> Result<vk::CommandBuffer, Failure> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let buffers = unsafe { self.device.raw.allocate_command_buffers(&info) };
        Ok(check("making a command buffer", buffers)?[0])
    }

    /// Records something to be kept. It may be submitted several times at once.
    pub fn keep(&self, fill: impl FnOnce(&Recorder)) -> Result<Recording, Failure> {
        let made =
            Recording { raw: self.buffer()?, pool: self.pool, device: Arc::clone(&self.device) };
        self.record_for(made.raw, vk::CommandBufferUsageFlags::SIMULTANEOUS_USE, |recorder| {
            fill(recorder);
            Ok(())
        })?;
        Ok(made)
    }

    /// Fills a command buffer of this pool anew.
    pub fn record(
        &self,
        buffer: vk::CommandBuffer,
        fill: impl FnOnce(&Recorder) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.record_for(buffer, vk::CommandBufferUsageFlags::empty(), fill)
    }

    fn record_for(
        &self,
        buffer: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
        fill: impl FnOnce(&Recorder) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.wait()?;
        let device = &self.device.raw;
        let info = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the buffer is one of this pool's, and the device is done with it.
        let begun = unsafe { device.begin_command_buffer(buffer, &info) };
        check("recording", begun)?;
        let filled = fill(&Recorder { device, raw: buffer });
        // SAFETY: it was begun above. It is ended in any case, so that it can be begun again.
        let ended = unsafe { device.end_command_buffer(buffer) };
        filled.and(check("recording", ended))
    }

    /// Has command buffers done, and does not wait for it. Their copies wait for the first
    /// semaphores; the others are told at the end.
    pub fn start(
        &self,
        buffers: &[vk::CommandBuffer],
        waits: &[vk::Semaphore],
        tells: &[vk::Semaphore],
    ) -> Result<(), Failure> {
        self.wait()?;
        let stages = vec![vk::PipelineStageFlags::TRANSFER; waits.len()];
        let work = [vk::SubmitInfo::default()
            .wait_semaphores(waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(buffers)
            .signal_semaphores(tells)];
        let queue = self.device.queue();
        // SAFETY: the queue is locked, the buffers are recorded, and what they use is alive until
        // the fence is told.
        let started = unsafe { self.device.raw.queue_submit(*queue, &work, self.fence) };
        check("starting the device", started)?;
        self.busy.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until the device is done with what was started.
    pub fn wait(&self) -> Result<(), Failure> {
        if self.busy.load(Ordering::Relaxed) {
            // SAFETY: the fence was given to the queue.
            unsafe {
                let done = self.device.raw.wait_for_fences(&[self.fence], true, u64::MAX);
                check("waiting for the device", done)?;
                check("waiting for the device", self.device.raw.reset_fences(&[self.fence]))?;
            }
            self.busy.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Has command buffers done, and waits.
    pub fn submit(&self, buffers: &[vk::CommandBuffer]) -> Result<(), Failure> {
        self.start(buffers, &[], &[])?;
        self.wait()
    }

    /// Records and does something once, and waits.
    pub fn once(&self, fill: impl FnOnce(&Recorder)) -> Result<(), Failure> {
        self.record(self.once, |recorder| {
            fill(recorder);
            Ok(())
        })?;
        self.submit(&[self.once])
    }
}

/// A command buffer that is kept. It must go before the [`Commands`] it comes from.
pub struct Recording {
    /// The command buffer.
    pub raw: vk::CommandBuffer,
    pool: vk::CommandPool,
    device: Arc<Device>,
}

impl Drop for Recording {
    fn drop(&mut self) {
        // SAFETY: every submission was waited for, and the pool outlives what is recorded from it.
        unsafe { self.device.raw.free_command_buffers(self.pool, &[self.raw]) };
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // A lost device answers with an error, and has nothing left to wait for.
        let _ = self.wait();
        // SAFETY: the device is alive, and done with what was started.
        unsafe {
            self.device.raw.destroy_fence(self.fence, None);
            self.device.raw.destroy_command_pool(self.pool, None);
        }
    }
}

impl Recorder<'_> {
    /// What shaders and copies before it wrote is seen by everything after it.
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

    /// Makes `words` words from some word on 0.
    pub fn fill(&self, buffer: vk::Buffer, first: usize, words: usize) {
        let (offset, size) = (4 * first as u64, 4 * words as u64);
        // SAFETY: the buffer is being recorded; callers fill no more than there is.
        unsafe { self.device.cmd_fill_buffer(self.raw, buffer, offset, size, 0) };
    }

    /// Copies `words` words from the start of one buffer to that of another.
    pub fn copy(&self, from: vk::Buffer, to: vk::Buffer, words: usize) {
        self.copy_from((from, 0), to, words);
    }

    /// Copies `words` words from some word of one buffer to the start of another.
    pub fn copy_from(&self, from: (vk::Buffer, usize), to: vk::Buffer, words: usize) {
        self.copy_between(from, (to, 0), words);
    }

    /// Copies `words` words from some word of one buffer to some word of another.
    pub fn copy_between(
        &self,
        (from, first): (vk::Buffer, usize),
        (to, place): (vk::Buffer, usize),
        words: usize,
    ) {
        if words > 0 {
            let region = [vk::BufferCopy::default()
                .src_offset(4 * first as u64)
                .dst_offset(4 * place as u64)
                .size(4 * words as u64)];
            // SAFETY: the buffer is being recorded; callers copy no more than both hold.
            unsafe { self.device.cmd_copy_buffer(self.raw, from, to, &region) };
        }
    }
}
