//! How a body lies and moves, to be read and to be set.
//!
//! All of it is in its particles: so it is saved, sorted and brought to a device with them.

use super::BodyId;
use crate::error::{Error, Result};
use crate::table::Buffer;
use crate::world::World;
use glam::{DMat3, DQuat, DVec3, Quat, Vec3, Vec4};

/// The sums of a body that is moved as a whole.
struct Sums {
    center: DVec3,
    velocity: DVec3,
    /// Angular momentum about the centre, kg m²/s, and the inertia, kg m²: that of points, and what the
    /// size of the particles adds to each axis.
    spin: DVec3,
    inertia: DMat3,
    own: f64,
    mass: f64,
}

impl World {
    /// How fast the centre of mass of a body moves, m/s, and how it turns, rad/s. About an axis that
    /// all its particles lie on it does not turn.
    ///
    /// # Errors
    /// When there is no such body.
    pub fn body_velocity(&self, id: BodyId) -> Result<(Vec3, Vec3)> {
        let sums = self.body_sums(id)?;
        let turning = inverse(sums.inertia) * sums.spin;
        Ok((sums.velocity.as_vec3(), turning.as_vec3()))
    }

    /// Gives a body a velocity of its centre, m/s, and a spin, rad/s. Particles that are held stay.
    ///
    /// # Errors
    /// When there is no such body, or a number is not finite.
    pub fn set_body_velocity(&mut self, id: BodyId, velocity: Vec3, spin: Vec3) -> Result<()> {
        finite("velocity", velocity)?;
        finite("spin", spin)?;
        let center = self.body_sums(id)?.center;
        for slot in self.body_slots(id)? {
            let arm = self.particles.now().of(slot).as_dvec3() - center;
            let v = velocity.as_dvec3() + spin.as_dvec3().cross(arm);
            self.put_velocity(slot, v);
        }
        Ok(())
    }

    /// Puts a body somewhere, in the shape that it rests in: where its centre of mass is to be, m, and
    /// how it is turned from its rest. It goes on with the velocity and the spin that it has. Particles
    /// that are held are put there, too.
    ///
    /// # Errors
    /// When there is no such body, a number is not finite, or the rotation is not a unit quaternion.
    pub fn set_body_pose(&mut self, id: BodyId, position: Vec3, rotation: Quat) -> Result<()> {
        finite("position", position)?;
        if !rotation.is_finite() || (rotation.length() - 1.0).abs() > 1e-3 {
            return Err(Error::value("body.rotation", "expected a unit quaternion"));
        }
        let (velocity, spin) = self.body_velocity(id)?;
        let rotation = rotation.normalize();
        let links = self.bodies.get(id)?.links();
        for link in links {
            let slot = self.bodies.links.particle[link] as usize;
            let arm = rotation * self.bodies.links.rest[link].truncate();
            let w = self.particles.position[slot].w;
            self.particles.position[slot] = (position + arm).extend(w);
            self.particles.start[slot] = Vec3::ZERO.extend(w);
            self.particles.predicted[slot] = Vec3::ZERO.extend(w);
            for buffer in [Buffer::Position, Buffer::Start, Buffer::Predicted] {
                self.changes.mark(buffer, slot);
            }
            self.put_velocity(slot, (velocity + spin.cross(arm)).as_dvec3());
        }
        self.bodies.turn(id, Vec4::from(rotation));
        Ok(())
    }

    /// Pushes a body by an impulse, N s, at a place, m. Particles that are held take none of it.
    ///
    /// ```
    /// use glam::Vec3;
    /// use motes::{Body, BodyShape, World};
    /// let mut world = World::new();
    /// let built = world.add_body(&BodyShape::block([3; 3], 0.1, 1000.0)?, &Body::default())?;
    /// let id = world.bodies()[0].id();
    /// // 27 kg, at its right side.
    /// world.push_body(id, Vec3::Y * 27.0, Vec3::X * 0.15)?;
    /// let (velocity, spin) = world.body_velocity(id)?;
    /// assert!((velocity - Vec3::Y).length() < 1e-5 && spin.z > 0.0);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such body, or a number is not finite.
    pub fn push_body(&mut self, id: BodyId, impulse: Vec3, place: Vec3) -> Result<()> {
        finite("impulse", impulse)?;
        finite("place", place)?;
        let sums = self.body_sums(id)?;
        let impulse = impulse.as_dvec3();
        // As large as its particles are, it turns about any axis.
        let whole = sums.inertia + DMat3::from_diagonal(DVec3::splat(sums.own));
        let turning = whole.inverse() * (place.as_dvec3() - sums.center).cross(impulse);
        for slot in self.body_slots(id)? {
            let arm = self.particles.now().of(slot).as_dvec3() - sums.center;
            let v = self.particles.velocity[slot].truncate().as_dvec3();
            self.put_velocity(slot, v + impulse / sums.mass + turning.cross(arm));
        }
        Ok(())
    }

    fn body_slots(&self, id: BodyId) -> Result<Vec<usize>> {
        let links = self.bodies.get(id)?.links();
        Ok(self.bodies.links.particle[links].iter().map(|&slot| slot as usize).collect())
    }

    fn put_velocity(&mut self, slot: usize, v: DVec3) {
        if self.particles.position[slot].w > 0.0 {
            self.particles.velocity[slot] = v.as_vec3().extend(0.0);
            self.changes.mark(Buffer::Velocity, slot);
        }
    }

    fn body_sums(&self, id: BodyId) -> Result<Sums> {
        let body = self.bodies.get(id)?;
        let links = &self.bodies.links;
        let center = self.body_center(id)?.as_dvec3();
        let mass = f64::from(body.mass);
        let (mut velocity, mut spin) = (DVec3::ZERO, DVec3::ZERO);
        let (mut inertia, mut own) = (DMat3::ZERO, 0.0);
        for link in body.links() {
            let slot = links.particle[link] as usize;
            let m = f64::from(links.rest[link].w) * mass;
            let r = self.particles.now().of(slot).as_dvec3() - center;
            let v = self.particles.velocity[slot].truncate().as_dvec3();
            let radius = f64::from(self.particles.radius[slot]);
            velocity += v * (m / mass);
            spin += r.cross(v) * m;
            let scaled = r * m;
            let square = DMat3::from_cols(scaled * r.x, scaled * r.y, scaled * r.z);
            inertia += DMat3::from_diagonal(DVec3::splat(scaled.dot(r))) - square;
            own += m * radius * radius * (2.0 / 3.0);
        }
        Ok(Sums { center, velocity, spin, inertia, own, mass })
    }
}

/// The inverse of an inertia, in the directions that it has any in.
fn inverse(inertia: DMat3) -> DMat3 {
    const NOTHING: f64 = 1e-9;
    let (values, axes): (DVec3, DQuat) = crate::shape::mass::principal(inertia);
    let axes = DMat3::from_quat(axes);
    let least = values.max_element() * NOTHING;
    let each = values.to_array().map(|v| if v > least { 1.0 / v } else { 0.0 });
    axes * DMat3::from_diagonal(DVec3::from_array(each)) * axes.transpose()
}

fn finite(name: &str, v: Vec3) -> Result<()> {
    match v.is_finite() {
        true => Ok(()),
        false => Err(Error::value(format!("body.{name}"), format!("{v} is not finite"))),
    }
}
