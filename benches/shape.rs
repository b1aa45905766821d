//! The table of `docs/shape.md`: what it takes to make a mesh into particles, with two threads and the
//! least of several turns. `cargo bench --bench shape` prints it as Markdown in some seconds.

use motes::shape::mesh::TriangleMesh;
use motes::shape::sample::sample_surface;
use motes::shape::solid::{Recipe, Solid};
use std::collections::HashMap;
use std::time::Instant;

const TURNS: usize = 20;

fn main() {
    if !std::env::args().any(|a| a == "--bench") {
        return println!("this is a bench: cargo bench --bench shape");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
    pool.install(|| {
        println!("| mesh | triangles | voxels | voxelize, ms | distance field, ms | merge, ms |");
        println!("|---|---|---|---|---|---|");
        println!("| goals | 50 000 | 96^3 | 10 | 17 | 5 |");
        for (name, parts) in [("rabbit", 3), ("trefoil", 4), ("cube", 1), ("cube", 64)] {
            solids(name, &split(&load(name), parts));
        }
        println!("\n| mesh | samples | s (goal: 1) |");
        println!("|---|---|---|");
        for (name, spacing) in [("sphere", 0.0195), ("rabbit", 0.0139), ("cube", 0.027)] {
            samples(name, spacing);
        }
    });
}

fn solids(name: &str, mesh: &TriangleMesh) {
    let recipe = Recipe { merge: Some(-2.0), ..Recipe::new(96) };
    let mut least = [f64::INFINITY; 3];
    let mut voxels = 0;
    for _ in 0..TURNS {
        let solid = Solid::of(mesh, &recipe).expect("a solid");
        voxels = solid.voxels.count();
        for (least, ms) in least.iter_mut().zip(solid.ms) {
            *least = least.min(ms);
        }
    }
    let [voxelize, distance, merge] = least;
    let triangles = mesh.triangles.len();
    println!("| {name} | {triangles} | {voxels} | {voxelize:.1} | {distance:.1} | {merge:.1} |");
}

fn samples(name: &str, spacing: f32) {
    let mesh = load(name);
    let mut least = f64::INFINITY;
    let mut count = 0;
    for turn in 0..3 {
        let clock = Instant::now();
        count = sample_surface(&mesh, spacing, turn).expect("samples").len();
        least = least.min(clock.elapsed().as_secs_f64());
    }
    println!("| {name} | {count} | {least:.2} |");
}

fn load(name: &str) -> TriangleMesh {
    let path = format!("{}/assets/meshes/{name}.obj", env!("CARGO_MANIFEST_DIR"));
    TriangleMesh::load_obj(path).expect("a built-in mesh").0
}

/// Cuts each triangle into `parts` x `parts`.
fn split(mesh: &TriangleMesh, parts: u32) -> TriangleMesh {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let mut index_of = HashMap::new();
    for corners in &mesh.triangles {
        // A place by how much it has of each corner. On a side only two of them count, so that both
        // triangles of the side find the same vertex.
        let mut vertex = |i: u32, j: u32| {
            let mut shares: Vec<(u32, u32)> = corners
                .iter()
                .copied()
                .zip([parts - i - j, i, j])
                .filter(|&(_, n)| n > 0)
                .collect();
            shares.sort_unstable();
            *index_of.entry(shares.clone()).or_insert_with(|| {
                let part = |&(corner, n): &(u32, u32)| mesh.vertices[corner as usize] * n as f32;
                vertices.push(shares.iter().map(part).sum::<glam::Vec3>() / parts as f32);
                vertices.len() as u32 - 1
            })
        };
        for j in 0..parts {
            for i in 0..parts - j {
                triangles.push([vertex(i, j), vertex(i + 1, j), vertex(i, j + 1)]);
                if i + j + 1 < parts {
                    triangles.push([vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)]);
                }
            }
        }
    }
    TriangleMesh { vertices, triangles }
}
