//! An open device: its queue and its memory.

use super::failure::{Failure, check};
use super::loader::{DeviceKind, Found, Loader};
use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationSizes, MemoryLocation};
use parking_lot::{Mutex, MutexGuard};
use std::ffi::CStr;
use std::sync::Arc;

/// An open device with one queue. Several owners may give it work from several threads: everything
/// that is made from the device holds it, and the queue has a lock.
pub struct Device {
    /// The calls of the device.
    pub raw: ash::Device,
    /// What it was opened from.
    pub physical: vk::PhysicalDevice,
    /// The family of its queue.
    pub family: u32,
    /// What `--device N` takes.
    pub number: usize,
    /// What the driver calls it.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Why the engine cannot use it, if so.
    pub refused: Option<String>,
    /// What the driver allows.
    pub limits: vk::PhysicalDeviceLimits,
    /// Nanoseconds of a tick of a timestamp, or 0 where the queue has none.
    pub tick: f64,
    queue: Mutex<vk::Queue>,
    /// It is taken out before the device goes.
    allocator: Mutex<Option<Allocator>>,
    /// The library; it is the last field, so it goes last.
    pub loader: Arc<Loader>,
}

impl Device {
    /// Opens a device that the loader has found, with one queue of this family and with these
    /// extensions: a painter asks for a family that draws and for swapchains, and an engine alone
    /// for [`Loader::computing_family`] and for no extension.
    pub fn open(
        loader: &Arc<Loader>,
        found: &Found,
        family: u32,
        extensions: &[&CStr],
    ) -> Result<Self, Failure> {
        let families = loader.families(found.physical);
        let Some(queues_there) = families.get(family as usize) else {
            let name = &found.info.name;
            return Err(Failure::Unable(format!("{name} has no queue family {family}")));
        };
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions);
        // SAFETY: the device is one of the instance's, the queue family one of the device's.
        let raw = unsafe { loader.instance.create_device(found.physical, &create, None) };
        let raw = check("opening the device", raw)?;
        // SAFETY: one queue of this family was asked for.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        let limits = found.properties.limits;
        let computes = queues_there.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let blind = || (!computes).then(|| "the queue it was opened with cannot compute".into());
        let has_time = queues_there.timestamp_valid_bits > 0;
        let mut device = Device {
            raw,
            physical: found.physical,
            family,
            number: found.info.number,
            name: found.info.name.clone(),
            kind: found.info.kind,
            refused: found.info.refused.clone().or_else(blind),
            limits,
            tick: if has_time { f64::from(limits.timestamp_period) } else { 0.0 },
            queue: Mutex::new(queue),
            allocator: Mutex::new(None),
            loader: Arc::clone(loader),
        };
        device.make_allocator()?;
        Ok(device)
    }

    fn make_allocator(&mut self) -> Result<(), Failure> {
        let description = AllocatorCreateDesc {
            instance: self.loader.instance.clone(),
            device: self.raw.clone(),
            physical_device: self.physical,
            debug_settings: Default::default(),
            buffer_device_address: false,
            // Blocks that suit a window's images; larger buffers get blocks of their own.
            allocation_sizes: AllocationSizes::new(64 << 20, 16 << 20),
        };
        let allocator = Allocator::new(&description)
            .map_err(|e| Failure::Unable(format!("the memory of {}: {e}", self.name)))?;
        *self.allocator.get_mut() = Some(allocator);
        Ok(())
    }

    /// Puts other calls in place of the driver's, to see what happens when they fail.
    #[cfg(test)]
    pub(crate) fn with_calls(mut self, change: impl FnOnce(&mut ash::DeviceFnV1_0)) -> Self {
        let raw = &self.raw;
        let mut calls = raw.fp_v1_0().clone();
        change(&mut calls);
        let (second, third, fourth) =
            (raw.fp_v1_1().clone(), raw.fp_v1_2().clone(), raw.fp_v1_3().clone());
        self.raw = ash::Device::from_parts_1_3(raw.handle(), calls, second, third, fourth);
        self.make_allocator().unwrap();
        self
    }

    /// The queue. One thread at a time may use it, so the lock is held as long as the answer lives.
    pub fn queue(&self) -> MutexGuard<'_, vk::Queue> {
        self.queue.lock()
    }

    /// Waits until the device has done everything that it was given.
    pub fn wait_idle(&self) -> Result<(), Failure> {
        // Nobody may use a queue of the device meanwhile.
        let _queue = self.queue();
        // SAFETY: the device is alive, and the lock is held.
        check("waiting for the device", unsafe { self.raw.device_wait_idle() })
    }

    /// Bytes of its memory in use.
    pub fn bytes(&self) -> u64 {
        let allocator = self.allocator.lock();
        allocator.as_ref().map_or(0, |a| a.generate_report().total_allocated_bytes)
    }

    /// What the validation layer has said so far.
    pub fn messages(&self) -> Vec<String> {
        self.loader.messages()
    }

    pub(super) fn allocate(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> Result<Allocation, Failure> {
        let description = AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        let mut allocator = self.allocator.lock();
        let allocator = allocator.as_mut().expect("there until it is dropped");
        allocator.allocate(&description).map_err(|e| Failure::TooLarge {
            what: format!("`{name}` on {}", self.name),
            bytes: requirements.size,
            limit: e.to_string(),
        })
    }

    pub(super) fn free(&self, allocation: Option<Allocation>) {
        if let (Some(allocation), Some(allocator)) = (allocation, self.allocator.lock().as_mut()) {
            // Only an allocation of another allocator could fail here.
            let _ = allocator.free(allocation);
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Its blocks go before the device does.
        self.allocator.get_mut().take();
        // SAFETY: everything made from the device holds it, so nothing of it is in use.
        unsafe { self.raw.destroy_device(None) };
    }
}
