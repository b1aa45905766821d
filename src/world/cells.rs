//! Particles at the points of a lattice: which sits where, who is joined with whom, and the faces
//! between what is inside and what is not.

use super::World;
use super::build::{Bond, lattice_points};
use std::collections::HashSet;

/// Half of the 26 neighbours; the three axes first.
pub(super) const HALF_NEIGHBORS: [[i64; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, 1],
    [1, 1, 1],
    [-1, 1, 1],
    [1, -1, 1],
    [-1, -1, 1],
];

/// Which particle sits at a lattice point.
pub(super) struct Cells {
    counts: [u32; 3],
    slots: Vec<u32>,
}

impl Cells {
    pub fn new(counts: [u32; 3]) -> Self {
        let n = counts.iter().map(|&c| c as usize).product();
        Cells { counts, slots: vec![u32::MAX; n] }
    }
    fn index(&self, x: u32, y: u32, z: u32) -> usize {
        let [nx, ny, _] = self.counts.map(|c| c as usize);
        (z as usize * ny + y as usize) * nx + x as usize
    }
    pub fn set(&mut self, x: u32, y: u32, z: u32, slot: u32) {
        let index = self.index(x, y, z);
        self.slots[index] = slot;
    }
    pub fn get(&self, x: i64, y: i64, z: i64) -> Option<u32> {
        let inside = [x, y, z].iter().zip(self.counts).all(|(&k, n)| 0 <= k && k < i64::from(n));
        if !inside {
            return None;
        }
        Some(self.slots[self.index(x as u32, y as u32, z as u32)]).filter(|&s| s != u32::MAX)
    }
    /// The eight corners of the cell above a point, when all exist; corner k has bits x, y, z.
    pub fn cell(&self, x: u32, y: u32, z: u32) -> Option<[u32; 8]> {
        let mut corners = [0; 8];
        for (k, corner) in corners.iter_mut().enumerate() {
            let bit = |b: usize| (k >> b & 1) as i64;
            *corner =
                self.get(i64::from(x) + bit(0), i64::from(y) + bit(1), i64::from(z) + bit(2))?;
        }
        Some(corners)
    }
    /// The particles that sit at more than one point.
    fn large(&self) -> HashSet<u32> {
        let mut seen = HashSet::new();
        let there = self.slots.iter().copied().filter(|&slot| slot != u32::MAX);
        there.filter(|&slot| !seen.insert(slot)).collect()
    }
    /// Outward triangles of the faces that belong to one cell only.
    pub fn surface(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        /// Corner numbers of each face, outward, with the step to the neighbouring cell.
        const FACES: [([i64; 3], [usize; 4]); 6] = [
            ([-1, 0, 0], [0, 4, 6, 2]),
            ([1, 0, 0], [1, 3, 7, 5]),
            ([0, -1, 0], [0, 1, 5, 4]),
            ([0, 1, 0], [2, 6, 7, 3]),
            ([0, 0, -1], [0, 2, 3, 1]),
            ([0, 0, 1], [4, 5, 7, 6]),
        ];
        let has_cell = |x: i64, y: i64, z: i64| {
            u32::try_from(x).is_ok_and(|x| {
                u32::try_from(y)
                    .is_ok_and(|y| u32::try_from(z).is_ok_and(|z| self.cell(x, y, z).is_some()))
            })
        };
        lattice_points(self.counts)
            .flat_map(move |(x, y, z)| {
                let corners = self.cell(x, y, z);
                FACES.iter().filter_map(move |(step, quad)| {
                    let c = corners?;
                    let next =
                        (i64::from(x) + step[0], i64::from(y) + step[1], i64::from(z) + step[2]);
                    (!has_cell(next.0, next.1, next.2)).then(|| quad.map(|k| c[k]))
                })
            })
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
    }
}

impl World {
    /// Joins the particles of neighbouring points, direction by direction: sweeps along a direction
    /// carry corrections far. A particle may sit at several points; two of them are joined once.
    pub(super) fn join_cells(&mut self, cells: &Cells, directions: &[[i64; 3]], bond: &Bond) {
        let large = cells.large();
        let is_large = |slot: u32| large.contains(&slot);
        let mut joined = HashSet::new();
        for (k, d) in directions.iter().enumerate() {
            for (x, y, z) in lattice_points(cells.counts) {
                let Some(a) = cells.get(x.into(), y.into(), z.into()) else { continue };
                let (ux, uy, uz) = (i64::from(x) + d[0], i64::from(y) + d[1], i64::from(z) + d[2]);
                let Some(b) = cells.get(ux, uy, uz).filter(|&b| b != a) else { continue };
                let is_plain = large.is_empty() || !(is_large(a) || is_large(b));
                if !is_plain && !joined.insert([a.min(b), a.max(b)]) {
                    continue;
                }
                // Along a direction every other edge is free of the one before it.
                let parity = if d[2] != 0 {
                    z
                } else if d[1] != 0 {
                    y
                } else {
                    x
                } & 1;
                let [pa, pb] = [a, b].map(|s| self.particles.position[s as usize].truncate());
                let mut edge = bond.constraint([a, b], pa.distance(pb));
                edge.color_hint = is_plain.then_some((2 * k) as u8 + parity as u8);
                self.sets.distance.add(&edge);
            }
        }
    }
}
