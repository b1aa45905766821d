//! Buffers and images of the device; dropping one gives its memory back. Whoever drops has waited
//! for the work that uses it.

use super::check;
use super::device::Gpu;
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use std::sync::Arc;

impl Gpu {
    fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> Result<Allocation, String> {
        let description = AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let mut allocator = self.allocator.lock();
        let Some(allocator) = allocator.as_mut() else { return Err("no memory to ask for".into()) };
        allocator.allocate(&description).map_err(|e| {
            let size = requirements.size.div_ceil(1 << 20);
            format!("{size} MiB for the {name} on {}: {e}; use a smaller window, fewer particles, or --painter software", self.name)
        })
    }

    fn free(&self, allocation: Option<Allocation>) {
        if let (Some(allocation), Some(allocator)) = (allocation, self.allocator.lock().as_mut()) {
            // Only an allocation of another allocator could fail here.
            let _ = allocator.free(allocation);
        }
    }
}

/// Bytes on the device, which the host may see.
pub struct Buffer {
    pub raw: vk::Buffer,
    pub bytes: usize,
    allocation: Option<Allocation>,
    gpu: Arc<Gpu>,
}

impl Buffer {
    /// A buffer of `bytes` bytes, 16 at least.
    pub fn new(
        gpu: &Arc<Gpu>,
        name: &str,
        bytes: usize,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self, String> {
        let bytes = bytes.max(16);
        let info = vk::BufferCreateInfo::default().size(bytes as u64).usage(usage);
        // SAFETY: the device is alive; the buffer is destroyed by Drop.
        let raw = check("making a buffer", unsafe { gpu.raw.create_buffer(&info, None) })?;
        let mut buffer = Self { raw, bytes, allocation: None, gpu: Arc::clone(gpu) };
        // SAFETY: the buffer is one of this device's.
        let requirements = unsafe { gpu.raw.get_buffer_memory_requirements(raw) };
        let allocation = gpu.allocate(name, requirements, location, true)?;
        let (memory, offset) = (
            // SAFETY: it goes with the buffer.
            unsafe { allocation.memory() },
            allocation.offset(),
        );
        buffer.allocation = Some(allocation);
        // SAFETY: the memory was made for this buffer and is bound once.
        check("binding memory", unsafe { gpu.raw.bind_buffer_memory(raw, memory, offset) })?;
        Ok(buffer)
    }

    /// The buffer that is kept, with room for `bytes` bytes: one too small gives way to a larger one.
    pub fn grown<'a>(
        kept: &'a mut Option<Self>,
        gpu: &Arc<Gpu>,
        name: &str,
        bytes: usize,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<&'a mut Self, String> {
        // First it goes, so that there need not be room for both.
        kept.take_if(|buffer| buffer.bytes < bytes);
        match kept {
            Some(buffer) => Ok(buffer),
            None => {
                let room = bytes.next_power_of_two();
                Ok(kept.insert(Self::new(gpu, name, room, usage, location)?))
            }
        }
    }

    /// What the host sees of it; nothing of a buffer that only the device uses.
    pub fn host(&self) -> &[u8] {
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_slice);
        mapped.map_or(&[], |bytes| &bytes[..self.bytes])
    }

    pub fn host_mut(&mut self) -> &mut [u8] {
        let mapped = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        mapped.map_or(&mut [], |bytes| &mut bytes[..self.bytes])
    }

    /// Writes to its start, if the host sees it.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(start) = self.host_mut().get_mut(..bytes.len()) {
            start.copy_from_slice(bytes);
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: whoever drops a buffer has waited for the work that uses it.
        unsafe { self.gpu.raw.destroy_buffer(self.raw, None) };
        self.gpu.free(self.allocation.take());
    }
}

/// A flat picture on the device, with the views on it.
pub struct Image {
    pub raw: vk::Image,
    pub view: vk::ImageView,
    /// The same bytes taken for another format, where one was asked for.
    pub other: vk::ImageView,
    allocation: Option<Allocation>,
    gpu: Arc<Gpu>,
}

impl Image {
    pub fn new(
        gpu: &Arc<Gpu>,
        name: &str,
        size: [u32; 2],
        format: vk::Format,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Self, String> {
        Self::with_other(gpu, name, size, [format, format], usage, aspect)
    }

    /// An image whose bytes are also seen as a second format.
    pub fn with_other(
        gpu: &Arc<Gpu>,
        name: &str,
        [width, height]: [u32; 2],
        formats: [vk::Format; 2],
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Self, String> {
        let limits = &gpu.limits;
        let most = limits
            .max_image_dimension2_d
            .min(limits.max_framebuffer_width)
            .min(limits.max_framebuffer_height);
        if width.max(height) > most {
            return Err(format!(
                "{} makes images up to {most} x {most}, and {width} x {height} are needed; use a smaller window, or --painter software",
                gpu.name
            ));
        }
        let two = formats[0] != formats[1];
        let flags = match two {
            true => vk::ImageCreateFlags::MUTABLE_FORMAT,
            false => vk::ImageCreateFlags::empty(),
        };
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(vk::ImageType::TYPE_2D)
            .format(formats[0])
            .extent(vk::Extent3D { width: width.max(1), height: height.max(1), depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: the device is alive; the image is destroyed by Drop.
        let raw = check("making an image", unsafe { gpu.raw.create_image(&info, None) })?;
        let mut image = Self {
            raw,
            view: vk::ImageView::null(),
            other: vk::ImageView::null(),
            allocation: None,
            gpu: Arc::clone(gpu),
        };
        // SAFETY: the image is one of this device's.
        let requirements = unsafe { gpu.raw.get_image_memory_requirements(raw) };
        let allocation = gpu.allocate(name, requirements, MemoryLocation::GpuOnly, false)?;
        let (memory, offset) = (
            // SAFETY: it goes with the image.
            unsafe { allocation.memory() },
            allocation.offset(),
        );
        image.allocation = Some(allocation);
        // SAFETY: the memory was made for this image and is bound once.
        check("binding memory", unsafe { gpu.raw.bind_image_memory(raw, memory, offset) })?;
        let view = |format| {
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(aspect)
                .level_count(1)
                .layer_count(1);
            let info = vk::ImageViewCreateInfo::default()
                .image(raw)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range);
            // SAFETY: the image is bound; the view is destroyed by Drop.
            check("making a view", unsafe { gpu.raw.create_image_view(&info, None) })
        };
        image.view = view(formats[0])?;
        if two {
            image.other = view(formats[1])?;
        }
        Ok(image)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: whoever drops an image has waited for the work that uses it.
        unsafe {
            self.gpu.raw.destroy_image_view(self.other, None);
            self.gpu.raw.destroy_image_view(self.view, None);
            self.gpu.raw.destroy_image(self.raw, None);
        }
        self.gpu.free(self.allocation.take());
    }
}
