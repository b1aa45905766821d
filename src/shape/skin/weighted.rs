//! Vertices that follow a blend of the particles around them.

use glam::{DMat4, DVec3, DVec4, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{check, nearest};
use crate::{Error, Result};

/// Numbers of particles that are tried: as few as will do.
const AMONG: [usize; 4] = [8, 16, 32, 64];
/// Weights may be negative where a vertex is outside of its particles. When they are larger than this
/// together, the particles are nearly in one plane, and more are taken.
const LARGEST: f64 = 6.0;

/// Each vertex is a weighted sum of particles. Weights fall with distance; then they are changed as
/// little as it takes to give back the place of the vertex at rest (moving least squares). So a body
/// that is moved, turned, stretched or sheared takes its skin with it exactly.
///
/// ```
/// use glam::Vec3;
/// use motes::shape::skin::WeightedSkin;
///
/// let particles: Vec<Vec3> =
///     (0..27).map(|i| Vec3::new((i % 3) as f32, (i / 3 % 3) as f32, (i / 9) as f32)).collect();
/// let skin = WeightedSkin::new(&[Vec3::new(1.3, 2.5, 0.4)], &particles)?;
/// let wide: Vec<Vec3> = particles.iter().map(|&p| p * Vec3::new(2.0, 1.0, 1.0)).collect();
/// assert!(skin.vertices(&wide)?[0].distance(Vec3::new(2.6, 2.5, 0.4)) < 1e-5);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WeightedSkin {
    /// Where the weights of each vertex begin, and after the last where they end.
    starts: Vec<usize>,
    weights: Vec<(u32, f32)>,
    /// One more than the highest particle.
    particles: usize,
}

impl WeightedSkin {
    /// Finds the weights of the particles around each vertex.
    ///
    /// # Errors
    /// When a place is not finite, or all particles near a vertex are in one plane.
    pub fn new(vertices: &[Vec3], particles: &[Vec3]) -> Result<Self> {
        let mut found: Vec<Option<Vec<(u32, f32)>>> = vec![None; vertices.len()];
        for among in AMONG {
            let missing: Vec<usize> = (0..found.len()).filter(|&k| found[k].is_none()).collect();
            if missing.is_empty() {
                break;
            }
            let places: Vec<Vec3> = missing.iter().map(|&k| vertices[k]).collect();
            let near = nearest(&places, particles, among)?;
            let solve = |at: usize| weights(places[at], near.of(at), particles);
            let solved: Vec<_> = (0..missing.len()).into_par_iter().map(solve).collect();
            for (&k, weights) in missing.iter().zip(solved) {
                found[k] = weights;
            }
        }
        let mut skin = WeightedSkin { starts: vec![0], ..WeightedSkin::default() };
        for (k, weights) in found.into_iter().enumerate() {
            let weights = weights.ok_or_else(|| {
                let message = "all particles near it are in one plane; take a barycentric skin";
                Error::value(format!("vertices.{k}"), message)
            })?;
            skin.weights.extend(weights);
            skin.starts.push(skin.weights.len());
        }
        let highest = skin.weights.iter().map(|&(i, _)| i).max();
        skin.particles = highest.map_or(0, |i| i as usize + 1);
        Ok(skin)
    }

    /// Where the vertices are when the particles are here, m.
    ///
    /// # Errors
    /// When there are fewer particles than the skin was made with.
    pub fn vertices(&self, particles: &[Vec3]) -> Result<Vec<Vec3>> {
        check(self.particles, particles)?;
        let place = |ends: &[usize]| {
            let weights = &self.weights[ends[0]..ends[1]];
            // From the nearest particle, so that a body far from the origin loses nothing.
            let from = particles[weights[0].0 as usize];
            let add = |sum: Vec3, &(i, weight): &(u32, f32)| {
                sum + (particles[i as usize] - from) * weight
            };
            from + weights.iter().fold(Vec3::ZERO, add)
        };
        Ok(self.starts.par_windows(2).with_min_len(1024).map(place).collect())
    }
}

/// Weights that add up to 1 and give back the vertex, as near as possible to those that fall with
/// distance; none when the particles do not span space.
pub(super) fn weights(
    vertex: Vec3,
    near: &[(u32, f32)],
    particles: &[Vec3],
) -> Option<Vec<(u32, f32)>> {
    let reach = 1.2 * f64::from(near.last()?.1);
    if reach <= 0.0 {
        return None;
    }
    let rows: Vec<(DVec4, f64)> = near
        .iter()
        .map(|&(i, distance)| {
            let away: DVec3 = (particles[i as usize].as_dvec3() - vertex.as_dvec3()) / reach;
            (away.extend(1.0), (1.0 - f64::from(distance) / reach).powi(2))
        })
        .collect();
    let moments = rows.iter().fold(DMat4::ZERO, |sum, &(row, falling)| {
        let scaled = row * falling;
        sum + DMat4::from_cols(scaled * row.x, scaled * row.y, scaled * row.z, scaled * row.w)
    });
    let total = moments.w_axis.w;
    if moments.determinant().abs() < 1e-8 * total.powi(4) {
        return None;
    }
    let solution = moments.inverse() * DVec4::W;
    let solved: Vec<f64> = rows.iter().map(|&(row, falling)| falling * row.dot(solution)).collect();
    let size: f64 = solved.iter().map(|weight| weight.abs()).sum();
    if size.is_nan() || size > LARGEST {
        return None;
    }
    Some(near.iter().zip(solved).map(|(&(i, _), weight)| (i, weight as f32)).collect())
}
