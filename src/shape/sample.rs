//! Particles spread evenly over the surface of a mesh.
//!
//! Places are drawn over the area of the triangles and kept where none is near. Then they push each
//! other apart along the surface, with `(1 - r/r_c)^2` within `r_c = 2 s`, and are put back on it
//! through the hierarchy of triangles. Where two came too close one goes, and where a hole is left one
//! is added, until neither is found [S 6].

mod cells;
mod draw;
mod holes;

use glam::Vec3;
use rayon::prelude::*;

use super::mesh::TriangleMesh;
use super::triangle_bvh::{TriangleBvh, unit_normal};
use crate::world::MemoryNeed;
use crate::{Error, Result};
use cells::Cells;
use draw::Draw;

/// A place on the surface of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// m.
    pub position: Vec3,
    /// The normal of its triangle.
    pub normal: Vec3,
    /// Index of the triangle that it lies on.
    pub triangle: u32,
}

/// How far apart the first places are, at least, in spacings. Those that fill an area at random at
/// this distance are about as many as those of a honeycomb with a distance of 1.
const FIRST: f32 = 0.71;
/// Places that are tried for each sample, and that look for holes later.
const TRIES: usize = 24;
/// Two samples nearer than this, in spacings, are too close.
const CLOSE: f32 = 0.71;
/// The radius of a hole that gets a sample. It is above `CLOSE`, so that what is added is not too
/// close.
const HOLE: f32 = 0.72;
/// How far a push of 1 moves a sample: stable with six neighbours around it.
const STEP: f32 = 0.4;
/// Pushes before samples are counted anew.
const PUSHES: usize = 8;
/// Rounds of pushing and counting; fewer when nothing is left to do.
const ROUNDS: usize = 4;

/// Samples of a surface about `spacing` metres apart, in the same places for the same `seed`. Those on
/// both sides of a thin wall keep apart from each other as well, since particles there would overlap.
///
/// ```
/// use motes::shape::mesh::TriangleMesh;
/// use motes::shape::sample::sample_surface;
///
/// let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// let (mesh, _) = TriangleMesh::from_obj_bytes("tetrahedron", text)?;
/// let samples = sample_surface(&mesh, 0.05, 1)?;
/// assert!((800..1300).contains(&samples.len()), "{}", samples.len());
/// # Ok::<(), motes::Error>(())
/// ```
///
/// # Errors
/// When the mesh is not valid or has no area, or the spacing is not above 0 or gives too many samples.
pub fn sample_surface(mesh: &TriangleMesh, spacing: f32, seed: u64) -> Result<Vec<Sample>> {
    mesh.validate()?;
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(Error::value("spacing", format!("{spacing} m is not above 0")));
    }
    let draw = Draw::new(mesh)?;
    let count = check_count(draw.area(), spacing)?;
    let bvh = TriangleBvh::build(mesh)?;
    let surface = Surface { mesh, bvh };
    let tried = draw.places(TRIES * count, seed);
    let mut samples = kept_apart(&tried, FIRST * spacing);
    for _ in 0..ROUNDS {
        for _ in 0..PUSHES {
            push_apart(&mut samples, &surface, spacing);
        }
        let before = samples.len();
        samples = kept_apart(&samples, CLOSE * spacing);
        let removed = before - samples.len();
        let added = holes::fill(&surface, &samples, &tried, HOLE * spacing, spacing);
        samples.extend(&added);
        if removed + added.len() == 0 {
            break;
        }
    }
    Ok(samples)
}

/// A mesh that places can be put back on.
struct Surface<'a> {
    mesh: &'a TriangleMesh,
    bvh: TriangleBvh,
}

impl Surface<'_> {
    /// The place of the surface nearest to a point that was a little way from `from`.
    fn nearest(&self, point: Vec3, from: Sample) -> Sample {
        let corners = self.mesh.triangles[from.triangle as usize];
        let corners = corners.map(|i| self.mesh.vertices[i as usize]);
        let closest = self.bvh.closest_near(point, from.triangle, corners);
        let normal = unit_normal(&closest.corners).map_or(from.normal, |normal| normal.as_vec3());
        Sample { position: closest.point, normal, triangle: closest.triangle }
    }
}

/// How many samples a honeycomb of this spacing has on an area.
fn check_count(area: f64, spacing: f32) -> Result<usize> {
    let each = f64::from(spacing).powi(2) * 3f64.sqrt() / 2.0;
    let count = (area / each).ceil().max(1.0);
    let bytes = count * (size_of::<Sample>() * (TRIES + 4)) as f64;
    let too_large = |limit: String| {
        let needed = format!("{count:.0} samples, about {:.0} MiB", bytes / 1048576.0);
        Err(Error::TooLarge { what: format!("a spacing of {spacing} m"), needed, limit })
    };
    if count * TRIES as f64 > f64::from(u32::MAX) {
        return too_large("at most 2^28 can be made; take a larger spacing".into());
    }
    match MemoryNeed::free_for(bytes as usize) {
        Some(free) => {
            too_large(format!("this machine has {} MiB free; take a larger spacing", free >> 20))
        }
        None => Ok(count as usize),
    }
}

/// Of some places those that are no nearer than `apart` to one that was taken before, in their order.
fn kept_apart(places: &[Sample], apart: f32) -> Vec<Sample> {
    let cells = Cells::of(places.iter().map(|place| place.position), apart);
    let mut taken = vec![false; places.len()];
    for (k, place) in places.iter().enumerate() {
        let mut is_free = true;
        cells.visit(place.position, |other, j| {
            let near = other.distance_squared(place.position) < apart * apart;
            is_free &= !(near && taken[j as usize]);
        });
        taken[k] = is_free;
    }
    places.iter().zip(taken).filter(|(_, taken)| *taken).map(|(place, _)| *place).collect()
}

/// Moves every sample once, away from its neighbours.
fn push_apart(samples: &mut [Sample], surface: &Surface, spacing: f32) {
    let reach = 2.0 * spacing;
    let cells = Cells::of(samples.iter().map(|sample| sample.position), reach);
    samples.par_iter_mut().with_min_len(64).for_each(|sample| {
        let mut push = Vec3::ZERO;
        cells.visit(sample.position, |other, _| {
            let away = sample.position - other;
            let distance = away.length();
            if distance > 0.0 && distance < reach {
                push += away * ((1.0 - distance / reach).powi(2) / distance);
            }
        });
        let along = push - sample.normal * sample.normal.dot(push);
        let step = (along * (STEP * spacing)).clamp_length_max(0.5 * spacing);
        *sample = surface.nearest(sample.position + step, *sample);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> TriangleMesh {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Z, Vec3::Z];
        TriangleMesh { vertices, triangles: vec![[0, 2, 1], [0, 3, 2]] }
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sample_surface(&square(), 0.05, 7).unwrap())
        };
        let one = of(1);
        assert!([2, 3, 8].into_iter().all(|threads| of(threads) == one));
        assert_ne!(sample_surface(&square(), 0.05, 8).unwrap(), one);
    }

    #[test]
    fn a_spacing_larger_than_the_mesh_gives_one_sample() {
        assert_eq!(sample_surface(&square(), 10.0, 1).unwrap().len(), 1);
    }

    #[test]
    fn nonsense_is_refused() {
        for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let error = sample_surface(&square(), spacing, 1).unwrap_err().to_string();
            assert!(error.starts_with("spacing: "), "{error}");
        }
        let error = sample_surface(&square(), 1e-7, 1).unwrap_err().to_string();
        assert!(error.contains("larger spacing"), "{error}");
        let mut line = square();
        line.vertices.iter_mut().for_each(|v| *v = Vec3::X * v.x);
        assert!(sample_surface(&line, 0.1, 1).unwrap_err().to_string().contains("no area"));
    }
}
