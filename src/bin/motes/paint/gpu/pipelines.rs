//! The pipelines: which shader draws what, from which rows, against which depths.

use super::check;
use super::device::Gpu;
use super::passes::Passes;
use super::rows::{Ball, Facet, Row, Stroke};
use ash::vk;
use std::sync::Arc;

/// Images that shaders read, after the frame at binding 0.
pub const IMAGES: u32 = 5;

pub struct Pipelines {
    pub set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    pub sphere_shadow: vk::Pipeline,
    pub facet_shadow: vk::Pipeline,
    pub sphere: vk::Pipeline,
    pub facet: vk::Pipeline,
    pub floor: vk::Pipeline,
    pub occlusion: vk::Pipeline,
    pub light: vk::Pipeline,
    pub line: vk::Pipeline,
    gpu: Arc<Gpu>,
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../../../../spirv/paint/", $name, ".spv"))
    };
}

/// How something is drawn.
struct Draw<'a> {
    pass: vk::RenderPass,
    /// Bytes of a row and where its parts stand; none for what covers the screen.
    row: (usize, &'a [(vk::Format, u32)]),
    topology: vk::PrimitiveTopology,
    /// What passes the test of depths, and whether it leaves its own.
    depth: Option<(vk::CompareOp, bool)>,
    colors: usize,
    blends: bool,
}

impl Pipelines {
    pub fn new(gpu: &Arc<Gpu>, passes: &Passes) -> Result<Self, String> {
        let mut pipelines = Self {
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            sphere_shadow: vk::Pipeline::null(),
            facet_shadow: vk::Pipeline::null(),
            sphere: vk::Pipeline::null(),
            facet: vk::Pipeline::null(),
            floor: vk::Pipeline::null(),
            occlusion: vk::Pipeline::null(),
            light: vk::Pipeline::null(),
            line: vk::Pipeline::null(),
            gpu: Arc::clone(gpu),
        };
        pipelines.lay()?;
        // A square, corner by corner.
        let strip = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let plain = Draw {
            pass: passes.shadow,
            row: (0, &[]),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            depth: None,
            colors: 0,
            blends: false,
        };
        let ball = (size_of::<Ball>(), Ball::PARTS);
        let facet = (size_of::<Facet>(), Facet::PARTS);
        // The sun's depths grow away from it; the camera's are near / z, and shrink.
        let by_sun = Draw { depth: Some((vk::CompareOp::LESS, true)), ..plain };
        let seen = Draw {
            pass: passes.solids,
            depth: Some((vk::CompareOp::GREATER, true)),
            colors: 2,
            ..plain
        };
        pipelines.sphere_shadow = pipelines.make(
            shader!("sphere_shadow"),
            Draw { row: (ball.0, &ball.1[..1]), topology: strip, ..by_sun },
        )?;
        pipelines.facet_shadow = pipelines
            .make(shader!("facet_shadow"), Draw { row: (facet.0, &facet.1[..3]), ..by_sun })?;
        pipelines.sphere =
            pipelines.make(shader!("sphere"), Draw { row: ball, topology: strip, ..seen })?;
        pipelines.facet = pipelines.make(shader!("facet"), Draw { row: facet, ..seen })?;
        pipelines.floor = pipelines.make(shader!("floor"), seen)?;
        pipelines.occlusion = pipelines
            .make(shader!("occlusion"), Draw { pass: passes.occlusion, colors: 1, ..plain })?;
        pipelines.light =
            pipelines.make(shader!("light"), Draw { pass: passes.light, colors: 1, ..plain })?;
        pipelines.line = pipelines.make(
            shader!("line"),
            Draw {
                pass: passes.lines,
                row: (size_of::<Stroke>(), Stroke::PARTS),
                topology: strip,
                depth: Some((vk::CompareOp::GREATER_OR_EQUAL, false)),
                colors: 1,
                blends: true,
            },
        )?;
        Ok(pipelines)
    }

    /// What all of them are given: the frame, and the images.
    fn lay(&mut self) -> Result<(), String> {
        let binding = |at| {
            let kind = match at {
                0 => vk::DescriptorType::UNIFORM_BUFFER,
                _ => vk::DescriptorType::SAMPLED_IMAGE,
            };
            vk::DescriptorSetLayoutBinding::default()
                .binding(at)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
        };
        let bindings: Vec<_> = (0..=IMAGES).map(binding).collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the device is alive; both layouts are destroyed by Drop.
        unsafe {
            let made = self.gpu.raw.create_descriptor_set_layout(&info, None);
            self.set_layout = check("laying out a descriptor set", made)?;
            let sets = [self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let made = self.gpu.raw.create_pipeline_layout(&info, None);
            self.layout = check("laying out a pipeline", made)?;
        }
        Ok(())
    }

    fn make(&self, bytes: &[u8], draw: Draw) -> Result<vk::Pipeline, String> {
        let device = &self.gpu.raw;
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are a valid module, which a test checks.
        let module =
            check("loading a shader", unsafe { device.create_shader_module(&info, None) })?;
        let stages = [
            (vk::ShaderStageFlags::VERTEX, c"vertex"),
            (vk::ShaderStageFlags::FRAGMENT, c"fragment"),
        ]
        .map(|(stage, name)| {
            vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(name)
        });
        let (size, parts) = draw.row;
        let bindings = [vk::VertexInputBindingDescription::default()
            .stride(size as u32)
            .input_rate(vk::VertexInputRate::INSTANCE)];
        let attributes: Vec<_> = (0..)
            .zip(parts)
            .map(|(at, &(format, offset))| vk::VertexInputAttributeDescription {
                location: at,
                binding: 0,
                format,
                offset,
            })
            .collect();
        let mut input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_attribute_descriptions(&attributes);
        if size > 0 {
            input = input.vertex_binding_descriptions(&bindings);
        }
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
        let blend = vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(draw.blends)
            .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
            .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .src_alpha_blend_factor(vk::BlendFactor::ZERO)
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
            .layout(self.layout)
            .render_pass(draw.pass)];
        // SAFETY: all that `info` points to lives to the end of the call; then the module may go.
        unsafe {
            let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None);
            device.destroy_shader_module(module, None);
            Ok(check("making a pipeline", made.map_err(|(_, code)| code))?[0])
        }
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let all = [
            self.sphere_shadow,
            self.facet_shadow,
            self.sphere,
            self.facet,
            self.floor,
            self.occlusion,
            self.light,
            self.line,
        ];
        // SAFETY: whoever drops the pipelines has waited for the work that uses them.
        unsafe {
            for pipeline in all {
                self.gpu.raw.destroy_pipeline(pipeline, None);
            }
            self.gpu.raw.destroy_pipeline_layout(self.layout, None);
            self.gpu.raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
