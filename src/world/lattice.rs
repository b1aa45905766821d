//! A soft body: a lattice of particles.

use super::build::{Bond, Solid, lattice_points, neighbors, unit_point};
use super::particles::Phase;
use super::{Built, MemoryNeed, Outline, Particle, ParticleId, Surface, World};
use crate::error::{Error, Result};
use crate::kind::{Constrain, Volume};
use glam::{Quat, Vec3};

/// Which pairs of a lattice are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatticeEdges {
    /// Neighbours along the three axes.
    Axis,
    /// Every particle within the cell diagonal: 26 neighbours.
    Full,
}

/// A soft body: a lattice of particles joined by edges and, if wanted, tetrahedra.
#[derive(Clone, Debug)]
pub struct Lattice {
    /// Name in reports.
    pub name: String,
    /// Centre, m.
    pub center: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// Particles along x, y, z, at least 1 each.
    pub counts: [u32; 3],
    /// Distance between neighbours, m.
    pub spacing: f32,
    /// Mass of one particle, kg.
    pub mass: f32,
    /// Radius of one particle, m.
    pub radius: f32,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Which lattice points are kept.
    pub solid: Solid,
    /// Which pairs are joined.
    pub edges: LatticeEdges,
    /// Whether the body collides with itself.
    pub self_collide: bool,
    /// How stiff and strong its edges are.
    pub stretch: Bond,
    /// Six tetrahedra a cell, or none.
    pub volume: Option<Bond>,
}

impl Default for Lattice {
    fn default() -> Self {
        Lattice {
            name: "box".into(),
            center: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            counts: [8, 8, 8],
            spacing: 0.1,
            mass: 0.1,
            radius: 0.05,
            velocity: Vec3::ZERO,
            solid: Solid::Box,
            edges: LatticeEdges::Full,
            self_collide: false,
            stretch: Bond::default(),
            volume: None,
        }
    }
}

impl World {
    /// Adds a soft lattice. Returns its handle and its particles.
    pub fn add_lattice(&mut self, lattice: &Lattice) -> Result<Built> {
        self.validate_lattice(lattice)?;
        let [nx, ny, nz] = lattice.counts;
        let mut phase = Phase::group(self.new_group()).shaped();
        if lattice.self_collide {
            phase = phase.self_colliding();
        }
        let mut slots = Slots::new(lattice.counts);
        let mut ids = Vec::new();
        for (x, y, z) in lattice_points(lattice.counts) {
            if !lattice.solid.contains(unit_point(lattice.counts, x, y, z)) {
                continue;
            }
            let middle = Vec3::new(nx as f32 - 1.0, ny as f32 - 1.0, nz as f32 - 1.0) * 0.5;
            let local = (Vec3::new(x as f32, y as f32, z as f32) - middle) * lattice.spacing;
            slots.set(x, y, z, self.particles.len() as u32);
            ids.push(self.add_particle(&Particle {
                position: lattice.center + lattice.rotation * local,
                velocity: lattice.velocity,
                mass: lattice.mass,
                radius: lattice.radius,
                phase,
            })?);
        }
        if ids.is_empty() {
            return Err(Error::value(
                format!("{}.counts", lattice.name),
                "no lattice point lies inside the shape; use more points",
            ));
        }
        self.add_lattice_edges(lattice, &slots);
        if let Some(volume) = &lattice.volume {
            self.add_lattice_volumes(lattice.counts, &slots, volume);
        }
        let id = |slot: u32| ParticleId(self.particles.id[slot as usize]);
        let triangles = slots.surface().map(|t| t.map(id)).collect();
        let outline = (lattice.solid != Solid::Box).then_some(Outline {
            solid: lattice.solid,
            center: lattice.center,
            rotation: lattice.rotation,
            half: Vec3::new(nx as f32 - 1.0, ny as f32 - 1.0, nz as f32 - 1.0)
                * (0.5 * lattice.spacing),
        });
        Ok(self.built(&lattice.name, ids, Surface { triangles, closed: true, outline }))
    }

    fn add_lattice_edges(&mut self, lattice: &Lattice, slots: &Slots) {
        let directions: &[[i64; 3]] = match lattice.edges {
            LatticeEdges::Axis => &HALF_NEIGHBORS[..3],
            LatticeEdges::Full => &HALF_NEIGHBORS,
        };
        for (k, d) in directions.iter().enumerate() {
            for (x, y, z) in lattice_points(lattice.counts) {
                let Some(a) = slots.get(x.into(), y.into(), z.into()) else { continue };
                let (ux, uy, uz) = (i64::from(x) + d[0], i64::from(y) + d[1], i64::from(z) + d[2]);
                let Some(b) = slots.get(ux, uy, uz) else { continue };
                // Along a direction every other edge is free of the one before it.
                let parity = if d[2] != 0 {
                    z
                } else if d[1] != 0 {
                    y
                } else {
                    x
                } & 1;
                let [pa, pb] = [a, b].map(|s| self.particles.position[s as usize].truncate());
                let mut edge = lattice.stretch.constraint([a, b], pa.distance(pb));
                edge.color_hint = Some((2 * k) as u8 + parity as u8);
                self.sets.distance.add(&edge);
            }
        }
    }

    fn add_lattice_volumes(&mut self, counts: [u32; 3], slots: &Slots, bond: &Bond) {
        for (x, y, z) in lattice_points(counts) {
            let Some(corner) = slots.cell(x, y, z) else { continue };
            for tet in KUHN_TETRAHEDRA {
                let corners = tet.map(|k| corner[k]);
                let p = corners.map(|s| self.particles.position[s as usize]);
                let rest = Volume::measure(&p);
                self.sets.volume.add(&bond.constraint(corners, rest));
            }
        }
    }
}

impl Lattice {
    /// What it will need at most, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        let n = self.counts.iter().map(|&c| u128::from(c)).product::<u128>();
        let edges = if self.edges == LatticeEdges::Full { 13 * n } else { 3 * n };
        let tetrahedra = if self.volume.is_some() { 6 * n } else { 0 };
        let neighbors = if self.self_collide { neighbors(n, self.radius, self.spacing) } else { 0 };
        MemoryNeed { particles: n, edges, corners4: tetrahedra, neighbors }
    }
}

/// Half of the 26 neighbours; the three axes first.
const HALF_NEIGHBORS: [[i64; 3]; 13] = [
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

/// Six tetrahedra around the diagonal of a cube whose corner k has bits x, y, z of k.
const KUHN_TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

/// Which particle sits at a lattice point.
struct Slots {
    counts: [u32; 3],
    slots: Vec<u32>,
}

impl Slots {
    fn new(counts: [u32; 3]) -> Self {
        let n = counts.iter().map(|&c| c as usize).product();
        Slots { counts, slots: vec![u32::MAX; n] }
    }
    fn index(&self, x: u32, y: u32, z: u32) -> usize {
        let [nx, ny, _] = self.counts.map(|c| c as usize);
        (z as usize * ny + y as usize) * nx + x as usize
    }
    fn set(&mut self, x: u32, y: u32, z: u32, slot: u32) {
        let index = self.index(x, y, z);
        self.slots[index] = slot;
    }
    fn get(&self, x: i64, y: i64, z: i64) -> Option<u32> {
        let inside = [x, y, z].iter().zip(self.counts).all(|(&k, n)| 0 <= k && k < i64::from(n));
        if !inside {
            return None;
        }
        Some(self.slots[self.index(x as u32, y as u32, z as u32)]).filter(|&s| s != u32::MAX)
    }
    /// The eight corners of the cell above a point, when all exist; corner k has bits x, y, z.
    fn cell(&self, x: u32, y: u32, z: u32) -> Option<[u32; 8]> {
        let mut corners = [0; 8];
        for (k, corner) in corners.iter_mut().enumerate() {
            let bit = |b: usize| (k >> b & 1) as i64;
            *corner =
                self.get(i64::from(x) + bit(0), i64::from(y) + bit(1), i64::from(z) + bit(2))?;
        }
        Some(corners)
    }
    /// Outward triangles of the faces that belong to one cell only.
    fn surface(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
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
