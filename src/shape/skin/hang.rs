//! What each vertex of a skin hangs on.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Weights of the particles that a vertex hangs on, and its height, m.
pub(super) type Hang = (Vec<(u32, f32)>, f32);

/// Weights of particles for each vertex, which add up to 1, and how high the vertex is above the
/// plane of the first three. Some vertices may hang on nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Hangs {
    /// Where the weights of each vertex begin, and after the last where they end.
    starts: Vec<u32>,
    weights: Vec<(u32, f32)>,
    /// m.
    heights: Vec<f32>,
}

impl Hangs {
    pub fn of(each: Vec<Option<Hang>>) -> Hangs {
        let mut hangs = Hangs { starts: vec![0], ..Hangs::default() };
        for hang in each {
            let (weights, height) = hang.unwrap_or_default();
            hangs.weights.extend(weights);
            hangs.heights.push(height);
            hangs.starts.push(hangs.weights.len() as u32);
        }
        hangs
    }

    pub fn len(&self) -> usize {
        self.heights.len()
    }

    /// The weights and the height of a vertex, if it hangs on something.
    pub fn at(&self, vertex: usize) -> Option<(&[(u32, f32)], f32)> {
        let [from, to] = [vertex, vertex + 1].map(|k| self.starts[k] as usize);
        (from < to).then(|| (&self.weights[from..to], self.heights[vertex]))
    }

    /// The same with other names for the particles.
    pub fn renamed(&self, names: &[u32]) -> Hangs {
        let rename = |&(i, weight): &(u32, f32)| (names[i as usize], weight);
        Hangs { weights: self.weights.iter().map(rename).collect(), ..self.clone() }
    }

    /// Where a vertex is, if it hangs on something. From the nearest particle, so that a body far
    /// from the origin loses nothing.
    pub fn place(&self, vertex: usize, at: &impl Fn(usize) -> Vec3) -> Option<Vec3> {
        let (weights, height) = self.at(vertex)?;
        let from = at(weights[0].0 as usize);
        let way = |i: u32| at(i as usize) - from;
        let flat = weights.iter().fold(Vec3::ZERO, |sum, &(i, weight)| sum + way(i) * weight);
        let up = match weights {
            [_, (b, _), (c, _)] => way(*b).cross(way(*c)).normalize_or_zero() * height,
            _ => Vec3::ZERO,
        };
        Some(from + (flat + up))
    }

    pub fn are_sound(&self, vertices: usize, particles: u32) -> bool {
        self.heights.len() == vertices
            && self.starts.len() == vertices + 1
            && self.starts.first() == Some(&0)
            && self.starts.is_sorted()
            && self.starts.last().is_some_and(|&end| end as usize == self.weights.len())
            && self.weights.iter().all(|&(i, weight)| i < particles && weight.is_finite())
            && self.heights.iter().all(|height| height.is_finite())
    }
}
