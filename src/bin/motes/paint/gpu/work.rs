//! Work for the device, one batch of commands at a time: recorded, started, waited for.

use super::check;
use super::device::Gpu;
use ash::vk;
use std::sync::Arc;

/// Dropping it waits for the device; so it goes before what its commands use.
pub struct Work {
    pub commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    fence: vk::Fence,
    /// Whether the device may still be at it.
    busy: bool,
    gpu: Arc<Gpu>,
}

impl Work {
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self, String> {
        let mut work = Self {
            commands: vk::CommandBuffer::null(),
            pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            busy: false,
            gpu: Arc::clone(gpu),
        };
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is alive; Drop destroys pool and fence, and the buffer with the pool.
        unsafe {
            work.pool = check("making a command pool", gpu.raw.create_command_pool(&pool, None))?;
            let fence = gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None);
            work.fence = check("making a fence", fence)?;
            let one = vk::CommandBufferAllocateInfo::default()
                .command_pool(work.pool)
                .command_buffer_count(1);
            let buffers = gpu.raw.allocate_command_buffers(&one);
            work.commands = check("making a command buffer", buffers)?[0];
        }
        Ok(work)
    }

    /// Starts recording.
    pub fn begin(&mut self) -> Result<(), String> {
        self.wait()?;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the device is done with the buffer.
        check("recording", unsafe { self.gpu.raw.begin_command_buffer(self.commands, &info) })
    }

    /// Has the recorded done. Its copies wait for the first semaphores; the others are told at the
    /// end.
    pub fn start(
        &mut self,
        waits: &[vk::Semaphore],
        tells: &[vk::Semaphore],
    ) -> Result<(), String> {
        let (gpu, commands) = (&self.gpu, [self.commands]);
        let stages = vec![vk::PipelineStageFlags::TRANSFER; waits.len()];
        let work = [vk::SubmitInfo::default()
            .wait_semaphores(waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(tells)];
        // SAFETY: the buffer is being recorded, and all it uses is alive until the fence is told.
        unsafe {
            check("recording", gpu.raw.end_command_buffer(self.commands))?;
            check("starting the device", gpu.raw.queue_submit(gpu.queue, &work, self.fence))?;
        }
        self.busy = true;
        Ok(())
    }

    /// Waits until the device is done with it.
    pub fn wait(&mut self) -> Result<(), String> {
        if self.busy {
            // SAFETY: the fence was given to the queue.
            unsafe {
                let done = self.gpu.raw.wait_for_fences(&[self.fence], true, u64::MAX);
                check("waiting for the device", done)?;
                check("waiting for the device", self.gpu.raw.reset_fences(&[self.fence]))?;
            }
            self.busy = false;
        }
        Ok(())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // SAFETY: the device is alive; a lost one has nothing left to wait for.
        unsafe {
            let _ = self.gpu.raw.device_wait_idle();
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
