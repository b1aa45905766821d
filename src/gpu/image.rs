//! Images of the device. Whoever drops one has waited for the work that uses it.

use super::device::Device;
use super::failure::{Failure, check};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// A flat picture on the device, with the views on it.
pub struct Image {
    /// Its handle.
    pub raw: vk::Image,
    /// All of it, in its format.
    pub view: vk::ImageView,
    /// The same bytes taken for another format, where one was asked for.
    pub other: vk::ImageView,
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

impl Image {
    /// An image of one format.
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        size: [u32; 2],
        format: vk::Format,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Self, Failure> {
        Self::with_other(device, name, size, [format, format], usage, aspect)
    }

    /// An image whose bytes are also seen as a second format.
    pub fn with_other(
        device: &Arc<Device>,
        name: &str,
        [width, height]: [u32; 2],
        formats: [vk::Format; 2],
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Self, Failure> {
        let limits = &device.limits;
        let most = limits
            .max_image_dimension2_d
            .min(limits.max_framebuffer_width)
            .min(limits.max_framebuffer_height);
        if width.max(height) > most {
            return Err(Failure::Unable(format!(
                "{} makes images up to {most} x {most}, and {width} x {height} are needed",
                device.name
            )));
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
        let raw = check("making an image", unsafe { device.raw.create_image(&info, None) })?;
        let mut image = Self {
            raw,
            view: vk::ImageView::null(),
            other: vk::ImageView::null(),
            allocation: None,
            device: Arc::clone(device),
        };
        // SAFETY: the image is one of this device's.
        let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
        let allocation = device.allocate(name, requirements, MemoryLocation::GpuOnly, false)?;
        // SAFETY: the memory goes with the image, was made for it and is bound once.
        let bound =
            unsafe { device.raw.bind_image_memory(raw, allocation.memory(), allocation.offset()) };
        image.allocation = Some(allocation);
        check("binding memory", bound)?;
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
            check("making a view", unsafe { device.raw.create_image_view(&info, None) })
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
            self.device.raw.destroy_image_view(self.other, None);
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.raw, None);
        }
        self.device.free(self.allocation.take());
    }
}
