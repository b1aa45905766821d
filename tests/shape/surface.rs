//! Samples of surfaces: on it, evenly apart, none too close, no hole.

use super::solids::load;
use glam::Vec3;
use motes::shape::mesh::TriangleMesh;
use motes::shape::sample::{Sample, sample_surface};
use motes::shape::triangle_bvh::TriangleBvh;
use rayon::prelude::*;

struct Spread {
    /// Largest distance from the surface, in spacings.
    off: f32,
    /// Coefficient of variation of the distances to the nearest neighbour.
    variation: f32,
    /// The two samples that are nearest to each other, in spacings.
    closest: f32,
    /// The place of the surface that is farthest from every sample, in spacings.
    hole: f32,
}

fn nearest(samples: &[Sample], to: Vec3, but: Option<usize>) -> f32 {
    let others = samples.iter().enumerate().filter(|&(j, _)| Some(j) != but);
    others.map(|(_, s)| s.position.distance_squared(to)).fold(f32::INFINITY, f32::min).sqrt()
}

/// All by brute force.
fn measure(mesh: &TriangleMesh, samples: &[Sample], spacing: f32) -> Spread {
    let bvh = TriangleBvh::build(mesh).unwrap();
    let off = samples.iter().map(|s| bvh.closest(s.position).unwrap().distance_sq.sqrt() as f32);
    let off = off.fold(0.0, f32::max) / spacing;
    let near: Vec<f32> = (0..samples.len())
        .into_par_iter()
        .map(|i| nearest(samples, samples[i].position, Some(i)) / spacing)
        .collect();
    let mean = near.iter().sum::<f32>() / near.len() as f32;
    let variance = near.iter().map(|d| (d - mean).powi(2)).sum::<f32>() / near.len() as f32;
    // A net of places over every triangle, a tenth of the spacing apart.
    let hole = mesh.triangles.par_iter().map(|t| {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let n = (longest / (0.1 * spacing)).ceil() as usize;
        let net = (0..=n).flat_map(|i| (0..=n - i).map(move |j| (i, j)));
        let place = |(i, j): (usize, usize)| {
            a + (b - a) * (i as f32 / n as f32) + (c - a) * (j as f32 / n as f32)
        };
        net.map(|at| nearest(samples, place(at), None)).fold(0.0, f32::max)
    });
    Spread {
        off,
        variation: variance.sqrt() / mean,
        closest: near.iter().copied().fold(f32::INFINITY, f32::min),
        hole: hole.reduce(|| 0.0, f32::max) / spacing,
    }
}

#[test]
fn samples_are_even_on_every_mesh() {
    for (name, spacing) in
        [("sphere", 0.06), ("torus", 0.05), ("trefoil", 0.04), ("cube", 0.09), ("rabbit", 0.035)]
    {
        let mesh = load(name);
        for seed in 1..=2 {
            let samples = sample_surface(&mesh, spacing, seed).unwrap();
            let Spread { off, variation, closest, hole } = measure(&mesh, &samples, spacing);
            println!(
                "{name} {}: off {off:.1e}, variation {variation:.3}, closest {closest:.3}, \
                 hole {hole:.3}",
                samples.len()
            );
            assert!(off < 0.02, "{name}: {off} from the surface");
            assert!(variation < 0.12, "{name}: {variation}");
            assert!(closest >= 0.7, "{name}: {closest}");
            assert!(hole <= 0.75, "{name}: {hole}");
            let normals = samples.iter().all(|s| (s.normal.length() - 1.0).abs() < 1e-5);
            assert!(
                normals && samples.iter().all(|s| (s.triangle as usize) < mesh.triangles.len())
            );
        }
    }
}

/// The measures can fail: random places are neither even nor apart, and a missing sample is a hole.
#[test]
fn random_places_are_not_even() {
    let mesh = load("sphere");
    let mut samples = sample_surface(&mesh, 0.1, 1).unwrap();
    samples.remove(7);
    assert!(measure(&mesh, &samples, 0.1).hole > 0.8);
    samples[3] = samples[4];
    let out = samples[3].normal * 0.01;
    samples[3].position += out;
    let spread = measure(&mesh, &samples, 0.1);
    assert!(spread.closest < 0.2 && spread.off > 0.09, "{}", spread.closest);
}
