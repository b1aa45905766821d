//! What a picture is drawn on, and the order of drawing.

use super::flow::Flow;
use super::frame::Frame;
use super::inputs::Inputs;
use super::passes::Passes;
use super::pipelines::Pipelines;
use super::rows::{Ball, Coat, Drip, Facet, Place, Rows, Stroke};
use super::sun::Sun;
use super::targets::Targets;
use crate::painter::lens::Lens;
use crate::painter::tiles::Footprint;
use crate::painter::water::Scale;
use crate::painter::{Camera, Picture};
use ash::vk;
use motes::gpu::{Buffer, Device, Failure};
use rayon::prelude::*;
use std::sync::Arc;

/// Draws pictures one after the other; the caller waits for the device before the next.
pub struct Easel {
    spheres: Rows<Ball>,
    /// Spheres whose middles are in a buffer of the engine, and that buffer.
    particles: Rows<Coat>,
    places: vk::Buffer,
    /// Triangles, then walls, which throw no shadow.
    facets: Rows<Facet>,
    triangles: u32,
    lines: Rows<Stroke>,
    /// Lines of the last picture as they came, and by depth: bits of the nearest, then the place.
    strokes: Vec<(Stroke, Footprint)>,
    order: Vec<u64>,
    inputs: Inputs,
    sun: Sun,
    /// Droplets of fluids, and the images of their surface once there were any.
    droplets: Rows<Drip>,
    flow: Option<Flow>,
    pub(super) targets: Targets,
    pipelines: Pipelines,
    passes: Passes,
    pub(super) gpu: Arc<Device>,
    #[cfg(test)]
    pub(super) reader: Option<super::read::Reader>,
}

/// Nothing is farther: the camera's depths are near / z, the sun's grow.
const FARTHEST: vk::ClearValue = depth(0.0);
const FARTHEST_FROM_SUN: vk::ClearValue = depth(1.0);
const BLACK: vk::ClearValue =
    vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 0.0, 0.0, 1.0] } };
/// No normal, and the kind of nothing.
const NOTHING: vk::ClearValue = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0; 4] } };

const fn depth(depth: f32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 0 } }
}

impl Easel {
    pub fn new(gpu: &Arc<Device>) -> Result<Self, Failure> {
        let passes = Passes::new(gpu)?;
        let pipelines = Pipelines::new(gpu, &passes)?;
        let sun = Sun::new(gpu, &passes)?;
        let targets = Targets::new(gpu, &passes, 1, 1)?;
        let inputs = Inputs::new(gpu, &pipelines)?;
        inputs.take(&targets, &sun, None);
        Ok(Self {
            droplets: Rows::new("droplets"),
            flow: None,
            spheres: Rows::new("spheres"),
            particles: Rows::new("particles"),
            places: vk::Buffer::null(),
            facets: Rows::new("triangles"),
            triangles: 0,
            lines: Rows::new("lines"),
            strokes: Vec::new(),
            order: Vec::new(),
            inputs,
            sun,
            targets,
            pipelines,
            passes,
            gpu: Arc::clone(gpu),
            #[cfg(test)]
            reader: None,
        })
    }

    /// The picture takes this size; waits for the device when that is another.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), Failure> {
        if self.targets.size != [width.max(1), height.max(1)] {
            self.gpu.wait_idle()?;
            self.flow = None;
            self.targets = Targets::new(&self.gpu, &self.passes, width, height)?;
            self.inputs.take(&self.targets, &self.sun, None);
        }
        Ok(())
    }

    /// Loads a picture and records how it is drawn into `area`, which is left, top, width, height of
    /// the image, not empty; beside it the image is black. After it the image is a colour attachment.
    ///
    /// With `places`, the first spheres of the picture have their middles in that buffer of this
    /// device, 16 bytes each, and not here; it says how many. Their radii must be above 0.
    pub fn record(
        &mut self,
        commands: vk::CommandBuffer,
        picture: &Picture,
        camera: &Camera,
        area: [u32; 4],
        places: Option<(&Buffer, usize)>,
    ) -> Result<(), Failure> {
        let [left, top, width, height] = area;
        let ends = [left.saturating_add(width), top.saturating_add(height)];
        if ends[0] > self.targets.size[0] || ends[1] > self.targets.size[1] {
            let (all, what) = (self.targets.size, "is not within a picture of");
            return Err(Failure::Unable(format!("{area:?} {what} {all:?}")));
        }
        let lens = Lens::new(camera, width, height);
        let frame = Frame::new(picture, &lens, [left, top]);
        self.inputs.load(&frame);
        self.load(picture, &lens, places)?;
        self.load_droplets(picture, &lens)?;
        let bind = vk::PipelineBindPoint::GRAPHICS;
        let (layout, sets) = (self.pipelines.layout, [self.inputs.set]);
        // SAFETY: the caller records; the set is alive until the work is done.
        unsafe {
            self.gpu.raw.cmd_bind_descriptor_sets(commands, bind, layout, 0, &sets, &[]);
        }
        let drawing = Drawing { gpu: &self.gpu.raw, commands };
        if places.is_some() {
            drawing.wait_for_copies();
        }
        self.draw(&drawing, &frame, area);
        Ok(())
    }

    fn load(
        &mut self,
        picture: &Picture,
        lens: &Lens,
        places: Option<(&Buffer, usize)>,
    ) -> Result<(), Failure> {
        let Self { gpu, spheres, particles, facets, lines, strokes, order, .. } = self;
        let count = places.map_or(0, |(_, count)| count);
        let Some((there, here)) = picture.spheres.split_at_checked(count) else {
            let all = picture.spheres.len();
            return Err(Failure::Unable(format!("{count} places were given for {all} spheres")));
        };
        if let Some((buffer, _)) = places {
            let there =
                Arc::ptr_eq(buffer.device(), gpu) && buffer.bytes / size_of::<Place>() >= count;
            if !there {
                let what = format!("{count} places are not in the buffer that was given for them");
                return Err(Failure::Unable(what));
            }
            self.places = buffer.raw;
        }
        particles.clear(gpu, count)?;
        particles.add(there.iter().map(Coat::of));
        spheres.clear(gpu, here.len())?;
        spheres.add(here.iter().filter_map(Ball::of));
        facets.clear(gpu, picture.triangles.len() + picture.walls.len())?;
        self.triangles = facets.add(picture.triangles.iter().filter_map(Facet::of)) as u32;
        facets.add(picture.walls.iter().filter_map(Facet::of));
        lines.clear(gpu, picture.lines.len())?;
        picture.lines.par_iter().map(|line| Stroke::of(lens, line)).collect_into_vec(strokes);
        let key = |(at, (_, footprint)): (usize, &(Stroke, Footprint))| {
            let key = u64::from(footprint.near.to_bits()) << 32 | at as u64;
            (!footprint.is_empty()).then_some(key)
        };
        // Far lines first: near ones are blended over them.
        order.clear();
        order.extend(strokes.iter().enumerate().filter_map(key));
        order.par_sort_unstable_by(|a, b| b.cmp(a));
        lines.add(order.iter().map(|&key| strokes[key as u32 as usize].0));
        Ok(())
    }

    fn load_droplets(&mut self, picture: &Picture, lens: &Lens) -> Result<(), Failure> {
        let Self { gpu, droplets, flow, passes, targets, .. } = self;
        droplets.clear(gpu, picture.droplets.len())?;
        let Some(scale) = Scale::of(picture, lens) else { return Ok(()) };
        droplets.add(picture.droplets.iter().filter_map(|droplet| Drip::of(droplet, &scale)));
        if flow.is_none() {
            gpu.wait_idle()?;
            *flow = Some(Flow::new(gpu, passes, targets)?);
            self.inputs.take(targets, &self.sun, flow.as_ref());
        }
        Ok(())
    }

    /// The passes of a picture in their order.
    fn draw(&self, drawing: &Drawing, frame: &Frame, area: [u32; 4]) {
        let Self { passes, targets, pipelines, sun, .. } = self;

        drawing.begin(passes.shadow, sun.frame, Sun::SIZE, &[FARTHEST_FROM_SUN]);
        let map = frame.map();
        if map != [0, 0] {
            drawing.look([0, 0, map[0], map[1]]);
            drawing.instances(pipelines.sphere_shadow, 4, self.spheres.get());
            drawing.particles(pipelines.particle_shadow, self.places, self.particles.get());
            let throwing = self.facets.get().map(|(facets, _)| (facets, self.triangles));
            drawing.instances(pipelines.facet_shadow, 3, throwing);
        }
        drawing.end();

        drawing.begin(passes.solids, targets.solids, targets.size, &[NOTHING, NOTHING, FARTHEST]);
        drawing.look(area);
        drawing.instances(pipelines.sphere, 4, self.spheres.get());
        drawing.particles(pipelines.particle, self.places, self.particles.get());
        drawing.instances(pipelines.facet, 3, self.facets.get());
        if frame.drop > 0.0 {
            drawing.screen(pipelines.floor);
        }
        drawing.end();

        drawing.begin(passes.occlusion, targets.occlusion, targets.half(), &[NOTHING]);
        let [.., width, height] = area;
        drawing.look([0, 0, width.div_ceil(2), height.div_ceil(2)]);
        drawing.screen(pipelines.occlusion);
        drawing.end();

        let flow = self.flow.as_ref().filter(|_| self.droplets.get().is_some());
        match flow {
            None => drawing.begin(passes.light, targets.light, targets.size, &[BLACK]),
            Some(flow) => {
                drawing.begin(passes.behind, flow.frame_behind, targets.size, &[BLACK]);
            }
        }
        drawing.look(area);
        drawing.screen(pipelines.light);
        drawing.end();
        if let Some(flow) = flow {
            self.draw_flow(drawing, flow, area);
        }

        let lines = self.lines.get();
        if lines.is_some() {
            drawing.begin(passes.lines, targets.lines, targets.size, &[]);
            drawing.look(area);
            drawing.instances(pipelines.line, 4, lines);
            drawing.end();
        }
    }

    /// The surface of fluids over the picture without them.
    fn draw_flow(&self, drawing: &Drawing, flow: &Flow, area: [u32; 4]) {
        let Self { passes, targets, pipelines, .. } = self;
        let clear = [NOTHING, NOTHING, FARTHEST];
        drawing.begin(passes.solids, flow.frame_nearest, targets.size, &clear);
        drawing.look(area);
        drawing.instances(pipelines.droplet, 4, self.droplets.get());
        drawing.end();

        let [first, columns, rows, disc] = pipelines.narrow;
        for (step, pipeline) in [first, columns, rows, columns, disc].into_iter().enumerate() {
            let frame = flow.frames_filtered[step % 2];
            drawing.begin(passes.flow, frame, targets.size, &[NOTHING]);
            drawing.look(area);
            drawing.screen(pipeline);
            drawing.end();
        }

        let [.., width, height] = area;
        drawing.begin(passes.bulk, flow.frame_sums, targets.half(), &[NOTHING, NOTHING]);
        drawing.look([0, 0, width.div_ceil(2), height.div_ceil(2)]);
        drawing.instances(pipelines.bulk, 4, self.droplets.get());
        drawing.end();

        drawing.begin(passes.light, targets.light, targets.size, &[BLACK]);
        drawing.look(area);
        drawing.screen(pipelines.water);
        drawing.end();

        drawing.begin(passes.dip, flow.frame_dip, targets.size, &[]);
        drawing.look(area);
        drawing.screen(pipelines.dip);
        drawing.end();
    }

    /// Records what is drawn over the picture, whose image can be copied from afterwards.
    pub fn overlay(&self, commands: vk::CommandBuffer, draw: impl FnOnce()) {
        let drawing = Drawing { gpu: &self.gpu.raw, commands };
        drawing.begin(self.passes.overlay, self.targets.overlay, self.targets.size, &[]);
        draw();
        drawing.end();
    }

    /// The pass of what is drawn over the picture.
    pub fn overlay_pass(&self) -> vk::RenderPass {
        self.passes.overlay
    }

    /// The picture: sRGB bytes, blue first.
    pub fn image(&self) -> vk::Image {
        self.targets.picture.raw
    }
}

impl Drop for Easel {
    fn drop(&mut self) {
        // A lost device has nothing left to wait for.
        let _ = self.gpu.wait_idle();
    }
}

/// A command buffer that is being recorded.
struct Drawing<'a> {
    gpu: &'a ash::Device,
    commands: vk::CommandBuffer,
}

impl Drawing<'_> {
    fn begin(
        &self,
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
        let inline = vk::SubpassContents::INLINE;
        // SAFETY: the buffer is being recorded; pass and frame are alive and fit each other.
        unsafe { self.gpu.cmd_begin_render_pass(self.commands, &info, inline) };
    }

    fn end(&self) {
        // SAFETY: a pass was begun.
        unsafe { self.gpu.cmd_end_render_pass(self.commands) };
    }

    /// Draws to this part of the frame: left, top, width, height.
    fn look(&self, [left, top, width, height]: [u32; 4]) {
        let view = [vk::Viewport {
            x: left as f32,
            y: top as f32,
            width: width as f32,
            height: height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        }];
        let scissor = [vk::Rect2D {
            offset: vk::Offset2D { x: left as i32, y: top as i32 },
            extent: vk::Extent2D { width, height },
        }];
        // SAFETY: the buffer is being recorded.
        unsafe {
            self.gpu.cmd_set_viewport(self.commands, 0, &view);
            self.gpu.cmd_set_scissor(self.commands, 0, &scissor);
        }
    }

    /// Draws every row with so many corners.
    fn instances(&self, pipeline: vk::Pipeline, corners: u32, rows: Option<(vk::Buffer, u32)>) {
        let Some((buffer, count)) = rows.filter(|(_, count)| *count > 0) else { return };
        self.rows(pipeline, corners, &[buffer], count);
    }

    /// Draws every particle, from its place and the rest of it.
    fn particles(
        &self,
        pipeline: vk::Pipeline,
        places: vk::Buffer,
        rows: Option<(vk::Buffer, u32)>,
    ) {
        let Some((coats, count)) = rows else { return };
        self.rows(pipeline, 4, &[places, coats], count);
    }

    fn rows(&self, pipeline: vk::Pipeline, corners: u32, buffers: &[vk::Buffer], count: u32) {
        // SAFETY: in a pass of the pipeline, with rows that are alive until the work is done.
        unsafe {
            self.gpu.cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            self.gpu.cmd_bind_vertex_buffers(self.commands, 0, buffers, &[0; 2][..buffers.len()]);
            self.gpu.cmd_draw(self.commands, corners, count, 0, 0);
        }
    }

    /// What was copied to a buffer before is seen by what is drawn from it.
    fn wait_for_copies(&self) {
        let seen = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::VERTEX_ATTRIBUTE_READ)];
        let (before, after) =
            (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::VERTEX_INPUT);
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the buffer is being recorded, and no pass is begun.
        unsafe {
            self.gpu.cmd_pipeline_barrier(self.commands, before, after, flags, &seen, &[], &[]);
        }
    }

    /// Draws one triangle that covers the screen.
    fn screen(&self, pipeline: vk::Pipeline) {
        // SAFETY: in a pass of the pipeline.
        unsafe {
            self.gpu.cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            self.gpu.cmd_draw(self.commands, 3, 1, 0, 0);
        }
    }
}
