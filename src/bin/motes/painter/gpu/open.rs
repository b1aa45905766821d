//! Opening a device that draws, and that shows on a window where there is one.

use super::formats::{DEPTH, LIGHT, NORMAL, OPEN, STORED};
use ash::khr::{surface, swapchain};
use ash::vk;
use motes::gpu::{Device, Failure, Found, Loader, check};
use std::ffi::{CStr, c_char};
use std::sync::Arc;
use winit::raw_window_handle::{RawDisplayHandle, RawWindowHandle};

/// What Vulkan wants to know of a window.
pub type Handles = (RawDisplayHandle, RawWindowHandle);

/// The window as Vulkan sees it. It is destroyed when it is dropped; then the window must still be
/// there, and nothing may be shown on it.
pub struct Surface {
    pub raw: vk::SurfaceKHR,
    /// The calls that ask about it.
    pub calls: surface::Instance,
    /// Held, since the surface is made from it and must go before it.
    _loader: Arc<Loader>,
}

impl Surface {
    pub fn new(loader: &Arc<Loader>, (display, window): Handles) -> Result<Self, Failure> {
        let (entry, instance) = (&loader.entry, &loader.instance);
        // SAFETY: the caller's window lives longer than what is shown on it.
        let made = unsafe { ash_window::create_surface(entry, instance, display, window, None) };
        let raw = check("making a surface for the window", made)?;
        let calls = surface::Instance::new(entry, instance);
        Ok(Surface { raw, calls, _loader: Arc::clone(loader) })
    }

    /// Whether a queue family of a device can show on it.
    pub fn takes(&self, physical: vk::PhysicalDevice, family: u32) -> Result<bool, Failure> {
        // SAFETY: the surface is alive, the family one of the device's.
        let shows =
            unsafe { self.calls.get_physical_device_surface_support(physical, family, self.raw) };
        check("asking whether it shows on this window", shows)
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: nothing is left that was made from it.
        unsafe { self.calls.destroy_surface(self.raw, None) };
    }
}

/// The best device that can draw: discrete before integrated before software. With the handles of a
/// window it is one that can show there, and the surface comes along.
pub fn open(window: Option<Handles>) -> Result<(Arc<Device>, Option<Surface>), Failure> {
    let extensions: &[*const c_char] = match window {
        Some((display, _)) => {
            let names = ash_window::enumerate_required_extensions(display);
            check("asking how to show on this window", names)?
        }
        None => &[],
    };
    let loader = Arc::new(Loader::new(extensions)?);
    loader.speak();
    let surface = window.map(|window| Surface::new(&loader, window)).transpose()?;
    let mut listed: Vec<_> = loader
        .devices()?
        .into_iter()
        .map(|found| (family(&loader, &found, surface.as_ref()), found))
        .collect();
    listed.sort_by_key(|(family, found)| (family.is_err(), found.info.kind));
    let best = listed.into_iter().next();
    let (family, found) = best.ok_or_else(|| Failure::Absent("no Vulkan device".into()))?;
    let cannot = |why| Failure::Unable(format!("{} cannot draw: {why}", found.info.name));
    let swapchains: &[&CStr] = if surface.is_some() { &[swapchain::NAME] } else { &[] };
    let device = Device::open(&loader, &found, family.map_err(cannot)?, swapchains)?;
    Ok((Arc::new(device), surface))
}

/// The queue family of a device that draws and shows, or why there is none.
fn family(loader: &Loader, found: &Found, surface: Option<&Surface>) -> Result<u32, Failure> {
    let unable = |why: &str| Err(Failure::Unable(why.into()));
    let (physical, instance) = (found.physical, &loader.instance);
    if found.properties.api_version < vk::API_VERSION_1_1 {
        return unable("Vulkan 1.1 is needed");
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
            return unable(&format!("it cannot draw to images of {format:?}"));
        }
    }
    if surface.is_some() {
        // SAFETY: as above.
        let there = unsafe { instance.enumerate_device_extension_properties(physical) };
        let there = check("asking for extensions", there)?;
        if !there.iter().any(|e| e.extension_name_as_c_str() == Ok(swapchain::NAME)) {
            return unable("it cannot show on windows");
        }
    }
    let mut draws = false;
    for (at, family) in (0..).zip(&loader.families(physical)) {
        if family.queue_flags.contains(vk::QueueFlags::GRAPHICS) {
            draws = true;
            if surface.map_or(Ok(true), |surface| surface.takes(physical, at))? {
                return Ok(at);
            }
        }
    }
    unable(if draws { "it cannot show on this window" } else { "it has no queue that draws" })
}
