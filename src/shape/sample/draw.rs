//! Random places on a mesh, as many on each triangle as its share of the area.

use glam::Vec3;
use rayon::prelude::*;

use super::Sample;
use crate::shape::mesh::TriangleMesh;
use crate::shape::triangle_bvh::unit_normal;
use crate::{Error, Result};

/// The triangles of a mesh by their areas.
pub(super) struct Draw<'a> {
    mesh: &'a TriangleMesh,
    /// The area of each triangle and all before it, m^2.
    up_to: Vec<f64>,
}

impl<'a> Draw<'a> {
    pub(super) fn new(mesh: &'a TriangleMesh) -> Result<Self> {
        let mut sum = 0.0;
        let area = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|i| mesh.vertices[i as usize].as_dvec3());
            sum += 0.5 * (b - a).cross(c - a).length();
            sum
        };
        let up_to: Vec<f64> = mesh.triangles.iter().map(area).collect();
        let draw = Draw { mesh, up_to };
        match draw.area() > 0.0 {
            true => Ok(draw),
            false => Err(Error::value("mesh", "has no area; check its coordinates")),
        }
    }

    /// The whole area, m^2.
    pub(super) fn area(&self) -> f64 {
        self.up_to.last().copied().unwrap_or(0.0)
    }

    /// So many places, in an order that jumps about the mesh: the k-th is a random one in the k-th of
    /// as many equal parts of the area, and k goes in steps that share no divisor with the count.
    pub(super) fn places(&self, count: usize, seed: u64) -> Vec<Sample> {
        let stride = stride(count);
        let place = |i: usize| {
            let part = (i as u128 * stride as u128 % count as u128) as f64;
            let [along, u, v] = [0, 1, 2].map(|k| random(seed, 3 * i as u64 + k));
            let area = (part + along) / count as f64 * self.area();
            let triangle = self.up_to.partition_point(|&sum| sum <= area);
            let triangle = triangle.min(self.up_to.len() - 1);
            self.sample(triangle, u, v)
        };
        (0..count).into_par_iter().with_min_len(1024).map(place).collect()
    }

    /// A place on a triangle, even over its area for even u and v.
    fn sample(&self, triangle: usize, u: f64, v: f64) -> Sample {
        let corners = self.mesh.triangles[triangle].map(|i| self.mesh.vertices[i as usize]);
        let [a, b, c] = corners.map(|corner| corner.as_dvec3());
        let root = u.sqrt();
        let position = a * (1.0 - root) + b * (root * (1.0 - v)) + c * (root * v);
        Sample {
            position: position.as_vec3(),
            normal: unit_normal(&corners).map_or(Vec3::Y, |normal| normal.as_vec3()),
            triangle: triangle as u32,
        }
    }
}

/// A step near the golden section of the count that shares no divisor with it.
fn stride(count: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (count as f64 * 0.618_033_988_749_895) as usize;
    (golden.max(1)..).find(|&step| gcd(step, count) == 1).unwrap_or(1)
}

/// The n-th number of a sequence, 0 to 1 (SplitMix64, Steele 2014).
fn random(seed: u64, n: u64) -> f64 {
    let z = seed.wrapping_add((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
