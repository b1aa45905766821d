//! Any bytes as motion capture: a rig that is whole, or a message.
#![no_main]

use motes::skeleton::Rig;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Steered to this reader, whatever the bytes begin with.
    let text = [b"HIERARCHY\n", bytes].concat();
    for bytes in [bytes, &text] {
        if let Ok(rig) = Rig::from_bytes("fuzz.bvh", bytes, None) {
            rig.validate().unwrap();
            rig.skeleton.pose(rig.clips.first(), 0.1);
        }
    }
});
