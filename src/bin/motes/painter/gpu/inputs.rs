//! What shaders are given besides rows: the frame, and the images that passes before have drawn.

use super::flow::Flow;
use super::frame::Frame;
use super::pipelines::{IMAGES, Pipelines};
use super::sun::Sun;
use super::targets::Targets;
use ash::vk;
use motes::gpu::{Buffer, Device, Failure, Place, check};
use std::sync::Arc;

pub struct Inputs {
    pub set: vk::DescriptorSet,
    pool: vk::DescriptorPool,
    frame: Buffer,
    gpu: Arc<Device>,
}

impl Inputs {
    pub fn new(gpu: &Arc<Device>, pipelines: &Pipelines) -> Result<Self, Failure> {
        let (usage, place) = (vk::BufferUsageFlags::UNIFORM_BUFFER, Place::Written);
        let frame = Buffer::new(gpu, "frame", size_of::<Frame>(), usage, place)?;
        let size = |ty, descriptor_count| vk::DescriptorPoolSize { ty, descriptor_count };
        let sizes = [
            size(vk::DescriptorType::UNIFORM_BUFFER, 1),
            size(vk::DescriptorType::SAMPLED_IMAGE, IMAGES),
        ];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: the device is alive; the pool is destroyed by Drop, and the set with it.
        let pool = unsafe { gpu.raw.create_descriptor_pool(&info, None) };
        let pool = check("making a descriptor pool", pool)?;
        let mut inputs = Self { set: vk::DescriptorSet::null(), pool, frame, gpu: Arc::clone(gpu) };
        let layouts = [pipelines.set_layout];
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for this one set.
        let sets = unsafe { gpu.raw.allocate_descriptor_sets(&info) };
        inputs.set = check("making a descriptor set", sets)?[0];
        Ok(inputs)
    }

    /// Writes the frame of the next picture.
    pub fn load(&mut self, frame: &Frame) {
        self.frame.write(bytemuck::bytes_of(frame));
    }

    /// Takes the images of a new size. Nothing may be drawing.
    /// Without a fluid, nobody reads its images.
    pub fn take(&self, targets: &Targets, sun: &Sun, flow: Option<&Flow>) {
        use vk::ImageLayout as Layout;
        let image = |view, layout| {
            [vk::DescriptorImageInfo::default().image_view(view).image_layout(layout)]
        };
        let mut images = vec![
            image(targets.color.other, Layout::SHADER_READ_ONLY_OPTIMAL),
            image(targets.normal.view, Layout::SHADER_READ_ONLY_OPTIMAL),
            image(targets.depth.view, Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL),
            image(sun.map.view, Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL),
            image(targets.open.view, Layout::SHADER_READ_ONLY_OPTIMAL),
        ];
        if let Some(flow) = flow {
            images.push(image(flow.nearest.view, Layout::DEPTH_STENCIL_READ_ONLY_OPTIMAL));
            let [a, b] = &flow.filtered;
            let [takes, close] = &flow.sums;
            for drawn in [a, b, takes, close, &flow.behind] {
                images.push(image(drawn.view, Layout::SHADER_READ_ONLY_OPTIMAL));
            }
        }
        let frame =
            [vk::DescriptorBufferInfo::default().buffer(self.frame.raw).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default().dst_set(self.set);
        let mut writes = vec![
            write
                .dst_binding(0)
                .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                .buffer_info(&frame),
        ];
        for (at, image) in (1..).zip(&images) {
            let write = vk::WriteDescriptorSet::default().dst_set(self.set);
            writes.push(
                write
                    .dst_binding(at)
                    .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
                    .image_info(image),
            );
        }
        // SAFETY: the views are alive, and no pass is using the set.
        unsafe { self.gpu.raw.update_descriptor_sets(&writes, &[]) };
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        // SAFETY: whoever drops the inputs has waited for the work that uses them.
        unsafe { self.gpu.raw.destroy_descriptor_pool(self.pool, None) };
    }
}
