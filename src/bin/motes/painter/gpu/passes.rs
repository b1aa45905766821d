//! The render passes of a picture. Each waits for all drawing before it and hides nothing from what
//! comes after: there are few of them, so finer waits would gain nothing.

use super::formats::{BULK, DEPTH, FLOW, LIGHT, NORMAL, OPEN, STORED};
use ash::vk;
use motes::gpu::{Device, Failure, check};
use std::sync::Arc;

pub struct Passes {
    /// Depths as the sun sees them.
    pub shadow: vk::RenderPass,
    /// Colour, normal and depth of what the camera sees.
    pub solids: vk::RenderPass,
    /// How open what the camera sees is.
    pub occlusion: vk::RenderPass,
    /// The picture as light.
    pub light: vk::RenderPass,
    /// The picture without fluids, and their surface filtered, summed up, and as a depth.
    pub behind: vk::RenderPass,
    pub flow: vk::RenderPass,
    pub bulk: vk::RenderPass,
    pub dip: vk::RenderPass,
    /// Lines over it, tested against the depths of the solids. A pass of its own, since the light
    /// reads those depths, and the end of a pass counts as writing them.
    pub lines: vk::RenderPass,
    /// The picture as it is stored, for the interface.
    pub overlay: vk::RenderPass,
    gpu: Arc<Device>,
}

/// An attachment: its format, what happens to it first, and its layouts before, during and after.
struct Attached {
    format: vk::Format,
    load: vk::AttachmentLoadOp,
    layouts: [vk::ImageLayout; 3],
}

impl Passes {
    pub fn new(gpu: &Arc<Device>) -> Result<Self, Failure> {
        use vk::AttachmentLoadOp as Load;
        use vk::ImageLayout as Layout;
        let new = |format, drawn, after| Attached {
            format,
            load: Load::CLEAR,
            layouts: [Layout::UNDEFINED, drawn, after],
        };
        let kept = |format, layouts| Attached { format, load: Load::LOAD, layouts };
        let color = Layout::COLOR_ATTACHMENT_OPTIMAL;
        let read = Layout::SHADER_READ_ONLY_OPTIMAL;
        let depth = Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let depth_read = Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL;
        let mut passes = Self {
            shadow: vk::RenderPass::null(),
            solids: vk::RenderPass::null(),
            occlusion: vk::RenderPass::null(),
            light: vk::RenderPass::null(),
            behind: vk::RenderPass::null(),
            flow: vk::RenderPass::null(),
            bulk: vk::RenderPass::null(),
            dip: vk::RenderPass::null(),
            lines: vk::RenderPass::null(),
            overlay: vk::RenderPass::null(),
            gpu: Arc::clone(gpu),
        };
        passes.shadow = pass(gpu, &[], Some(new(DEPTH, depth, depth_read)))?;
        passes.solids = pass(
            gpu,
            &[new(STORED, color, read), new(NORMAL, color, read)],
            Some(new(DEPTH, depth, depth_read)),
        )?;
        passes.occlusion = pass(gpu, &[new(OPEN, color, read)], None)?;
        passes.light = pass(gpu, &[new(LIGHT, color, color)], None)?;
        passes.behind = pass(gpu, &[new(LIGHT, color, read)], None)?;
        passes.flow = pass(gpu, &[new(FLOW, color, read)], None)?;
        passes.bulk = pass(gpu, &[new(BULK, color, read), new(BULK, color, read)], None)?;
        let dipped = kept(DEPTH, [depth_read, depth, depth_read]);
        passes.dip = pass(gpu, &[], Some(dipped))?;
        let read_only = Some(kept(DEPTH, [depth_read; 3]));
        passes.lines = pass(gpu, &[kept(LIGHT, [color; 3])], read_only)?;
        let shown = [color, color, Layout::TRANSFER_SRC_OPTIMAL];
        passes.overlay = pass(gpu, &[kept(STORED, shown)], None)?;
        Ok(passes)
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        let surfaces = [self.behind, self.flow, self.bulk, self.dip];
        let solids = [self.shadow, self.solids, self.occlusion, self.light];
        for pass in solids.into_iter().chain(surfaces).chain([self.lines, self.overlay]) {
            // SAFETY: whoever drops the passes has waited for the work that uses them.
            unsafe { self.gpu.raw.destroy_render_pass(pass, None) };
        }
    }
}

/// A pass that draws to these colours and this depth.
fn pass(
    gpu: &Device,
    colors: &[Attached],
    depth: Option<Attached>,
) -> Result<vk::RenderPass, Failure> {
    let descriptions: Vec<_> = colors
        .iter()
        .chain(&depth)
        .map(|attached| {
            vk::AttachmentDescription::default()
                .format(attached.format)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(attached.load)
                .store_op(vk::AttachmentStoreOp::STORE)
                .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
                .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
                .initial_layout(attached.layouts[0])
                .final_layout(attached.layouts[2])
        })
        .collect();
    let reference = |(at, attached): (u32, &Attached)| {
        vk::AttachmentReference::default().attachment(at).layout(attached.layouts[1])
    };
    let color_references: Vec<_> = (0..).zip(colors).map(reference).collect();
    let depth_reference = depth.as_ref().map(|depth| reference((colors.len() as u32, depth)));
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&color_references);
    if let Some(depth) = &depth_reference {
        subpass = subpass.depth_stencil_attachment(depth);
    }
    let (subpasses, waits) = ([subpass], waits());
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses)
        .dependencies(&waits);
    // SAFETY: everything `info` points to lives to the end of the call.
    check("making a render pass", unsafe { gpu.raw.create_render_pass(&info, None) })
}

/// After all drawing before, and before all that follows.
fn waits() -> [vk::SubpassDependency; 2] {
    use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
    let drawing = Stage::FRAGMENT_SHADER
        | Stage::COLOR_ATTACHMENT_OUTPUT
        | Stage::EARLY_FRAGMENT_TESTS
        | Stage::LATE_FRAGMENT_TESTS;
    let writes = Access::COLOR_ATTACHMENT_WRITE | Access::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let reads =
        Access::SHADER_READ | Access::COLOR_ATTACHMENT_READ | Access::DEPTH_STENCIL_ATTACHMENT_READ;
    let wait = vk::SubpassDependency::default().src_access_mask(writes);
    [
        wait.src_subpass(vk::SUBPASS_EXTERNAL)
            .dst_subpass(0)
            .src_stage_mask(drawing | Stage::TRANSFER)
            .dst_stage_mask(drawing)
            .dst_access_mask(reads | writes),
        wait.src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(drawing)
            .dst_stage_mask(drawing | Stage::TRANSFER)
            .dst_access_mask(reads | writes | Access::TRANSFER_READ),
    ]
}
