//! Which bodies answer to obstacles and to each other as a whole, and their fields.

use super::{Bodies, BodyField, FieldSlot, MatchedBody};
use crate::table::Buffer;
use crate::world::{Particles, Phase, RigidContacts, World};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

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

impl Bodies {
    /// Makes the fields that rigid bodies lack. Bodies of one shape share one.
    fn make_fields(&mut self, particles: &Particles) {
        let Bodies { rows, links, .. } = self;
        let is_rigid = |body: &MatchedBody| {
            particles.phase[links.particle[body.first as usize] as usize] & Phase::RIGID != 0
        };
        let key = |body: &MatchedBody| {
            let mut hasher = DefaultHasher::new();
            (body.made_of as u8).hash(&mut hasher);
            for k in body.links() {
                let (rest, radius) = (links.rest[k], particles.radius[links.particle[k] as usize]);
                [rest.x, rest.y, rest.z, radius].map(f32::to_bits).hash(&mut hasher);
            }
            hasher.finish()
        };
        let known = |body: &MatchedBody| Some((key(body), Arc::clone(body.field.0.as_ref()?)));
        if !rows.iter().any(|body| is_rigid(body) && body.field.0.is_none()) {
            return;
        }
        let mut fields: HashMap<u64, Arc<BodyField>> = rows.iter().filter_map(known).collect();
        for body in rows.iter_mut().filter(|body| is_rigid(body) && body.field.0.is_none()) {
            let make = || Arc::new(BodyField::of(body, links, particles));
            let field = fields.entry(key(body)).or_insert_with(make);
            body.field = FieldSlot(Some(Arc::clone(field)));
        }
    }
}

impl World {
    /// Whether any two bodies may touch as a whole.
    pub(crate) fn rigid_bodies_may_touch(&self) -> bool {
        let rigid = self.bodies.rows.iter().filter(|body| body.keeps_its_shape());
        self.params.rigid_contacts == RigidContacts::Impulses && rigid.count() > 1
    }

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
        let World { bodies, particles, changes, particle_revision, .. } = self;
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
            // Lists of what may touch depend on it, too.
            bodies.revision += 1;
            *particle_revision += 1;
        }
        let is_rigid = |body: &MatchedBody| {
            let first = bodies.links.particle[body.first as usize] as usize;
            particles.phase[first] & Phase::RIGID != 0
        };
        if bodies.rows.iter().filter(|body| is_rigid(body)).count() > 1 {
            bodies.make_fields(particles);
        }
        self.rigid_for = key(self);
    }
}
