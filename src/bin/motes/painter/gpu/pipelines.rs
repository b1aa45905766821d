//! The pipelines: which shader draws what, from which rows, against which depths.

use super::passes::Passes;
use super::pipeline::{Blend, Draw, pipeline};
use super::rows::{Ball, Coat, Drip, Facet, Place, Row, Stroke};
use ash::vk;
use motes::gpu::{Device, Failure, check};
use std::sync::Arc;

/// Images that shaders read, after the frame at binding 0.
pub const IMAGES: u32 = 11;

pub struct Pipelines {
    pub set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    pub sphere_shadow: vk::Pipeline,
    /// Spheres whose middles are in a buffer of the engine.
    pub particle_shadow: vk::Pipeline,
    pub facet_shadow: vk::Pipeline,
    pub sphere: vk::Pipeline,
    pub particle: vk::Pipeline,
    pub facet: vk::Pipeline,
    pub floor: vk::Pipeline,
    pub occlusion: vk::Pipeline,
    pub light: vk::Pipeline,
    /// Fluids: their droplets, the filter along rows and columns and over a disc, their volume, the
    /// surface over what is behind it, and its depth.
    pub droplet: vk::Pipeline,
    pub narrow: [vk::Pipeline; 4],
    pub bulk: vk::Pipeline,
    pub water: vk::Pipeline,
    pub dip: vk::Pipeline,
    pub line: vk::Pipeline,
    gpu: Arc<Device>,
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../../../../spirv/paint/", $name, ".spv"))
    };
}

impl Pipelines {
    pub fn new(gpu: &Arc<Device>, passes: &Passes) -> Result<Self, Failure> {
        let mut pipelines = Self {
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            sphere_shadow: vk::Pipeline::null(),
            particle_shadow: vk::Pipeline::null(),
            facet_shadow: vk::Pipeline::null(),
            sphere: vk::Pipeline::null(),
            particle: vk::Pipeline::null(),
            facet: vk::Pipeline::null(),
            floor: vk::Pipeline::null(),
            occlusion: vk::Pipeline::null(),
            light: vk::Pipeline::null(),
            droplet: vk::Pipeline::null(),
            narrow: [vk::Pipeline::null(); 4],
            bulk: vk::Pipeline::null(),
            water: vk::Pipeline::null(),
            dip: vk::Pipeline::null(),
            line: vk::Pipeline::null(),
            gpu: Arc::clone(gpu),
        };
        pipelines.lay()?;
        let layout = pipelines.layout;
        let make = |module: &[u8], draw: Draw| pipeline(gpu, layout, module, draw);
        // A square, corner by corner.
        let strip = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let plain = Draw {
            pass: passes.shadow,
            rows: &[],
            rate: vk::VertexInputRate::INSTANCE,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            depth: None,
            colors: 0,
            blend: Blend::Replaced,
        };
        let ball = (size_of::<Ball>(), Ball::PARTS);
        let (place, coat) = ((size_of::<Place>(), Place::PARTS), (size_of::<Coat>(), Coat::PARTS));
        let facet = (size_of::<Facet>(), Facet::PARTS);
        // The sun's depths grow away from it; the camera's are near / z, and shrink.
        let by_sun = Draw { depth: Some((vk::CompareOp::LESS, true)), ..plain };
        let seen = Draw {
            pass: passes.solids,
            depth: Some((vk::CompareOp::GREATER, true)),
            colors: 2,
            ..plain
        };
        // A shadow has no colour.
        let (sphere_shadow, sphere) = (shader!("sphere_shadow"), shader!("sphere"));
        let dark_ball = [(ball.0, &ball.1[..2])];
        let dark_particle = [place, (coat.0, &coat.1[..1])];
        let round = Draw { topology: strip, ..by_sun };
        pipelines.sphere_shadow = make(sphere_shadow, Draw { rows: &dark_ball, ..round })?;
        pipelines.particle_shadow = make(sphere_shadow, Draw { rows: &dark_particle, ..round })?;
        let dark_facet = [(facet.0, &facet.1[..3])];
        pipelines.facet_shadow =
            make(shader!("facet_shadow"), Draw { rows: &dark_facet, ..by_sun })?;
        let round = Draw { topology: strip, ..seen };
        pipelines.sphere = make(sphere, Draw { rows: &[ball], ..round })?;
        pipelines.particle = make(sphere, Draw { rows: &[place, coat], ..round })?;
        pipelines.facet = make(shader!("facet"), Draw { rows: &[facet], ..seen })?;
        pipelines.floor = make(shader!("floor"), seen)?;
        pipelines.occlusion =
            make(shader!("occlusion"), Draw { pass: passes.occlusion, colors: 1, ..plain })?;
        pipelines.light = make(shader!("light"), Draw { pass: passes.light, colors: 1, ..plain })?;
        let drop = (size_of::<Drip>(), Drip::PARTS);
        pipelines.droplet = make(sphere, Draw { rows: &[drop], ..round })?;
        let flow = Draw { pass: passes.flow, colors: 1, ..plain };
        let filters: [&[u8]; 4] = [
            shader!("narrow_first"),
            shader!("narrow_columns"),
            shader!("narrow_rows"),
            shader!("narrow_disc"),
        ];
        for (made, module) in pipelines.narrow.iter_mut().zip(filters) {
            *made = make(module, flow)?;
        }
        pipelines.bulk = make(
            shader!("bulk"),
            Draw {
                pass: passes.bulk,
                rows: &[(size_of::<Drip>(), Drip::BULK)],
                topology: strip,
                colors: 2,
                blend: Blend::Added,
                ..plain
            },
        )?;
        pipelines.water = make(shader!("water"), Draw { pass: passes.light, colors: 1, ..plain })?;
        let dip = Draw { depth: Some((vk::CompareOp::GREATER, true)), pass: passes.dip, ..plain };
        pipelines.dip = make(shader!("dip"), dip)?;
        pipelines.line = make(
            shader!("line"),
            Draw {
                pass: passes.lines,
                rows: &[(size_of::<Stroke>(), Stroke::PARTS)],
                topology: strip,
                depth: Some((vk::CompareOp::GREATER_OR_EQUAL, false)),
                colors: 1,
                blend: Blend::Over,
                ..plain
            },
        )?;
        Ok(pipelines)
    }

    /// What all of them are given: the frame, and the images.
    fn lay(&mut self) -> Result<(), Failure> {
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
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let all = [
            self.sphere_shadow,
            self.particle_shadow,
            self.facet_shadow,
            self.sphere,
            self.particle,
            self.facet,
            self.floor,
            self.occlusion,
            self.light,
            self.droplet,
            self.bulk,
            self.water,
            self.dip,
            self.line,
        ];
        // SAFETY: whoever drops the pipelines has waited for the work that uses them.
        unsafe {
            for pipeline in all.into_iter().chain(self.narrow) {
                self.gpu.raw.destroy_pipeline(pipeline, None);
            }
            self.gpu.raw.destroy_pipeline_layout(self.layout, None);
            self.gpu.raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
