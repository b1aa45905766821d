//! Vertices that hang on three particles each.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::hang::Hang;
use super::{check, nearest};
use crate::{Error, Result};

/// Particles among which the three are looked for, first few, then more.
const AMONG: [usize; 3] = [8, 32, 128];
/// Three particles are in a line when their triangle has less than this share of the square of its
/// longest side.
const FLAT: f64 = 0.2;

/// Each vertex keeps its place in the plane of three particles and its height above it.
///
/// ```
/// use glam::{Quat, Vec3};
/// use motes::shape::skin::BarycentricSkin;
///
/// let particles = [Vec3::ZERO, Vec3::X, Vec3::Z];
/// let skin = BarycentricSkin::new(&[Vec3::new(0.2, 0.5, 0.2)], &particles)?;
/// let turn = Quat::from_rotation_x(1.0);
/// let vertices = skin.vertices(&particles.map(|p| turn * p))?;
/// assert!(vertices[0].distance(turn * Vec3::new(0.2, 0.5, 0.2)) < 1e-6);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BarycentricSkin {
    bonds: Vec<Bond>,
    /// One more than the highest particle.
    particles: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Bond {
    particles: [u32; 3],
    /// How far to go from the first particle towards the second and the third.
    along: [f32; 2],
    /// Above the plane of the three, m.
    height: f32,
}

impl BarycentricSkin {
    /// Hangs each vertex on three particles near it that are not in a line.
    ///
    /// # Errors
    /// When a place is not finite, or all particles near a vertex are in a line.
    pub fn new(vertices: &[Vec3], particles: &[Vec3]) -> Result<Self> {
        let near = nearest(vertices, particles, AMONG[0])?;
        let choose = |k: usize| {
            let few = near.of(k).iter().map(|&(i, _)| i).collect::<Vec<u32>>();
            triple(&few, particles).ok_or(k)
        };
        let mut found: Vec<Result<[u32; 3], usize>> =
            (0..vertices.len()).into_par_iter().map(choose).collect();
        // Where few particles are in a line, more are looked at.
        for among in &AMONG[1..] {
            let lines: Vec<usize> = found.iter().filter_map(|f| f.err()).collect();
            if lines.is_empty() {
                break;
            }
            let places: Vec<Vec3> = lines.iter().map(|&k| vertices[k]).collect();
            let near = nearest(&places, particles, *among)?;
            for (at, &k) in lines.iter().enumerate() {
                let more = near.of(at).iter().map(|&(i, _)| i).collect::<Vec<u32>>();
                found[k] = triple(&more, particles).ok_or(k);
            }
        }
        let bond = |(k, found): (usize, Result<[u32; 3], usize>)| match found {
            Ok(triple) => Ok(Bond::new(vertices[k], triple, particles)),
            Err(k) => Err(Error::value(
                format!("vertices.{k}"),
                "all particles near it are in a line; a skin needs three that are not",
            )),
        };
        let bonds: Vec<Bond> = found.into_iter().enumerate().map(bond).collect::<Result<_>>()?;
        let highest = bonds.iter().flat_map(|bond| bond.particles).max();
        Ok(BarycentricSkin { bonds, particles: highest.map_or(0, |i| i as usize + 1) })
    }

    /// Where the vertices are when the particles are here, m.
    ///
    /// # Errors
    /// When there are fewer particles than the skin was made with.
    pub fn vertices(&self, particles: &[Vec3]) -> Result<Vec<Vec3>> {
        check(self.particles, particles)?;
        Ok(self.bonds.par_iter().with_min_len(1024).map(|bond| bond.place(particles)).collect())
    }

    /// The three particles of each vertex.
    pub fn particles(&self) -> impl Iterator<Item = [u32; 3]> {
        self.bonds.iter().map(|bond| bond.particles)
    }
}

/// The nearest particle and the first two of the others, nearest first, that are not in a line with
/// it.
fn triple(near: &[u32], particles: &[Vec3]) -> Option<[u32; 3]> {
    let (&first, others) = near.split_first()?;
    for (k, &third) in others.iter().enumerate() {
        for &second in &others[..k] {
            let [a, b, c] = [first, second, third].map(|i| particles[i as usize].as_dvec3());
            let longest =
                a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
            if (b - a).cross(c - a).length() > FLAT * longest {
                return Some([first, second, third]);
            }
        }
    }
    None
}

/// A vertex on the plane of three of the particles near it: their weights, and its height above them.
pub(super) fn plane_of(vertex: Vec3, near: &[u32], particles: &[Vec3]) -> Option<Hang> {
    let bond = Bond::new(vertex, triple(near, particles)?, particles);
    let ([a, b, c], [s, t]) = (bond.particles, bond.along);
    Some((vec![(a, 1.0 - s - t), (b, s), (c, t)], bond.height))
}

impl Bond {
    fn new(vertex: Vec3, triple: [u32; 3], particles: &[Vec3]) -> Self {
        let [a, b, c] = triple.map(|i| particles[i as usize].as_dvec3());
        let (ab, ac, to) = (b - a, c - a, vertex.as_dvec3() - a);
        let normal = ab.cross(ac);
        let per_area = normal / normal.length_squared();
        Bond {
            particles: triple,
            along: [to.cross(ac).dot(per_area) as f32, ab.cross(to).dot(per_area) as f32],
            height: to.dot(normal.normalize_or(DVec3::ZERO)) as f32,
        }
    }

    /// From the first particle, so that a body far from the origin loses nothing.
    fn place(&self, particles: &[Vec3]) -> Vec3 {
        let [a, b, c] = self.particles.map(|i| particles[i as usize]);
        let (ab, ac) = (b - a, c - a);
        let up = ab.cross(ac).normalize_or(Vec3::ZERO);
        a + (ab * self.along[0] + ac * self.along[1] + up * self.height)
    }
}
