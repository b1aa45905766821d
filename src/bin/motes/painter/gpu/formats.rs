//! The formats of the images that the painter draws to.

use ash::vk;

/// Colours of the picture and of its solids, as stored and as light.
pub const STORED: vk::Format = vk::Format::B8G8R8A8_UNORM;
pub const LIGHT: vk::Format = vk::Format::B8G8R8A8_SRGB;
/// Normals of the solids.
pub const NORMAL: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Depths of the surface of fluids (near / z), and sums over their droplets.
pub const FLOW: vk::Format = vk::Format::R32_SFLOAT;
pub const BULK: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// How open to the sky it is.
pub const OPEN: vk::Format = vk::Format::R8_UNORM;
/// Depths of the camera and of the sun.
pub const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
