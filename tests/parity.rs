//! Each pass alone on the CPU and on a Vulkan device, from the same state; then whole scenes.
//! Integers must be exact; floats have a table that says how close, and why.
//!
//! Without a device the tests say so and pass, unless `MOTES_REQUIRE_VULKAN=1`. Shaders are read
//! from the folder `MOTES_SPIRV` if it is set.
#![cfg(feature = "vulkan")]

#[path = "parity/constraints.rs"]
mod constraints;
#[path = "parity/contacts.rs"]
mod contacts;
#[path = "parity/environment.rs"]
mod environment;
#[path = "parity/lists.rs"]
mod lists;
#[path = "parity/particles.rs"]
mod particles;
#[path = "parity/trees.rs"]
mod trees;

use motes::pass::Buffer;
use motes::vulkan::parity::{Outcome, Twin, Words};
use motes::vulkan::trial;
use motes::{Backend, Dispatch, Engine, Scene, World};

/// A device to compare with, or `None` where there is none and none is required.
pub fn twin() -> Option<Twin> {
    trial::opened(Twin::open)
}

/// A world to compare on.
pub fn scene(spec: &str) -> World {
    Scene::load(spec).and_then(|scene| scene.build()).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// Every scene, the large ones in their small variants.
pub fn specs() -> impl Iterator<Item = String> {
    const LARGE: [&str; 3] = ["grains_box", "granular_216k", "sand_heap"];
    Scene::builtin_names().map(|name| {
        let small = if LARGE.contains(&name) { ":small" } else { "" };
        format!("{name}{small}")
    })
}

/// Steps a world on the CPU and has every dispatch that `wanted` names judged. Returns how many
/// there were, so that a case can say that it was not empty.
pub fn compare(
    twin: &mut Twin,
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
        twin.step(&mut engine, dt, &wanted, counted).unwrap();
    }
    let messages = twin.messages();
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
    Within { absolute: f32, relative: f32 },
}

impl Close {
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
