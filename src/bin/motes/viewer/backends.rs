//! Where the passes may run, as the viewer offers it: the one place that learns of a new backend.

use motes::Backend;
use std::sync::OnceLock;

/// A backend to choose.
pub struct Choice {
    pub name: String,
    /// How to make it for a number of threads, or why it is not here.
    pub make: Result<Make, String>,
}

type Make = Box<dyn Fn(usize) -> Backend + Send + Sync>;

/// Every backend and device; the first one is what the viewer starts with. Devices are looked for
/// once.
pub fn all() -> &'static [Choice] {
    static ALL: OnceLock<Vec<Choice>> = OnceLock::new();
    ALL.get_or_init(|| {
        let cpu: Make = Box::new(|threads| Backend::Cpu { threads });
        let mut all = vec![Choice { name: "cpu".into(), make: Ok(cpu) }];
        all.extend(vulkan());
        all
    })
}

#[cfg(not(feature = "vulkan"))]
fn vulkan() -> Vec<Choice> {
    vec![Choice { name: "vulkan".into(), make: Err("this build has no Vulkan backend".into()) }]
}

/// A choice a device; one with the reason where there is none.
#[cfg(feature = "vulkan")]
fn vulkan() -> Vec<Choice> {
    let absent = |why: String| vec![Choice { name: "vulkan".into(), make: Err(why) }];
    let devices = match motes::vulkan::devices() {
        Ok(devices) if devices.is_empty() => return absent("there is no Vulkan device".into()),
        Ok(devices) => devices,
        Err(why) => return absent(why.to_string()),
    };
    let choice = |device: motes::vulkan::DeviceInfo| {
        let number = device.number.to_string();
        let make: Make =
            Box::new(move |_| Backend::Vulkan { device: Some(number.clone()), from: None });
        Choice {
            name: format!("vulkan: {}", device.name),
            make: device.refused.map_or(Ok(make), Err),
        }
    };
    devices.into_iter().map(choice).collect()
}

/// A backend by its name; the first one where it is not here.
pub fn make(name: &str, threads: usize) -> Backend {
    let found = all().iter().find(|choice| choice.name == name);
    match found.map(|choice| &choice.make) {
        Some(Ok(make)) => make(threads),
        _ => Backend::Cpu { threads },
    }
}
