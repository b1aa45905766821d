//! Makes the built-in meshes and skeletons: `cargo run --example make_meshes` writes
//! `assets/meshes/*.obj` and `assets/skeletons/`, with `--check` it writes nothing and fails when a file
//! differs from what it would write.

mod characters;
mod shapes;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use shapes::surface::{Point, Surface};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => write_all(),
        ["--check"] => check_all(),
        _ => {
            eprintln!("usage: make_meshes [--check]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Every mesh by the name of its file. Shapes for bodies are centred at the origin, those for
/// environments stand on y = 0.
pub fn meshes() -> Vec<(&'static str, Surface)> {
    vec![
        ("axe", shapes::block::axe()),
        ("bowl", shapes::round::bowl()),
        ("cone", shapes::round::cone()),
        ("cube", shapes::block::cube()),
        ("cube_with_hole", shapes::block::cube_with_hole()),
        ("cylinder", shapes::round::cylinder()),
        ("ledge", shapes::block::ledge()),
        ("rabbit", shapes::rabbit::rabbit()),
        ("sphere", shapes::sphere::icosphere()),
        ("spike", shapes::round::spike()),
        ("stairs", shapes::block::stairs()),
        ("thick_bowl", shapes::round::thick_bowl()),
        ("torus", shapes::tube::torus()),
        ("trefoil", shapes::tube::trefoil()),
    ]
}

/// The text of a mesh file. Micrometres are fine enough, and fixed decimals keep the bytes the same
/// on every machine.
pub fn obj_text(name: &str, surface: &Surface) -> String {
    let mut text = format!(
        "# {name}: {} vertices, {} triangles, metres, y up\n\
         # Made by `cargo run --example make_meshes`; change assets/meshes/shapes, not this file.\n",
        surface.vertices.len(),
        surface.triangles.len()
    );
    // Writing to a String cannot fail.
    for vertex in &surface.vertices {
        let [x, y, z] = vertex.map(decimal);
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|i| i + 1);
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}

fn decimal(value: f64) -> String {
    let text = format!("{value:.6}");
    if text == "-0.000000" { "0.000000".into() } else { text }
}

/// Every skeleton by the name of its file, with its bytes.
pub fn skeletons() -> Vec<(&'static str, Vec<u8>)> {
    let (person, hand) = (characters::person(), characters::hand());
    vec![
        ("hand.glb", characters::glb(&hand)),
        ("person_walk.bvh", characters::bvh(&person, "walk").into_bytes()),
        ("person.glb", characters::glb(&person)),
    ]
}

/// Where the file of a skeleton lies.
pub fn skeleton_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/skeletons").join(name)
}

/// Where the file of a mesh lies.
pub fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/meshes").join(format!("{name}.obj"))
}

fn write_all() -> Result<(), String> {
    for (name, surface) in meshes() {
        let text = obj_text(name, &surface);
        motes::file::write_atomically(path_of(name), |out| out.write_all(text.as_bytes()))
            .map_err(|error| error.to_string())?;
        println!("{name}: {} triangles", surface.triangles.len());
    }
    for (name, bytes) in skeletons() {
        motes::file::write_atomically(skeleton_path(name), |out| out.write_all(&bytes))
            .map_err(|error| error.to_string())?;
        println!("{name}: {} bytes", bytes.len());
    }
    Ok(())
}

fn check_all() -> Result<(), String> {
    let differs = |(name, surface): &(&str, Surface)| {
        std::fs::read(path_of(name)).ok().as_deref() != Some(obj_text(name, surface).as_bytes())
    };
    let meshes = meshes();
    let mut stale: Vec<&str> =
        meshes.iter().filter(|mesh| differs(mesh)).map(|mesh| mesh.0).collect();
    let is_old = |(name, bytes): &(&str, Vec<u8>)| {
        std::fs::read(skeleton_path(name)).ok().as_ref() != Some(bytes)
    };
    stale.extend(skeletons().iter().filter(|file| is_old(file)).map(|file| file.0));
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("differs: {}; run `cargo run --example make_meshes`", stale.join(", ")))
}
