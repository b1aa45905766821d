//! A painter on a Vulkan device: the pictures of the software painter, drawn by hand-written SPIR-V
//! (`spirv/paint/`).
//!
//! sun's depth map -> solids (colour, normal, depth) -> occlusion -> light -> fluids -> lines -> sRGB

mod easel;
mod flow;
mod formats;
mod frame;
mod inputs;
mod open;
mod passes;
mod pipeline;
mod pipelines;
#[cfg(test)]
mod read;
mod rows;
mod sun;
mod targets;
#[cfg(test)]
mod tests;

pub use easel::Easel;
pub use open::{Handles, Surface, open};
pub use pipeline::{Blend, Draw, pipeline};

use crate::painter::Canvas;
use motes::gpu::{Failure, ReadBack};

/// What went wrong on the device, as a sentence with what to do about it.
pub fn said(failure: Failure) -> String {
    let remedy = match failure {
        Failure::Absent(_) => {
            "install a driver (Debian: mesa-vulkan-drivers has one in software), or use"
        }
        Failure::Lost(_) => "the driver gave up on the device; start again, or use",
        Failure::NoMemory(_) | Failure::TooLarge { .. } => {
            "use a smaller window, fewer particles, or"
        }
        Failure::Refused(_) => "update the driver, or use",
        _ => "use",
    };
    format!("{failure}; {remedy} --painter software")
}

/// Puts the first image that came back on a canvas of its size.
pub fn put(back: &ReadBack, canvas: &mut Canvas) {
    for (pixel, &word) in canvas.pixels.iter_mut().zip(back.words()) {
        *pixel = u32::from_le_bytes(word) & 0x00ff_ffff;
    }
}
