//! Which bodies answer to obstacles as a whole.

use super::MatchedBody;
use crate::table::Buffer;
use crate::world::{Phase, RigidContacts, World};

/// The revisions of particles and bodies, and the parameter, that bodies were last looked at for.
/// Worlds that differ in it alone are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RigidFor(Option<(u64, u64, RigidContacts)>);

impl PartialEq for RigidFor {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl MatchedBody {
    /// Whether it neither stretches nor gives way.
    fn keeps_its_shape(&self) -> bool {
        self.matching.stretch == 0.0 && self.matching.compliance == 0.0
    }
}

impl World {
    /// Whether any body may answer to obstacles as a whole.
    pub(crate) fn has_rigid_bodies(&self) -> bool {
        self.params.rigid_contacts == RigidContacts::Impulses
            && self.bodies.rows.iter().any(MatchedBody::keeps_its_shape)
    }

    /// Marks the particles of bodies that answer to obstacles as a whole. It must be their only body,
    /// and nobody may hold one of them in its place: such bodies hang on what they share, or on what
    /// is held, and matching alone knows of that.
    pub(crate) fn choose_rigid(&mut self) {
        let key = |world: &World| {
            let revisions = (world.particle_revision, world.bodies.revision);
            RigidFor(Some((revisions.0, revisions.1, world.params.rigid_contacts)))
        };
        if self.rigid_for.0 == key(self).0 {
            return;
        }
        let impulses = self.params.rigid_contacts == RigidContacts::Impulses;
        let World { bodies, particles, changes, .. } = self;
        // Without bodies there is nothing to allocate, step after step of a stream of particles.
        let count = if bodies.rows.is_empty() { 0 } else { particles.len() };
        let mut flags = vec![0; count];
        for body in bodies.rows.iter().filter(|body| impulses && body.keeps_its_shape()) {
            let (links, slots) = (body.links(), &bodies.links.particle[body.links()]);
            let alone = bodies.links.share[links].iter().all(|&share| share == 1.0);
            let free = slots.iter().all(|&slot| particles.position[slot as usize].w > 0.0);
            if alone && free {
                slots.iter().for_each(|&slot| flags[slot as usize] = Phase::RIGID);
            }
        }
        let mut changed = false;
        let flags = flags.into_iter().chain(std::iter::repeat(0));
        for (slot, (phase, flag)) in particles.phase.iter_mut().zip(flags).enumerate() {
            if *phase & Phase::RIGID != flag {
                *phase ^= Phase::RIGID;
                changes.mark(Buffer::Phase, slot);
                changed = true;
            }
        }
        if changed {
            bodies.revision += 1;
        }
        self.rigid_for = key(self);
    }
}
