//! imgui's draw lists on the device (`spirv/paint/interface.spvasm`), blended as `paint/ui` does.

use super::textures::Loaded;
use crate::painter::gpu::{Blend, Draw, pipeline};
use crate::painter::ui::Clip;
use crate::viewer::painter::Shot;
use ash::vk;
use imgui::{DrawCmd, DrawData, DrawVert};
use motes::gpu::{Buffer, Device, Failure, Place, check};
use std::sync::Arc;

const MODULE: &[u8] = include_bytes!("../../../../../../spirv/paint/interface.spv");
/// Place, place in the texture, colour.
const VERTEX: usize = size_of::<DrawVert>();

pub struct Interface {
    textures: Option<Loaded>,
    vertices: Option<Buffer>,
    indices: Option<Buffer>,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
    sampler: vk::Sampler,
    gpu: Arc<Device>,
}

impl Interface {
    pub fn new(gpu: &Arc<Device>, pass: vk::RenderPass) -> Result<Self, Failure> {
        let mut interface = Interface {
            textures: None,
            vertices: None,
            indices: None,
            pipeline: vk::Pipeline::null(),
            layout: vk::PipelineLayout::null(),
            set_layout: vk::DescriptorSetLayout::null(),
            sampler: vk::Sampler::null(),
            gpu: Arc::clone(gpu),
        };
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let sampler = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .address_mode_u(edge)
            .address_mode_v(edge);
        let texture = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&texture);
        let push =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::VERTEX).size(16)];
        // SAFETY: the device is alive; Drop destroys what is made here.
        unsafe {
            let raw = &gpu.raw;
            interface.sampler = check("making a sampler", raw.create_sampler(&sampler, None))?;
            let made = raw.create_descriptor_set_layout(&set, None);
            interface.set_layout = check("making a descriptor layout", made)?;
            let sets = [interface.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&sets)
                .push_constant_ranges(&push);
            let made = raw.create_pipeline_layout(&info, None);
            interface.layout = check("making a pipeline layout", made)?;
        }
        let (vec2, color) = (vk::Format::R32G32_SFLOAT, vk::Format::R8G8B8A8_UNORM);
        let draw = Draw {
            pass,
            rows: &[(VERTEX, &[(vec2, 0), (vec2, 8), (color, 16)])],
            rate: vk::VertexInputRate::VERTEX,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            depth: None,
            colors: 1,
            blend: Blend::Over,
        };
        interface.pipeline = pipeline(gpu, interface.layout, MODULE, draw)?;
        Ok(interface)
    }

    /// Brings what the shot's interface needs to the device; before the pass it is drawn in.
    pub fn load(&mut self, commands: vk::CommandBuffer, shot: &Shot) -> Result<(), Failure> {
        let textures = &shot.textures;
        if self.textures.as_ref().is_none_or(|loaded| loaded.version != textures.version) {
            let (set, sampler) = (self.set_layout, self.sampler);
            self.textures = Some(Loaded::new(&self.gpu, commands, set, sampler, textures)?);
        }
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        for list in shot.interface.draw_lists() {
            vertices.extend(list.vtx_buffer().iter().map(words));
            indices.extend_from_slice(list.idx_buffer());
        }
        let (gpu, place) = (&self.gpu, Place::Written);
        let bytes = bytemuck::cast_slice(&vertices);
        let (kept, usage) = (&mut self.vertices, vk::BufferUsageFlags::VERTEX_BUFFER);
        Buffer::grown(kept, gpu, "vertices", bytes.len(), usage, place)?.write(bytes);
        let bytes = bytemuck::cast_slice(&indices);
        let (kept, usage) = (&mut self.indices, vk::BufferUsageFlags::INDEX_BUFFER);
        Buffer::grown(kept, gpu, "indices", bytes.len(), usage, place)?.write(bytes);
        Ok(())
    }

    /// Records the drawing; inside the pass.
    pub fn record(&self, commands: vk::CommandBuffer, draw: &DrawData, size: [u32; 2]) {
        let (Some(textures), Some(vertices), Some(indices)) =
            (&self.textures, &self.vertices, &self.indices)
        else {
            return;
        };
        let gpu = &self.gpu.raw;
        let [width, height] = size.map(|side| side as f32);
        let viewport = [vk::Viewport { width, height, max_depth: 1.0, ..Default::default() }];
        let scale = [2.0 / width, 2.0 / height];
        let shift = [0, 1].map(|k| -1.0 - draw.display_pos[k] * scale[k]);
        let push = [scale, shift];
        // SAFETY: the pass was begun; pipeline and buffers are alive and fit each other.
        unsafe {
            gpu.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            gpu.cmd_set_viewport(commands, 0, &viewport);
            let (stage, push) = (vk::ShaderStageFlags::VERTEX, bytemuck::cast_slice(&push));
            gpu.cmd_push_constants(commands, self.layout, stage, 0, push);
            gpu.cmd_bind_vertex_buffers(commands, 0, &[vertices.raw], &[0]);
            gpu.cmd_bind_index_buffer(commands, indices.raw, 0, vk::IndexType::UINT16);
        }
        let (mut first_vertex, mut first_index) = (0, 0);
        for list in draw.draw_lists() {
            for command in list.commands() {
                let DrawCmd::Elements { count, cmd_params } = command else { continue };
                let [left, top] = draw.display_pos;
                let [x0, y0, x1, y1] = cmd_params.clip_rect;
                let clip = Clip::new([x0 - left, y0 - top, x1 - left, y1 - top]);
                let clip = clip.within(size[0], size[1]);
                let Some(set) = textures.get(cmd_params.texture_id.id()) else { continue };
                if clip.is_empty() {
                    continue;
                }
                let scissor = [vk::Rect2D {
                    offset: vk::Offset2D { x: clip.x[0], y: clip.y[0] },
                    extent: vk::Extent2D {
                        width: (clip.x[1] - clip.x[0]) as u32,
                        height: (clip.y[1] - clip.y[0]) as u32,
                    },
                }];
                let index = (first_index + cmd_params.idx_offset) as u32;
                let vertex = (first_vertex + cmd_params.vtx_offset) as i32;
                let graphics = vk::PipelineBindPoint::GRAPHICS;
                // SAFETY: as above; imgui's indices stay within its lists.
                unsafe {
                    gpu.cmd_set_scissor(commands, 0, &scissor);
                    gpu.cmd_bind_descriptor_sets(commands, graphics, self.layout, 0, &[set], &[]);
                    gpu.cmd_draw_indexed(commands, count as u32, 1, index, vertex, 0);
                }
            }
            first_vertex += list.vtx_buffer().len();
            first_index += list.idx_buffer().len();
        }
    }
}

/// A vertex as the shader takes it.
fn words(vertex: &DrawVert) -> [u32; VERTEX / 4] {
    let ([x, y], [u, v]) = (vertex.pos.map(f32::to_bits), vertex.uv.map(f32::to_bits));
    [x, y, u, v, u32::from_ne_bytes(vertex.col)]
}

impl Drop for Interface {
    fn drop(&mut self) {
        // SAFETY: whoever drops the interface has waited for the work that uses it.
        unsafe {
            self.gpu.raw.destroy_pipeline(self.pipeline, None);
            self.gpu.raw.destroy_pipeline_layout(self.layout, None);
            self.gpu.raw.destroy_descriptor_set_layout(self.set_layout, None);
            self.gpu.raw.destroy_sampler(self.sampler, None);
        }
    }
}
