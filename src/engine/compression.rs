//! How much denser the fluid of a world is than it should be.

use super::Engine;
use crate::cpu::collide_environment::{Posed, PosedCollider, find_contacts};
use crate::cpu::fluid::kernel::{OWN, smoothed, volume};
use crate::cpu::fluid::walls;
use crate::world::{Phase, World};
use glam::Vec3;
use serde::Serialize;

/// How far fluid is over its rest density, as a share of that: `max(rho / rho0 - 1, 0)`, solids and
/// walls counted as the solver counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Compression {
    /// The mean over all particles of fluid.
    pub mean: f32,
    /// The largest.
    pub largest: f32,
}

/// What is still taken for beside a wall, in radii beyond the particle's own: as far as its kernel reaches.
const SLACK: f32 = 3.0;

impl Engine {
    /// Nothing where there is no fluid, or no list of what it sees because an edit has just been made.
    pub(super) fn compression(&self) -> Option<Compression> {
        let list = self.neighbors(World::FLUID_LIST).ok()?;
        let particles = &self.world.particles;
        let (at, radius) = (particles.now(), &particles.radius);
        let now = self.world.time();
        let posed: Vec<Posed> =
            self.world.colliders.iter().map(|c| Posed::new(c, now, 0.0)).collect();
        let colliders = self.world.colliders.iter().zip(&posed).zip(0..);
        let colliders =
            colliders.map(|((collider, posed), index)| PosedCollider { collider, posed, index });
        let (mut sum, mut largest, mut count) = (0.0f64, 0.0f32, 0u32);
        let mut planes = Vec::new();
        for i in (0..at.len()).filter(|&i| particles.phase[i] & Phase::FLUID != 0) {
            let base = particles.position[i].truncate();
            planes.clear();
            let (zero, r) = (Vec3::ZERO, radius[i]);
            find_contacts(colliders.clone(), base, zero, zero, r, SLACK * r, &mut planes);
            let part = |slot: u32| {
                let j = slot as usize;
                let apart = at.between(i, j);
                volume(radius[j]) * smoothed::<f32>(apart.into(), r + radius[j], true)
            };
            let seen: f32 = list.entries(i).map(|entry| part(entry.slot)).sum();
            let over = seen + OWN + walls::behind(&planes, zero, r).w - 1.0;
            let over = over.max(0.0);
            sum += f64::from(over);
            largest = largest.max(over);
            count += 1;
        }
        (count > 0).then(|| Compression { mean: (sum / f64::from(count)) as f32, largest })
    }
}
