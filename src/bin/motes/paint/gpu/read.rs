//! Pictures without a window, for tests.

use super::easel::Easel;
use super::read_back::ReadBack;
use super::work::Work;
use crate::paint::lens::Lens;
use crate::paint::{Camera, Canvas, Picture};
use ash::vk;

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
        let (mut work, mut back) = match self.reader.take() {
            Some(kept) => kept,
            None => (Work::new(&self.gpu)?, ReadBack::default()),
        };
        work.begin()?;
        self.record(work.commands, picture, camera, area)?;
        self.overlay(work.commands, || {});
        let (shown, depths) = (self.image(), self.targets.depth.raw);
        self.turn_depths(work.commands);
        let images = [(shown, vk::ImageAspectFlags::COLOR), (depths, vk::ImageAspectFlags::DEPTH)];
        back.record(&self.gpu, work.commands, [width, height], &images)?;
        work.start(&[], &[])?;
        work.wait()?;
        back.show(canvas);
        let near = Lens::new(camera, width, height).near;
        for (depth, &word) in canvas.depth.iter_mut().zip(&back.words()[canvas.pixels.len()..]) {
            *depth = near / f32::from_le_bytes(word);
        }
        self.reader = Some((work, back));
        Ok(())
    }

    /// Lays the depths out to be copied from.
    fn turn_depths(&self, commands: vk::CommandBuffer) {
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::DEPTH)
            .level_count(1)
            .layer_count(1);
        let barrier = [vk::ImageMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
            .old_layout(vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL)
            .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.targets.depth.raw)
            .subresource_range(range)];
        // SAFETY: the buffer is being recorded, the image alive.
        unsafe {
            self.gpu.raw.cmd_pipeline_barrier(
                commands,
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
