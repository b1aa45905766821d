//! What the device and this process hold in memory while steps are taken on a Vulkan device.
//! Tests that open one take turns, so that nothing else is measured.
#![cfg(feature = "vulkan")]

#[path = "vulkan/device.rs"]
mod device;

use device::on_device;
use glam::Vec3;
use motes::{Cloth, Engine, ParticleId, Scene, World};

/// Device and host keep what they hold. In full: `MOTES_LONG=1 cargo test --release --test
/// vulkan_memory`.
#[test]
fn memory_does_not_grow_with_steps() {
    let steps = if std::env::var("MOTES_LONG").is_ok_and(|v| v == "1") { 1000 } else { 40 };
    for spec in ["cloth_hang", "stairs", "tear"] {
        let scene = Scene::load(spec).unwrap();
        let Some(mut gpu) = on_device(scene.build().unwrap()) else { return };
        let step = |gpu: &mut Engine| _ = gpu.step(scene.params().dt).unwrap();
        (0..20).for_each(|_| step(&mut gpu));
        let held = (gpu.vulkan().unwrap().bytes(), resident());
        (0..steps).for_each(|_| step(&mut gpu));
        let now = (gpu.vulkan().unwrap().bytes(), resident());
        assert_eq!(held.0, now.0, "{spec}: device memory");
        assert!(now.1 < held.1 + 8192, "{spec}: {} KiB became {} KiB", held.1, now.1);
    }
}

/// A world that is edited before every step, as one that is pulled at, is loaded and recorded anew.
#[test]
fn memory_does_not_grow_with_edits() {
    let mut world = World::new();
    world.add_cloth(&Cloth { columns: 6, rows: 6, ..Cloth::default() }).unwrap();
    let Some(mut gpu) = on_device(world) else { return };
    let mut pull = |steps: u32| {
        for _ in 0..steps {
            let id = ParticleId(gpu.world().particles().ids()[0]);
            gpu.world_mut().set_velocity(id, Vec3::Y).unwrap();
            gpu.step(1.0 / 60.0).unwrap();
        }
        (gpu.vulkan().unwrap().bytes(), resident())
    };
    let (held, now) = (pull(50), pull(400));
    assert!(now.0 < held.0 + 1024, "device memory: {} became {} bytes", held.0, now.0);
    assert!(now.1 < held.1 + 8192, "{} KiB became {} KiB", held.1, now.1);
}

/// KiB of this process in memory, 0 where the system does not tell.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
