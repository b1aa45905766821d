//! Whether a mesh is closed, and where it is not.
//!
//! Edges are told apart by where they are, not by the numbers of their vertices: a mesh whose
//! triangles have corners of their own is closed when these corners meet.

use glam::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::grid::VoxelGrid;
use super::snapped::{Corner, Snapped};

/// How the triangles of a mesh meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seams {
    /// Every edge is run along as often one way as the other.
    Closed,
    /// Every edge belongs to an even number of triangles, but some disagree about what is outside.
    Flipped,
    /// Some edges belong to an odd number of triangles.
    Open,
}

impl Seams {
    /// Adds up a random number for each edge, positive one way and negative the other: what belongs
    /// together cancels, and nothing has to be stored or sorted. That a sum of 64 bits is zero by
    /// chance happens once in 2^64 open meshes.
    pub(super) fn of(mesh: &Snapped) -> Seams {
        let vertices: Vec<u64> =
            mesh.corners.par_iter().with_min_len(1024).map(|&corner| hash(corner)).collect();
        let sums = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|i| vertices[i as usize]);
            [(a, b), (b, c), (c, a)].into_iter().fold((0u64, 0u64), |(signed, either), (a, b)| {
                match a.cmp(&b) {
                    std::cmp::Ordering::Less => {
                        let edge = mix(a ^ mix(b));
                        (signed.wrapping_add(edge), either ^ edge)
                    }
                    std::cmp::Ordering::Greater => {
                        let edge = mix(b ^ mix(a));
                        (signed.wrapping_sub(edge), either ^ edge)
                    }
                    std::cmp::Ordering::Equal => (signed, either),
                }
            })
        };
        let (signed, either) = mesh
            .triangles
            .par_iter()
            .with_min_len(1024)
            .map(sums)
            .reduce(|| (0, 0), |a, b| (a.0.wrapping_add(b.0), a.1 ^ b.1));
        match (signed, either) {
            (0, _) => Seams::Closed,
            (_, 0) => Seams::Flipped,
            _ => Seams::Open,
        }
    }
}

/// The edges that keep a mesh from being closed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// How many edges.
    pub edges: usize,
    /// One of them, from end to end, m.
    pub first: [Vec3; 2],
    /// The lowest and the highest corner of the box around all of them, m.
    pub bounds: [Vec3; 2],
}

/// The edges with an odd number of triangles, or, when `flipped`, those that are run along more often
/// one way than the other.
pub(super) fn gap(mesh: &Snapped, grid: &VoxelGrid, flipped: bool) -> Option<Gap> {
    let edge = |from: Corner, to: Corner| match from < to {
        true => (from, to, 1),
        false => (to, from, -1),
    };
    let mut edges: Vec<(Corner, Corner, i32)> = (0..mesh.triangles.len())
        .flat_map(|index| {
            let [a, b, c] = mesh.triangle(index);
            [edge(a, b), edge(b, c), edge(c, a)]
        })
        .filter(|(from, to, _)| from != to)
        .collect();
    edges.par_sort_unstable();
    let wrong = |uses: &&[(Corner, Corner, i32)]| match flipped {
        true => uses.iter().map(|u| u.2).sum::<i32>() != 0,
        false => !uses.len().is_multiple_of(2),
    };
    let mut found: Option<Gap> = None;
    for uses in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(wrong) {
        let [from, to] = [uses[0].0, uses[0].1].map(|corner| mesh.metres(grid, corner));
        let gap = found.get_or_insert(Gap { edges: 0, first: [from, to], bounds: [from, to] });
        gap.edges += 1;
        gap.bounds[0] = gap.bounds[0].min(from).min(to);
        gap.bounds[1] = gap.bounds[1].max(from).max(to);
    }
    found
}

fn hash([x, y, z]: Corner) -> u64 {
    let low = (x as u32 as u64) | ((y as u32 as u64) << 32);
    mix(low ^ mix(z as u32 as u64))
}

/// The mixing step of SplitMix64 (Steele 2014), from another start so that zero does not stay zero.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
