//! Buffers of words, as the shaders of the engine see them.

use crate::error::{Error, Result};
use crate::gpu::{self, Buffer, Device};
use ash::vk;
use std::sync::Arc;

/// Where buffers come from.
pub(crate) struct Memory {
    device: Arc<Device>,
}

/// Words on the device.
pub(crate) struct DeviceBuffer {
    pub raw: vk::Buffer,
    pub words: usize,
    bytes: Buffer,
}

/// Who reads and writes a buffer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// Shaders.
    Device,
    /// The host writes, shaders read.
    Written,
    /// The device writes, the host reads.
    Read,
    /// The host writes, the device copies; no shader sees it, so it may have any size.
    Staging,
}

impl Memory {
    pub fn new(device: &Arc<Device>) -> Self {
        Memory { device: Arc::clone(device) }
    }

    /// A buffer of `words` words (at least four, so that an empty one can be bound). It is refused
    /// when a shader of this device could not reach all of it.
    pub fn buffer(&self, name: &str, words: usize, place: Place) -> Result<DeviceBuffer> {
        let words = words.max(4);
        let (size, most) =
            (4 * words as u64, u64::from(self.device.limits.max_storage_buffer_range));
        if size > most && place != Place::Staging {
            return Err(Error::TooLarge {
                what: format!("the buffer `{name}` on {}", self.device.name),
                needed: format!("{} MiB", size >> 20),
                limit: format!(
                    "a shader there reaches {} MiB; use fewer particles, another --device, or --backend cpu",
                    most >> 20
                ),
            });
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let place = match place {
            Place::Device => gpu::Place::Device,
            Place::Written | Place::Staging => gpu::Place::Written,
            Place::Read => gpu::Place::Read,
        };
        let bytes = Buffer::new(&self.device, name, 4 * words, usage, place)?;
        Ok(DeviceBuffer { raw: bytes.raw, words, bytes })
    }

    /// Bytes of device memory in use.
    pub fn bytes(&self) -> u64 {
        self.device.bytes()
    }
}

impl DeviceBuffer {
    /// What the host sees of it; nothing of a buffer that only shaders use.
    pub fn host(&self) -> &[u32] {
        bytemuck::cast_slice(self.bytes.host())
    }
    pub fn host_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(self.bytes.host_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::device;
    use crate::vulkan::harness::trial;

    fn memory() -> Option<Memory> {
        let device = trial::opened(|| device::open(None))?;
        Some(Memory::new(&Arc::new(device)))
    }

    #[test]
    fn a_buffer_that_no_shader_could_reach_is_refused() {
        let Some(memory) = memory() else { return };
        let most = memory.device.limits.max_storage_buffer_range as usize / 4;
        let Err(error) = memory.buffer("position", most + 1, Place::Device) else {
            panic!("{most} words are the most")
        };
        let said = error.to_string();
        assert!(said.contains("`position`") && said.contains("--backend cpu"), "{said}");
    }

    #[test]
    fn words_are_given_back() {
        let Some(memory) = memory() else { return };
        let before = memory.bytes();
        let mut buffer = memory.buffer("words", 1000, Place::Written).unwrap();
        assert!(memory.bytes() > before);
        buffer.host_mut()[999] = 7;
        assert_eq!(buffer.host()[999], 7);
        drop(buffer);
        assert_eq!(memory.bytes(), before);
    }
}
