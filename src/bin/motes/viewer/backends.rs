//! Where the passes may run, as the viewer offers it: the one place that learns of a new backend.

use motes::Backend;

/// A backend to choose.
pub struct Choice {
    pub name: &'static str,
    /// How to make it for a number of threads, or why it is not here.
    pub make: Result<fn(usize) -> Backend, &'static str>,
}

/// Every backend, the first one is what the viewer starts with.
pub const ALL: [Choice; 2] = [
    Choice { name: "cpu", make: Ok(|threads| Backend::Cpu { threads }) },
    Choice { name: "vulkan", make: Err("this build has no Vulkan backend yet; the CPU computes") },
];

/// A backend by its name; the first one where it is not here.
pub fn make(name: &str, threads: usize) -> Backend {
    let found = ALL.iter().find(|choice| choice.name == name).and_then(|c| c.make.ok());
    found.map_or(Backend::Cpu { threads }, |make| make(threads))
}
