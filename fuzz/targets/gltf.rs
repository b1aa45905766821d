//! Any bytes as a GLB or glTF file: a rig that is whole, or a message.
#![no_main]

use motes::skeleton::Rig;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    // A GLB file says how long it is, and so does its first chunk. These are made to fit, so that what
    // follows is looked at however it was changed.
    if bytes.starts_with(b"glTF\x02\0\0\0") && bytes.len() >= 20 {
        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
    }
    if let Ok(rig) = Rig::from_bytes("fuzz.glb", &bytes, None) {
        rig.validate().unwrap();
        for clip in rig.clips.iter().map(Some).chain([None]) {
            let pose = rig.skeleton.pose(clip, 0.1);
            if let Some(mesh) = &rig.mesh {
                assert_eq!(mesh.vertices_in(&pose).len(), mesh.vertices.len());
            }
        }
    }
});
