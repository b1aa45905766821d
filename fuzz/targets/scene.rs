//! Any text as a scene: it is read and built, or refused with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(scene) = motes::Scene::parse("fuzz.toml", text, None, &[])
        && scene.need().bytes() < 1 << 24
        && let Ok(world) = scene.build()
    {
        world.validate().unwrap();
        let _ = scene.warnings(&world);
    }
});
