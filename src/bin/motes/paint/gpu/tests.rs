//! Pictures of both painters side by side. Needs a device, as `tests/vulkan.rs` does.

use super::*;
use crate::paint::{Camera, Canvas, Picture};
use std::sync::Arc;

/// A device, or `None` where there is none and none is required.
fn gpu() -> Option<Arc<Gpu>> {
    match Gpu::open(None) {
        Ok((gpu, _)) => Some(gpu),
        Err(why) if std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1") => {
            panic!("MOTES_REQUIRE_VULKAN=1, but {why}")
        }
        Err(why) => {
            eprintln!("skipped: no Vulkan device ({why})");
            None
        }
    }
}

#[test]
fn clears() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let mut canvas = Canvas::default();
    easel.paint(&Picture::default(), &Camera::default(), 33, 17, &mut canvas).unwrap();
    println!("{:x?} {:?}", canvas.pixels[5], gpu.messages());
}
