//! A compute pipeline for each entry point of a pass's module; descriptors from what `pass.rs`
//! declares of the pass.

use super::commands::Recorder;
use super::device::failed;
use super::program::Turn;
use super::stages::Stage;
use crate::error::Result;
use crate::gpu::{Device, check};
use crate::pass::{Buffer, PASSES};
use crate::step::Pass;
use crate::world::ListId;
use ash::vk;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

/// Where modules come from: the assembled ones, or others to try.
pub type Shaders = Arc<dyn Fn(Pass) -> Vec<u8> + Send + Sync>;

/// Bytes of push constants: the substep's number, and three words of the stage.
const PUSH: u32 = 16;

/// Pipelines, made when they are first needed.
pub(crate) struct Pipelines {
    device: Arc<Device>,
    shaders: Shaders,
    workgroup: u32,
    /// The descriptors of each list.
    pools: HashMap<ListId, vk::DescriptorPool>,
    passes: HashMap<Pass, Module>,
}

/// A pass on the device.
struct Module {
    raw: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    /// Where its buffers are, for each list that it was prepared for. A pass that is about no list
    /// has what the contacts have.
    sets: HashMap<ListId, vk::DescriptorSet>,
    entries: HashMap<&'static str, vk::Pipeline>,
}

impl Pipelines {
    pub fn new(device: &Arc<Device>, shaders: Shaders, workgroup: u32) -> Result<Self> {
        Ok(Pipelines {
            device: Arc::clone(device),
            shaders,
            workgroup,
            pools: HashMap::new(),
            passes: HashMap::new(),
        })
    }

    /// The descriptors of a list, with room for every pass.
    fn pool(&mut self, list: ListId) -> Result<vk::DescriptorPool> {
        if let Some(&pool) = self.pools.get(&list) {
            return Ok(pool);
        }
        let count = PASSES.iter().map(|info| info.bindings().count() as u32 + 2).sum();
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: count,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(PASSES.len() as u32)
            .pool_sizes(&sizes);
        // SAFETY: the device is alive; destroyed by Drop.
        let pool = unsafe { self.device.raw.create_descriptor_pool(&info, None) };
        let pool = check("making descriptors", pool)?;
        self.pools.insert(list, pool);
        Ok(pool)
    }

    /// Gives back the descriptors of lists that are no more.
    pub fn forget_lists(&mut self, stays: impl Fn(ListId) -> bool) {
        let goes = |list: &ListId| *list != ListId::CONTACTS && !stays(*list);
        for (_, pool) in self.pools.extract_if(|list, _| goes(list)) {
            // SAFETY: the sets of the pool are not in use, since submissions are waited for, and no
            // recorded step is left that names them.
            unsafe { self.device.raw.destroy_descriptor_pool(pool, None) };
        }
        for module in self.passes.values_mut() {
            module.sets.retain(|list, _| !goes(list));
        }
    }

    /// Makes what a stage of a pass needs that is about a list. `buffer` tells where each buffer is: globals and state
    /// first, then those of the pass.
    pub fn prepare(
        &mut self,
        pass: Pass,
        stage: &Stage,
        list: ListId,
        buffer: impl Fn(Option<Buffer>, usize) -> vk::Buffer,
    ) -> Result<()> {
        if !self.passes.contains_key(&pass) {
            let module = self.module(pass)?;
            self.passes.insert(pass, module);
        }
        if !self.passes[&pass].sets.contains_key(&list) {
            let set = self.set(self.passes[&pass].set_layout, list)?;
            self.bind(pass, set, &buffer);
            self.passes.entry(pass).and_modify(|module| _ = module.sets.insert(list, set));
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

    fn module(&self, pass: Pass) -> Result<Module> {
        let device = &self.device.raw;
        let bytes = (self.shaders)(pass);
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
            let (sets, entries) = (HashMap::new(), HashMap::new());
            Ok(Module { raw, set_layout, layout, sets, entries })
        }
    }

    /// A set of descriptors for a list.
    fn set(&mut self, layout: vk::DescriptorSetLayout, list: ListId) -> Result<vk::DescriptorSet> {
        let (pool, layouts) = (self.pool(list)?, [layout]);
        let sets =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for a set of every pass, and is destroyed by Drop.
        let made = unsafe { self.device.raw.allocate_descriptor_sets(&sets) };
        Ok(check("making descriptors", made)?[0])
    }

    /// Tells a pass where its buffers are, through one of its sets.
    fn bind(
        &self,
        pass: Pass,
        set: vk::DescriptorSet,
        buffer: &impl Fn(Option<Buffer>, usize) -> vk::Buffer,
    ) {
        let all: Vec<Option<Buffer>> =
            [None, None].into_iter().chain(pass.info().bindings().map(Some)).collect();
        for (at, which) in all.into_iter().enumerate() {
            let info = [vk::DescriptorBufferInfo::default()
                .buffer(buffer(which, at))
                .range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(at as u32)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&info);
            // SAFETY: the set is not in use, since submissions are waited for.
            unsafe { self.device.raw.update_descriptor_sets(&[write], &[]) };
        }
    }

    /// Tells every pass where its buffers are now.
    pub fn bind_all(&self, buffer: impl Fn(ListId, Option<Buffer>, usize) -> vk::Buffer) {
        for (&pass, module) in &self.passes {
            for (&list, &set) in &module.sets {
                self.bind(pass, set, &|which, at| buffer(list, which, at));
            }
        }
    }

    /// Records what comes before a dispatch of a stage that was prepared.
    pub fn record(&self, turn: &Turn, stage: &Stage, recorder: &Recorder) {
        let module = &self.passes[&turn.dispatch.pass];
        let set = module.sets[&turn.list];
        let push = [turn.substep, stage.push[0], stage.push[1], stage.push[2]];
        let (device, raw) = (recorder.device, recorder.raw);
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the buffer is being recorded; pipeline, layout and set belong together.
        unsafe {
            device.cmd_bind_pipeline(raw, compute, module.entries[stage.entry]);
            device.cmd_bind_descriptor_sets(raw, compute, module.layout, 0, &[set], &[]);
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
            for &pool in self.pools.values() {
                device.destroy_descriptor_pool(pool, None);
            }
        }
    }
}
