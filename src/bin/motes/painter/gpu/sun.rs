//! The sun's depth map.

use super::formats::DEPTH;
use super::frame::MAP_SIDE;
use super::passes::Passes;
use super::targets::frame;
use ash::vk;
use motes::gpu::{Device, Failure, Image};
use std::sync::Arc;

pub struct Sun {
    pub map: Image,
    pub frame: vk::Framebuffer,
    gpu: Arc<Device>,
}

impl Sun {
    pub const SIZE: [u32; 2] = [MAP_SIDE; 2];

    pub fn new(gpu: &Arc<Device>, passes: &Passes) -> Result<Self, Failure> {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let aspect = vk::ImageAspectFlags::DEPTH;
        let map = Image::new(gpu, "map of the sun", Self::SIZE, DEPTH, usage, aspect)?;
        let frame = frame(gpu, passes.shadow, &[map.view], Self::SIZE)?;
        Ok(Self { map, frame, gpu: Arc::clone(gpu) })
    }
}

impl Drop for Sun {
    fn drop(&mut self) {
        // SAFETY: whoever drops the map has waited for the work that uses it.
        unsafe { self.gpu.raw.destroy_framebuffer(self.frame, None) };
    }
}
