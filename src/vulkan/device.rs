//! Finding a Vulkan device and opening it. No loader, no device, a lost device: values, not panics.

use crate::error::{Error, Result};
use ash::{Entry, Instance, vk};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_void};

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

pub(super) const INSTALL: &str =
    "install a driver (Debian: mesa-vulkan-drivers has one in software), or use --backend cpu";
/// Storage buffers the largest pass binds.
const BINDINGS: u32 = 16;
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// An open device with one queue.
pub(crate) struct Device {
    pub raw: ash::Device,
    pub physical: vk::PhysicalDevice,
    pub queue: vk::Queue,
    pub family: u32,
    pub name: String,
    pub limits: vk::PhysicalDeviceLimits,
    /// Nanoseconds a tick of a timestamp, or 0 where the queue has none.
    pub tick: f64,
    loader: Loader,
}

/// The library and the instance; the viewer's painter has one of its own.
#[doc(hidden)]
pub struct Loader {
    pub instance: Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// What the validation layer said; boxed, since the layer holds its address.
    messages: Box<Mutex<Vec<String>>>,
    /// Unloads the library last.
    pub entry: Entry,
}

/// An error with what to do about it.
pub(crate) fn failed(what: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Vulkan { what: what.into(), remedy: remedy.into() }
}

/// What a Vulkan call answered, as an error of the engine.
pub(crate) fn check<T>(doing: &str, answer: Result<T, vk::Result>) -> Result<T> {
    answer.map_err(|code| {
        let remedy = match code {
            vk::Result::ERROR_DEVICE_LOST => {
                "the driver gave up on the device; start again, or use --backend cpu"
            }
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                "use fewer particles, another --device, or --backend cpu"
            }
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => INSTALL,
            _ => "update the driver, or use --backend cpu",
        };
        failed(format!("{doing}: {code}"), remedy)
    })
}

impl Loader {
    /// Loads the library and makes an instance with these extensions, and with the validation layer
    /// when the environment variable `MOTES_VALIDATION` is 1 and the layer is there.
    pub fn new(extensions: &[*const c_char]) -> Result<Self> {
        // SAFETY: the Vulkan loader is a system library made to be loaded so.
        let entry = unsafe { Entry::load() }
            .map_err(|e| failed(format!("no Vulkan loader: {e}"), INSTALL))?;
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
        let mut loader =
            Loader { instance, messenger: None, messages: Box::new(Mutex::new(Vec::new())), entry };
        if wanted && !there {
            let note = "MOTES_VALIDATION=1, but the validation layer is not installed";
            loader.messages.lock().push(note.into());
        }
        if validate {
            loader.listen()?;
        }
        Ok(loader)
    }

    fn listen(&mut self) -> Result<()> {
        use vk::{
            DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type,
        };
        let debug = ash::ext::debug_utils::Instance::new(&self.entry, &self.instance);
        let messages: *const Mutex<Vec<String>> = &*self.messages;
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Type::VALIDATION | Type::PERFORMANCE)
            .pfn_user_callback(Some(hear))
            .user_data(messages.cast_mut().cast());
        // SAFETY: the messages live as long as the messenger, see Drop.
        let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) };
        self.messenger = Some((debug, check("listening to the validation layer", messenger)?));
        Ok(())
    }

    /// What the validation layer has said so far.
    pub fn messages(&self) -> Vec<String> {
        self.messages.lock().clone()
    }

    /// Every device, best first, with what the engine needs to know; no device is an error.
    pub fn devices(
        &self,
    ) -> Result<Vec<(vk::PhysicalDevice, vk::PhysicalDeviceProperties, DeviceInfo)>> {
        // SAFETY: the instance is alive.
        let found = unsafe { self.instance.enumerate_physical_devices() };
        let found = check("listing Vulkan devices", found)?;
        let mut list: Vec<_> = found
            .into_iter()
            .map(|physical| {
                // SAFETY: the device is one of this instance's.
                let props = unsafe { self.instance.get_physical_device_properties(physical) };
                let kind = match props.device_type {
                    vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
                    vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
                    vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
                    _ => DeviceKind::Software,
                };
                let name = props.device_name_as_c_str().unwrap_or(c"unnamed");
                let name = name.to_string_lossy().into_owned();
                let refused = self.refusal(physical, &props);
                (physical, props, DeviceInfo { number: 0, name, kind, refused })
            })
            .collect();
        list.sort_by_key(|(.., info)| (info.refused.is_some(), info.kind));
        for (number, (.., info)) in list.iter_mut().enumerate() {
            info.number = number;
        }
        if list.is_empty() {
            return Err(failed("no Vulkan device", INSTALL));
        }
        Ok(list)
    }

    /// Why the engine cannot use a device.
    fn refusal(
        &self,
        physical: vk::PhysicalDevice,
        props: &vk::PhysicalDeviceProperties,
    ) -> Option<String> {
        let (version, limits) = (props.api_version, &props.limits);
        let buffers = limits.max_per_stage_descriptor_storage_buffers;
        if version < vk::API_VERSION_1_1 {
            let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
            Some(format!("it has Vulkan {major}.{minor}, and 1.1 is needed"))
        } else if buffers < BINDINGS {
            Some(format!("a shader may bind {buffers} buffers, and {BINDINGS} are needed"))
        } else if limits.max_compute_work_group_invocations < 64 {
            Some("its workgroups hold fewer than 64 invocations".into())
        } else if self.family(physical).is_none() {
            Some("it has no queue that computes".into())
        } else {
            None
        }
    }

    /// The first queue family that computes, and how many bits its timestamps have.
    fn family(&self, physical: vk::PhysicalDevice) -> Option<(u32, u32)> {
        // SAFETY: the device is one of this instance's.
        let families =
            unsafe { self.instance.get_physical_device_queue_family_properties(physical) };
        let computes =
            |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let at = families.iter().position(computes)?;
        Some((at as u32, families[at].timestamp_valid_bits))
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // SAFETY: whoever used the instance is gone; the messenger goes before its messages.
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
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer gives a message that is alive during the call, and the user data of
    // `Loader::listen`.
    unsafe {
        if let (Some(data), Some(messages)) =
            (data.as_ref(), messages.cast::<Mutex<Vec<String>>>().as_ref())
            && let Some(text) = data.message_as_c_str()
        {
            messages.lock().push(text.to_string_lossy().into_owned());
        }
    }
    vk::FALSE
}

/// The Vulkan devices of this machine, best first: discrete, integrated, software.
///
/// # Errors
/// When there is no Vulkan here at all; the message says how to get it.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    Ok(Loader::new(&[])?.devices()?.into_iter().map(|(.., info)| info).collect())
}

impl Device {
    /// Opens the device of this number or name (a part of it will do); the best one when none is
    /// given.
    pub fn open(wanted: Option<&str>) -> Result<Self> {
        let loader = Loader::new(&[])?;
        let list = loader.devices()?;
        let matches = |info: &DeviceInfo| match wanted.map(|text| (text, text.parse::<usize>())) {
            Some((_, Ok(number))) => info.number == number,
            Some((text, Err(_))) => info.name.to_lowercase().contains(&text.to_lowercase()),
            None => true,
        };
        let Some((physical, props, info)) = list.iter().find(|(.., info)| matches(info)) else {
            let all: Vec<_> =
                list.iter().map(|(.., d)| format!("{} {}", d.number, d.name)).collect();
            let (wanted, all) = (wanted.unwrap_or_default(), all.join(", "));
            return Err(Error::value(
                "device",
                format!("`{wanted}` is not here; there are: {all}"),
            ));
        };
        if let Some(why) = &info.refused {
            let remedy = "choose another --device, or use --backend cpu";
            return Err(failed(format!("{} cannot be used: {why}", info.name), remedy));
        }
        let (family, timestamp_bits) = loader.family(*physical).unwrap_or((0, 0));
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let create = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        // SAFETY: the device is one of the instance's, the queue family one of the device's.
        let raw = unsafe { loader.instance.create_device(*physical, &create, None) };
        let raw = check("opening the device", raw)?;
        // SAFETY: one queue of this family was asked for.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        let has_time = timestamp_bits > 0;
        Ok(Device {
            queue,
            family,
            physical: *physical,
            name: info.name.clone(),
            limits: props.limits,
            tick: if has_time { f64::from(props.limits.timestamp_period) } else { 0.0 },
            raw,
            loader,
        })
    }

    pub fn instance(&self) -> &Instance {
        &self.loader.instance
    }
    /// What the validation layer has said so far.
    pub fn messages(&self) -> Vec<String> {
        self.loader.messages()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds it, so nothing of it is in use.
        unsafe { self.raw.destroy_device(None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_answers_becomes_an_error_with_a_remedy() {
        for (code, remedy) in [
            (vk::Result::ERROR_DEVICE_LOST, "start again"),
            (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, "fewer particles"),
            (vk::Result::ERROR_INCOMPATIBLE_DRIVER, "mesa-vulkan-drivers"),
        ] {
            let said = check::<()>("stepping", Err(code)).unwrap_err().to_string();
            assert!(said.contains("stepping") && said.contains(remedy), "{said}");
        }
        assert_eq!(check("stepping", Ok(1)).unwrap(), 1);
    }
}
