//! Any bytes as an OBJ file: a mesh, or a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = motes::shape::mesh::TriangleMesh::from_obj_bytes("fuzz.obj", bytes);
});
