//! The way of pictures back to the host.

use super::device::Gpu;
use super::memory::Buffer;
use crate::paint::Canvas;
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::sync::Arc;

/// Pixels of four bytes, image after image.
#[derive(Default)]
pub struct ReadBack {
    pixels: Option<Buffer>,
}

impl ReadBack {
    /// Records how images of this size, laid out to be copied from, get to the host.
    pub fn record(
        &mut self,
        gpu: &Arc<Gpu>,
        commands: vk::CommandBuffer,
        [width, height]: [u32; 2],
        images: &[(vk::Image, vk::ImageAspectFlags)],
    ) -> Result<(), String> {
        let size = 4 * width as usize * height as usize;
        let (bytes, name) = (size * images.len(), "picture read back");
        let (usage, place) = (vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu);
        let pixels = Buffer::grown(&mut self.pixels, gpu, name, bytes, usage, place)?.raw;
        use vk::PipelineStageFlags as Stage;
        let (from, flags) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::DependencyFlags::empty());
        for (at, &(image, aspect)) in images.iter().enumerate() {
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
            let region = [vk::BufferImageCopy::default()
                .buffer_offset((at * size) as u64)
                .image_subresource(layers)
                .image_extent(vk::Extent3D { width, height, depth: 1 })];
            // SAFETY: the caller records; the image has this layout, and the buffer has room.
            unsafe { gpu.raw.cmd_copy_image_to_buffer(commands, image, from, pixels, &region) };
        }
        let seen = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let (before, after) = (Stage::TRANSFER, Stage::HOST);
        // SAFETY: as above.
        unsafe { gpu.raw.cmd_pipeline_barrier(commands, before, after, flags, &seen, &[], &[]) };
        Ok(())
    }

    /// What came back, when the device is done.
    pub fn words(&self) -> &[[u8; 4]] {
        self.pixels.as_ref().map_or(&[], |pixels| pixels.host().as_chunks().0)
    }

    /// Puts the first image on a canvas of its size.
    pub fn show(&self, canvas: &mut Canvas) {
        for (pixel, &word) in canvas.pixels.iter_mut().zip(self.words()) {
            *pixel = u32::from_le_bytes(word) & 0x00ff_ffff;
        }
    }
}
