//! Changing a world between two steps: add, remove, move, pin and drag particles, add and cut
//! constraints. Everything here checks its input and leaves the world legal.

use super::{
    Bond, ConstraintRows, Kind, OnBone, Particle, ParticleId, Path, Phase, Pin, Places, SkeletonId,
    World,
};
use crate::error::{Error, Result};
use crate::kind::{Sets, Stored, Visit};
use crate::table::Buffer;
use glam::{Vec3, Vec4};

impl World {
    fn slot_of(&self, id: ParticleId) -> Result<usize> {
        self.particles.slot(id).ok_or_else(|| {
            Error::value("particle", format!("there is no particle {} (removed?)", id.0))
        })
    }

    /// Position or mass of a particle changed.
    fn moved(&mut self, slot: usize) {
        for buffer in [Buffer::Position, Buffer::Start, Buffer::Predicted] {
            self.changes.mark(buffer, slot);
        }
    }

    /// Adds a particle.
    pub fn add_particle(&mut self, particle: &Particle) -> Result<ParticleId> {
        self.particle_revision += 1;
        self.changes.mark_everything();
        self.particles.push(particle)
    }

    /// Removes particles with every constraint and pin on them, and with the triangles of their
    /// object's surface; unknown ids are an error and nothing is removed. The other ids stay as
    /// they are. An object that has lost all its particles is there until it is removed.
    pub fn remove_particles(&mut self, ids: &[ParticleId]) -> Result<()> {
        let mut keep = vec![true; self.particles.len()];
        for &id in ids {
            keep[self.slot_of(id)?] = false;
        }
        let map = self.particles.retain(&keep);
        self.changes.mark_everything();
        let count = self.particles.len();
        for rows in self.sets.all_mut() {
            rows.remap(&map, count);
        }
        self.pins.retain_mut(|pin| {
            pin.particle = map[pin.particle as usize];
            pin.particle != super::GONE
        });
        self.contact_memory.remap(&map, count);
        self.bodies.remap(&map, &self.particles);
        self.forget_paths();
        self.objects.forget(&self.particles);
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
        self.particles.start[slot] = Vec3::ZERO.extend(w);
        self.particles.predicted[slot] = Vec3::ZERO.extend(w);
        self.moved(slot);
        Ok(())
    }

    /// Sets a particle's velocity.
    pub fn set_velocity(&mut self, id: ParticleId, velocity: Vec3) -> Result<()> {
        let slot = self.slot_of(id)?;
        if !velocity.is_finite() {
            return Err(Error::value("velocity", format!("{velocity} is not finite")));
        }
        self.particles.velocity[slot] = velocity.extend(0.0);
        self.changes.mark(Buffer::Velocity, slot);
        Ok(())
    }

    /// Puts a particle in another collision group, or changes what it meets there. Who is joined
    /// stays so.
    pub fn set_phase(&mut self, id: ParticleId, phase: Phase) -> Result<()> {
        let slot = self.slot_of(id)?;
        let joined = self.particles.phase[slot] & Phase::JOINED;
        self.particles.phase[slot] = phase.0 | joined;
        self.changes.mark(Buffer::Phase, slot);
        self.particle_revision += 1;
        Ok(())
    }

    /// Fixes a particle where it is: infinite mass.
    pub fn pin(&mut self, id: ParticleId) -> Result<()> {
        let slot = self.slot_of(id)?;
        self.particles.position[slot].w = 0.0;
        self.particles.start[slot].w = 0.0;
        self.particles.predicted[slot].w = 0.0;
        self.particles.velocity[slot] = Vec4::ZERO;
        self.moved(slot);
        self.changes.mark(Buffer::Velocity, slot);
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
        self.particles.start[slot].w = w;
        self.particles.predicted[slot].w = w;
        self.moved(slot);
        self.particle_revision += 1;
        Ok(())
    }

    /// Pulls a particle towards a point with a spring of `compliance` m/N, from now on.
    /// Call again to move the point, [`World::release`] to let go.
    pub fn drag(&mut self, id: ParticleId, target: Vec3, compliance: f32) -> Result<()> {
        self.hold(id, target, None, compliance)?;
        self.forget_paths();
        Ok(())
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
        // A path that goes with a bone is nobody else's.
        let of_bone =
            |k: usize| self.pins.iter().any(|p| p.bone.is_some() && p.path == Some(k as u32));
        let mut same = (0..self.paths.len()).filter(|&k| self.paths[k] == path);
        let index = same.find(|&k| !of_bone(k)).unwrap_or(self.paths.len());
        self.hold(id, offset, Some(index as u32), compliance)?;
        if index == self.paths.len() {
            self.paths.push(path);
        }
        self.forget_paths();
        Ok(())
    }

    /// Holds a particle to a bone of a character: it goes with the bone as it lies to it now.
    ///
    /// # Errors
    /// When there is no such particle, skeleton or bone, or the particle is fixed.
    pub fn hold_on_bone(
        &mut self,
        id: ParticleId,
        skeleton: SkeletonId,
        bone: u32,
        compliance: f32,
    ) -> Result<()> {
        let at = self.particles.now().of(self.slot_of(id)?);
        let Some(pose) = self.skeleton(skeleton)?.bone_at(bone, self.time) else {
            return Err(Error::value("bone", format!("there is no bone {bone}")));
        };
        self.hold(id, Vec3::ZERO, Some(self.paths.len() as u32), compliance)?;
        self.paths.push(Path { keys: vec![(self.time, at)], looped: false });
        let slot = self.slot_of(id)? as u32;
        if let Some(pin) = self.pins.iter_mut().find(|pin| pin.particle == slot) {
            pin.bone = Some(OnBone { skeleton, bone, offset: pose.inverse_point(at) });
        }
        self.forget_paths();
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
        let (stiffness, lambda) = (1.0, 0.0);
        let pin = Pin { particle: slot, target, path, bone: None, stiffness, compliance, lambda };
        match self.pins.iter_mut().find(|p| p.particle == slot) {
            Some(old) => *old = pin,
            None => self.pins.push(pin),
        }
        Ok(())
    }

    /// Drops the paths that no pin is on any more.
    pub(super) fn forget_paths(&mut self) {
        let mut held = vec![false; self.paths.len()];
        for path in self.pins.iter().filter_map(|pin| pin.path) {
            held[path as usize] = true;
        }
        if !held.contains(&false) {
            return;
        }
        let mut kept = held.iter();
        self.paths.retain(|_| kept.next() == Some(&true));
        // The paths before it that are left are as many as the number of a path is now.
        let mut left = 0;
        let number: Vec<u32> = held
            .iter()
            .map(|&held| {
                left += u32::from(held);
                left.saturating_sub(1)
            })
            .collect();
        for path in self.pins.iter_mut().filter_map(|pin| pin.path.as_mut()) {
            *path = number[*path as usize];
        }
    }

    /// Lets go of a dragged or held particle. True when it was held.
    pub fn release(&mut self, id: ParticleId) -> Result<bool> {
        let slot = self.slot_of(id)? as u32;
        let before = self.pins.len();
        self.pins.retain(|p| p.particle != slot);
        self.forget_paths();
        Ok(self.pins.len() < before)
    }

    /// Adds a distance constraint between two particles; `rest` in metres, or `None` for the
    /// distance they have now.
    pub fn add_distance(
        &mut self,
        a: ParticleId,
        b: ParticleId,
        rest: Option<f32>,
        bond: &Bond,
    ) -> Result<()> {
        if let Some(rest) = rest.filter(|rest| !(rest.is_finite() && *rest >= 0.0)) {
            return Err(Error::value("rest", format!("{rest} m is not legal; expected >= 0")));
        }
        self.add_constraint(Kind::Distance, &[a, b], rest, bond)
    }

    /// Adds a bending hinge: `wings` are the tips of two triangles over the `edge`.
    pub fn add_bend(
        &mut self,
        wings: [ParticleId; 2],
        edge: [ParticleId; 2],
        bond: &Bond,
    ) -> Result<()> {
        self.add_constraint(Kind::Bend, &[wings[0], wings[1], edge[0], edge[1]], None, bond)
    }

    /// Adds a tetrahedron that keeps the volume it has now.
    pub fn add_volume(&mut self, particles: [ParticleId; 4], bond: &Bond) -> Result<()> {
        self.add_constraint(Kind::Volume, &particles, None, bond)
    }

    /// Adds a constraint of any kind but a pin, between as many different particles as the kind
    /// takes ([`Kind::corners`]). `rest` is in the unit of the kind; `None` takes what the
    /// constraint measures now.
    ///
    /// ```
    /// use motes::{Bond, Cloth, Kind, World};
    /// let mut world = World::new();
    /// let ids = world.add_cloth(&Cloth::default())?;
    /// let before = world.count(Kind::Distance);
    /// world.add_constraint(Kind::Distance, &[ids[0], ids[9]], None, &Bond::default())?;
    /// assert_eq!(world.count(Kind::Distance), before + 1);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn add_constraint(
        &mut self,
        kind: Kind,
        particles: &[ParticleId],
        rest: Option<f32>,
        bond: &Bond,
    ) -> Result<()> {
        if kind == Kind::Pin {
            return Err(Error::value("kind", "a pin has a target; use World::drag"));
        }
        bond.validate("bond")?;
        let mut slots = Vec::with_capacity(particles.len());
        for &id in particles {
            slots.push(self.slot_of(id)? as u32);
        }
        let mut sorted = slots.clone();
        sorted.sort_unstable();
        if slots.len() != kind.corners() || sorted.windows(2).any(|w| w[0] == w[1]) {
            let count = ["no", "one", "two", "three", "four"][kind.corners()];
            let message =
                format!("a {kind} constraint needs {count} different particles; give as many");
            return Err(Error::value("particles", message));
        }
        if let Some(rest) = rest.filter(|rest| !rest.is_finite()) {
            return Err(Error::value("rest", format!("{rest} is not finite; give a number")));
        }
        let at = self.particles.now();
        let mut add = Add { sets: &mut self.sets, at, slots: &slots, rest, bond, refused: None };
        kind.visit(&mut add);
        match add.refused {
            None => {
                for slot in slots.into_iter().map(|slot| slot as usize) {
                    self.particles.phase[slot] |= Phase::JOINED;
                    self.changes.mark(Buffer::Phase, slot);
                }
                Ok(())
            }
            Some(measured) => Err(Error::value(
                "rest",
                format!(
                    "the particles are too far apart: the {kind} between them measures {measured}; \
                     put them nearer, or give a rest value where the kind takes one"
                ),
            )),
        }
    }

    /// Sorts newly added constraints into their colours. It moves every row, so builders leave it
    /// to the next step, which does it once for all objects that were added since.
    pub(crate) fn commit(&mut self) {
        self.sets.all_mut().into_iter().for_each(ConstraintRows::commit);
    }

    /// Cuts every constraint of a kind for which `cut` says so, given its particles' positions.
    /// Returns how many were cut.
    pub fn cut(&mut self, kind: Kind, mut cut: impl FnMut(&[Vec3]) -> bool) -> usize {
        self.commit();
        let position = &self.particles.position;
        let at = |slot: u32| position[slot as usize].truncate();
        let Some(rows) = self.sets.of_mut(kind) else {
            let before = self.pins.len();
            self.pins.retain(|pin| !cut(&[at(pin.particle)]));
            let cut = before - self.pins.len();
            self.forget_paths();
            return cut;
        };
        let mut points = Vec::with_capacity(rows.corners());
        let gone: Vec<bool> = (0..rows.len())
            .map(|i| {
                points.clear();
                points.extend(rows.slots(i).map(at));
                cut(&points)
            })
            .collect();
        rows.remove_marked(&gone)
    }
}

/// Adds one constraint over `slots`, which are as many as the kind takes.
struct Add<'a> {
    sets: &'a mut Sets,
    at: Places<'a>,
    slots: &'a [u32],
    rest: Option<f32>,
    bond: &'a Bond,
    /// What was measured, where it is no rest value.
    refused: Option<f32>,
}

impl Visit for Add<'_> {
    fn visit<K: Stored<N>, const N: usize>(&mut self) {
        let slots: [u32; N] = std::array::from_fn(|k| self.slots[k]);
        let now = || K::measure(&self.at.corners(slots));
        let rest = self.rest.unwrap_or_else(now);
        if !rest.is_finite() {
            self.refused = Some(rest);
            return;
        }
        K::set_mut(self.sets).add(&self.bond.constraint(slots, rest));
    }
}
