//! A painter on a Vulkan device: the pictures of the software painter, drawn by hand-written SPIR-V
//! (`spirv/paint/`).
//!
//! sun's depth map -> solids (colour, normal, depth) -> occlusion -> light -> lines -> sRGB

mod device;
mod easel;
mod frame;
mod inputs;
mod memory;
mod passes;
mod pipeline;
mod pipelines;
#[cfg(test)]
mod read;
mod read_back;
mod rows;
mod sun;
mod targets;
#[cfg(test)]
mod tests;
mod work;

pub use device::Gpu;
pub use easel::Easel;
pub use memory::{Buffer, Image};
pub use pipeline::{Draw, pipeline};
pub use read_back::ReadBack;
pub use work::Work;

use ash::vk;

/// What a Vulkan call answered, as a sentence with what to do about it.
pub fn check<T>(doing: &str, answer: Result<T, vk::Result>) -> Result<T, String> {
    answer.map_err(|code| {
        let remedy = match code {
            vk::Result::ERROR_DEVICE_LOST => {
                "the driver gave up on the device; start again, or use --painter software"
            }
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                "use a smaller window, fewer particles, or --painter software"
            }
            _ => "update the driver, or use --painter software",
        };
        format!("{doing}: {code}; {remedy}")
    })
}
