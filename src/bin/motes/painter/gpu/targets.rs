//! The images a picture is drawn to, and the frames that hold them.

use super::formats::{DEPTH, LIGHT, NORMAL, OPEN, STORED};
use super::passes::Passes;
use ash::vk;
use motes::gpu::{Device, Failure, Image, check};
use std::sync::Arc;

/// Everything that has the size of the picture.
pub struct Targets {
    pub size: [u32; 2],
    /// The finished picture.
    pub picture: Image,
    /// What the camera sees: colour (sRGB, in `other` as light), normal and kind, depth.
    pub color: Image,
    pub normal: Image,
    pub depth: Image,
    /// How open it is, a sample for 2 x 2 pixels.
    pub open: Image,
    pub solids: vk::Framebuffer,
    pub occlusion: vk::Framebuffer,
    pub light: vk::Framebuffer,
    pub lines: vk::Framebuffer,
    pub overlay: vk::Framebuffer,
    gpu: Arc<Device>,
}

impl Targets {
    pub fn new(
        gpu: &Arc<Device>,
        passes: &Passes,
        width: u32,
        height: u32,
    ) -> Result<Self, Failure> {
        use vk::ImageAspectFlags as Aspect;
        use vk::ImageUsageFlags as Usage;
        let size = [width.max(1), height.max(1)];
        let drawn = Usage::COLOR_ATTACHMENT | Usage::SAMPLED;
        let two = [STORED, LIGHT];
        let shown = Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC;
        // Only tests copy the depths.
        let deep = Usage::DEPTH_STENCIL_ATTACHMENT | Usage::SAMPLED | Usage::TRANSFER_SRC;
        let mut targets = Self {
            size,
            picture: Image::with_other(gpu, "picture", size, two, shown, Aspect::COLOR)?,
            color: Image::with_other(gpu, "colours", size, two, drawn, Aspect::COLOR)?,
            normal: Image::new(gpu, "normals", size, NORMAL, drawn, Aspect::COLOR)?,
            depth: Image::new(gpu, "depths", size, DEPTH, deep, Aspect::DEPTH)?,
            open: Image::new(gpu, "openness", halved(size), OPEN, drawn, Aspect::COLOR)?,
            solids: vk::Framebuffer::null(),
            occlusion: vk::Framebuffer::null(),
            light: vk::Framebuffer::null(),
            lines: vk::Framebuffer::null(),
            overlay: vk::Framebuffer::null(),
            gpu: Arc::clone(gpu),
        };
        let depth = targets.depth.view;
        let solids = [targets.color.view, targets.normal.view, depth];
        targets.solids = frame(gpu, passes.solids, &solids, size)?;
        let open = [targets.open.view];
        targets.occlusion = frame(gpu, passes.occlusion, &open, targets.half())?;
        targets.light = frame(gpu, passes.light, &[targets.picture.other], size)?;
        targets.lines = frame(gpu, passes.lines, &[targets.picture.other, depth], size)?;
        targets.overlay = frame(gpu, passes.overlay, &[targets.picture.view], size)?;
        Ok(targets)
    }

    /// Samples of the openness.
    pub fn half(&self) -> [u32; 2] {
        halved(self.size)
    }
}

fn halved(size: [u32; 2]) -> [u32; 2] {
    size.map(|side| side.div_ceil(2))
}

impl Drop for Targets {
    fn drop(&mut self) {
        for frame in [self.solids, self.occlusion, self.light, self.lines, self.overlay] {
            // SAFETY: whoever drops the targets has waited for the work that uses them.
            unsafe { self.gpu.raw.destroy_framebuffer(frame, None) };
        }
    }
}

/// A frame of these views for a pass; the caller destroys it.
pub fn frame(
    gpu: &Device,
    pass: vk::RenderPass,
    views: &[vk::ImageView],
    [width, height]: [u32; 2],
) -> Result<vk::Framebuffer, Failure> {
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(views)
        .width(width)
        .height(height)
        .layers(1);
    // SAFETY: pass and views are alive, and the views have this size.
    check("making a framebuffer", unsafe { gpu.raw.create_framebuffer(&info, None) })
}
