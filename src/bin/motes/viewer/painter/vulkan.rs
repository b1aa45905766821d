//! Painted by a Vulkan device, and shown through a swapchain. One frame is under way at a time: the
//! next begins when the device is done with the last.

mod interface;
mod swapchain;
mod textures;

use super::{Lost, Painted, Shot, WindowPainter};
use crate::painter::Canvas;
use crate::painter::gpu::{Easel, open, put, said};
use crate::viewer::bitmap;
use crate::viewer::physics::{Gpu, OnDevice};
use ash::vk;
use interface::Interface;
use motes::gpu::{Commands, Device, DeviceKind, Failure, ReadBack, Recorder, check};
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
    commands: Commands,
    /// The commands of a frame.
    buffer: vk::CommandBuffer,
    /// The positions that the device draws from; held until it is done.
    positions: Option<OnDevice>,
    /// The finished picture, and its way to the host.
    canvas: Canvas,
    back: ReadBack,
    /// The same for the scene alone.
    scene: Canvas,
    scene_back: ReadBack,
    swapchain: Swapchain,
    interface: Interface,
    easel: Easel,
    gpu: Arc<Device>,
}

impl Vulkan {
    /// A painter for a window, the name of its device, and whether that is a graphics card.
    pub fn new(window: &Rc<Window>) -> Result<(Self, String, bool), String> {
        Self::open(window).map_err(said)
    }

    fn open(window: &Rc<Window>) -> Result<(Self, String, bool), Failure> {
        let (gpu, surface) = open(Some(handles(window)?))?;
        let no_surface = || Failure::Unable("the device was opened without a window".into());
        let surface = surface.ok_or_else(no_surface)?;
        let swapchain = Swapchain::new(&gpu, surface, window)?;
        let easel = Easel::new(&gpu)?;
        let interface = Interface::new(&gpu, easel.overlay_pass())?;
        let commands = Commands::new(&gpu)?;
        let buffer = commands.buffer()?;
        let (name, card) = (gpu.name.clone(), gpu.kind != DeviceKind::Software);
        let vulkan = Vulkan {
            commands,
            buffer,
            positions: None,
            canvas: Canvas::default(),
            back: ReadBack::default(),
            scene: Canvas::default(),
            scene_back: ReadBack::default(),
            swapchain,
            interface,
            easel,
            gpu,
        };
        Ok((vulkan, name, card))
    }

    /// Records the whole frame.
    fn record(&mut self, shot: &Shot, free: Option<&Free>) -> Result<(), Failure> {
        let Vulkan { commands, buffer, positions, interface, easel, gpu, .. } = self;
        let (back, scene_back) = (&mut self.back, &mut self.scene_back);
        let places = positions.as_deref().map(|at| (at, shot.moment.positions.len()));
        commands.record(*buffer, |recorder| {
            let raw = recorder.raw;
            interface.load(raw, shot)?;
            easel.record(raw, shot.picture, &shot.view.camera, area(shot), places)?;
            let images = [(easel.image(), vk::ImageAspectFlags::COLOR)];
            if shot.wanted.scene {
                // Nothing is drawn over it yet; this lays it out to be copied from.
                easel.overlay(raw, || {});
                scene_back.record(gpu, recorder, shot.size, &images)?;
                turn_back(recorder, easel.image());
            }
            easel.overlay(raw, || interface.record(raw, shot.interface, shot.size));
            if let Some(free) = free {
                copy_to(recorder, easel.image(), free, shot.size);
            }
            if shot.wanted.window {
                back.record(gpu, recorder, shot.size, &images)?;
            }
            Ok(())
        })
    }

    fn paint(&mut self, shot: &Shot) -> Result<Painted<'_>, Failure> {
        self.commands.wait()?;
        // After another device took over, the first frames may still have theirs on the old one.
        let ours = |at: &&OnDevice| Arc::ptr_eq(at.device(), &self.gpu);
        self.positions = shot.moment.on_device.as_ref().filter(ours).cloned();
        match shot.lost {
            Some(Lost::Device) => check("painting", Err(vk::Result::ERROR_DEVICE_LOST))?,
            Some(Lost::Surface) => self.swapchain.make_surface()?,
            None => {}
        }
        let [width, height] = shot.size;
        self.easel.resize(width, height)?;
        let free = self.swapchain.acquire(shot.size)?;
        let wanted = shot.wanted;
        if free.is_none() && !wanted.any() {
            return Ok(Painted::default());
        }
        self.record(shot, free.as_ref())?;
        let (waits, tells): (Vec<_>, Vec<_>) = free.iter().map(|f| (f.free, f.drawn)).unzip();
        self.commands.start(&[self.buffer], &waits, &tells)?;
        if let Some(free) = &free {
            self.swapchain.present(free)?;
        }
        if !wanted.any() {
            return Ok(Painted::default());
        }
        self.commands.wait()?;
        self.canvas.resize(width, height);
        if wanted.scene {
            put(&self.scene_back, &mut self.canvas);
            self.scene = bitmap::part(&self.canvas, area(shot));
        }
        if wanted.window {
            put(&self.back, &mut self.canvas);
        }
        Ok(Painted {
            scene: wanted.scene.then_some(&self.scene),
            window: wanted.window.then_some(&self.canvas),
        })
    }
}

impl WindowPainter for Vulkan {
    fn show(&mut self, shot: &Shot) -> Result<Painted<'_>, String> {
        self.paint(shot).map_err(said)
    }

    fn gpu(&self) -> Gpu {
        Arc::downgrade(&self.gpu)
    }
}

/// Records that a picture which was copied is drawn on again.
fn turn_back(recorder: &Recorder, image: vk::Image) {
    use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
    let layouts = [Layout::TRANSFER_SRC_OPTIMAL, Layout::COLOR_ATTACHMENT_OPTIMAL];
    let drawn = Access::COLOR_ATTACHMENT_READ | Access::COLOR_ATTACHMENT_WRITE;
    let barrier = [barrier(image, layouts, [Access::TRANSFER_READ, drawn])];
    let (before, after) = (Stage::TRANSFER, Stage::COLOR_ATTACHMENT_OUTPUT);
    let flags = vk::DependencyFlags::empty();
    // SAFETY: the buffer is being recorded, the image alive and no pass begun.
    unsafe {
        recorder.device.cmd_pipeline_barrier(
            recorder.raw,
            before,
            after,
            flags,
            &[],
            &[],
            &barrier,
        );
    }
}

/// Records how the picture gets to the window.
fn copy_to(recorder: &Recorder, image: vk::Image, free: &Free, [width, height]: [u32; 2]) {
    use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
    let (gpu, commands) = (recorder.device, recorder.raw);
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
            gpu.cmd_copy_image(commands, image, from, free.image, to, &region);
        } else {
            let corner = vk::Offset3D { x: width as i32, y: height as i32, z: 1 };
            let part = [vk::Offset3D::default(), corner];
            let region = [vk::ImageBlit::default()
                .src_subresource(LAYER)
                .src_offsets(part)
                .dst_subresource(LAYER)
                .dst_offsets(part)];
            let filter = vk::Filter::NEAREST;
            gpu.cmd_blit_image(commands, image, from, free.image, to, &region, filter);
        }
    }
    let shown = Layout::PRESENT_SRC_KHR;
    turn([to, shown], [write, nothing], Stage::TRANSFER, Stage::BOTTOM_OF_PIPE);
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
