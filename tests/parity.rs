//! Each pass alone on the CPU and on a Vulkan device, from the same state; then whole scenes.
//! Integers must be exact; floats have a table that says how close, and why.
//!
//! Without a device the tests say so and pass, unless `MOTES_REQUIRE_VULKAN=1`. Shaders are read
//! from the folder `MOTES_SPIRV` if it is set.
#![cfg(all(feature = "vulkan", feature = "harness"))]

#[path = "parity/added.rs"]
mod added;
#[allow(dead_code)] // what only the command line of the driver uses
#[path = "../examples/assemble/assembler/mod.rs"]
mod assembler;
#[path = "parity/bodies.rs"]
mod bodies;
#[path = "parity/constraints.rs"]
mod constraints;
#[path = "parity/contacts.rs"]
mod contacts;
#[path = "parity/environment.rs"]
mod environment;
#[path = "parity/far.rs"]
mod far;
#[path = "parity/fluids.rs"]
mod fluids;
#[path = "parity/lists.rs"]
mod lists;
#[path = "parity/materials.rs"]
mod materials;
#[path = "parity/meeting_bodies.rs"]
mod meeting_bodies;
#[path = "parity/particles.rs"]
mod particles;
#[path = "parity/points.rs"]
mod points;
#[path = "parity/trees.rs"]
mod trees;
#[path = "parity/wind.rs"]
mod wind;

use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, Words};
use motes::vulkan::harness::trial;
use motes::{Backend, Dispatch, Engine, Scene, World};

/// A device to compare with, or `None` where there is none and none is required.
pub fn sides() -> Option<SideBySide> {
    trial::opened(SideBySide::open)
}

/// Whether shaders can be assembled here; where they must be, that they cannot is a failure.
pub fn can_assemble() -> bool {
    let found = std::process::Command::new("spirv-as").arg("--version").output().is_ok();
    let required = std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1");
    assert!(found || !required, "MOTES_REQUIRE_VULKAN=1, but spirv-as is not here (spirv-tools)");
    if !found {
        eprintln!("skipped: no spirv-as");
    }
    found
}

/// A world to compare on.
pub fn scene(spec: &str) -> World {
    let made = Scene::load(spec).and_then(|scene| Ok((scene.params().dt, scene.build()?)));
    let (dt, world) = made.unwrap_or_else(|e| panic!("{spec}: {e}"));
    if !world.particles().is_empty() {
        return world;
    }
    // What comes out of emitters is not there yet.
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..30 {
        engine.step(dt).unwrap();
    }
    engine.into_world()
}

/// Every scene, the large ones in their small variants.
pub fn specs() -> impl Iterator<Item = String> {
    const LARGE: [&str; 4] = ["boxes_216k", "grains_box", "granular_216k", "sand_heap"];
    Scene::builtin_names().map(|name| {
        let small = if LARGE.contains(&name) { ":small" } else { "" };
        format!("{name}{small}")
    })
}

/// Steps a world on the CPU and has every dispatch that `wanted` names judged. Returns how many
/// there were, so that a case can say that it was not empty.
pub fn compare(
    sides: &mut SideBySide,
    world: World,
    steps: usize,
    wanted: impl Fn(&Dispatch) -> bool,
    mut judge: impl FnMut(&Outcome),
) -> usize {
    let dt = world.params.dt;
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    let mut count = 0;
    for _ in 0..steps {
        let counted = |outcome: &Outcome| {
            count += 1;
            judge(outcome);
        };
        sides.step(&mut engine, dt, &wanted, counted).unwrap();
    }
    let messages = sides.messages();
    assert!(messages.is_empty(), "the validation layer says: {messages:#?}");
    count
}

/// How close floats must be.
#[derive(Clone, Copy, Debug)]
pub enum Close {
    /// The same bits: only sums, differences and products, which every device rounds alike. Not a
    /// number is not a number, whatever its bits.
    Bits,
    /// Within `absolute + relative |value|`.
    Within {
        /// In the value's own unit.
        absolute: f32,
        /// As a part of the larger value.
        relative: f32,
    },
}

impl Close {
    /// Whether two values are that close.
    pub fn holds(self, a: f32, b: f32) -> bool {
        let same = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        match self {
            Close::Bits => same,
            Close::Within { absolute, relative } => {
                same || (a - b).abs() <= absolute + relative * a.abs().max(b.abs())
            }
        }
    }
}

/// Says why a bound is what it is, when it is missed.
pub fn saying(why: &str, check: impl FnOnce()) {
    struct Say<'a>(&'a str);
    impl Drop for Say<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the bound: {}", self.0);
            }
        }
    }
    let _say = Say(why);
    check();
}

/// Compares a buffer of floats word by word.
pub fn assert_floats(outcome: &Outcome, buffer: Buffer, close: Close) {
    let Words { cpu, device, .. } = outcome.of(buffer);
    assert_eq!(cpu.len(), device.len());
    for (at, (&a, &b)) in cpu.iter().zip(device).enumerate() {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        assert!(
            close.holds(a, b),
            "{}: {buffer:?} word {at} (row {}): {a} on the CPU, {b} on the device, {close:?}",
            outcome.dispatch,
            at / 4
        );
    }
}

/// Compares a buffer of integers.
pub fn assert_words(outcome: &Outcome, buffer: Buffer) {
    let Words { cpu, device, .. } = outcome.of(buffer);
    let differs = cpu.iter().zip(device).position(|(a, b)| a != b);
    if let Some(at) = differs {
        let (a, b) = (cpu[at], device[at]);
        panic!("{}: {buffer:?} word {at}: {a} on the CPU, {b} on the device", outcome.dispatch);
    }
}
