//! Any bytes as a snapshot: what is loaded is legal, and steps with two workers without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(saved) = motes::snapshot::from_bytes("fuzz", bytes) else { return };
    if saved.world.particles().len() > 2000 {
        return;
    }
    let backend = motes::Backend::Cpu { threads: 2 };
    if let Ok(mut engine) = motes::Engine::new(saved.world, backend) {
        let _ = engine.step(1.0 / 60.0);
    }
});
