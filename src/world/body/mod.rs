//! Bodies that keep their shape: sets of particles that are matched with the shape they rest in.

mod build;
mod field;
mod links;
mod motion;
mod rigid;
mod shape;
mod touch;

pub use build::{Body, Matching};
pub(crate) use field::{BodyField, FieldSlot, MadeOf};
pub(crate) use links::{LinkTable, LinksAround};
pub(crate) use rigid::RigidFor;
pub use shape::BodyShape;
pub(crate) use touch::{Pressing, Touch, Touches};

use super::{GONE, ObjectId, Particles, World};
use crate::error::{Error, Result};
use glam::{DMat3, DVec3, Quat, Vec3, Vec4};
use links::LinkRow;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A body's name for life, as [`ParticleId`](super::ParticleId) is a particle's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyId(pub u64);

/// A body of the world. Its particles are its links, a run of the table of links: a particle may be
/// in several bodies, and then each has a share of its mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchedBody {
    pub(crate) id: BodyId,
    /// The object it was made with.
    pub(crate) object: Option<ObjectId>,
    pub(crate) matching: Matching,
    /// The first of its links, and how many they are.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// kg.
    pub(crate) mass: f32,
    /// What `rest` below is measured in: the trace of the moments per mass, m^2.
    pub(crate) size_sq: f32,
    /// Moments of the shape at rest over mass and `size_sq`: xx, yy, zz and xy, xz, yz.
    pub(crate) moments: [Vec3; 2],
    /// Their inverse, in the directions that the shape has an extent in.
    pub(crate) inverse: [Vec3; 2],
    /// How the body is turned from its rest, as a quaternion [x, y, z, w].
    pub(crate) turn: Vec4,
    /// What its particles stand for where it meets other bodies, and how far places are from that.
    pub(crate) made_of: MadeOf,
    #[serde(skip)]
    pub(crate) field: FieldSlot,
}

impl MatchedBody {
    /// Its name for life.
    pub fn id(&self) -> BodyId {
        self.id
    }
    /// The object it was made with, if any.
    pub fn object(&self) -> Option<ObjectId> {
        self.object
    }
    /// How it is matched.
    pub fn matching(&self) -> &Matching {
        &self.matching
    }
    /// Its mass, kg.
    pub fn mass(&self) -> f32 {
        self.mass
    }
    /// How it is turned from its rest.
    pub fn rotation(&self) -> Quat {
        Quat::from_vec4(self.turn).normalize()
    }
    pub(crate) fn links(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// All bodies of a world, and their links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bodies {
    pub rows: Vec<MatchedBody>,
    pub links: LinkTable,
    /// Where rigid bodies press on each other.
    pub touches: Touches,
    next_id: u64,
    /// Rises when bodies or links change.
    pub revision: u64,
}

impl Bodies {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn get(&self, id: BodyId) -> Result<&MatchedBody> {
        let found = self.rows.binary_search_by_key(&id, |body| body.id).ok();
        found.map(|k| &self.rows[k]).ok_or_else(|| no_such(id))
    }

    /// Adds a body of particles where they are; `turn` is how that is turned from its rest.
    fn add(
        &mut self,
        particles: &Particles,
        slots: &[u32],
        matching: &Matching,
        turn: Quat,
        object: Option<ObjectId>,
    ) -> BodyId {
        // `share_out` or `set_rest` follows.
        let id = BodyId(self.next_id);
        self.next_id += 1;
        let first = self.links.len() as u32;
        let (from, back) = (slots[0] as usize, turn.inverse());
        for &slot in slots {
            let q = back * particles.now().between(slot as usize, from);
            self.links.push_row(LinkRow { particle: slot, rest: q.extend(0.0), share: 1.0 });
        }
        self.rows.push(MatchedBody {
            id,
            object,
            matching: *matching,
            first,
            count: slots.len() as u32,
            mass: 0.0,
            size_sq: 0.0,
            moments: [Vec3::ZERO; 2],
            inverse: [Vec3::ZERO; 2],
            turn: Vec4::from(turn),
            made_of: MadeOf::Balls,
            field: FieldSlot::default(),
        });
        self.revision += 1;
        id
    }

    /// Gives the newest body the shape it was made of, in the order of its links.
    fn set_rest(&mut self, id: BodyId, shape: &BodyShape, particles: &Particles) {
        let Ok(at) = self.rows.binary_search_by_key(&id, |body| body.id) else { return };
        let range = self.rows[at].links();
        for (rest, place) in self.links.rest[range].iter_mut().zip(&shape.places) {
            *rest = place.extend(rest.w);
        }
        self.rows[at].made_of = shape.made_of;
        settle(&mut self.rows[at], &mut self.links, particles);
    }

    /// Who is in several bodies gives each the same share of its mass; every body is measured anew.
    fn share_out(&mut self, particles: &Particles) {
        let mut bodies = vec![0u32; particles.len()];
        for &slot in &self.links.particle {
            bodies[slot as usize] += 1;
        }
        for (share, &slot) in self.links.share.iter_mut().zip(&self.links.particle) {
            *share = 1.0 / bodies[slot as usize] as f32;
        }
        for body in &mut self.rows {
            settle(body, &mut self.links, particles);
        }
        self.revision += 1;
    }

    /// Follows particles to new slots; those that are gone leave their bodies.
    pub fn remap(&mut self, map: &[u32], particles: &Particles) {
        let keep: Vec<bool> =
            self.links.particle.iter().map(|&p| map[p as usize] != GONE).collect();
        self.links.particle.iter_mut().for_each(|p| *p = map[*p as usize]);
        self.revision += 1;
        if !keep.contains(&false) {
            return;
        }
        self.links.retain_rows(&keep);
        let mut next = 0;
        for body in &mut self.rows {
            let left = keep[body.links()].iter().filter(|&&kept| kept).count() as u32;
            if left < body.count {
                body.field = FieldSlot::default();
            }
            (body.first, body.count) = (next, left);
            next += left;
        }
        self.rows.retain(|body| body.count > 0);
        // Bodies and their particles have other numbers.
        self.touches.clear();
        self.share_out(particles);
    }

    /// A body was put somewhere, turned so from its rest.
    fn turn(&mut self, id: BodyId, turn: Vec4) {
        if let Ok(at) = self.rows.binary_search_by_key(&id, |body| body.id) {
            self.rows[at].turn = turn;
            self.revision += 1;
        }
    }

    /// Drops a body; its particles stay.
    fn remove(&mut self, id: BodyId, particles: &Particles) -> Result<()> {
        let at = self.rows.binary_search_by_key(&id, |body| body.id).map_err(|_| no_such(id))?;
        let gone = self.rows.remove(at);
        let mut keep = vec![true; self.links.len()];
        keep[gone.links()].fill(false);
        self.links.retain_rows(&keep);
        self.rows[at..].iter_mut().for_each(|body| body.first -= gone.count);
        self.touches.clear();
        self.share_out(particles);
        Ok(())
    }

    /// What a snapshot may have broken.
    pub fn are_sound(&self, particles: usize) -> bool {
        let mut next = 0u64;
        let in_order = self.rows.iter().all(|body| {
            let follows = u64::from(body.first) == next && body.count > 0;
            next += u64::from(body.count);
            let numbers = [body.mass, body.size_sq];
            let vectors = body.moments.iter().chain(&body.inverse);
            let unit = |q: Vec4| q.is_finite() && (q.length() - 1.0).abs() < 1e-3;
            follows
                && body.matching.is_legal()
                && body.id.0 < self.next_id
                && numbers.iter().all(|v| v.is_finite() && *v > 0.0)
                && vectors.clone().all(|v| v.is_finite())
                && unit(body.turn)
        });
        in_order
            && next == self.links.len() as u64
            && self.links.columns_have_rows(self.links.len())
            && self.links.first_illegal_row().is_none()
            && self.links.share.iter().all(|share| (0.0..=1.0).contains(share))
            && self.links.particle.iter().all(|&slot| (slot as usize) < particles)
            && self.rows.windows(2).all(|pair| pair[0].id < pair[1].id)
            && self.touches.are_sound(self.rows.len())
            && self.revision < 1 << 62
    }
}

fn no_such(id: BodyId) -> Error {
    Error::value("body", format!("there is no body {} (removed?)", id.0))
}

/// Finds mass, centre and moments of a body from its links, in f64, and counts their places from the
/// centre.
fn settle(body: &mut MatchedBody, links: &mut LinkTable, particles: &Particles) {
    let range = body.links();
    // A particle of infinite mass counts as one of 1 kg, and a pinned one as what it was before.
    let mass = |k: usize, links: &LinkTable| {
        let w = f64::from(particles.rest[links.particle[k] as usize].w);
        f64::from(links.share[k]) / if w > 0.0 { w } else { 1.0 }
    };
    let place = |k: usize, links: &LinkTable| links.rest[k].truncate().as_dvec3();
    let (mut total, mut first) = (0.0, DVec3::ZERO);
    for k in range.clone() {
        total += mass(k, links);
        first += place(k, links) * mass(k, links);
    }
    let centre = first / total;
    let mut second = DMat3::ZERO;
    for k in range.clone() {
        let (m, q) = (mass(k, links), place(k, links) - centre);
        let scaled = q * (m / total);
        second += DMat3::from_cols(scaled * q.x, scaled * q.y, scaled * q.z);
        links.rest[k] = q.as_vec3().extend((m / total) as f32);
    }
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    // A single particle has no extent, and is never turned.
    let size_sq = if trace > 1e-30 { trace } else { 1.0 };
    let moments = second * size_sq.recip();
    body.mass = total as f32;
    body.size_sq = size_sq as f32;
    body.moments = six(moments);
    body.inverse = six(inverse(moments));
}

fn six(m: DMat3) -> [Vec3; 2] {
    let along = DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z);
    let across = DVec3::new(m.x_axis.y, m.x_axis.z, m.y_axis.z);
    [along, across].map(|v| v.as_vec3())
}

/// The inverse of moments whose trace is 1, in the directions where the shape is not thin: less than a
/// tenth of its length. Across a thin sheet nobody can tell a stretch from noise.
fn inverse(m: DMat3) -> DMat3 {
    const NOTHING: f64 = 1e-2;
    let (values, axes) = crate::shape::mass::principal(m);
    let axes = DMat3::from_quat(axes);
    let inverse =
        DVec3::from_array(values.to_array().map(|v| if v > NOTHING { 1.0 / v } else { 0.0 }));
    axes * DMat3::from_diagonal(inverse) * axes.transpose()
}

impl World {
    /// The bodies, in the order in which they were added.
    pub fn bodies(&self) -> &[MatchedBody] {
        &self.bodies.rows
    }

    /// A body by its name.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn body(&self, id: BodyId) -> Result<&MatchedBody> {
        self.bodies.get(id)
    }

    /// Where the centre of mass of a body is, m.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn body_center(&self, id: BodyId) -> Result<Vec3> {
        let body = self.bodies.get(id)?;
        let slot = |k: usize| self.bodies.links.particle[k] as usize;
        let first = slot(body.first as usize);
        let from_first = body.links().fold(DVec3::ZERO, |sum, k| {
            let apart = self.particles.now().between(slot(k), first).as_dvec3();
            sum + apart * f64::from(self.bodies.links.rest[k].w)
        });
        Ok(self.particles.now().of(first) + from_first.as_vec3())
    }

    /// Lets go of a shape: the particles stay, and are matched no more.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn remove_body(&mut self, id: BodyId) -> Result<()> {
        self.bodies.remove(id, &self.particles)
    }
}
