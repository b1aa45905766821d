//! The way of images back to the host.

use super::buffer::{Buffer, Place};
use super::commands::Recorder;
use super::device::Device;
use super::failure::Failure;
use ash::vk;
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
        device: &Arc<Device>,
        recorder: &Recorder,
        [width, height]: [u32; 2],
        images: &[(vk::Image, vk::ImageAspectFlags)],
    ) -> Result<(), Failure> {
        let size = 4 * width as usize * height as usize;
        let (bytes, name) = (size * images.len(), "picture read back");
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let pixels = Buffer::grown(&mut self.pixels, device, name, bytes, usage, Place::Read)?.raw;
        let from = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        for (at, &(image, aspect)) in images.iter().enumerate() {
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
            let region = [vk::BufferImageCopy::default()
                .buffer_offset((at * size) as u64)
                .image_subresource(layers)
                .image_extent(vk::Extent3D { width, height, depth: 1 })];
            // SAFETY: the caller records; the image has this layout, and the buffer has room.
            unsafe {
                recorder.device.cmd_copy_image_to_buffer(
                    recorder.raw,
                    image,
                    from,
                    pixels,
                    &region,
                );
            }
        }
        recorder.barrier();
        Ok(())
    }

    /// What came back, when the device is done.
    pub fn words(&self) -> &[[u8; 4]] {
        self.pixels.as_ref().map_or(&[], |pixels| pixels.host().as_chunks().0)
    }
}
