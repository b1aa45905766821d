//! The images that the surface of fluids is drawn to, made when there is a fluid first.

use super::formats::{BULK, DEPTH, FLOW, LIGHT};
use super::passes::Passes;
use super::targets::{Targets, frame};
use ash::vk;
use motes::gpu::{Device, Failure, Image};
use std::sync::Arc;

pub struct Flow {
    /// The picture without fluids.
    pub behind: Image,
    /// The nearest depth of the droplets.
    pub nearest: Image,
    /// The same filtered, from one to the other.
    pub filtered: [Image; 2],
    /// What is taken from light and how thick it is; how thick close to the surface, and foam there.
    pub sums: [Image; 2],
    pub frame_behind: vk::Framebuffer,
    pub frame_nearest: vk::Framebuffer,
    pub frames_filtered: [vk::Framebuffer; 2],
    pub frame_sums: vk::Framebuffer,
    /// The depths of the solids, which the surface is added to.
    pub frame_dip: vk::Framebuffer,
    gpu: Arc<Device>,
}

impl Flow {
    /// Images of the size of the others.
    pub fn new(gpu: &Arc<Device>, passes: &Passes, targets: &Targets) -> Result<Self, Failure> {
        use vk::ImageAspectFlags as Aspect;
        use vk::ImageUsageFlags as Usage;
        let (size, half) = (targets.size, targets.half());
        let drawn = Usage::COLOR_ATTACHMENT | Usage::SAMPLED;
        let deep = Usage::DEPTH_STENCIL_ATTACHMENT | Usage::SAMPLED;
        let color = |name, size, format| Image::new(gpu, name, size, format, drawn, Aspect::COLOR);
        let mut flow = Self {
            behind: color("picture without fluids", size, LIGHT)?,
            nearest: Image::new(gpu, "droplets", size, DEPTH, deep, Aspect::DEPTH)?,
            filtered: [color("filtered rows", size, FLOW)?, color("filtered columns", size, FLOW)?],
            sums: [color("fluid", half, BULK)?, color("foam", half, BULK)?],
            frame_behind: vk::Framebuffer::null(),
            frame_nearest: vk::Framebuffer::null(),
            frames_filtered: [vk::Framebuffer::null(); 2],
            frame_sums: vk::Framebuffer::null(),
            frame_dip: vk::Framebuffer::null(),
            gpu: Arc::clone(gpu),
        };
        flow.frame_behind = frame(gpu, passes.behind, &[flow.behind.view], size)?;
        // Droplets are drawn when nobody needs the colours and normals of the solids any more.
        let nearest = [targets.color.view, targets.normal.view, flow.nearest.view];
        flow.frame_nearest = frame(gpu, passes.solids, &nearest, size)?;
        for (made, image) in flow.frames_filtered.iter_mut().zip(&flow.filtered) {
            *made = frame(gpu, passes.flow, &[image.view], size)?;
        }
        let sums = [flow.sums[0].view, flow.sums[1].view];
        flow.frame_sums = frame(gpu, passes.bulk, &sums, half)?;
        flow.frame_dip = frame(gpu, passes.dip, &[targets.depth.view], size)?;
        Ok(flow)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        let others = [self.frame_behind, self.frame_nearest, self.frame_sums, self.frame_dip];
        for frame in others.into_iter().chain(self.frames_filtered) {
            // SAFETY: whoever drops the images has waited for the work that uses them.
            unsafe { self.gpu.raw.destroy_framebuffer(frame, None) };
        }
    }
}
