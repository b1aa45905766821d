//! Loose grains.

use super::build::{Solid, lattice_points, neighbors, unit_point};
use super::particles::Phase;
use super::{Built, MemoryNeed, Particle, Surface, World};
use crate::error::Result;
use glam::Vec3;

/// Loose grains on a jittered lattice.
#[derive(Clone, Debug)]
pub struct Grains {
    /// Name in reports.
    pub name: String,
    /// Lower corner of the lattice (centre of its first grain), m.
    pub origin: Vec3,
    /// Grains along x, y, z.
    pub counts: [u32; 3],
    /// Distance between neighbours, m.
    pub spacing: f32,
    /// Mass of one grain, kg.
    pub mass: f32,
    /// Radius of one grain, m.
    pub radius: f32,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Which lattice points are kept.
    pub solid: Solid,
    /// Largest random displacement, as a share of the spacing.
    pub jitter: f32,
    /// Seed of the displacement.
    pub seed: u64,
}

impl Default for Grains {
    fn default() -> Self {
        Grains {
            name: "grains".into(),
            origin: Vec3::ZERO,
            counts: [10, 10, 10],
            spacing: 0.1,
            mass: 0.1,
            radius: 0.05,
            velocity: Vec3::ZERO,
            solid: Solid::Box,
            jitter: 0.0,
            seed: 1,
        }
    }
}

impl World {
    /// Adds loose grains. Returns their handle and the grains.
    pub fn add_grains(&mut self, grains: &Grains) -> Result<Built> {
        self.validate_grains(grains)?;
        let phase = Phase::group(self.new_group()).self_colliding();
        let mut random = SplitMix(grains.seed);
        let mut ids = Vec::new();
        for (x, y, z) in lattice_points(grains.counts) {
            // Drawn for every point, kept or not, so that a shape does not change the others.
            let push = Vec3::new(random.signed(), random.signed(), random.signed());
            if !grains.solid.contains(unit_point(grains.counts, x, y, z)) {
                continue;
            }
            let local = Vec3::new(x as f32, y as f32, z as f32) + push * grains.jitter;
            ids.push(self.add_particle(&Particle {
                position: grains.origin + local * grains.spacing,
                velocity: grains.velocity,
                mass: grains.mass,
                radius: grains.radius,
                phase,
            })?);
        }
        Ok(self.built(&grains.name, ids, Surface::default()))
    }
}

impl Grains {
    /// What it will need at most, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        let n = self.counts.iter().map(|&c| u128::from(c)).product::<u128>();
        let neighbors = neighbors(n, self.radius, self.spacing);
        MemoryNeed { particles: n, edges: 0, corners4: 0, neighbors }
    }
}

/// A small, well-mixed generator (Steele et al. 2014): the same numbers on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in -1..1.
    fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}
