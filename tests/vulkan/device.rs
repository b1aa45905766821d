//! An engine on a Vulkan device, where there is one.

use motes::vulkan::harness::trial;
use motes::{Backend, Engine, World};

/// The best device.
pub fn device() -> Backend {
    Backend::Vulkan { device: None, from: None }
}

/// An engine on a device, or `None` where there is none and none is required.
pub fn on_device(world: World) -> Option<Engine> {
    trial::opened(|| Engine::new(world, device()))
}
