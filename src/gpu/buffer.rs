//! Buffers of the device. Whoever drops one has waited for the work that uses it.

use super::device::Device;
use super::failure::{Failure, check};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// Who writes a buffer and who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The device alone uses it.
    Device,
    /// The host writes it and the device reads it.
    Written,
    /// The device writes it and the host reads it.
    Read,
}

/// Bytes on the device, which the host may see.
pub struct Buffer {
    /// Its handle.
    pub raw: vk::Buffer,
    /// How many bytes it has.
    pub bytes: usize,
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

impl Buffer {
    /// A buffer of `bytes` bytes, 16 at least, so that an empty one can be bound, too.
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        bytes: usize,
        usage: vk::BufferUsageFlags,
        place: Place,
    ) -> Result<Self, Failure> {
        let bytes = bytes.max(16);
        let info = vk::BufferCreateInfo::default().size(bytes as u64).usage(usage);
        // SAFETY: the device is alive; the buffer is destroyed by Drop.
        let raw = check("making a buffer", unsafe { device.raw.create_buffer(&info, None) })?;
        let mut buffer = Self { raw, bytes, allocation: None, device: Arc::clone(device) };
        // SAFETY: the buffer is one of this device's.
        let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let location = match place {
            Place::Device => MemoryLocation::GpuOnly,
            Place::Written => MemoryLocation::CpuToGpu,
            Place::Read => MemoryLocation::GpuToCpu,
        };
        let allocation = device.allocate(name, requirements, location, true)?;
        // SAFETY: the memory goes with the buffer, was made for it and is bound once.
        let bound =
            unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        buffer.allocation = Some(allocation);
        check("binding memory", bound)?;
        Ok(buffer)
    }

    /// The buffer that is kept, with room for `bytes` bytes: one too small gives way to a larger one.
    pub fn grown<'a>(
        kept: &'a mut Option<Self>,
        device: &Arc<Device>,
        name: &str,
        bytes: usize,
        usage: vk::BufferUsageFlags,
        place: Place,
    ) -> Result<&'a mut Self, Failure> {
        // The old one goes first, so that there need not be room for both.
        kept.take_if(|buffer| buffer.bytes < bytes);
        match kept {
            Some(buffer) => Ok(buffer),
            None => {
                let room = bytes.next_power_of_two();
                Ok(kept.insert(Self::new(device, name, room, usage, place)?))
            }
        }
    }

    /// The device it is on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What the host sees of it; nothing of a buffer that only the device uses.
    pub fn host(&self) -> &[u8] {
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_slice);
        mapped.map_or(&[], |bytes| &bytes[..self.bytes])
    }

    /// The same, to be written.
    pub fn host_mut(&mut self) -> &mut [u8] {
        let mapped = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        mapped.map_or(&mut [], |bytes| &mut bytes[..self.bytes])
    }

    /// Writes to its start, if the host sees it and there is room.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(start) = self.host_mut().get_mut(..bytes.len()) {
            start.copy_from_slice(bytes);
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: whoever drops a buffer has waited for the work that uses it.
        unsafe { self.device.raw.destroy_buffer(self.raw, None) };
        self.device.free(self.allocation.take());
    }
}
