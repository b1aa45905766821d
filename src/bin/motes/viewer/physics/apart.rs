//! A build without Vulkan: simulation and painter share no device.

use crate::viewer::backends;
use motes::{Engine, World};

/// There is no device to paint with.
#[derive(Default)]
pub struct Gpu(());

/// There are no positions on a device.
pub enum OnDevice {}

pub struct Straight;

impl Straight {
    pub fn new(_: Gpu) -> Self {
        Straight
    }

    pub fn attracts(&self, _: &Engine, _: &str) -> bool {
        false
    }

    pub fn engine(&self, world: World, backend: &str, threads: usize) -> motes::Result<Engine> {
        Engine::new(world, backends::make(backend, threads))
    }

    pub fn copy(&mut self, _: &Engine) -> motes::Result<Option<OnDevice>> {
        Ok(None)
    }
}
