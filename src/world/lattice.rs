//! A soft body: a lattice of particles.

use super::build::{Bond, Solid, lattice_points, neighbors, unit_point};
use super::cells::{Cells, HALF_NEIGHBORS};
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
        let mut slots = Cells::new(lattice.counts);
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
        let directions = match lattice.edges {
            LatticeEdges::Axis => &HALF_NEIGHBORS[..3],
            LatticeEdges::Full => &HALF_NEIGHBORS,
        };
        self.join_cells(&slots, directions, &lattice.stretch);
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
        Ok(self.built(&lattice.name, ids, Surface { triangles, closed: true, outline, skin: None }))
    }

    fn add_lattice_volumes(&mut self, counts: [u32; 3], slots: &Cells, bond: &Bond) {
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

/// Six tetrahedra around the diagonal of a cube whose corner k has bits x, y, z of k.
const KUHN_TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
