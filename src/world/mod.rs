//! What is simulated: particles, constraints, colliders, forces and the parameters.
//!
//! A [`World`] is plain data. It is built by hand ([`World::add_cloth`] and friends) or from a
//! scene file, stepped by an [`Engine`](crate::Engine), and may be edited between any two steps.

mod body;
mod build;
mod cells;
mod character;
mod cloth;
pub mod collider;
pub mod constraints;
mod contact_memory;
mod edit;
mod fans;
mod fluid;
mod force;
mod grains;
mod lattice;
mod list;
pub(crate) mod material;
mod memory;
mod object;
mod outline;
mod params;
mod particles;
mod pin;
mod skin;
mod soft_mesh;
mod surface;
mod taken;
mod tap;
mod validate;
mod wind;

pub(crate) use body::{Bodies, BodyField, LinksAround, Pressing, Touch, Touches};
pub use body::{Body, BodyId, BodyShape, MatchedBody, Matching};
pub(crate) use build::lattice_points;
pub use build::{Bond, Solid};
pub use character::{Character, LimbOf, SkeletonId};
pub use cloth::Cloth;
pub use collider::Collider;
pub use constraints::{Constraint, ConstraintRows, ConstraintSet};
pub(crate) use contact_memory::{ContactMemory, Held, Kept, Partner};
pub(crate) use fans::Fans;
pub(crate) use fluid::VOLUME_PER_RADIUS_CUBED;
pub use fluid::{Fluid, FluidRegion};
pub use force::{Force, ForceKind};
pub use grains::Grains;
pub use lattice::{Lattice, LatticeEdges};
pub(crate) use list::{AddedList, AddedLists, ListKey, Span};
pub use list::{ListDescription, ListFilter, ListId, ListPairs, ListReach, Who};
pub use material::{Coefficients, Material, MaterialId};
pub use memory::MemoryNeed;
pub use object::{Built, Object, ObjectId, Surface};
pub use outline::Outline;
pub(crate) use params::is_parameter;
pub use params::{
    Acceleration, BroadPhase, BvhStart, BvhVolume, BvhWalk, DensityRule, Integrator, Method,
    ParamInfo, Params, RigidContacts, RotationMethod, Solver,
};
pub(crate) use particles::{GONE, Places};
pub use particles::{Particle, ParticleId, Particles, Phase};
pub(crate) use pin::OnBone;
pub use pin::{Path, Pin};
pub use soft_mesh::SoftMesh;
pub(crate) use tap::Plumbing;
pub use tap::{Emitter, Nozzle, Sink, Stream, Tap};
pub use wind::SurfaceWind;

pub use crate::kind::Kind;
use crate::kind::Sets;
use crate::table::Changes;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// Fewer particles than this stay as they were made: they fit the second cache in any order.
const MANY: usize = 8192;
/// How often lists are made before particles are put in order again. It costs about as much as
/// making them twice.
const LISTS_PER_SORT: u32 = 64;
/// Fluid does not stay where it is: it is put in order again after so many steps.
const STEPS_PER_FLUID_SORT: u64 = 32;

/// Everything a simulation is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// The knobs.
    pub params: Params,
    /// Static and moving obstacles.
    pub colliders: Vec<Collider>,
    /// Force fields besides gravity.
    pub forces: Vec<Force>,
    /// Where particles go out of the world.
    pub sinks: Vec<Sink>,
    pub(crate) particles: Particles,
    /// The constraints of every kind but pins.
    pub(crate) sets: Sets,
    pub(crate) pins: Vec<Pin>,
    /// Bodies that keep their shape.
    pub(crate) bodies: Bodies,
    /// Skeletons that drive obstacles.
    pub(crate) characters: character::Characters,
    /// What contacts hold between two steps.
    pub(crate) contact_memory: ContactMemory,
    pub(crate) paths: Vec<Path>,
    pub(crate) objects: object::Objects,
    /// Where particles come into the world.
    pub(crate) taps: Vec<Tap>,
    /// What particles and obstacles are made of.
    pub(crate) materials: material::Materials,
    /// Neighbour lists besides that of the contacts.
    pub(crate) lists: AddedLists,
    /// Simulated time, s.
    pub(crate) time: f64,
    /// Steps taken.
    pub(crate) step_count: u64,
    /// Particles pinned because they became non-finite, ever.
    pub(crate) quarantined: u64,
    /// Constraints broken, ever.
    pub(crate) broken: u64,
    /// Particles that sinks took, ever.
    pub(crate) sunk: u64,
    /// Whether neighbour lists were ever made.
    pub(crate) listed: bool,
    /// What else the lists were made for.
    pub(crate) list_key: ListKey,
    /// How often lists were made since particles were last put in order.
    pub(crate) lists_since_sort: u32,
    /// Rises when particles come, go or change phase or radius; lists compare it.
    pub(crate) particle_revision: u64,
    next_group: u32,
    /// Which engine stepped this world last: its caches hold for no other.
    #[serde(skip)]
    pub(crate) stamp: Stamp,
    /// What was edited since a device last took it.
    #[serde(skip)]
    pub(crate) changes: Changes,
    /// What it was last decided for which bodies are rigid.
    #[serde(skip)]
    rigid_for: body::RigidFor,
}

/// An engine's mark on the world it stepped. Worlds that differ in it alone are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamp {
    pub engine: Option<Arc<()>>,
    pub step: u64,
}

impl PartialEq for Stamp {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl World {
    /// An empty world with default parameters.
    pub fn new() -> Self {
        Self::default()
    }
    /// The particles.
    pub fn particles(&self) -> &Particles {
        &self.particles
    }
    /// Distance constraints.
    pub fn distance(&self) -> &ConstraintSet<2> {
        &self.sets.distance
    }
    /// Bending hinges.
    pub fn bend(&self) -> &ConstraintSet<4> {
        &self.sets.bend
    }
    /// Tetrahedral volume constraints.
    pub fn volume(&self) -> &ConstraintSet<4> {
        &self.sets.volume
    }
    /// The constraints of a kind, whichever it is. Pins are no rows: [`World::pins`] has them.
    pub fn rows(&self, kind: Kind) -> Option<&ConstraintRows> {
        self.sets.of(kind)
    }
    /// Pins.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }
    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.time
    }
    /// Steps taken since the beginning.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }
    /// Particles that became non-finite and were pinned where they last were well.
    pub fn quarantined(&self) -> u64 {
        self.quarantined
    }
    /// Constraints broken since the beginning.
    pub fn broken(&self) -> u64 {
        self.broken
    }
    /// All constraints, pins included.
    pub fn constraint_count(&self) -> usize {
        Kind::ALL.iter().map(|&kind| self.count(kind)).sum()
    }
    /// Constraints of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.rows(kind).map_or(self.pins.len(), ConstraintRows::len)
    }
    /// A particle's position, m.
    pub fn position(&self, id: ParticleId) -> Option<Vec3> {
        self.particles.slot(id).map(|s| self.particles.now().of(s))
    }
    /// A particle's velocity, m/s.
    pub fn velocity(&self, id: ParticleId) -> Option<Vec3> {
        self.particles.slot(id).map(|s| self.particles.velocity[s].truncate())
    }
    /// Unit vector against gravity, or +y when there is none.
    pub fn up(&self) -> Vec3 {
        (-self.params.gravity).try_normalize().unwrap_or(Vec3::Y)
    }
    /// Half the mass scale, against gravity: by how much a grain straight above another counts as
    /// lighter. Where there is no gravity nobody lies on anybody.
    pub(crate) fn lift(&self) -> Vec3 {
        (-self.params.gravity).normalize_or_zero() * (0.5 * self.params.mass_scale)
    }

    pub(crate) fn pin_target(&self, pin: &Pin, time: f64) -> Vec3 {
        match pin.path {
            Some(path) => self.paths[path as usize].at(time) + pin.target,
            None => pin.target,
        }
    }

    /// The sum of |C| over the constraints of a kind, in the unit of that kind.
    pub fn residual(&self, kind: Kind) -> f64 {
        self.residual_at(kind, self.particles.now(), self.time)
    }

    /// The sum of |C| over the constraints of a kind at given places and time; in order, in f64.
    pub(crate) fn residual_at(&self, kind: Kind, at: Places<'_>, time: f64) -> f64 {
        if kind != Kind::Pin {
            return self.sets.residual(kind, at);
        }
        let error = |pin: &Pin| {
            let slot = pin.particle as usize;
            let goal = self.pin_target(pin, time) - at.position[slot].truncate();
            f64::from(at.moved[slot].truncate().distance(goal))
        };
        self.pins.iter().map(error).sum()
    }

    /// Kinetic plus gravitational energy of the free particles, J.
    pub fn energy(&self) -> f64 {
        let g = self.params.gravity.as_dvec3();
        let p = &self.particles;
        (0..p.len())
            .filter(|&i| p.position[i].w > 0.0)
            .map(|i| {
                let mass = 1.0 / f64::from(p.position[i].w);
                let v = p.velocity[i].truncate().as_dvec3();
                mass * (0.5 * v.length_squared() - g.dot(p.position[i].truncate().as_dvec3()))
            })
            .sum()
    }

    /// 64-bit hash of all positions and velocities in order of id: equal bits, equal hash.
    pub fn hash(&self) -> u64 {
        let p = &self.particles;
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for slot in p.slots_by_id() {
            for value in [p.position[slot], p.velocity[slot]] {
                for word in [value.x, value.y, value.z] {
                    hash = (hash ^ u64::from(word.to_bits())).wrapping_mul(0x0000_0100_0000_01b3);
                    // FNV only carries upwards; without this the low bits of early words fade.
                    hash ^= hash >> 29;
                }
            }
        }
        hash
    }

    /// Whether the particles should be put in order of place again. It depends on the state alone,
    /// so that every backend, and a resumed run, does it in the same step.
    pub(crate) fn sort_is_due(&self) -> bool {
        let lists_are_many = !self.listed || self.lists_since_sort >= LISTS_PER_SORT;
        self.particles.len() >= MANY
            && match self.has_fluid() {
                true => self.step_count.is_multiple_of(STEPS_PER_FLUID_SORT),
                false => lists_are_many,
            }
    }

    /// Puts the particle of slot `order[k]` into slot k. Ids, and what is said by id, stay.
    pub(crate) fn reorder(&mut self, order: &[u32]) {
        let map = self.particles.permute(order);
        for rows in self.sets.all_mut() {
            rows.remap(&map, order.len());
        }
        self.pins.iter_mut().for_each(|pin| pin.particle = map[pin.particle as usize]);
        self.contact_memory.remap(&map, order.len());
        self.bodies.remap(&map, &self.particles);
        // Lists are by slot: they are made anew, and take their reference then.
        self.particle_revision += 1;
        self.lists_since_sort = 0;
    }

    /// Forgets the multipliers of all constraints: they belong to one substep.
    pub(crate) fn clear_multipliers(&mut self) {
        self.sets.all_mut().into_iter().for_each(|rows| rows.lambda.fill(0.0));
        self.pins.iter_mut().for_each(|pin| pin.lambda = 0.0);
    }

    /// A group number that no particle has. Group 0 is never given: it is left to particles added by
    /// hand. After 16 million groups those are given again that no particle is in any more.
    pub fn new_group(&mut self) -> u32 {
        const ALL: u32 = Phase::MAX_GROUP;
        // Beyond the last number a second count begins, which never ends.
        let next = |count: u32| if count < 2 * ALL { count + 1 } else { ALL + 1 };
        self.next_group = next(self.next_group);
        if self.next_group > ALL {
            let mut taken: HashSet<u32> =
                self.particles.phase.iter().map(|&phase| Phase(phase).group_number()).collect();
            taken.extend(self.taps.iter().map(|tap| tap.phase.group_number()));
            // One is free within as many tries as there are others, unless all are taken.
            for _ in 0..taken.len().min(ALL as usize) {
                if !taken.contains(&(self.next_group - ALL)) {
                    break;
                }
                self.next_group = next(self.next_group);
            }
            return self.next_group - ALL;
        }
        self.next_group
    }

    /// Whether any two particles may ever touch: if not, the broad phase is left out. Those of rigid
    /// bodies meet each other as bodies.
    pub(crate) fn may_touch(&self) -> bool {
        let phases = &self.particles.phase;
        if phases.iter().all(|p| p & Phase::RIGID != 0) {
            return false;
        }
        match phases.first() {
            Some(&first) => phases.iter().any(|&p| {
                p & Phase::SELF_COLLIDE != 0
                    || Phase(p).group_number() != Phase(first).group_number()
            }),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of the living are not given to anyone else, however many were given before.
    #[test]
    fn groups_do_not_run_out() {
        let mut world = World::new();
        let small = Grains { counts: [2, 1, 1], ..Grains::default() };
        let group = |world: &World, built: &Built| {
            let slot = world.particles.slot(built[0]).unwrap();
            Phase(world.particles.phase[slot]).group_number()
        };
        let early: Vec<Built> = (0..3).map(|_| world.add_grains(&small).unwrap()).collect();
        assert_eq!(early.iter().map(|built| group(&world, built)).collect::<Vec<_>>(), [1, 2, 3]);
        world.remove_object(early[1].object).unwrap();
        for count in [Phase::MAX_GROUP - 1, 2 * Phase::MAX_GROUP - 1] {
            world.next_group = count;
            let late: Vec<u32> = (0..4)
                .map(|_| {
                    let built = world.add_grains(&small).unwrap();
                    let group = group(&world, &built);
                    world.remove_object(built.object).unwrap();
                    group
                })
                .collect();
            assert_eq!(late, [Phase::MAX_GROUP, 2, 4, 5], "1 and 3 are taken");
            world.validate().unwrap();
        }
    }
}
