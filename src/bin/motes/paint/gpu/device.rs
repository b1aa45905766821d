//! The device that draws: found, opened, and asked for memory.

use super::check;
use ash::khr::{surface, swapchain};
use ash::vk;
use gpu_allocator::AllocationSizes;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use motes::vulkan::{DeviceKind, Loader};
use parking_lot::Mutex;
use std::ffi::c_char;
use std::sync::Arc;
use winit::raw_window_handle::{RawDisplayHandle, RawWindowHandle};

/// An open device with one queue that draws, and shows where there is a window.
pub struct Gpu {
    pub physical: vk::PhysicalDevice,
    pub raw: ash::Device,
    pub queue: vk::Queue,
    pub family: u32,
    pub name: String,
    pub kind: DeviceKind,
    pub limits: vk::PhysicalDeviceLimits,
    /// Freed before the device goes.
    pub(super) allocator: Mutex<Option<Allocator>>,
    pub loader: Loader,
}

/// Colours of the picture and of its solids, as stored and as light.
pub const STORED: vk::Format = vk::Format::B8G8R8A8_UNORM;
pub const LIGHT: vk::Format = vk::Format::B8G8R8A8_SRGB;
/// Normals of the solids.
pub const NORMAL: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// How open to the sky it is.
pub const OPEN: vk::Format = vk::Format::R8_UNORM;
/// Depths of the camera and of the sun.
pub const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

impl Gpu {
    /// The best device that can draw: discrete before integrated before software. With the handles
    /// of a window, one that can show there; its surface comes along, and is the caller's.
    pub fn open(
        window: Option<(RawDisplayHandle, RawWindowHandle)>,
    ) -> Result<(Arc<Self>, Option<vk::SurfaceKHR>), String> {
        let extensions: &[*const c_char] = match window {
            Some((display, _)) => {
                let names = ash_window::enumerate_required_extensions(display);
                check("asking how to show on this window", names)?
            }
            None => &[],
        };
        // The engine's words say what to use instead of its own backend.
        let said = |e: motes::Error| e.to_string().replace("--backend cpu", "--painter software");
        let loader = Loader::new(extensions).map_err(said)?;
        let listed = loader.devices().map_err(said)?;
        let mut shown = Shown { loader: &loader, surface: None };
        if let Some((display, window)) = window {
            // SAFETY: the caller's window lives longer than what is shown on it.
            let made = unsafe {
                ash_window::create_surface(&loader.entry, &loader.instance, display, window, None)
            };
            shown.surface = Some(check("making a surface for the window", made)?);
        }
        let mut listed: Vec<_> = listed
            .into_iter()
            .map(|(physical, props, info)| (physical, props, info, shown.family(physical, &props)))
            .collect();
        listed.sort_by_key(|(.., info, family)| (family.is_err(), info.kind));
        let best = listed.into_iter().next().ok_or("no Vulkan device; use --painter software")?;
        let (physical, props, info, family) = best;
        let family = family.map_err(|why| {
            format!("Vulkan: {} cannot draw: {why}; use --painter software", info.name)
        })?;
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let extensions: &[*const c_char] =
            if window.is_some() { &[swapchain::NAME.as_ptr()] } else { &[] };
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(extensions);
        // SAFETY: the device is one of the instance's, the queue family one of the device's.
        let raw = unsafe { loader.instance.create_device(physical, &create, None) };
        let raw = check("opening the device", raw)?;
        let surface = shown.surface.take();
        drop(shown);
        let mut gpu = Self {
            // SAFETY: one queue of this family was asked for.
            queue: unsafe { raw.get_device_queue(family, 0) },
            physical,
            raw,
            family,
            name: info.name,
            kind: info.kind,
            limits: props.limits,
            allocator: Mutex::new(None),
            loader,
        };
        let description = AllocatorCreateDesc {
            instance: gpu.loader.instance.clone(),
            device: gpu.raw.clone(),
            physical_device: physical,
            debug_settings: Default::default(),
            buffer_device_address: false,
            // Blocks that suit a window's images; the library's own are for worlds.
            allocation_sizes: AllocationSizes::new(64 << 20, 16 << 20),
        };
        match Allocator::new(&description) {
            Ok(allocator) => *gpu.allocator.get_mut() = Some(allocator),
            Err(e) => {
                Shown { loader: &gpu.loader, surface }; // dropped, and the surface with it
                return Err(format!("memory of the device: {e}; use --painter software"));
            }
        }
        Ok((Arc::new(gpu), surface))
    }

    /// What the validation layer said; it is on with MOTES_VALIDATION=1.
    #[cfg(test)]
    pub fn messages(&self) -> Vec<String> {
        self.loader.messages()
    }

    /// Bytes of device memory in use.
    #[cfg(test)]
    pub fn bytes(&self) -> u64 {
        let allocator = self.allocator.lock();
        allocator.as_ref().map_or(0, |a| a.generate_report().total_allocated_bytes)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // Its blocks go before the device does.
        self.allocator.get_mut().take();
        // SAFETY: everything made from the device holds it, so nothing of it is in use.
        unsafe { self.raw.destroy_device(None) };
        // Heard here, so that what was forgotten on the device is heard, too.
        for message in self.loader.messages() {
            eprintln!("validation: {message}");
        }
    }
}

/// Where a device has to show, and whether it can. Destroys the surface unless it is taken.
struct Shown<'a> {
    loader: &'a Loader,
    surface: Option<vk::SurfaceKHR>,
}

impl Shown<'_> {
    /// The queue family that draws and shows, or why there is none.
    fn family(
        &self,
        physical: vk::PhysicalDevice,
        props: &vk::PhysicalDeviceProperties,
    ) -> Result<u32, String> {
        let instance = &self.loader.instance;
        if props.api_version < vk::API_VERSION_1_1 {
            return Err("Vulkan 1.1 is needed".into());
        }
        use vk::FormatFeatureFlags as Feature;
        let needs = [
            (LIGHT, Feature::COLOR_ATTACHMENT_BLEND | Feature::SAMPLED_IMAGE),
            (STORED, Feature::COLOR_ATTACHMENT_BLEND | Feature::BLIT_SRC),
            (NORMAL, Feature::COLOR_ATTACHMENT | Feature::SAMPLED_IMAGE),
            (OPEN, Feature::COLOR_ATTACHMENT | Feature::SAMPLED_IMAGE),
            (DEPTH, Feature::DEPTH_STENCIL_ATTACHMENT | Feature::SAMPLED_IMAGE),
        ];
        for (format, needed) in needs {
            // SAFETY: the device is one of this instance's.
            let got = unsafe { instance.get_physical_device_format_properties(physical, format) };
            if !got.optimal_tiling_features.contains(needed) {
                return Err(format!("it cannot draw to images of {format:?}"));
            }
        }
        if self.surface.is_some() {
            // SAFETY: as above.
            let found = unsafe { instance.enumerate_device_extension_properties(physical) };
            let found = check("asking for extensions", found)?;
            if !found.iter().any(|e| e.extension_name_as_c_str() == Ok(swapchain::NAME)) {
                return Err("it cannot show on windows".into());
            }
        }
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let (mut draws, surfaces) = (false, surface::Instance::new(&self.loader.entry, instance));
        for (at, family) in (0..).zip(&families) {
            if family.queue_flags.contains(vk::QueueFlags::GRAPHICS) {
                draws = true;
                let Some(surface) = self.surface else { return Ok(at) };
                // SAFETY: the surface is alive, the family one of the device's.
                let shows =
                    unsafe { surfaces.get_physical_device_surface_support(physical, at, surface) };
                if check("asking whether it shows on this window", shows)? {
                    return Ok(at);
                }
            }
        }
        Err(if draws { "it cannot show on this window" } else { "it has no queue that draws" }
            .into())
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if let Some(surface) = self.surface.take() {
            let surfaces = surface::Instance::new(&self.loader.entry, &self.loader.instance);
            // SAFETY: nobody else has it.
            unsafe { surfaces.destroy_surface(surface, None) };
        }
    }
}
