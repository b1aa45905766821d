//! Smoothing of a surface whose own shape is not known: each corner goes towards the middle of those
//! around it.

use glam::Vec3;

/// Rounds of smoothing. A round takes each corner half-way to the middle of its neighbours and then
/// a little further back, which flattens steps and leaves the size of the body (Taubin 1995).
const ROUNDS: usize = 20;
const FORTH_AND_BACK: [f32; 2] = [0.5, -0.53];

/// The corners of a surface, each with those that it shares an edge with.
pub struct Rings {
    slots: Vec<usize>,
    /// Where the neighbours of each begin, and the end.
    start: Vec<usize>,
    around: Vec<usize>,
}

impl Rings {
    pub fn of(triangles: &[[usize; 3]]) -> Self {
        let mut edges: Vec<[usize; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut rings = Rings { slots: Vec::new(), start: Vec::new(), around: Vec::new() };
        for [from, to] in edges {
            if rings.slots.last() != Some(&from) {
                rings.slots.push(from);
                rings.start.push(rings.around.len());
            }
            rings.around.push(to);
        }
        rings.start.push(rings.around.len());
        rings
    }

    /// Smooths the places of the corners.
    pub fn smooth(&self, places: &mut [Vec3], moved: &mut Vec<Vec3>) {
        for factor in [FORTH_AND_BACK; ROUNDS].into_iter().flatten() {
            moved.clear();
            moved.extend(self.slots.iter().zip(self.start.windows(2)).map(|(&slot, ends)| {
                let around = &self.around[ends[0]..ends[1]];
                let sum: Vec3 = around.iter().map(|&other| places[other]).sum();
                places[slot] + factor * (sum / around.len() as f32 - places[slot])
            }));
            for (&slot, &place) in self.slots.iter().zip(moved.iter()) {
                places[slot] = place;
            }
        }
    }
}
