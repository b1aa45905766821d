//! The images that the window shows. They go out of date whenever the window changes, and are made
//! anew then; none are made while it has no size.

use crate::painter::gpu::{Handles, Surface};
use ash::khr::swapchain;
use ash::vk;
use motes::gpu::{Device, Failure, check};
use std::rc::Rc;
use std::sync::Arc;
use winit::raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use winit::window::Window;

/// How long a free image is waited for [ns]: a window that nobody sees may never have one.
const PATIENCE: u64 = 100_000_000;
/// How often a swapchain is made anew for one frame.
const ATTEMPTS: usize = 3;

/// Formats that can be shown, best first, and whether the painted bytes are theirs as they are.
const FORMATS: [(vk::Format, bool); 4] = [
    (vk::Format::B8G8R8A8_UNORM, true),
    (vk::Format::B8G8R8A8_SRGB, true),
    (vk::Format::R8G8B8A8_UNORM, false),
    (vk::Format::A8B8G8R8_UNORM_PACK32, false),
];

pub struct Swapchain {
    raw: vk::SwapchainKHR,
    images: Vec<vk::Image>,
    /// Told when an image is drawn, one an image: it is in use until the image comes back.
    drawn: Vec<vk::Semaphore>,
    /// Told when an image is free.
    free: vk::Semaphore,
    extent: vk::Extent2D,
    same_bytes: bool,
    /// The size of the window it was made for; nothing when it is out of date.
    made_for: Option<[u32; 2]>,
    /// Nothing only while a lost one gives way to another.
    surface: Option<Surface>,
    swapchains: swapchain::Device,
    window: Rc<Window>,
    gpu: Arc<Device>,
}

/// An image to draw to, and who is told what.
pub struct Free {
    pub image: vk::Image,
    pub extent: vk::Extent2D,
    /// Whether the painted bytes are the image's as they are.
    pub same_bytes: bool,
    pub free: vk::Semaphore,
    pub drawn: vk::Semaphore,
    index: u32,
}

/// What Vulkan wants to know of a window.
pub fn handles(window: &Window) -> Result<Handles, Failure> {
    let fail = |e| Failure::Unable(format!("the window cannot be shown to Vulkan: {e}"));
    let display = window.display_handle().map_err(fail)?.as_raw();
    Ok((display, window.window_handle().map_err(fail)?.as_raw()))
}

impl Swapchain {
    pub fn new(gpu: &Arc<Device>, surface: Surface, window: &Rc<Window>) -> Result<Self, Failure> {
        let mut chain = Swapchain {
            raw: vk::SwapchainKHR::null(),
            images: Vec::new(),
            drawn: Vec::new(),
            free: vk::Semaphore::null(),
            extent: vk::Extent2D::default(),
            same_bytes: false,
            made_for: None,
            surface: Some(surface),
            swapchains: swapchain::Device::new(&gpu.loader.instance, &gpu.raw),
            window: Rc::clone(window),
            gpu: Arc::clone(gpu),
        };
        chain.free = chain.semaphore()?;
        let size = window.inner_size();
        chain.make([size.width, size.height])?;
        Ok(chain)
    }

    /// An image for a window of this size, or nothing when it has to do without for now.
    pub fn acquire(&mut self, size: [u32; 2]) -> Result<Option<Free>, Failure> {
        for _ in 0..ATTEMPTS {
            if self.made_for != Some(size) && !self.make(size)? {
                return Ok(None);
            }
            // SAFETY: the swapchain is alive, and nobody waits for the semaphore: each frame is
            // over before the next begins.
            let answer = unsafe {
                self.swapchains.acquire_next_image(self.raw, PATIENCE, self.free, vk::Fence::null())
            };
            match answer {
                Ok((index, _)) => {
                    return Ok(Some(Free {
                        image: self.images[index as usize],
                        extent: self.extent,
                        same_bytes: self.same_bytes,
                        free: self.free,
                        drawn: self.drawn[index as usize],
                        index,
                    }));
                }
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(None),
                Err(code) => self.recover("asking for an image to show", code)?,
            }
        }
        Ok(None)
    }

    /// Shows an image that was drawn to.
    pub fn present(&mut self, shown: &Free) -> Result<(), Failure> {
        self.window.pre_present_notify();
        let (waits, chains, indices) = ([shown.drawn], [self.raw], [shown.index]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&chains)
            .image_indices(&indices);
        // SAFETY: the queue is locked, the image was acquired, and its drawing tells the semaphore.
        let shown = unsafe { self.swapchains.queue_present(*self.gpu.queue(), &info) };
        match shown {
            Ok(false) => Ok(()),
            Ok(true) => {
                // It can still be shown; only another size is worth another swapchain.
                if !self.capabilities().is_ok_and(|can| can.current_extent == self.extent) {
                    self.made_for = None;
                }
                Ok(())
            }
            Err(code) => self.recover("showing an image", code),
        }
    }

    /// What can be made good with the next swapchain is; the rest is an error.
    fn recover(&mut self, doing: &str, code: vk::Result) -> Result<(), Failure> {
        match code {
            vk::Result::ERROR_OUT_OF_DATE_KHR
            | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT => {
                self.made_for = None;
                Ok(())
            }
            vk::Result::ERROR_SURFACE_LOST_KHR => self.make_surface(),
            code => check(doing, Err(code)),
        }
    }

    /// The old one is lost, and the swapchain with it.
    pub fn make_surface(&mut self) -> Result<(), Failure> {
        self.clear()?;
        // A window has one surface at a time.
        self.surface = None;
        let surface = Surface::new(&self.gpu.loader, handles(&self.window)?)?;
        let takes = surface.takes(self.gpu.physical, self.gpu.family)?;
        self.surface = Some(surface);
        match takes {
            true => Ok(()),
            false => {
                let name = &self.gpu.name;
                Err(Failure::Unable(format!("{name} cannot show on this window any more")))
            }
        }
    }

    fn capabilities(&self) -> Result<vk::SurfaceCapabilitiesKHR, vk::Result> {
        let surface = self.surface.as_ref().ok_or(vk::Result::ERROR_SURFACE_LOST_KHR)?;
        let (calls, physical) = (&surface.calls, self.gpu.physical);
        // SAFETY: the surface is alive.
        unsafe { calls.get_physical_device_surface_capabilities(physical, surface.raw) }
    }

    /// Makes the swapchain anew. False when the window has no size, or is going away.
    fn make(&mut self, size: [u32; 2]) -> Result<bool, Failure> {
        let can = match self.capabilities() {
            Ok(can) => can,
            Err(code) => {
                self.recover("asking for the size of the window", code)?;
                return Ok(false);
            }
        };
        let extent = extent(&can, size);
        if extent.width == 0 || extent.height == 0 {
            return Ok(false);
        }
        let usage = vk::ImageUsageFlags::TRANSFER_DST;
        if !can.supported_usage_flags.contains(usage) {
            return Err(Failure::Unable("images of this window cannot be copied to".into()));
        }
        let Some(surface) = &self.surface else { return Ok(false) };
        let (format, same_bytes) = self.format(surface)?;
        let most = if can.max_image_count == 0 { u32::MAX } else { can.max_image_count };
        let opaque = vk::CompositeAlphaFlagsKHR::OPAQUE;
        let alpha = match can.supported_composite_alpha.contains(opaque) {
            true => opaque,
            false => vk::CompositeAlphaFlagsKHR::INHERIT,
        };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.raw)
            .min_image_count((can.min_image_count + 1).min(most))
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(usage)
            .pre_transform(can.current_transform)
            .composite_alpha(alpha)
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(self.raw);
        // SAFETY: the surface is alive and can do what is asked for.
        let made = unsafe { self.swapchains.create_swapchain(&info, None) };
        let idle = self.clear();
        self.raw = match made {
            Ok(raw) => raw,
            Err(code) => {
                self.recover("making a swapchain", code)?;
                return Ok(false);
            }
        };
        idle?;
        // SAFETY: the swapchain was just made.
        let images = unsafe { self.swapchains.get_swapchain_images(self.raw) };
        self.images = check("asking for the images of the window", images)?;
        for _ in 0..self.images.len() {
            let told = self.semaphore()?;
            self.drawn.push(told);
        }
        (self.extent, self.same_bytes, self.made_for) = (extent, same_bytes, Some(size));
        Ok(true)
    }

    fn format(&self, surface: &Surface) -> Result<(vk::Format, bool), Failure> {
        let (calls, physical) = (&surface.calls, self.gpu.physical);
        // SAFETY: the surface is alive.
        let offered = unsafe { calls.get_physical_device_surface_formats(physical, surface.raw) };
        let offered = check("asking for the colours of the window", offered)?;
        let offers = |format| {
            let wanted = |o: &vk::SurfaceFormatKHR| {
                o.format == format && o.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR
            };
            offered.iter().any(wanted)
        };
        let found = FORMATS.into_iter().find(|&(format, _)| offers(format));
        let none = "this window has no 8-bit sRGB colours for Vulkan";
        found.ok_or_else(|| Failure::Unable(none.into()))
    }

    fn semaphore(&self) -> Result<vk::Semaphore, Failure> {
        let info = vk::SemaphoreCreateInfo::default();
        // SAFETY: the device is alive; it is destroyed with the swapchain.
        check("making a semaphore", unsafe { self.gpu.raw.create_semaphore(&info, None) })
    }

    /// Destroys what belongs to the swapchain, and not what belongs to the window.
    fn clear(&mut self) -> Result<(), Failure> {
        let idle = self.gpu.wait_idle();
        // SAFETY: the device is alive, and done with all of it.
        unsafe {
            for told in self.drawn.drain(..) {
                self.gpu.raw.destroy_semaphore(told, None);
            }
            self.images.clear();
            self.made_for = None;
            self.swapchains.destroy_swapchain(self.raw, None);
            self.raw = vk::SwapchainKHR::null();
        }
        idle
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        // A lost device has nothing left to wait for.
        let _ = self.clear();
        // SAFETY: nobody waits for it any more. The surface goes after it.
        unsafe { self.gpu.raw.destroy_semaphore(self.free, None) };
    }
}

/// The window's own size, or what comes nearest to the wanted one where it has none.
fn extent(can: &vk::SurfaceCapabilitiesKHR, [width, height]: [u32; 2]) -> vk::Extent2D {
    if can.current_extent.width != u32::MAX {
        return can.current_extent;
    }
    let (low, high) = (can.min_image_extent, can.max_image_extent);
    vk::Extent2D {
        width: width.min(high.width).max(low.width),
        height: height.min(high.height).max(low.height),
    }
}
