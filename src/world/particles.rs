//! Particles as structure of arrays, in the bytes a GPU will use.
//!
//! A *slot* is where a particle lies in the arrays now; an *id* is its name for life. Slots may be
//! re-ordered or closed up when particles are removed, ids never change and are never reused.

use super::material::MaterialId;
use super::validate::LONGEST;
use crate::error::{Error, Result};
use crate::table::columns;
use glam::{Vec3, Vec4};
use serde::{Deserialize, Serialize};

/// A particle's name for life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ParticleId(pub u32);

/// Marks an id whose particle is gone.
pub(crate) const GONE: u32 = u32::MAX;

/// Group and flags of a particle, packed as the GPU reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Phase(pub u32);

impl Phase {
    /// Largest group number (24 bits).
    pub const MAX_GROUP: u32 = (1 << 24) - 1;
    /// Particles of one group collide with each other.
    pub const SELF_COLLIDE: u32 = 1 << 24;
    /// The particle is fluid.
    pub const FLUID: u32 = 1 << 25;
    /// The particle belongs to a shape-matched body.
    pub const BODY: u32 = 1 << 26;
    /// The particle is moved by the user, not by physics.
    pub const KINEMATIC: u32 = 1 << 27;
    /// The particle has an undeformed place: pairs that rest closer than their radii keep that
    /// distance in self-collision (cloth and lattices; loose grains have no such place).
    pub const SHAPED: u32 = 1 << 28;

    /// A group without self-collision.
    pub fn group(group: u32) -> Self {
        Phase(group & Self::MAX_GROUP)
    }
    /// The same group with its particles colliding with each other.
    pub fn self_colliding(self) -> Self {
        Phase(self.0 | Self::SELF_COLLIDE)
    }
    /// The same group with undeformed places that self-collision respects.
    pub fn shaped(self) -> Self {
        Phase(self.0 | Self::SHAPED)
    }
    /// The group number.
    pub fn group_number(self) -> u32 {
        self.0 & Self::MAX_GROUP
    }
    /// Whether two particles of these phases may touch.
    pub fn collides(self, other: Phase) -> bool {
        self.group_number() != other.group_number() || self.0 & other.0 & Self::SELF_COLLIDE != 0
    }
}

/// What is needed to add a particle.
#[derive(Clone, Copy, Debug)]
pub struct Particle {
    /// Centre, m.
    pub position: Vec3,
    /// Velocity, m/s.
    pub velocity: Vec3,
    /// Mass, kg; infinite for a pinned particle.
    pub mass: f32,
    /// Radius, m.
    pub radius: f32,
    /// Group and flags.
    pub phase: Phase,
}

columns! {
    /// All particles of a world. Indexed by slot.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Particles, row ParticleRow {
        /// [x, y, z, inverse mass] at the start of the step; m and 1/kg (0 = pinned).
        position: Vec4 [finite],
        /// [x, y, z, inverse mass] as the solver moves it.
        predicted: Vec4 [finite],
        /// [x, y, z, 0], m/s.
        velocity: Vec4 [finite],
        /// m.
        radius: f32 [finite],
        /// Group and flags, see [`Phase`].
        phase: u32 [any],
        /// What it is made of, as [`MaterialId`] numbers it.
        material: u32 [any],
        /// Undeformed [x, y, z, 1/kg when not pinned]: self-collision finds the rest distance of a
        /// pair here, and unpinning finds the mass.
        rest: Vec4 [finite],
        /// Where it was when the neighbour lists were made. It is part of the state: lists are
        /// reused while nothing has moved far, and a resumed run must reuse the same ones.
        list_reference: Vec4 [finite],
        /// slot -> id.
        id: u32 [any],
    } besides {
        /// id -> slot, or [`GONE`].
        slot: Vec<u32>,
    }
}

impl Particles {
    /// Most particles at a time: kernels take slots for signed numbers and for floats.
    pub(crate) const MOST: usize = 0x7e00_0000;

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.position.len()
    }
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }
    /// Positions by slot: [x, y, z, inverse mass].
    pub fn positions(&self) -> &[Vec4] {
        &self.position
    }
    /// Where each was when its object was made: [x, y, z, 1/kg when not pinned].
    pub fn rest_positions(&self) -> &[Vec4] {
        &self.rest
    }
    /// Velocities by slot: [x, y, z, 0].
    pub fn velocities(&self) -> &[Vec4] {
        &self.velocity
    }
    /// Radii by slot.
    pub fn radii(&self) -> &[f32] {
        &self.radius
    }
    /// Packed phases by slot.
    pub fn phases(&self) -> &[u32] {
        &self.phase
    }
    /// The material of the particle in a slot.
    pub fn material(&self, slot: usize) -> MaterialId {
        MaterialId(self.material[slot])
    }
    /// Ids by slot.
    pub fn ids(&self) -> &[u32] {
        &self.id
    }
    /// The slot of a particle, or `None` when it was removed or never was.
    pub fn slot(&self, id: ParticleId) -> Option<usize> {
        match self.slot.get(id.0 as usize) {
            Some(&slot) if slot != GONE => Some(slot as usize),
            _ => None,
        }
    }
    /// Slots in order of id: the order of hashes and exports.
    pub fn slots_by_id(&self) -> impl Iterator<Item = usize> + '_ {
        self.slot.iter().filter(|&&s| s != GONE).map(|&s| s as usize)
    }

    pub(crate) fn push(&mut self, particle: &Particle) -> Result<ParticleId> {
        check(particle)?;
        if self.len() >= Self::MOST {
            return Err(Error::TooLarge {
                what: "the world".into(),
                needed: format!("more than {} particles", Self::MOST),
                limit: "that is all the engine can number; use fewer".into(),
            });
        }
        if self.slot.len() >= GONE as usize {
            return Err(Error::TooLarge {
                what: "the world".into(),
                needed: "another particle id".into(),
                limit: format!("all {GONE} ids are used; start a new world"),
            });
        }
        let id = self.slot.len() as u32;
        let w = if particle.mass.is_finite() { 1.0 / particle.mass } else { 0.0 };
        let row = particle.position.extend(w);
        self.slot.push(self.len() as u32);
        self.push_row(ParticleRow {
            position: row,
            predicted: row,
            velocity: particle.velocity.extend(0.0),
            radius: particle.radius,
            phase: particle.phase.0,
            material: MaterialId::DEFAULT.0,
            rest: row,
            list_reference: row,
            id,
        });
        Ok(ParticleId(id))
    }

    /// Puts the particle of slot `order[k]` into slot k; `order` holds every slot once. Returns old
    /// slot -> new slot.
    pub(crate) fn permute(&mut self, order: &[u32]) -> Vec<u32> {
        self.permute_rows(order);
        let mut map = vec![GONE; order.len()];
        for (new, &old) in order.iter().enumerate() {
            map[old as usize] = new as u32;
            self.slot[self.id[new] as usize] = new as u32;
        }
        map
    }

    /// Keeps the particles whose slot is marked, closing up the arrays in order.
    /// Returns old slot -> new slot (or [`GONE`]).
    pub(crate) fn retain(&mut self, keep: &[bool]) -> Vec<u32> {
        let mut next = 0;
        let map: Vec<u32> = keep
            .iter()
            .zip(&self.id)
            .map(|(&kept, &id)| {
                let slot = if kept { next } else { GONE };
                next += u32::from(kept);
                self.slot[id as usize] = slot;
                slot
            })
            .collect();
        self.retain_rows(keep);
        map
    }
}

fn check(particle: &Particle) -> Result<()> {
    let Particle { position, velocity, mass, radius, phase: _ } = particle;
    if !position.is_finite() {
        return Err(Error::value("position", format!("{position} is not finite")));
    }
    if !velocity.is_finite() {
        return Err(Error::value("velocity", format!("{velocity} is not finite")));
    }
    if mass.is_nan() || *mass < 1e-30 {
        return Err(Error::value(
            "mass",
            format!("{mass} kg is not legal; expected at least 1e-30 kg, or infinity to pin it"),
        ));
    }
    if !(*radius > 0.0 && *radius <= LONGEST) {
        return Err(Error::value(
            "radius",
            format!("{radius} m is not legal; expected above 0 and at most {LONGEST} m"),
        ));
    }
    Ok(())
}
