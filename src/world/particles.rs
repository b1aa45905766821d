//! Particles as structure of arrays, in the bytes a GPU will use.
//!
//! A *slot* is where a particle lies in the arrays now; an *id* is its name for life. Slots may be
//! re-ordered or closed up when particles are removed, ids never change. An id is given once: ids
//! count up in 64 bits, which never run out, so the id of a dead particle is found nowhere and needs
//! no generation beside it. Only the living are kept, in order of id, so a world that adds and
//! removes for ever does not grow.

use super::material::MaterialId;
use super::validate::LONGEST;
use crate::error::{Error, Result};
use crate::table::{columns, give_back};
use glam::{Vec3, Vec4};
use serde::{Deserialize, Serialize};

/// A particle's name for life. No other particle of the world ever has it: the id of one that was
/// removed is an error, or `None` where that is what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ParticleId(pub u64);

/// Marks the new slot of a particle that is gone.
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
    /// A constraint was added by hand between the particle and others ([`World::add_constraint`]).
    /// It stays when that constraint breaks.
    ///
    /// [`World::add_constraint`]: crate::World::add_constraint
    pub const JOINED: u32 = 1 << 29;
    /// The particle belongs to a body that answers to obstacles and to bodies as a whole. A step sets it.
    pub(crate) const RIGID: u32 = 1 << 30;
    /// What a loose grain has none of.
    pub(crate) const BOUND: u32 =
        Self::FLUID | Self::BODY | Self::KINEMATIC | Self::SHAPED | Self::JOINED;

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
    /// Whether the particle is by itself: no part of a cloth, a body or a fluid, and joined to
    /// nobody.
    pub fn is_loose(self) -> bool {
        self.0 & Self::BOUND == 0
    }
    /// Whether particles of these phases push each other: rigid bodies meet each other as a whole.
    pub(crate) fn meets(self, other: Phase) -> bool {
        self.collides(other) && self.0 & other.0 & Self::RIGID == 0
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

/// Where particles are: their `position`, and how far they are from it.
///
/// Far from the origin a place is rounded by more than a substep moves a particle. So nobody adds the
/// two up who wants to know how two particles lie to each other: differences are taken of each first.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub position: &'a [Vec4],
    pub moved: &'a [Vec4],
}

impl Places<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.position.len()
    }
    /// Where a particle is, rounded, m.
    #[inline(always)]
    pub fn of(&self, i: usize) -> Vec3 {
        (self.position[i] + self.moved[i]).truncate()
    }
    /// From particle j to particle i, m.
    #[inline(always)]
    pub fn between(&self, i: usize, j: usize) -> Vec3 {
        ((self.position[i] - self.position[j]) + (self.moved[i] - self.moved[j])).truncate()
    }
    /// Where some particles are, seen from the first of them, with their inverse masses.
    #[inline(always)]
    pub fn corners<const N: usize>(&self, slots: [u32; N]) -> [Vec4; N] {
        let first = slots[0] as usize;
        slots.map(|slot| {
            let slot = slot as usize;
            self.between(slot, first).extend(self.position[slot].w)
        })
    }
}

columns! {
    /// All particles of a world. Indexed by slot.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Particles, row ParticleRow {
        /// [x, y, z, inverse mass] at the start of the step; m and 1/kg (0 = pinned). It stays while a
        /// step runs: all that moves is counted from here, in small numbers, so that precision does
        /// not depend on the distance from the origin.
        position: Vec4 [finite],
        /// How far from `position` the substep began: [x, y, z, inverse mass].
        /// Between steps it is what rounding left over when the step's moves were added up.
        start: Vec4 [finite],
        /// How far from `position` the solver has moved it: [x, y, z, inverse mass].
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
        id: u64 [any],
    } besides {
        /// Every slot once, in order of id.
        by_id: Vec<u32>,
        /// The id that the next particle gets.
        next_id: u64,
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
    /// Where the particles are now.
    pub(crate) fn now(&self) -> Places<'_> {
        Places { position: &self.position, moved: &self.start }
    }
    /// Where the solver has moved them.
    pub(crate) fn predictions(&self) -> Places<'_> {
        Places { position: &self.position, moved: &self.predicted }
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
    pub fn ids(&self) -> &[u64] {
        &self.id
    }
    /// The slot of a particle, or `None` when it was removed or never was.
    pub fn slot(&self, id: ParticleId) -> Option<usize> {
        self.rank(id.0).map(|rank| self.by_id[rank] as usize)
    }
    /// Slots in order of id, which is the order in which particles were added: that of hashes and
    /// exports.
    pub fn slots_by_id(&self) -> impl Iterator<Item = usize> + '_ {
        self.by_id.iter().map(|&s| s as usize)
    }

    /// How many living particles are older than the one of this id.
    fn rank(&self, id: u64) -> Option<usize> {
        let id_at = |rank: usize| self.id[self.by_id[rank] as usize];
        let end = self.by_id.len().checked_sub(1)?;
        let (after, before) = (id.checked_sub(id_at(0))?, id_at(end).checked_sub(id)?);
        // Ids rise by one at least, so their distances to the first and to the last tell the highest
        // and the lowest rank there can be. The two are as far apart as ids are missing: in a world
        // that nothing was removed from, this is no search at all.
        let highest = after.min(end as u64) as usize;
        let lowest = end - before.min(end as u64) as usize;
        let between = &self.by_id[lowest..=highest];
        let found = between.binary_search_by_key(&id, |&slot| self.id[slot as usize]);
        found.ok().map(|k| lowest + k)
    }

    /// Whether all of `count` particles with ids in sequence are alive.
    pub(crate) fn all_live(&self, first: u64, count: u32) -> bool {
        let Some(more) = count.checked_sub(1) else { return true };
        let last = first.checked_add(u64::from(more)).and_then(|last| self.rank(last));
        let first = self.rank(first);
        first.zip(last).is_some_and(|(first, last)| last - first == more as usize)
    }

    /// Whether every particle has an id of its own that was given already, and is found by it.
    pub(crate) fn ids_are_sound(&self) -> bool {
        let count = self.len();
        let listed = self.by_id.len() == count
            && self.id.len() == count
            && self.by_id.iter().all(|&slot| (slot as usize) < count);
        // Ids that rise are all different, and so are the slots they are found in.
        let id = |slot: &u32| self.id[*slot as usize];
        listed
            && self.next_id < 1 << 62
            && self.by_id.windows(2).all(|pair| id(&pair[0]) < id(&pair[1]))
            && self.by_id.last().is_none_or(|last| id(last) < self.next_id)
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
        Ok(self.put(self.len(), particle, MaterialId::DEFAULT))
    }

    /// Makes room for so many particles in all.
    pub(crate) fn make_room(&mut self, count: usize) {
        self.make_room_for_rows(count);
        self.by_id.reserve_exact(count.saturating_sub(self.by_id.len()));
    }

    /// Puts a particle into a slot that nobody is in: one that was left, or the one behind the last.
    pub(crate) fn put(
        &mut self,
        slot: usize,
        particle: &Particle,
        material: MaterialId,
    ) -> ParticleId {
        let id = self.next_id;
        self.next_id += 1;
        let w = if particle.mass.is_finite() { 1.0 / particle.mass } else { 0.0 };
        let place = particle.position.extend(w);
        let row = ParticleRow {
            position: place,
            start: Vec3::ZERO.extend(w),
            predicted: Vec3::ZERO.extend(w),
            velocity: particle.velocity.extend(0.0),
            radius: particle.radius,
            phase: particle.phase.0,
            material: material.0,
            rest: place,
            list_reference: place,
            id,
        };
        self.by_id.push(slot as u32);
        match slot == self.len() {
            true => self.push_row(row),
            false => self.replace_row(slot, row),
        }
        ParticleId(id)
    }

    /// The particles in some slots are found by their ids no more. Their slots are left open: what
    /// follows must put somebody into each ([`Particles::put`], [`Particles::settle`]).
    pub(crate) fn leave(&mut self, slots: &[u32]) {
        // No particle ever has this number.
        slots.iter().for_each(|&slot| self.id[slot as usize] = u64::MAX);
        let Particles { by_id, id, .. } = self;
        by_id.retain(|&slot| id[slot as usize] != u64::MAX);
    }

    /// The last particle goes to a slot that was left.
    pub(crate) fn settle(&mut self, slot: usize) {
        let last = self.len() - 1;
        if let Some(rank) = self.rank(self.id[last]) {
            self.by_id[rank] = slot as u32;
        }
        self.copy_row(last, slot);
        self.cut_rows(last);
    }

    /// Puts the particle of slot `order[k]` into slot k; `order` holds every slot once. Returns old
    /// slot -> new slot.
    pub(crate) fn permute(&mut self, order: &[u32]) -> Vec<u32> {
        self.permute_rows(order);
        let mut map = vec![GONE; order.len()];
        for (new, &old) in order.iter().enumerate() {
            map[old as usize] = new as u32;
        }
        self.by_id.iter_mut().for_each(|slot| *slot = map[*slot as usize]);
        map
    }

    /// Keeps the particles whose slot is marked, closing up the arrays in order.
    /// Returns old slot -> new slot (or [`GONE`]).
    pub(crate) fn retain(&mut self, keep: &[bool]) -> Vec<u32> {
        let mut next = 0;
        let map: Vec<u32> = keep
            .iter()
            .map(|&kept| {
                let slot = if kept { next } else { GONE };
                next += u32::from(kept);
                slot
            })
            .collect();
        self.retain_rows(keep);
        self.by_id.retain_mut(|slot| {
            *slot = map[*slot as usize];
            *slot != GONE
        });
        give_back(&mut self.by_id);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ball() -> Particle {
        let (position, velocity) = (Vec3::ZERO, Vec3::ZERO);
        Particle { position, velocity, mass: 1.0, radius: 0.1, phase: Phase::default() }
    }

    fn some(count: usize) -> Particles {
        let mut particles = Particles::default();
        (0..count).for_each(|_| assert!(particles.push(&ball()).is_ok()));
        particles
    }

    /// The living are found and nobody else, wherever they lie and whoever has gone.
    #[test]
    fn ids_find_the_living_and_only_them() {
        let mut particles = some(50);
        let mut gone = Vec::new();
        for round in 0..40u64 {
            let count = particles.len() as u32;
            let order: Vec<u32> = (0..count).rev().collect();
            particles.permute(&order);
            let leaves = |id: u64| (id * 7 + round).is_multiple_of(5);
            gone.extend(particles.id.iter().copied().filter(|&id| leaves(id)));
            let keep: Vec<bool> = particles.id.iter().map(|&id| !leaves(id)).collect();
            particles.retain(&keep);
            let newcomers = if round == 20 { 0 } else { round % 9 };
            (0..newcomers).for_each(|_| assert!(particles.push(&ball()).is_ok()));
            assert!(particles.ids_are_sound());
            for (slot, &id) in particles.id.iter().enumerate() {
                assert_eq!(particles.slot(ParticleId(id)), Some(slot));
            }
            let found = |id: u64| particles.slot(ParticleId(id)).is_some();
            assert!(!gone.iter().any(|&id| found(id)));
            assert!(!found(particles.next_id) && !found(u64::MAX));
            for first in 0..particles.next_id + 2 {
                for count in 0..7 {
                    let all = (0..u64::from(count)).all(|k| found(first + k));
                    assert_eq!(particles.all_live(first, count), all, "{first} {count}");
                }
            }
        }
        assert!(gone.len() > 100);
        let nobody = vec![false; particles.len()];
        particles.retain(&nobody);
        assert!(particles.slot(ParticleId(0)).is_none() && particles.ids_are_sound());
    }

    #[test]
    fn ids_that_a_file_may_bring_are_checked() {
        let broken = |change: fn(&mut Particles)| {
            let mut particles = some(4);
            change(&mut particles);
            !particles.ids_are_sound()
        };
        assert!(!broken(|_| ()));
        assert!(broken(|p| p.by_id[3] = 4), "no such slot");
        assert!(broken(|p| p.by_id[3] = 2), "a slot twice");
        assert!(broken(|p| p.by_id.swap(0, 1)), "not in order");
        assert!(broken(|p| p.by_id.truncate(3)), "one is not found");
        assert!(broken(|p| p.id[1] = 0), "an id twice");
        assert!(broken(|p| p.next_id = 3), "an id that is still to be given");
        assert!(broken(|p| p.next_id = u64::MAX), "no room to count on");
        assert!(broken(|p| p.id.truncate(3)), "a particle without an id");
    }
}
