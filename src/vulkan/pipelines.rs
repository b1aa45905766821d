//! A compute pipeline for each entry point of a pass's module; descriptors from what `pass.rs`
//! declares of the pass.

use super::commands::Recorder;
use super::device::{Device, check, failed};
use super::stages::Stage;
use crate::error::Result;
use crate::pass::{Buffer, PASSES};
use crate::step::Pass;
use ash::vk;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

/// Where modules come from: the assembled ones, or others to try.
pub type Shaders = Arc<dyn Fn(Pass) -> Option<Vec<u8>> + Send + Sync>;

/// Bytes of push constants: the substep's number, and three words of the stage.
const PUSH: u32 = 16;

/// Pipelines, made when they are first needed.
pub(crate) struct Pipelines {
    device: Arc<Device>,
    shaders: Shaders,
    workgroup: u32,
    pool: vk::DescriptorPool,
    passes: HashMap<Pass, Module>,
}

/// A pass on the device.
struct Module {
    raw: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    entries: HashMap<&'static str, vk::Pipeline>,
}

impl Pipelines {
    pub fn new(device: &Arc<Device>, shaders: Shaders, workgroup: u32) -> Result<Self> {
        let count = PASSES.iter().map(|info| info.bindings().count() as u32 + 2).sum();
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: count,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(PASSES.len() as u32)
            .pool_sizes(&sizes);
        // SAFETY: the device is alive; destroyed by Drop.
        let pool = unsafe { device.raw.create_descriptor_pool(&info, None) };
        Ok(Pipelines {
            device: Arc::clone(device),
            shaders,
            workgroup,
            pool: check("making descriptors", pool)?,
            passes: HashMap::new(),
        })
    }

    /// Makes what a stage of a pass needs. `buffer` tells where each buffer is: globals and state
    /// first, then those of the pass.
    pub fn prepare(
        &mut self,
        pass: Pass,
        stage: &Stage,
        buffer: impl Fn(Option<Buffer>, usize) -> vk::Buffer,
    ) -> Result<()> {
        if !self.passes.contains_key(&pass) {
            let module = self.module(pass)?;
            self.passes.insert(pass, module);
            self.bind(pass, &buffer);
        }
        let Some(module) = self.passes.get_mut(&pass) else { return Ok(()) };
        if module.entries.contains_key(stage.entry) {
            return Ok(());
        }
        let entry = CString::new(stage.entry).expect("entry points have no zero byte");
        let size = self.workgroup.to_ne_bytes();
        let map = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
        let special = vk::SpecializationInfo::default().map_entries(&map).data(&size);
        let shader = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.raw)
            .name(&entry)
            .specialization_info(&special);
        let info = [vk::ComputePipelineCreateInfo::default().layout(module.layout).stage(shader)];
        // SAFETY: module and layout are alive; `mirror.rs` shows that they have the same bindings.
        let made = unsafe {
            self.device.raw.create_compute_pipelines(vk::PipelineCache::null(), &info, None)
        };
        let doing = format!("compiling {} ({})", pass.name(), stage.entry);
        let made = check(&doing, made.map_err(|(_, code)| code))?;
        module.entries.insert(stage.entry, made[0]);
        Ok(())
    }

    /// The module of a pass, or an error that says that it has none.
    pub fn require(&self, pass: Pass) -> Result<Vec<u8>> {
        let what = || format!("the pass {} has no shader", pass.name());
        (self.shaders)(pass).ok_or_else(|| failed(what(), "use --backend cpu"))
    }

    fn module(&self, pass: Pass) -> Result<Module> {
        let device = &self.device.raw;
        let bytes = self.require(pass)?;
        let words = ash::util::read_spv(&mut std::io::Cursor::new(bytes))
            .map_err(|e| failed(format!("{}.spv: {e}", pass.name()), "assemble it again"))?;
        let bindings: Vec<_> = (0..pass.info().bindings().count() as u32 + 2)
            .map(|at| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(at)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let set_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: PUSH,
        }];
        // SAFETY: everything is made from this device, and destroyed by Drop.
        unsafe {
            let code = vk::ShaderModuleCreateInfo::default().code(&words);
            let raw = check("loading a shader", device.create_shader_module(&code, None))?;
            let set_layout = device.create_descriptor_set_layout(&set_info, None);
            let set_layout = check("making descriptors", set_layout)?;
            let layouts = [set_layout];
            let layout = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(&push);
            let layout = check("making descriptors", device.create_pipeline_layout(&layout, None))?;
            let sets = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            let set = check("making descriptors", device.allocate_descriptor_sets(&sets))?[0];
            Ok(Module { raw, set_layout, layout, set, entries: HashMap::new() })
        }
    }

    /// Tells a pass where its buffers are.
    fn bind(&self, pass: Pass, buffer: &impl Fn(Option<Buffer>, usize) -> vk::Buffer) {
        let all: Vec<Option<Buffer>> =
            [None, None].into_iter().chain(pass.info().bindings().map(Some)).collect();
        for (at, which) in all.into_iter().enumerate() {
            let info = [vk::DescriptorBufferInfo::default()
                .buffer(buffer(which, at))
                .range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.passes[&pass].set)
                .dst_binding(at as u32)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&info);
            // SAFETY: the set is not in use, since submissions are waited for.
            unsafe { self.device.raw.update_descriptor_sets(&[write], &[]) };
        }
    }

    /// Tells every pass where its buffers are now.
    pub fn bind_all(&self, buffer: impl Fn(Option<Buffer>, usize) -> vk::Buffer) {
        for &pass in self.passes.keys() {
            self.bind(pass, &buffer);
        }
    }

    /// Records what comes before a dispatch of a stage that was prepared.
    pub fn record(&self, pass: Pass, stage: &Stage, substep: u32, recorder: &Recorder) {
        let module = &self.passes[&pass];
        let push = [substep, stage.push[0], stage.push[1], stage.push[2]];
        let (device, raw) = (recorder.device, recorder.raw);
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the buffer is being recorded; pipeline, layout and set belong together.
        unsafe {
            device.cmd_bind_pipeline(raw, compute, module.entries[stage.entry]);
            device.cmd_bind_descriptor_sets(raw, compute, module.layout, 0, &[module.set], &[]);
            device.cmd_push_constants(
                raw,
                module.layout,
                vk::ShaderStageFlags::COMPUTE,
                0,
                bytemuck::bytes_of(&push),
            );
        }
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: every submission was waited for.
        unsafe {
            for module in self.passes.values() {
                for &pipeline in module.entries.values() {
                    device.destroy_pipeline(pipeline, None);
                }
                device.destroy_pipeline_layout(module.layout, None);
                device.destroy_descriptor_set_layout(module.set_layout, None);
                device.destroy_shader_module(module.raw, None);
            }
            device.destroy_descriptor_pool(self.pool, None);
        }
    }
}
