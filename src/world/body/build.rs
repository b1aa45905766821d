//! Adding bodies to a world.

use super::{BodyId, BodyShape};
use crate::error::{Error, Result};
use crate::table::Buffer;
use crate::world::{Built, MemoryNeed, Particle, ParticleId, Phase, Surface, World};
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// How a body is drawn back to its shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matching {
    /// 0: the shape is moved and turned only. Up to 1: it is stretched and sheared as well, by this
    /// share of how its particles are; its volume stays.
    pub stretch: f32,
    /// How far the body gives way in m/N: a force that is spread over it as its mass is moves what
    /// it pulls at by this much. 0 is rigid.
    pub compliance: f32,
}

impl Matching {
    /// It keeps its shape.
    pub const RIGID: Matching = Matching { stretch: 0.0, compliance: 0.0 };

    /// It gives way, and comes back to its shape.
    pub fn soft(compliance: f32) -> Self {
        Matching { stretch: 0.0, compliance }
    }

    /// It may be stretched and sheared by this share, 0 to 1, and comes back with a compliance in
    /// m/N.
    pub fn linear(stretch: f32, compliance: f32) -> Self {
        Matching { stretch, compliance }
    }

    pub(crate) fn is_legal(&self) -> bool {
        (0.0..=1.0).contains(&self.stretch) && self.compliance.is_finite() && self.compliance >= 0.0
    }

    fn check(&self, name: &str) -> Result<()> {
        if self.is_legal() {
            return Ok(());
        }
        let message = "expected `stretch` from 0 to 1 and a finite `compliance` of at least 0";
        Err(Error::value(format!("{name}.matching"), message))
    }
}

/// Where a body is put and how it moves.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name in reports.
    pub name: String,
    /// Where its centre of mass is, m.
    pub position: Vec3,
    /// How it is turned.
    pub rotation: Quat,
    /// Velocity of the centre, m/s.
    pub velocity: Vec3,
    /// Angular velocity, rad/s.
    pub spin: Vec3,
    /// How it is drawn back to its shape.
    pub matching: Matching,
}

impl Default for Body {
    fn default() -> Self {
        Body {
            name: "body".into(),
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            matching: Matching::RIGID,
        }
    }
}

impl Body {
    /// A rigid body at a place.
    pub fn rigid(position: Vec3) -> Self {
        Body { position, ..Body::default() }
    }

    /// A body at a place that gives way, in m/N.
    pub fn soft(position: Vec3, compliance: f32) -> Self {
        Body { position, matching: Matching::soft(compliance), ..Body::default() }
    }
}

impl World {
    /// Adds a body: particles that keep the shape they are given in. They do not touch each other.
    ///
    /// ```
    /// use glam::{Quat, Vec3};
    /// use motes::{Body, BodyShape, World};
    /// let mut world = World::new();
    /// let crate_of_wood = BodyShape::block([4, 4, 4], 0.1, 600.0)?;
    /// let body = Body { spin: Vec3::Y, ..Body::rigid(Vec3::new(0.0, 2.0, 0.0)) };
    /// let built = world.add_body(&crate_of_wood, &body)?;
    /// assert_eq!(world.object(built.object)?.len(), 64);
    /// assert!((world.bodies()[0].mass() - 38.4).abs() < 1e-3);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a number is not legal, or the world would be too large.
    pub fn add_body(&mut self, shape: &BodyShape, body: &Body) -> Result<Built> {
        let name = &body.name;
        if shape.is_empty() {
            return Err(Error::value(format!("{name}.shape"), "a body needs a particle"));
        }
        for (field, v) in
            [("position", body.position), ("velocity", body.velocity), ("spin", body.spin)]
        {
            if !v.is_finite() {
                return Err(Error::value(format!("{name}.{field}"), format!("{v} is not finite")));
            }
        }
        if !body.rotation.is_finite() || (body.rotation.length() - 1.0).abs() > 1e-3 {
            return Err(Error::value(format!("{name}.rotation"), "expected a unit quaternion"));
        }
        body.matching.check(name)?;
        let particles = shape.len() as u128;
        MemoryNeed { particles, edges: 0, corners4: 0, neighbors: 0 }.check(name)?;
        let mut phase = Phase::group(self.new_group());
        phase.0 |= Phase::BODY;
        let rotation = body.rotation.normalize();
        let mut ids = Vec::with_capacity(shape.len());
        for ((&place, &radius), &mass) in shape.places.iter().zip(&shape.radii).zip(&shape.masses) {
            let arm = rotation * place;
            ids.push(self.add_particle(&Particle {
                position: body.position + arm,
                velocity: body.velocity + body.spin.cross(arm),
                mass,
                radius,
                phase,
            })?);
        }
        let surface = Surface { closed: true, skin: shape.skin.clone(), ..Surface::default() };
        let built = self.built(name, ids, surface);
        let slots: Vec<u32> = built
            .iter()
            .filter_map(|&id| self.particles.slot(id))
            .map(|slot| slot as u32)
            .collect();
        let id =
            self.bodies.add(&self.particles, &slots, &body.matching, rotation, Some(built.object));
        // The shape as it was given, not as f32 has it at that place.
        self.bodies.set_rest(id, shape, &self.particles);
        Ok(built)
    }

    /// Makes a body of particles that are there already, in the shape that they have now. A particle
    /// may be in several bodies, which then hang together there: one common particle is a ball joint,
    /// a line of them a hinge.
    ///
    /// # Errors
    /// When there is no particle, one is named twice or does not exist, or `matching` is not legal.
    pub fn match_shape(&mut self, particles: &[ParticleId], matching: &Matching) -> Result<BodyId> {
        matching.check("body")?;
        if particles.is_empty() {
            return Err(Error::value("particles", "a body needs at least one"));
        }
        let mut sorted = particles.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::value(
                "particles",
                format!("particle {} is named twice", pair[0].0),
            ));
        }
        let mut slots = Vec::with_capacity(particles.len());
        for &id in particles {
            let slot = self.particles.slot(id).ok_or_else(|| {
                Error::value("particles", format!("there is no particle {} (removed?)", id.0))
            })?;
            slots.push(slot as u32);
        }
        for &slot in &slots {
            self.particles.phase[slot as usize] |= Phase::BODY;
            self.changes.mark(Buffer::Phase, slot as usize);
        }
        self.particle_revision += 1;
        let id = self.bodies.add(&self.particles, &slots, matching, Quat::IDENTITY, None);
        self.bodies.share_out(&self.particles);
        Ok(id)
    }
}
