//! Command buffers: recording what the device does, and having it done.

use super::device::{Device, check};
use crate::error::Result;
use ash::vk;
use std::sync::Arc;

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
    pub fn buffer(&self) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive.
        let buffers = unsafe { self.device.raw.allocate_command_buffers(&info) };
        Ok(check("making a command buffer", buffers)?[0])
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
