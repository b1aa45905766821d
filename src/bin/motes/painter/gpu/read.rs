//! Pictures without a window, for tests.

use super::easel::Easel;
use super::put;
use crate::painter::lens::Lens;
use crate::painter::{Camera, Canvas, Picture};
use ash::vk;
use motes::gpu::{Buffer, Commands, Device, Failure, ReadBack};
use std::sync::Arc;

/// What draws and reads a picture; it is kept for the next one.
pub struct Reader {
    commands: Commands,
    buffer: vk::CommandBuffer,
    back: ReadBack,
}

impl Reader {
    fn new(gpu: &Arc<Device>) -> Result<Self, Failure> {
        let commands = Commands::new(gpu)?;
        Ok(Reader { buffer: commands.buffer()?, commands, back: ReadBack::default() })
    }
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
    ) -> Result<(), Failure> {
        self.paint_in(picture, camera, [width, height], [0, 0, width, height], canvas)
    }

    /// The same, with the middles of the first spheres on the device.
    pub fn paint_with(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        size: [u32; 2],
        places: (&Buffer, usize),
        canvas: &mut Canvas,
    ) -> Result<(), Failure> {
        self.paint_all(picture, camera, size, [0, 0, size[0], size[1]], Some(places), canvas)
    }

    /// The same, drawn to an area of the picture.
    pub fn paint_in(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        [width, height]: [u32; 2],
        area: [u32; 4],
        canvas: &mut Canvas,
    ) -> Result<(), Failure> {
        self.paint_all(picture, camera, [width, height], area, None, canvas)
    }

    fn paint_all(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        [width, height]: [u32; 2],
        area: [u32; 4],
        places: Option<(&Buffer, usize)>,
        canvas: &mut Canvas,
    ) -> Result<(), Failure> {
        canvas.resize(width, height);
        if width == 0 || height == 0 {
            return Ok(());
        }
        self.resize(width, height)?;
        let Reader { commands, buffer, mut back } = match self.reader.take() {
            Some(kept) => kept,
            None => Reader::new(&self.gpu)?,
        };
        commands.record(buffer, |recorder| {
            self.record(recorder.raw, picture, camera, area, places)?;
            self.overlay(recorder.raw, || {});
            let (shown, depths) = (self.image(), self.targets.depth.raw);
            self.turn_depths(recorder.raw);
            let images =
                [(shown, vk::ImageAspectFlags::COLOR), (depths, vk::ImageAspectFlags::DEPTH)];
            back.record(&self.gpu, recorder, [width, height], &images)
        })?;
        commands.submit(&[buffer])?;
        put(&back, canvas);
        let near = Lens::new(camera, width, height).near;
        for (depth, &word) in canvas.depth.iter_mut().zip(&back.words()[canvas.pixels.len()..]) {
            *depth = near / f32::from_le_bytes(word);
        }
        self.reader = Some(Reader { commands, buffer, back });
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
