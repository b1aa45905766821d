//! An engine on a device that is not its own, and the way of positions to others on that device.

use super::{Backend, Engine};
use crate::error::Result;
use crate::gpu::{Buffer, Device};
use crate::vulkan::Vulkan;
use crate::world::World;
use std::sync::Arc;

impl Engine {
    /// Takes a world to a Vulkan device that is open already, so that whoever opened it can use what
    /// the engine has there.
    ///
    /// # Errors
    /// When the world is not legal, or the device cannot compute.
    pub fn on_device(world: World, device: &Arc<Device>) -> Result<Self> {
        let vulkan = Box::new(Vulkan::shared(device)?);
        let mut engine = Engine::new(world, Backend::default())?;
        engine.vulkan = Some(vulkan);
        Ok(engine)
    }

    /// The Vulkan device that steps this world; `None` on the CPU.
    pub fn gpu(&self) -> Option<&Arc<Device>> {
        self.vulkan.as_ref().map(|vulkan| vulkan.device())
    }

    /// Copies the positions from where the last step left them on the device to a buffer of the same
    /// device, 16 bytes a particle: [x, y, z, inverse mass] by slot. The copy does not go through the
    /// host, and it is done when this returns. The buffer must be made for copies to it
    /// (`TRANSFER_DST`), and nothing that the device still does may use it.
    ///
    /// False, and nothing is copied, when the newest positions are not on the device: on the CPU,
    /// before the first step, and after an edit. Then [`world`](Engine::world) has them.
    ///
    /// # Errors
    /// When the buffer is too small or on another device, or the device is lost.
    pub fn positions_on_device(&self, to: &mut Buffer) -> Result<bool> {
        match &self.vulkan {
            Some(vulkan) => vulkan.positions_to(to),
            None => Ok(false),
        }
    }
}
