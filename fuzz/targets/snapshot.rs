//! Any bytes as a snapshot: what is loaded is legal, and steps with two workers without a panic.
//!
//! A file begins with its version, length and checksum, and almost every change to one would be refused
//! there. So these 36 bytes are made to fit what follows them, and whatever follows is looked at.
#![no_main]

use motes::{Backend, Engine, World, snapshot};
use std::sync::LazyLock;

/// Where the length stands, and where the payload begins.
const LENGTH: usize = 20;
const PAYLOAD: usize = 36;

static HEADER: LazyLock<Vec<u8>> =
    LazyLock::new(|| snapshot::to_bytes("", &World::new()).unwrap()[..LENGTH].to_vec());

/// The file's checksum, as `tests/snapshot.rs` has it.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b));
    let chunks = bytes.chunks_exact(8);
    let tail = word(chunks.remainder());
    let start = mix(0xcbf2_9ce4_8422_2325, bytes.len() as u64);
    mix(chunks.fold(start, |hash, chunk| mix(hash, word(chunk))), tail)
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let payload = bytes.get(PAYLOAD..).unwrap_or_default();
    let mut sealed = HEADER.clone();
    sealed.extend((payload.len() as u64).to_le_bytes());
    sealed.extend(checksum(payload).to_le_bytes());
    sealed.extend(payload);
    let Ok(saved) = snapshot::from_bytes("fuzz", &sealed) else { return };
    let mut world = saved.world;
    if world.particles().len() > 2000 {
        return;
    }
    // Steps of a made-up world may take for ever; the shape of the arrays shows in one.
    world.params.substeps = 1;
    world.params.iterations = world.params.iterations.min(2);
    if let Ok(mut engine) = Engine::new(world, Backend::Cpu { threads: 2 }) {
        let _ = engine.step(1.0 / 60.0);
    }
});
