//! Changing a world between two steps: add, remove, move, pin and drag particles, add and cut
//! constraints. Everything here checks its input and leaves the world legal.

use super::{Kind, Particle, ParticleId, Path, Phase, Pin, World};
use crate::error::{Error, Result};
use glam::Vec3;

impl World {
    fn slot_of(&self, id: ParticleId) -> Result<usize> {
        self.particles.slot(id).ok_or_else(|| {
            Error::value("particle", format!("there is no particle {} (removed?)", id.0))
        })
    }

    /// Adds a particle.
    pub fn add_particle(&mut self, particle: &Particle) -> Result<ParticleId> {
        self.particle_revision += 1;
        self.particles.push(particle)
    }

    /// Removes particles with every constraint and pin on them; unknown ids are an error and
    /// nothing is removed. The other ids stay as they are.
    pub fn remove_particles(&mut self, ids: &[ParticleId]) -> Result<()> {
        let mut keep = vec![true; self.particles.len()];
        for &id in ids {
            keep[self.slot_of(id)?] = false;
        }
        let mut reference = self.list_reference.iter().zip(&keep);
        self.list_reference = reference.by_ref().filter(|(_, k)| **k).map(|(r, _)| *r).collect();
        let map = self.particles.retain(&keep);
        let count = self.particles.len();
        self.distance.remap(&map, count);
        self.bend.remap(&map, count);
        self.volume.remap(&map, count);
        self.pins.retain_mut(|pin| {
            pin.particle = map[pin.particle as usize];
            pin.particle != super::GONE
        });
        self.particle_revision += 1;
        Ok(())
    }

    /// Puts a particle somewhere, at rest lists and all; its velocity stays.
    pub fn set_position(&mut self, id: ParticleId, position: Vec3) -> Result<()> {
        let slot = self.slot_of(id)?;
        if !position.is_finite() {
            return Err(Error::value("position", format!("{position} is not finite")));
        }
        let w = self.particles.position[slot].w;
        self.particles.position[slot] = position.extend(w);
        self.particles.predicted[slot] = position.extend(w);
        Ok(())
    }

    /// Sets a particle's velocity.
    pub fn set_velocity(&mut self, id: ParticleId, velocity: Vec3) -> Result<()> {
        let slot = self.slot_of(id)?;
        if !velocity.is_finite() {
            return Err(Error::value("velocity", format!("{velocity} is not finite")));
        }
        self.particles.velocity[slot] = velocity.extend(0.0);
        Ok(())
    }

    /// Puts a particle in another collision group, or changes what it meets there.
    pub fn set_phase(&mut self, id: ParticleId, phase: Phase) -> Result<()> {
        let slot = self.slot_of(id)?;
        self.particles.phase[slot] = phase.0;
        self.particle_revision += 1;
        Ok(())
    }

    /// Fixes a particle where it is: infinite mass.
    pub fn pin(&mut self, id: ParticleId) -> Result<()> {
        let slot = self.slot_of(id)?;
        self.particles.position[slot].w = 0.0;
        self.particles.predicted[slot].w = 0.0;
        self.particles.velocity[slot] = glam::Vec4::ZERO;
        self.particle_revision += 1;
        Ok(())
    }

    /// Gives a pinned particle its mass back.
    pub fn unpin(&mut self, id: ParticleId) -> Result<()> {
        let slot = self.slot_of(id)?;
        let w = self.particles.rest[slot].w;
        if w == 0.0 {
            return Err(Error::value(
                "particle",
                format!("particle {} was made with infinite mass; give it one instead", id.0),
            ));
        }
        self.particles.position[slot].w = w;
        self.particles.predicted[slot].w = w;
        self.particle_revision += 1;
        Ok(())
    }

    /// Pulls a particle towards a point with a spring of `compliance` m/N, from now on.
    /// Call again to move the point, [`World::release`] to let go.
    pub fn drag(&mut self, id: ParticleId, target: Vec3, compliance: f32) -> Result<()> {
        self.hold(id, target, None, compliance)
    }

    /// Holds a particle on a moving point: the path plus `offset`.
    pub fn hold_on_path(
        &mut self,
        id: ParticleId,
        path: Path,
        offset: Vec3,
        compliance: f32,
    ) -> Result<()> {
        if !path.is_legal() {
            return Err(Error::value(
                "path",
                "needs at least one key, finite, with strictly increasing times",
            ));
        }
        let index = self.paths.iter().position(|p| *p == path).unwrap_or(self.paths.len());
        self.hold(id, offset, Some(index as u32), compliance)?;
        if index == self.paths.len() {
            self.paths.push(path);
        }
        Ok(())
    }

    fn hold(
        &mut self,
        id: ParticleId,
        target: Vec3,
        path: Option<u32>,
        compliance: f32,
    ) -> Result<()> {
        let slot = self.slot_of(id)? as u32;
        if self.particles.position[slot as usize].w == 0.0 {
            return Err(Error::value(
                "pin",
                format!("particle {} is fixed; unpin it first, or set its position", id.0),
            ));
        }
        if !(target.is_finite() && compliance.is_finite() && compliance >= 0.0) {
            return Err(Error::value(
                "pin",
                "the target must be finite and the compliance at least 0",
            ));
        }
        let pin = Pin { particle: slot, target, path, stiffness: 1.0, compliance, lambda: 0.0 };
        match self.pins.iter_mut().find(|p| p.particle == slot) {
            Some(old) => *old = pin,
            None => self.pins.push(pin),
        }
        Ok(())
    }

    /// Lets go of a dragged or held particle. True when it was held.
    pub fn release(&mut self, id: ParticleId) -> Result<bool> {
        let slot = self.slot_of(id)? as u32;
        let before = self.pins.len();
        self.pins.retain(|p| p.particle != slot);
        Ok(self.pins.len() < before)
    }

    /// Adds a distance constraint between two particles; `rest` in metres, or `None` for the
    /// distance they have now.
    pub fn add_distance(
        &mut self,
        a: ParticleId,
        b: ParticleId,
        rest: Option<f32>,
        material: &super::Material,
    ) -> Result<()> {
        material.validate("material")?;
        let slots = [self.slot_of(a)?, self.slot_of(b)?];
        if slots[0] == slots[1] {
            return Err(Error::value("particles", "a constraint needs two different particles"));
        }
        let [pa, pb] = slots.map(|s| self.particles.position[s].truncate());
        let rest = rest.unwrap_or_else(|| pa.distance(pb));
        if !(rest.is_finite() && rest >= 0.0) {
            return Err(Error::value("rest", format!("{rest} m is not legal; expected >= 0")));
        }
        self.distance.add(&material.constraint(slots.map(|s| s as u32), rest));
        Ok(())
    }

    /// Adds a bending hinge: `wings` are the tips of two triangles over the `edge`.
    pub fn add_bend(
        &mut self,
        wings: [ParticleId; 2],
        edge: [ParticleId; 2],
        material: &super::Material,
    ) -> Result<()> {
        let slots = self.distinct_slots([wings[0], wings[1], edge[0], edge[1]])?;
        material.validate("material")?;
        let p = slots.map(|s| self.particles.position[s as usize]);
        let rest = crate::cpu::solve_bend::angle(&p);
        self.bend.add(&material.constraint(slots, rest));
        Ok(())
    }

    /// Adds a tetrahedron that keeps the volume it has now.
    pub fn add_volume(
        &mut self,
        particles: [ParticleId; 4],
        material: &super::Material,
    ) -> Result<()> {
        let slots = self.distinct_slots(particles)?;
        material.validate("material")?;
        let p = slots.map(|s| self.particles.position[s as usize]);
        let rest = crate::cpu::solve_volume::volume(&p);
        self.volume.add(&material.constraint(slots, rest));
        Ok(())
    }

    fn distinct_slots(&self, ids: [ParticleId; 4]) -> Result<[u32; 4]> {
        let mut slots = [0; 4];
        for (slot, id) in slots.iter_mut().zip(ids) {
            *slot = self.slot_of(id)? as u32;
        }
        let mut sorted = slots;
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0] == w[1]) {
            return Err(Error::value("particles", "the four particles must be different"));
        }
        Ok(slots)
    }

    /// Sorts newly added constraints into their colours. A step does it by itself.
    pub(crate) fn commit(&mut self) {
        self.distance.commit();
        self.bend.commit();
        self.volume.commit();
    }

    /// Cuts every constraint of a kind for which `cut` says so, given its particles' positions.
    /// Returns how many were cut.
    pub fn cut(&mut self, kind: Kind, mut cut: impl FnMut(&[Vec3]) -> bool) -> usize {
        self.commit();
        let at = |s: u32| self.particles.position[s as usize].truncate();
        match kind {
            Kind::Distance => {
                let gone: Vec<bool> = (0..self.distance.len())
                    .map(|i| cut(&self.distance.particles(i).map(at)))
                    .collect();
                self.distance.remove_marked(&gone)
            }
            Kind::Bend | Kind::Volume => {
                let set = if kind == Kind::Bend { &self.bend } else { &self.volume };
                let gone: Vec<bool> =
                    (0..set.len()).map(|i| cut(&set.particles(i).map(at))).collect();
                if kind == Kind::Bend {
                    self.bend.remove_marked(&gone)
                } else {
                    self.volume.remove_marked(&gone)
                }
            }
            Kind::Pin => {
                let before = self.pins.len();
                let position = &self.particles.position;
                self.pins.retain(|p| !cut(&[position[p.particle as usize].truncate()]));
                before - self.pins.len()
            }
        }
    }
}
