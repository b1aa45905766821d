//! Painted by a Vulkan device, and shown through a swapchain. One frame is under way at a time: the
//! next begins when the device is done with the last.

mod interface;
mod swapchain;
mod textures;

use super::{Lost, Painter, Shot};
use crate::paint::Canvas;
use crate::paint::gpu::{Buffer, Easel, Gpu, check};
use ash::vk;
use gpu_allocator::MemoryLocation;
use interface::Interface;
use std::rc::Rc;
use std::sync::Arc;
use swapchain::{Free, Swapchain, handles};
use winit::window::Window;

/// All there is of an image without layers.
const LAYER: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

pub struct Vulkan {
    /// The finished picture, and where the device writes it to.
    canvas: Canvas,
    pixels: Option<Buffer>,
    swapchain: Swapchain,
    interface: Interface,
    easel: Easel,
    commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    fence: vk::Fence,
    /// Whether the device may still be at the last frame.
    busy: bool,
    gpu: Arc<Gpu>,
}

impl Vulkan {
    /// A painter for a window, and the name of its device.
    pub fn new(window: &Rc<Window>) -> Result<(Self, String), String> {
        let (gpu, surface) = Gpu::open(Some(handles(window)?))?;
        let surface = surface.ok_or("the device was opened without a window")?;
        // First, since the surface is its to destroy.
        let swapchain = Swapchain::new(&gpu, surface, window)?;
        let easel = Easel::new(&gpu)?;
        let mut painter = Vulkan {
            canvas: Canvas::default(),
            pixels: None,
            swapchain,
            interface: Interface::new(&gpu, easel.overlay_pass())?,
            easel,
            commands: vk::CommandBuffer::null(),
            pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            busy: false,
            gpu: Arc::clone(&gpu),
        };
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is alive; Drop destroys pool and fence, and the buffer with the pool.
        unsafe {
            painter.pool =
                check("making a command pool", gpu.raw.create_command_pool(&pool, None))?;
            let fence = gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None);
            painter.fence = check("making a fence", fence)?;
            let one = vk::CommandBufferAllocateInfo::default()
                .command_pool(painter.pool)
                .command_buffer_count(1);
            let buffers = gpu.raw.allocate_command_buffers(&one);
            painter.commands = check("making a command buffer", buffers)?[0];
        }
        Ok((painter, gpu.name.clone()))
    }

    /// Waits until the device is done with the last frame.
    fn wait(&mut self) -> Result<(), String> {
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

    /// Records the whole frame.
    fn record(&mut self, shot: &Shot, free: Option<&Free>) -> Result<(), String> {
        let commands = self.commands;
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the device is done with the buffer.
        check("recording", unsafe { self.gpu.raw.begin_command_buffer(commands, &begin) })?;
        self.interface.load(commands, shot)?;
        self.easel.record(commands, shot.picture, &shot.view.camera, area(shot))?;
        self.easel.overlay(commands, || self.interface.record(commands, shot.interface, shot.size));
        if let Some(free) = free {
            self.copy_to(free, shot.size);
        }
        if shot.wanted {
            self.copy_back(shot.size)?;
        }
        // SAFETY: the buffer is being recorded.
        check("recording", unsafe { self.gpu.raw.end_command_buffer(commands) })
    }

    /// Records how the picture gets to the window.
    fn copy_to(&self, free: &Free, [width, height]: [u32; 2]) {
        use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
        let (gpu, commands) = (&self.gpu.raw, self.commands);
        // The window may just have another size; the next frame will fit it.
        let (width, height) = (width.min(free.extent.width), height.min(free.extent.height));
        let (from, to) = (Layout::TRANSFER_SRC_OPTIMAL, Layout::TRANSFER_DST_OPTIMAL);
        let turn = |layouts, access, before, after| {
            let barrier = [barrier(free.image, layouts, access)];
            let flags = vk::DependencyFlags::empty();
            // SAFETY: the buffer is being recorded, the image acquired.
            unsafe {
                gpu.cmd_pipeline_barrier(commands, before, after, flags, &[], &[], &barrier);
            }
        };
        let (nothing, write) = (Access::empty(), Access::TRANSFER_WRITE);
        turn([Layout::UNDEFINED, to], [nothing, write], Stage::TRANSFER, Stage::TRANSFER);
        // SAFETY: both images have this size at least, and these layouts.
        unsafe {
            if free.same_bytes {
                let region = [vk::ImageCopy::default()
                    .src_subresource(LAYER)
                    .dst_subresource(LAYER)
                    .extent(vk::Extent3D { width, height, depth: 1 })];
                gpu.cmd_copy_image(commands, self.easel.image(), from, free.image, to, &region);
            } else {
                let corner = vk::Offset3D { x: width as i32, y: height as i32, z: 1 };
                let part = [vk::Offset3D::default(), corner];
                let region = [vk::ImageBlit::default()
                    .src_subresource(LAYER)
                    .src_offsets(part)
                    .dst_subresource(LAYER)
                    .dst_offsets(part)];
                let filter = vk::Filter::NEAREST;
                let image = self.easel.image();
                gpu.cmd_blit_image(commands, image, from, free.image, to, &region, filter);
            }
        }
        let shown = Layout::PRESENT_SRC_KHR;
        turn([to, shown], [write, nothing], Stage::TRANSFER, Stage::BOTTOM_OF_PIPE);
    }

    /// Records how the picture gets to the host.
    fn copy_back(&mut self, [width, height]: [u32; 2]) -> Result<(), String> {
        let bytes = 4 * width as usize * height as usize;
        let (usage, place) = (vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu);
        let (kept, name) = (&mut self.pixels, "picture read back");
        let pixels = Buffer::grown(kept, &self.gpu, name, bytes, usage, place)?;
        let region = [vk::BufferImageCopy::default()
            .image_subresource(LAYER)
            .image_extent(vk::Extent3D { width, height, depth: 1 })];
        let seen = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let (gpu, commands) = (&self.gpu.raw, self.commands);
        use vk::PipelineStageFlags as Stage;
        let (from, flags) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::DependencyFlags::empty());
        // SAFETY: the image has this layout after the interface, and the buffer has room.
        unsafe {
            let image = self.easel.image();
            gpu.cmd_copy_image_to_buffer(commands, image, from, pixels.raw, &region);
            let (before, after) = (Stage::TRANSFER, Stage::HOST);
            gpu.cmd_pipeline_barrier(commands, before, after, flags, &seen, &[], &[]);
        }
        Ok(())
    }

    fn submit(&mut self, free: Option<&Free>) -> Result<(), String> {
        let commands = [self.commands];
        let (waits, tells): (Vec<_>, Vec<_>) = free.iter().map(|f| (f.free, f.drawn)).unzip();
        // Only the copy needs the window's image.
        let stages = vec![vk::PipelineStageFlags::TRANSFER; waits.len()];
        let work = [vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&tells)];
        // SAFETY: the buffer was recorded, and all it uses is alive until the fence is told.
        let started = unsafe { self.gpu.raw.queue_submit(self.gpu.queue, &work, self.fence) };
        check("starting the device", started)?;
        self.busy = true;
        Ok(())
    }

    /// Takes the picture that came back.
    fn read(&mut self, [width, height]: [u32; 2]) -> &Canvas {
        self.canvas.resize(width, height);
        let bytes = self.pixels.as_ref().map_or(&[][..], Buffer::host);
        for (pixel, &word) in self.canvas.pixels.iter_mut().zip(bytes.as_chunks().0) {
            *pixel = u32::from_le_bytes(word) & 0x00ff_ffff;
        }
        &self.canvas
    }
}

impl Painter for Vulkan {
    fn show(&mut self, shot: &Shot) -> Result<Option<&Canvas>, String> {
        self.wait()?;
        match shot.lost {
            Some(Lost::Device) => check("painting", Err(vk::Result::ERROR_DEVICE_LOST))?,
            Some(Lost::Surface) => self.swapchain.make_surface()?,
            None => {}
        }
        let [width, height] = shot.size;
        self.easel.resize(width, height)?;
        let free = self.swapchain.acquire(shot.size)?;
        if free.is_none() && !shot.wanted {
            return Ok(None);
        }
        self.record(shot, free.as_ref())?;
        self.submit(free.as_ref())?;
        if let Some(free) = &free {
            self.swapchain.present(free)?;
        }
        if !shot.wanted {
            return Ok(None);
        }
        self.wait()?;
        Ok(Some(self.read(shot.size)))
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: the device is alive; a lost one has nothing left to wait for.
        unsafe {
            let _ = self.gpu.raw.device_wait_idle();
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}

/// Where the scene is in the window; a window may be too small for its panels.
fn area(shot: &Shot) -> [u32; 4] {
    let at = [0, 1].map(|k| shot.view.corner[k].min(shot.size[k] - 1));
    let size = [0, 1].map(|k| shot.view.size[k].clamp(1, shot.size[k] - at[k]));
    [at[0], at[1], size[0], size[1]]
}

/// From one layout of an image to another.
fn barrier(
    image: vk::Image,
    [from, to]: [vk::ImageLayout; 2],
    [before, after]: [vk::AccessFlags; 2],
) -> vk::ImageMemoryBarrier<'static> {
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(LAYER.aspect_mask)
        .level_count(1)
        .layer_count(1);
    vk::ImageMemoryBarrier::default()
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(before)
        .dst_access_mask(after)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range)
}
