//! An engine on a Vulkan device, where there is one.

use motes::{Backend, Engine, World};

/// The best device.
pub fn device() -> Backend {
    Backend::Vulkan { device: None, from: None }
}

/// An engine on a device, or `None` where there is none and none is required.
pub fn on_device(world: World) -> Option<Engine> {
    match Engine::new(world, device()) {
        Ok(engine) => Some(engine),
        Err(why) if std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1") => {
            panic!("MOTES_REQUIRE_VULKAN=1, but {why}")
        }
        Err(why) => {
            eprintln!("skipped: no Vulkan device ({why})");
            None
        }
    }
}
