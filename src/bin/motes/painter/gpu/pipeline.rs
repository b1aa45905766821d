//! One pipeline: how a shader draws.

use ash::vk;
use motes::gpu::{Device, Failure, check};

/// How something is drawn.
#[derive(Clone, Copy)]
pub struct Draw<'a> {
    pub pass: vk::RenderPass,
    /// The buffers that rows come from, the bytes of a row in each, and where its parts stand; none
    /// for what covers the screen. The shader numbers the parts in this order.
    pub rows: &'a [(usize, &'a [(vk::Format, u32)])],
    /// Whether a row is an instance or a corner.
    pub rate: vk::VertexInputRate,
    pub topology: vk::PrimitiveTopology,
    /// What passes the test of depths, and whether it leaves its own.
    pub depth: Option<(vk::CompareOp, bool)>,
    pub colors: usize,
    pub blend: Blend,
}

/// What happens to the colour that was there.
#[derive(Clone, Copy, PartialEq)]
pub enum Blend {
    Replaced,
    /// Painted over, by the share that alpha tells.
    Over,
    /// Added to.
    Added,
}

/// A pipeline of a module with the entries `vertex` and `fragment`; the caller destroys it.
pub fn pipeline(
    gpu: &Device,
    layout: vk::PipelineLayout,
    module: &[u8],
    draw: Draw,
) -> Result<vk::Pipeline, Failure> {
    let device = &gpu.raw;
    let words: Vec<u32> = module.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words are a valid module, which a test checks.
    let module = check("loading a shader", unsafe { device.create_shader_module(&info, None) })?;
    let stages =
        [(vk::ShaderStageFlags::VERTEX, c"vertex"), (vk::ShaderStageFlags::FRAGMENT, c"fragment")]
            .map(|(stage, name)| {
                vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(name)
            });
    let (mut bindings, mut attributes) = (Vec::new(), Vec::new());
    for (binding, &(size, parts)) in (0..).zip(draw.rows) {
        bindings.push(vk::VertexInputBindingDescription {
            binding,
            stride: size as u32,
            input_rate: draw.rate,
        });
        for &(format, offset) in parts {
            let location = attributes.len() as u32;
            let attribute =
                vk::VertexInputAttributeDescription { location, binding, format, offset };
            attributes.push(attribute);
        }
    }
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(draw.topology);
    let viewport =
        vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let (compare, writes) = draw.depth.unwrap_or((vk::CompareOp::ALWAYS, false));
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(draw.depth.is_some())
        .depth_write_enable(writes)
        .depth_compare_op(compare);
    let (new, old, alpha) = match draw.blend {
        Blend::Added => (vk::BlendFactor::ONE, vk::BlendFactor::ONE, vk::BlendFactor::ONE),
        _ => {
            let (share, rest) = (vk::BlendFactor::SRC_ALPHA, vk::BlendFactor::ONE_MINUS_SRC_ALPHA);
            (share, rest, vk::BlendFactor::ZERO)
        }
    };
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(draw.blend != Blend::Replaced)
        .src_color_blend_factor(new)
        .dst_color_blend_factor(old)
        .src_alpha_blend_factor(alpha)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE)
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let blends = [blend; 2];
    let color =
        vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends[..draw.colors]);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&color)
        .dynamic_state(&dynamic)
        .layout(layout)
        .render_pass(draw.pass)];
    // SAFETY: all that `info` points to lives to the end of the call; then the module may go.
    unsafe {
        let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None);
        device.destroy_shader_module(module, None);
        Ok(check("making a pipeline", made.map_err(|(_, code)| code))?[0])
    }
}
