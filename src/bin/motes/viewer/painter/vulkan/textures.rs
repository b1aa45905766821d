//! What the interface is drawn with, on the device: the font first, then the images, each with the
//! descriptor set that binds it.

use crate::viewer::painter::Textures;
use ash::vk;
use motes::gpu::{Buffer, Device, Failure, Image, Place, check};
use std::sync::Arc;

pub struct Loaded {
    /// One a texture; nothing where the texture is empty.
    sets: Vec<Option<vk::DescriptorSet>>,
    /// How often they had been made anew.
    pub version: [u64; 2],
    pool: vk::DescriptorPool,
    /// Held for the device, as is what they are loaded from.
    images: Vec<Image>,
    staging: Buffer,
    gpu: Arc<Device>,
}

/// The texels of a texture, four bytes each.
struct Texels {
    size: [u32; 2],
    bytes: Vec<u8>,
}

impl Texels {
    fn new(width: usize, height: usize, bytes: Vec<u8>) -> Option<Self> {
        let whole = width.checked_mul(height)?.checked_mul(4) == Some(bytes.len());
        let size = [u32::try_from(width).ok()?, u32::try_from(height).ok()?];
        (whole && !bytes.is_empty()).then_some(Texels { size, bytes })
    }

    fn all(textures: &Textures) -> Vec<Option<Texels>> {
        let fonts = textures.fonts;
        let white = fonts.alpha.iter().flat_map(|&alpha| [255, 255, 255, alpha]).collect();
        let mut all = vec![Texels::new(fonts.width, fonts.height, white)];
        all.extend(textures.images.iter().map(|image| {
            Texels::new(image.width, image.height, image.rgba.as_flattened().to_vec())
        }));
        all
    }
}

impl Loaded {
    /// Makes them, and records how they get their texels.
    pub fn new(
        gpu: &Arc<Device>,
        commands: vk::CommandBuffer,
        layout: vk::DescriptorSetLayout,
        sampler: vk::Sampler,
        textures: &Textures,
    ) -> Result<Self, Failure> {
        let all = Texels::all(textures);
        let bytes: Vec<u8> = all.iter().flatten().flat_map(|t| &t.bytes).copied().collect();
        let (source, place) = (vk::BufferUsageFlags::TRANSFER_SRC, Place::Written);
        let mut staging = Buffer::new(gpu, "textures to load", bytes.len(), source, place)?;
        staging.write(&bytes);
        let most = all.len() as u32;
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .descriptor_count(most)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(most).pool_sizes(&sizes);
        // SAFETY: the device is alive; Drop destroys the pool.
        let pool = unsafe { gpu.raw.create_descriptor_pool(&info, None) };
        let mut loaded = Loaded {
            sets: Vec::new(),
            version: textures.version,
            pool: check("making a descriptor pool", pool)?,
            images: Vec::new(),
            staging,
            gpu: Arc::clone(gpu),
        };
        let mut offset = 0;
        for texels in &all {
            let set = match texels {
                Some(texels) => {
                    let image = loaded.load(commands, texels, offset)?;
                    offset += texels.bytes.len() as u64;
                    let set = loaded.bind(layout, sampler, image.view)?;
                    loaded.images.push(image);
                    Some(set)
                }
                None => None,
            };
            loaded.sets.push(set);
        }
        Ok(loaded)
    }

    /// What binds a texture, if there is one.
    pub fn get(&self, id: usize) -> Option<vk::DescriptorSet> {
        self.sets.get(id).copied().flatten()
    }

    fn load(
        &self,
        commands: vk::CommandBuffer,
        texels: &Texels,
        offset: u64,
    ) -> Result<Image, Failure> {
        let format = vk::Format::R8G8B8A8_UNORM;
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let color = vk::ImageAspectFlags::COLOR;
        let image = Image::new(&self.gpu, "texture", texels.size, format, usage, color)?;
        use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
        let turn = |layouts: [Layout; 2], access: [Access; 2], stages: [Stage; 2]| {
            let barrier = super::barrier(image.raw, layouts, access);
            let flags = vk::DependencyFlags::empty();
            // SAFETY: the buffer is being recorded, the image alive.
            unsafe {
                let gpu = &self.gpu.raw;
                gpu.cmd_pipeline_barrier(
                    commands,
                    stages[0],
                    stages[1],
                    flags,
                    &[],
                    &[],
                    &[barrier],
                );
            }
        };
        let nothing = Access::empty();
        turn(
            [Layout::UNDEFINED, Layout::TRANSFER_DST_OPTIMAL],
            [nothing, Access::TRANSFER_WRITE],
            [Stage::TOP_OF_PIPE, Stage::TRANSFER],
        );
        let [width, height] = texels.size;
        let region = [vk::BufferImageCopy::default()
            .buffer_offset(offset)
            .image_subresource(super::LAYER)
            .image_extent(vk::Extent3D { width, height, depth: 1 })];
        let (staging, to) = (self.staging.raw, Layout::TRANSFER_DST_OPTIMAL);
        // SAFETY: the staging buffer holds the texels there, and the image has their size.
        unsafe {
            self.gpu.raw.cmd_copy_buffer_to_image(commands, staging, image.raw, to, &region);
        }
        turn(
            [Layout::TRANSFER_DST_OPTIMAL, Layout::SHADER_READ_ONLY_OPTIMAL],
            [Access::TRANSFER_WRITE, Access::SHADER_READ],
            [Stage::TRANSFER, Stage::FRAGMENT_SHADER],
        );
        Ok(image)
    }

    fn bind(
        &self,
        layout: vk::DescriptorSetLayout,
        sampler: vk::Sampler,
        view: vk::ImageView,
    ) -> Result<vk::DescriptorSet, Failure> {
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.pool)
            .set_layouts(&layouts);
        // SAFETY: the pool has room for one a texture.
        let sets = unsafe { self.gpu.raw.allocate_descriptor_sets(&info) };
        let set = check("binding a texture", sets)?[0];
        let bound = [vk::DescriptorImageInfo::default()
            .sampler(sampler)
            .image_view(view)
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&bound);
        // SAFETY: set, sampler and view are alive, and no command uses the set yet.
        unsafe { self.gpu.raw.update_descriptor_sets(&[write], &[]) };
        Ok(set)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: whoever drops the textures has waited for the work that uses them.
        unsafe { self.gpu.raw.destroy_descriptor_pool(self.pool, None) };
    }
}
