//! The low-level room of Vulkan, which the Vulkan backend and the viewer's painter share: finding
//! and opening a device, its memory, and the commands it is given.
//!
//! - [`Loader`] loads the Vulkan library and lists the devices;
//! - [`Device`] is an open device with one queue, and the memory that is taken from it;
//! - [`Buffer`] and [`Image`] live in that memory and give it back when they are dropped;
//! - [`Commands`] records what the device does, starts it and waits for it;
//! - [`ReadBack`] brings images to the host;
//! - [`Failure`] says what went wrong. What to do about it depends on who asked, so the callers add
//!   that: [`Error`](crate::Error) tells the users of the engine to take another backend.
//!
//! A program that has a device of its own use for (to draw, for example) opens one here, gives it to
//! [`Engine::on_device`](crate::Engine::on_device), and reads the positions where they are with
//! [`Engine::positions_on_device`](crate::Engine::positions_on_device).
//!
//! The handles are those of [`ash`]. Whoever makes calls with them keeps to the rules of Vulkan: what
//! a command uses stays alive until the device is done, and the queue is used under its lock
//! ([`Device::queue`]).

mod buffer;
mod commands;
mod device;
mod failure;
mod image;
mod loader;
mod read_back;

pub use ash;
pub use buffer::{Buffer, Place};
pub use commands::{Commands, Recorder, Recording};
pub use device::Device;
pub use failure::{Failure, check};
pub use image::Image;
pub use loader::{DeviceInfo, DeviceKind, Found, Loader};
pub use read_back::ReadBack;
