//! Positions that go from the simulation to the painter on the device that they share. The window
//! takes them from there as long as it needs them nowhere else.

use crate::viewer::backends;
use ash::vk::BufferUsageFlags as Usage;
use motes::gpu::{Buffer, Device, Place};
use motes::{Engine, World};
use std::sync::{Arc, Weak};

/// The painter's device, as long as it paints.
pub type Gpu = Weak<Device>;

/// [x, y, z, inverse mass] of each particle by slot.
pub type OnDevice = Arc<Buffer>;

/// What the simulation knows of the painter's device.
pub struct Straight {
    device: Gpu,
    /// Copies that were handed out. The painter holds what it draws from until the device is done,
    /// so one that nobody else holds can be written again.
    copies: Vec<OnDevice>,
}

impl Straight {
    pub fn new(device: Gpu) -> Self {
        Straight { device, copies: Vec::new() }
    }

    /// The painter's device, if it is the one of this backend.
    fn device(&self, backend: &str) -> Option<Arc<Device>> {
        let device = self.device.upgrade()?;
        let same = device.refused.is_none() && backends::of_device(&device.name) == backend;
        same.then_some(device)
    }

    /// Whether an engine of this backend should move to the painter's device.
    pub fn attracts(&self, engine: &Engine, backend: &str) -> bool {
        let device = self.device(backend);
        device.is_some_and(|device| engine.gpu().is_none_or(|own| !Arc::ptr_eq(own, &device)))
    }

    /// An engine on the painter's device if that is the one of the backend, and else on its own.
    pub fn engine(&self, world: World, backend: &str, threads: usize) -> motes::Result<Engine> {
        match self.device(backend) {
            Some(device) => Engine::on_device(world, &device),
            None => Engine::new(world, backends::make(backend, threads)),
        }
    }

    /// A copy of the positions where the painter can draw from them; nothing when the engine is not
    /// on its device, or has newer positions here.
    pub fn copy(&mut self, engine: &Engine) -> motes::Result<Option<OnDevice>> {
        let Some(device) = self.device.upgrade() else { return Ok(None) };
        if !engine.gpu().is_some_and(|own| Arc::ptr_eq(own, &device)) {
            return Ok(None);
        }
        let bytes = 16 * engine.positions().len();
        let fits = |copy: &OnDevice| copy.bytes >= bytes;
        self.copies.retain(|copy| fits(copy) || Arc::strong_count(copy) > 1);
        let free =
            self.copies.iter_mut().position(|copy| fits(copy) && Arc::get_mut(copy).is_some());
        let at = match free {
            Some(at) => at,
            None => {
                let usage = Usage::VERTEX_BUFFER | Usage::TRANSFER_DST;
                let made = Buffer::new(&device, "positions to draw", bytes, usage, Place::Device)?;
                self.copies.push(Arc::new(made));
                self.copies.len() - 1
            }
        };
        let Some(copy) = Arc::get_mut(&mut self.copies[at]) else { return Ok(None) };
        let copied = engine.positions_on_device(copy)?;
        Ok(copied.then(|| Arc::clone(&self.copies[at])))
    }
}
