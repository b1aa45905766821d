//! Painted by a Vulkan device, and shown through a swapchain. One frame is under way at a time: the
//! next begins when the device is done with the last.

mod interface;
mod swapchain;
mod textures;

use super::{Lost, Painter, Shot};
use crate::paint::Canvas;
use crate::paint::gpu::{Easel, Gpu, ReadBack, Work, check};
use ash::vk;
use interface::Interface;
use motes::vulkan::DeviceKind;
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
    /// First, so that the device is done before the rest goes.
    work: Work,
    /// The finished picture, and its way to the host.
    canvas: Canvas,
    back: ReadBack,
    swapchain: Swapchain,
    interface: Interface,
    easel: Easel,
    gpu: Arc<Gpu>,
}

impl Vulkan {
    /// A painter for a window, the name of its device, and whether that is a graphics card.
    pub fn new(window: &Rc<Window>) -> Result<(Self, String, bool), String> {
        let (gpu, surface) = Gpu::open(Some(handles(window)?))?;
        let surface = surface.ok_or("the device was opened without a window")?;
        // First, since the surface is its to destroy.
        let swapchain = Swapchain::new(&gpu, surface, window)?;
        let easel = Easel::new(&gpu)?;
        let interface = Interface::new(&gpu, easel.overlay_pass())?;
        let work = Work::new(&gpu)?;
        let (name, card) = (gpu.name.clone(), gpu.kind != DeviceKind::Software);
        let (canvas, back) = (Canvas::default(), ReadBack::default());
        Ok((Vulkan { work, canvas, back, swapchain, interface, easel, gpu }, name, card))
    }

    /// Records the whole frame.
    fn record(&mut self, shot: &Shot, free: Option<&Free>) -> Result<(), String> {
        self.work.begin()?;
        let commands = self.work.commands;
        self.interface.load(commands, shot)?;
        self.easel.record(commands, shot.picture, &shot.view.camera, area(shot))?;
        self.easel.overlay(commands, || self.interface.record(commands, shot.interface, shot.size));
        if let Some(free) = free {
            self.copy_to(free, shot.size);
        }
        if shot.wanted {
            let images = [(self.easel.image(), vk::ImageAspectFlags::COLOR)];
            self.back.record(&self.gpu, commands, shot.size, &images)?;
        }
        Ok(())
    }

    /// Records how the picture gets to the window.
    fn copy_to(&self, free: &Free, [width, height]: [u32; 2]) {
        use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
        let (gpu, commands) = (&self.gpu.raw, self.work.commands);
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
}

impl Painter for Vulkan {
    fn show(&mut self, shot: &Shot) -> Result<Option<&Canvas>, String> {
        self.work.wait()?;
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
        let (waits, tells): (Vec<_>, Vec<_>) = free.iter().map(|f| (f.free, f.drawn)).unzip();
        self.work.start(&waits, &tells)?;
        if let Some(free) = &free {
            self.swapchain.present(free)?;
        }
        if !shot.wanted {
            return Ok(None);
        }
        self.work.wait()?;
        self.canvas.resize(width, height);
        self.back.show(&mut self.canvas);
        Ok(Some(&self.canvas))
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
