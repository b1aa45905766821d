//! Pictures without a window, for tests: a command buffer of one's own, and the way back to the host.

use super::check;
use super::device::Gpu;
use super::easel::Easel;
use super::memory::Buffer;
use super::targets::Targets;
use crate::paint::lens::Lens;
use crate::paint::{Camera, Canvas, Picture};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

pub struct Reader {
    pub commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    fence: vk::Fence,
    /// Colours, then depths; four bytes a pixel each.
    pixels: Option<Buffer>,
    gpu: Arc<Gpu>,
}

impl Easel {
    /// Paints without a window, and waits for the picture.
    pub fn paint(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        width: u32,
        height: u32,
        canvas: &mut Canvas,
    ) -> Result<(), String> {
        self.paint_in(picture, camera, [width, height], [0, 0, width, height], canvas)
    }

    /// The same, drawn to an area of the picture.
    pub fn paint_in(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        [width, height]: [u32; 2],
        area: [u32; 4],
        canvas: &mut Canvas,
    ) -> Result<(), String> {
        canvas.resize(width, height);
        if width == 0 || height == 0 {
            return Ok(());
        }
        self.resize(width, height)?;
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => Reader::new(&self.gpu)?,
        };
        reader.begin(&self.targets)?;
        self.record(reader.commands, picture, camera, area)?;
        self.overlay(reader.commands, || {});
        reader.finish(&self.targets, Lens::new(camera, width, height).near, canvas)?;
        self.reader = Some(reader);
        Ok(())
    }
}

impl Reader {
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self, String> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        let mut reader = Self {
            commands: vk::CommandBuffer::null(),
            // SAFETY: the family is the device's; pool and fence are destroyed by Drop.
            pool: check("making a command pool", unsafe {
                gpu.raw.create_command_pool(&info, None)
            })?,
            fence: vk::Fence::null(),
            pixels: None,
            gpu: Arc::clone(gpu),
        };
        // SAFETY: as above.
        let fence = unsafe { gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None) };
        reader.fence = check("making a fence", fence)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(reader.pool)
            .command_buffer_count(1);
        // SAFETY: the pool is alive, and one buffer was asked for.
        let buffers = unsafe { gpu.raw.allocate_command_buffers(&info) };
        reader.commands = check("making a command buffer", buffers)?[0];
        Ok(reader)
    }

    /// Starts recording, with room for a picture of these targets.
    pub fn begin(&mut self, targets: &Targets) -> Result<(), String> {
        let bytes = 8 * targets.size[0] as usize * targets.size[1] as usize;
        let (usage, place) = (vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu);
        Buffer::grown(&mut self.pixels, &self.gpu, "picture read back", bytes, usage, place)?;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer is not in use, since each submission is waited for.
        check("recording", unsafe { self.gpu.raw.begin_command_buffer(self.commands, &info) })
    }

    /// Has the recorded done and reads the picture; depths are told by what is `near`.
    pub fn finish(
        &mut self,
        targets: &Targets,
        near: f32,
        canvas: &mut Canvas,
    ) -> Result<(), String> {
        let (gpu, Some(pixels)) = (&self.gpu.raw, &self.pixels) else {
            return Err("a picture is finished that was not begun".into());
        };
        let [width, height] = targets.size;
        let count = width as usize * height as usize;
        let region = |offset: usize, aspect| {
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
            [vk::BufferImageCopy::default()
                .buffer_offset(offset as u64)
                .image_subresource(layers)
                .image_extent(vk::Extent3D { width, height, depth: 1 })]
        };
        use vk::ImageLayout as Layout;
        self.turn(targets.depth.raw, Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL);
        // SAFETY: the images were drawn to, are laid out for copying, and the buffer has room.
        unsafe {
            gpu.cmd_copy_image_to_buffer(
                self.commands,
                targets.picture.raw,
                Layout::TRANSFER_SRC_OPTIMAL,
                pixels.raw,
                &region(0, vk::ImageAspectFlags::COLOR),
            );
            gpu.cmd_copy_image_to_buffer(
                self.commands,
                targets.depth.raw,
                Layout::TRANSFER_SRC_OPTIMAL,
                pixels.raw,
                &region(4 * count, vk::ImageAspectFlags::DEPTH),
            );
            let seen = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            gpu.cmd_pipeline_barrier(
                self.commands,
                vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &seen,
                &[],
                &[],
            );
            check("recording", gpu.end_command_buffer(self.commands))?;
            let buffers = [self.commands];
            let work = [vk::SubmitInfo::default().command_buffers(&buffers)];
            check("starting the device", gpu.queue_submit(self.gpu.queue, &work, self.fence))?;
            let done = gpu.wait_for_fences(&[self.fence], true, u64::MAX);
            check("waiting for the device", done)?;
            check("waiting for the device", gpu.reset_fences(&[self.fence]))?;
        }
        let words = pixels.host().as_chunks().0;
        for (pixel, &word) in canvas.pixels.iter_mut().zip(&words[..count]) {
            *pixel = u32::from_le_bytes(word) & 0x00ff_ffff;
        }
        for (depth, &word) in canvas.depth.iter_mut().zip(&words[count..]) {
            *depth = near / f32::from_le_bytes(word);
        }
        Ok(())
    }

    /// Lays an image of depths out for copying.
    fn turn(&self, image: vk::Image, from: vk::ImageLayout) {
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::DEPTH)
            .level_count(1)
            .layer_count(1);
        let barrier = [vk::ImageMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
            .old_layout(from)
            .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(range)];
        // SAFETY: the buffer is being recorded, the image alive.
        unsafe {
            self.gpu.raw.cmd_pipeline_barrier(
                self.commands,
                vk::PipelineStageFlags::ALL_GRAPHICS,
                vk::PipelineStageFlags::TRANSFER,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &barrier,
            );
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: the device is alive; a lost one has nothing left to wait for.
        unsafe {
            let _ = self.gpu.raw.device_wait_idle();
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
