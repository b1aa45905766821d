//! Where the passes may run, as the viewer offers it: the one place that learns of a new backend.

use crate::failure::Failure;
use motes::Backend;
#[cfg(feature = "vulkan")]
use motes::vulkan::{DeviceInfo, DeviceKind};
use std::sync::OnceLock;

/// A backend to choose.
pub struct Choice {
    pub name: String,
    /// How to make it for a number of threads, or why it is not here.
    pub make: Result<Make, String>,
}

type Make = Box<dyn Fn(usize) -> Backend + Send + Sync>;

/// Every backend and device; the first one is what the viewer starts with.
pub fn all() -> &'static [Choice] {
    static ALL: OnceLock<Vec<Choice>> = OnceLock::new();
    ALL.get_or_init(|| {
        let cpu: Make = Box::new(|threads| Backend::Cpu { threads });
        let mut all = vec![Choice { name: "cpu".into(), make: Ok(cpu) }];
        all.extend(vulkan());
        all
    })
}

/// The backend whose name begins with this, or why there is none.
pub fn named(name: &str) -> Result<&'static str, Failure> {
    let wrong = |why: String| Failure::Usage(format!("--backend {name}: {why}"));
    let choice = all().iter().find(|choice| choice.name.starts_with(name)).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|choice| choice.name.as_str()).collect();
        wrong(format!("there is no such backend; this machine has {}", names.join(", ")))
    })?;
    match &choice.make {
        Ok(_) => Ok(&choice.name),
        Err(why) => Err(wrong(why.clone())),
    }
}

#[cfg(not(feature = "vulkan"))]
pub const NOT_BUILT: &str = "this build has no Vulkan; build it with --features vulkan";

#[cfg(not(feature = "vulkan"))]
fn vulkan() -> Vec<Choice> {
    vec![Choice { name: "vulkan".into(), make: Err(NOT_BUILT.into()) }]
}

#[cfg(not(feature = "vulkan"))]
pub fn best_device() -> Result<(&'static str, bool), String> {
    Err(NOT_BUILT.into())
}

/// The devices that Vulkan knows, or why there are none. They are looked for once.
#[cfg(feature = "vulkan")]
fn devices() -> Result<&'static [DeviceInfo], String> {
    static FOUND: OnceLock<Result<Vec<DeviceInfo>, String>> = OnceLock::new();
    let look = || motes::vulkan::devices().map_err(|why| why.to_string());
    FOUND.get_or_init(look).as_deref().map_err(Clone::clone)
}

/// The name of the best device and whether it is a graphics card, or why there is none. It may be
/// one that draws and cannot compute.
#[cfg(feature = "vulkan")]
pub fn best_device() -> Result<(&'static str, bool), String> {
    let best = &devices()?[0];
    Ok((&best.name, best.kind != DeviceKind::Software))
}

/// A choice a device; one with the reason where there is none.
#[cfg(feature = "vulkan")]
fn vulkan() -> Vec<Choice> {
    let absent = |why: String| vec![Choice { name: "vulkan".into(), make: Err(why) }];
    let devices = match devices() {
        Ok(devices) => devices,
        Err(why) => return absent(why),
    };
    let choice = |device: &DeviceInfo| {
        let number = device.number.to_string();
        let make: Make =
            Box::new(move |_| Backend::Vulkan { device: Some(number.clone()), from: None });
        Choice { name: of_device(&device.name), make: device.refused.clone().map_or(Ok(make), Err) }
    };
    devices.iter().map(choice).collect()
}

/// What the backend on a device of this name is called.
#[cfg(feature = "vulkan")]
pub fn of_device(name: &str) -> String {
    format!("vulkan: {name}")
}

/// A backend by its name; the first one where it is not here.
pub fn make(name: &str, threads: usize) -> Backend {
    let found = all().iter().find(|choice| choice.name == name);
    match found.map(|choice| &choice.make) {
        Some(Ok(make)) => make(threads),
        _ => Backend::Cpu { threads },
    }
}
