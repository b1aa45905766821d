//! The Vulkan library, an instance of it, and the devices it knows.

use super::failure::{Failure, check};
use ash::{Entry, Instance, vk};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a device is, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// A graphics card of its own.
    Discrete,
    /// Part of the processor.
    Integrated,
    /// A share of a card, given to a virtual machine.
    Virtual,
    /// The processor itself, through a driver such as lavapipe.
    Software,
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            DeviceKind::Discrete => "discrete",
            DeviceKind::Integrated => "integrated",
            DeviceKind::Virtual => "virtual",
            DeviceKind::Software => "software",
        })
    }
}

/// A device of this machine.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// What `--device N` takes.
    pub number: usize,
    /// What the driver calls it.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Why the engine cannot use it, if so.
    pub refused: Option<String>,
}

/// A device that was found and is not open.
pub struct Found {
    /// Its handle.
    pub physical: vk::PhysicalDevice,
    /// What the driver tells of it.
    pub properties: vk::PhysicalDeviceProperties,
    /// What a user wants to know of it.
    pub info: DeviceInfo,
}

/// Storage buffers that the largest pass of the engine binds.
const BINDINGS: u32 = 16;
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The Vulkan library and an instance of it.
pub struct Loader {
    /// What devices are asked for.
    pub instance: Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// What the validation layer said; boxed, since the layer holds its address.
    heard: Box<Heard>,
    /// The library; it is the last field, so it is unloaded last.
    pub entry: Entry,
}

#[derive(Default)]
struct Heard {
    messages: Mutex<Vec<String>>,
    aloud: AtomicBool,
}

impl Loader {
    /// Loads the library and makes an instance with these extensions, and with the validation layer
    /// when the environment variable `MOTES_VALIDATION` is 1 and the layer is there.
    pub fn new(extensions: &[*const c_char]) -> Result<Self, Failure> {
        // SAFETY: the Vulkan loader is a system library made to be loaded so.
        let entry = unsafe { Entry::load() }
            .map_err(|e| Failure::Absent(format!("no Vulkan loader: {e}")))?;
        let wanted = std::env::var("MOTES_VALIDATION").is_ok_and(|v| v == "1");
        // SAFETY: the entry is loaded.
        let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
        let there = layers.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION));
        let validate = wanted && there;
        let app = vk::ApplicationInfo::default()
            .application_name(c"motes")
            .engine_name(c"motes")
            .api_version(vk::API_VERSION_1_1);
        let names: &[*const c_char] = if validate { &[VALIDATION.as_ptr()] } else { &[] };
        let mut extensions = extensions.to_vec();
        if validate {
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        let info = vk::InstanceCreateInfo::default()
            .application_info(&app)
            .enabled_layer_names(names)
            .enabled_extension_names(&extensions);
        // SAFETY: everything `info` points to lives to the end of the call.
        let instance = unsafe { entry.create_instance(&info, None) };
        let instance = check("making a Vulkan instance", instance)?;
        let mut loader = Loader { instance, messenger: None, heard: Box::default(), entry };
        if wanted && !there {
            let note = "MOTES_VALIDATION=1, but the validation layer is not installed";
            loader.heard.messages.lock().push(note.into());
        }
        if validate {
            loader.listen()?;
        }
        Ok(loader)
    }

    fn listen(&mut self) -> Result<(), Failure> {
        use vk::{
            DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type,
        };
        let debug = ash::ext::debug_utils::Instance::new(&self.entry, &self.instance);
        let heard: *const Heard = &*self.heard;
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Type::VALIDATION | Type::PERFORMANCE)
            .pfn_user_callback(Some(hear))
            .user_data(heard.cast_mut().cast());
        // SAFETY: what is heard lives as long as the messenger, see Drop.
        let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) };
        self.messenger = Some((debug, check("listening to the validation layer", messenger)?));
        Ok(())
    }

    /// From now on everything that the validation layer says is also written to standard error, to
    /// the very end: also what it says about things that were forgotten on a device that is closed.
    pub fn speak(&self) {
        self.heard.aloud.store(true, Ordering::Relaxed);
        for message in self.messages() {
            eprintln!("validation: {message}");
        }
    }

    /// What the validation layer has said so far.
    pub fn messages(&self) -> Vec<String> {
        self.heard.messages.lock().clone()
    }

    /// Every device, best first; no device is an error.
    pub fn devices(&self) -> Result<Vec<Found>, Failure> {
        // SAFETY: the instance is alive.
        let found = unsafe { self.instance.enumerate_physical_devices() };
        let found = check("listing Vulkan devices", found)?;
        let mut list: Vec<_> = found.into_iter().map(|physical| self.look_at(physical)).collect();
        list.sort_by_key(|found| (found.info.refused.is_some(), found.info.kind));
        for (number, found) in list.iter_mut().enumerate() {
            found.info.number = number;
        }
        if list.is_empty() {
            return Err(Failure::Absent("no Vulkan device".into()));
        }
        Ok(list)
    }

    /// A device that has no number yet.
    fn look_at(&self, physical: vk::PhysicalDevice) -> Found {
        // SAFETY: the device is one of this instance's.
        let properties = unsafe { self.instance.get_physical_device_properties(physical) };
        let kind = match properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
            vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
            _ => DeviceKind::Software,
        };
        let name = properties.device_name_as_c_str().unwrap_or(c"unnamed");
        let name = name.to_string_lossy().into_owned();
        let refused = self.refusal(physical, &properties);
        Found { physical, properties, info: DeviceInfo { number: 0, name, kind, refused } }
    }

    /// Why the engine cannot use a device.
    fn refusal(
        &self,
        physical: vk::PhysicalDevice,
        properties: &vk::PhysicalDeviceProperties,
    ) -> Option<String> {
        let (version, limits) = (properties.api_version, &properties.limits);
        let buffers = limits.max_per_stage_descriptor_storage_buffers;
        if version < vk::API_VERSION_1_1 {
            let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
            Some(format!("it has Vulkan {major}.{minor}, and 1.1 is needed"))
        } else if buffers < BINDINGS {
            Some(format!("a shader may bind {buffers} buffers, and {BINDINGS} are needed"))
        } else if limits.max_compute_work_group_invocations < 64 {
            Some("its workgroups hold fewer than 64 invocations".into())
        } else if self.computing_family(physical).is_none() {
            Some("it has no queue that computes".into())
        } else {
            None
        }
    }

    /// What the queue families of a device can do.
    pub fn families(&self, physical: vk::PhysicalDevice) -> Vec<vk::QueueFamilyProperties> {
        // SAFETY: the device is one of this instance's.
        unsafe { self.instance.get_physical_device_queue_family_properties(physical) }
    }

    /// The first queue family of a device that computes.
    pub fn computing_family(&self, physical: vk::PhysicalDevice) -> Option<u32> {
        let families = self.families(physical);
        let at = families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
        at.map(|at| at as u32)
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // SAFETY: whoever used the instance is gone; the messenger goes before what it writes to.
        unsafe {
            if let Some((debug, messenger)) = self.messenger.take() {
                debug.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// Keeps what the validation layer says.
unsafe extern "system" fn hear(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    heard: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer gives a message that is alive during the call, and the user data of
    // `Loader::listen`.
    unsafe {
        if let (Some(data), Some(heard)) = (data.as_ref(), heard.cast::<Heard>().as_ref())
            && let Some(text) = data.message_as_c_str()
        {
            let text = text.to_string_lossy().into_owned();
            if heard.aloud.load(Ordering::Relaxed) {
                eprintln!("validation: {text}");
            }
            heard.messages.lock().push(text);
        }
    }
    vk::FALSE
}
