//! Buffers of the device, and the way of words to and from them.

use super::device::{Device, check, failed};
use crate::error::{Error, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use parking_lot::Mutex;
use std::sync::Arc;

/// Where buffers come from.
pub(crate) struct Memory {
    pub device: Arc<Device>,
    /// Freed before the device goes.
    allocator: Mutex<Option<Allocator>>,
}

/// Words on the device.
pub(crate) struct DeviceBuffer {
    pub raw: vk::Buffer,
    pub words: usize,
    allocation: Option<Allocation>,
    memory: Arc<Memory>,
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
    pub fn new(device: Arc<Device>) -> Result<Arc<Self>> {
        let description = AllocatorCreateDesc {
            instance: device.instance().clone(),
            device: device.raw.clone(),
            physical_device: device.physical,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: Default::default(),
        };
        let allocator = Allocator::new(&description)
            .map_err(|e| failed(format!("device memory: {e}"), "use --backend cpu"))?;
        Ok(Arc::new(Memory { device, allocator: Mutex::new(Some(allocator)) }))
    }

    /// A buffer of `words` words (at least four, so that an empty one can be bound). Refused when a
    /// shader of this device could not reach all of it.
    pub fn buffer(
        self: &Arc<Self>,
        name: &str,
        words: usize,
        place: Place,
    ) -> Result<DeviceBuffer> {
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
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive; the buffer is destroyed by Drop.
        let raw = check("making a buffer", unsafe { self.device.raw.create_buffer(&info, None) })?;
        let mut buffer = DeviceBuffer { raw, words, allocation: None, memory: Arc::clone(self) };
        // SAFETY: the buffer is one of this device's.
        let requirements = unsafe { self.device.raw.get_buffer_memory_requirements(raw) };
        let description = AllocationCreateDesc {
            name,
            requirements,
            location: match place {
                Place::Device => MemoryLocation::GpuOnly,
                Place::Written | Place::Staging => MemoryLocation::CpuToGpu,
                Place::Read => MemoryLocation::GpuToCpu,
            },
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let mut allocator = self.allocator.lock();
        let allocator = allocator.as_mut().expect("there until it is dropped");
        let allocation = allocator.allocate(&description).map_err(|e| Error::TooLarge {
            what: format!("the buffer `{name}` on {}", self.device.name),
            needed: format!("{} MiB", size >> 20),
            limit: format!("{e}; use fewer particles, another --device, or --backend cpu"),
        })?;
        // SAFETY: the memory was made for this buffer and is bound once.
        let bound = unsafe {
            self.device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset())
        };
        buffer.allocation = Some(allocation);
        check("binding memory", bound)?;
        Ok(buffer)
    }

    /// Bytes of device memory in use.
    pub fn bytes(&self) -> u64 {
        let allocator = self.allocator.lock();
        allocator.as_ref().map_or(0, |a| a.generate_report().total_allocated_bytes)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Its blocks go before the device does.
        self.allocator.lock().take();
    }
}

impl DeviceBuffer {
    /// What the host sees of it; nothing of a buffer that only shaders use.
    pub fn host(&self) -> &[u32] {
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_slice);
        mapped.map_or(&[], |bytes| bytemuck::cast_slice(&bytes[..4 * self.words]))
    }
    pub fn host_mut(&mut self) -> &mut [u32] {
        let words = self.words;
        let mapped = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        mapped.map_or(&mut [], |bytes| bytemuck::cast_slice_mut(&mut bytes[..4 * words]))
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: whoever drops a buffer has waited for the work that uses it.
        unsafe { self.memory.device.raw.destroy_buffer(self.raw, None) };
        if let (Some(allocation), Some(allocator)) =
            (self.allocation.take(), self.memory.allocator.lock().as_mut())
        {
            // Only an allocation of another allocator could fail here.
            let _ = allocator.free(allocation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::trial;

    #[test]
    fn a_buffer_that_no_shader_could_reach_is_refused() {
        let Some(device) = trial::opened(|| Device::open(None)) else { return };
        let most = device.limits.max_storage_buffer_range as usize / 4;
        let memory = Memory::new(Arc::new(device)).unwrap();
        let Err(error) = memory.buffer("position", most + 1, Place::Device) else {
            panic!("{most} words are the most")
        };
        let said = error.to_string();
        assert!(said.contains("`position`") && said.contains("--backend cpu"), "{said}");
    }

    #[test]
    fn words_are_given_back() {
        let Some(device) = trial::opened(|| Device::open(None)) else { return };
        let memory = Memory::new(Arc::new(device)).unwrap();
        let before = memory.bytes();
        let mut buffer = memory.buffer("words", 1000, Place::Written).unwrap();
        assert!(memory.bytes() > before);
        buffer.host_mut()[999] = 7;
        assert_eq!(buffer.host()[999], 7);
        drop(buffer);
        assert_eq!(memory.bytes(), before);
    }
}
