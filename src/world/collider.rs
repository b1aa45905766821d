//! Colliders: solid things particles bump into, standing still or driven along keyframes.

use serde::{Deserialize, Serialize};

use super::character::LimbOf;
use super::material::{Coefficients, MaterialId};
use crate::{Error, Result};

mod distance;
mod pose;
mod shape;

pub use pose::Pose;
pub use shape::Shape;

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keyframe {
    /// Simulated time, s.
    pub time: f64,
    /// Where the collider is then.
    pub pose: Pose,
}

/// A shape on a prescribed path; nothing pushes it back.
///
/// ```
/// use glam::Vec3;
/// use motes::world::collider::{Collider, Pose, Shape};
///
/// let ball = Collider::fixed(Shape::Sphere { radius: 0.5 }, Pose::from_translation(Vec3::Y));
/// ball.validate("collider.0")?;
/// assert_eq!(ball.pose_at(3.0).translation, Vec3::Y);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collider {
    /// For messages and the viewer; may be empty.
    pub name: String,
    /// Its form, in its local frame.
    pub shape: Shape,
    /// Where it is when; one keyframe for a collider that stands still.
    pub path: Vec<Keyframe>,
    /// Start over after the last keyframe. It jumps back, and sweeps whatever is between, unless
    /// the last pose is the first.
    pub looped: bool,
    /// What it is made of.
    pub material: MaterialId,
    /// Friction and restitution against particles of any material; what is `None` here follows
    /// from the two materials.
    pub coefficients: Coefficients,
    /// The limb of a character that it is: its path is written anew before every step.
    pub limb: Option<LimbOf>,
}

impl Collider {
    /// A collider that stays where it is, of the default material.
    pub fn fixed(shape: Shape, pose: Pose) -> Self {
        let pose = Pose::new(pose.translation, pose.rotation);
        Collider {
            name: String::new(),
            shape,
            path: vec![Keyframe { time: 0.0, pose }],
            looped: false,
            material: MaterialId::DEFAULT,
            coefficients: Coefficients::default(),
            limb: None,
        }
    }

    /// The pose at `time` (s): between two keyframes straight and the shorter way round, before
    /// the first and after the last at rest there, or started over when looped.
    pub fn pose_at(&self, time: f64) -> Pose {
        pose_on(&self.path, self.looped, time)
    }

    /// True when the collider changes its place or direction at any time.
    pub fn is_moving(&self) -> bool {
        self.path.windows(2).any(|pair| pair[0].pose != pair[1].pose)
    }

    /// Goes to `pose` in the next `dt` seconds, from where it is at the time `now`
    /// ([`World::time`](crate::World::time)), and stays there. What lies on it is carried along, as
    /// by a path of keyframes, which this takes the place of. Setting a path anew instead makes the
    /// collider jump, and a jump has no velocity.
    ///
    /// ```
    /// use glam::Vec3;
    /// use motes::world::collider::{Collider, Pose, Shape};
    /// use motes::{Backend, Engine, World};
    ///
    /// let mut world = World::new();
    /// let tray = Shape::Box { half: Vec3::new(1.0, 0.1, 1.0) };
    /// world.colliders.push(Collider::fixed(tray, Pose::IDENTITY));
    /// let mut engine = Engine::new(world, Backend::default())?;
    /// let dt = 1.0 / 60.0;
    /// for step in 1..=60 {
    ///     let world = engine.world_mut();
    ///     let (now, to) = (world.time(), Pose::from_translation(Vec3::X * 0.01 * step as f32));
    ///     world.colliders[0].move_to(to, now, dt)?;
    ///     engine.step(dt)?;
    /// }
    /// let world = engine.world();
    /// assert!((world.colliders[0].pose_at(world.time()).translation.x - 0.6).abs() < 1e-4);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the pose, the time or `dt` is not legal; the collider stays as it is then.
    pub fn move_to(&mut self, pose: Pose, now: f64, dt: f32) -> Result<()> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(Error::value("dt", format!("{dt} s is not legal; expected more than 0")));
        }
        let from = Keyframe { time: now, pose: self.pose_at(now) };
        let to = Keyframe { time: now + f64::from(dt), pose };
        from.validate("now")?;
        to.validate("pose")?;
        let to = Keyframe { pose: Pose::new(pose.translation, pose.rotation), ..to };
        self.path.clear();
        self.path.extend([from, to]);
        self.looped = false;
        Ok(())
    }

    /// Whether another is the same. Meshes are compared by address, not triangle by triangle.
    pub(crate) fn is_same(&self, other: &Collider) -> bool {
        let Collider { name, shape, path, looped, material, coefficients, limb } = other;
        self.shape.is_same(shape)
            && self.path == *path
            && self.looped == *looped
            && self.material == *material
            && self.coefficients == *coefficients
            && self.limb == *limb
            && self.name == *name
    }

    /// Checks everything that came from outside; `field` is the path the messages start with.
    ///
    /// # Errors
    /// Names the first value that is not allowed and what would be right.
    pub fn validate(&self, field: &str) -> Result<()> {
        self.shape.validate(&format!("{field}.shape"))?;
        check_path(&self.path, field)?;
        self.coefficients.validate(field)
    }
}

/// The pose on a path, as [`Collider::pose_at`] says.
pub(super) fn pose_on(path: &[Keyframe], looped: bool, time: f64) -> Pose {
    let (Some(first), Some(last)) = (path.first(), path.last()) else {
        return Pose::IDENTITY;
    };
    let period = last.time - first.time;
    let time = if looped && period > 0.0 {
        first.time + (time - first.time).rem_euclid(period)
    } else {
        time
    };
    let after = path.partition_point(|key| key.time <= time);
    let unit = |pose: &Pose| Pose::new(pose.translation, pose.rotation);
    match (after.checked_sub(1).and_then(|i| path.get(i)), path.get(after)) {
        (Some(a), Some(b)) => {
            let s = (time - a.time) / (b.time - a.time);
            unit(&a.pose).lerp(&unit(&b.pose), s as f32)
        }
        (Some(a), None) => unit(&a.pose),
        (None, _) => unit(&first.pose),
    }
}

/// Checks a path that came from outside.
pub(super) fn check_path(path: &[Keyframe], field: &str) -> Result<()> {
    if path.is_empty() {
        return Err(Error::value(format!("{field}.path"), "must have at least one keyframe"));
    }
    for (i, key) in path.iter().enumerate() {
        key.validate(&format!("{field}.path.{i}"))?;
    }
    for (i, pair) in path.windows(2).enumerate() {
        if pair[1].time <= pair[0].time {
            return Err(Error::value(
                format!("{field}.path.{}.time", i + 1),
                format!(
                    "must be after the keyframe before it ({} s), but is {} s",
                    pair[0].time, pair[1].time
                ),
            ));
        }
    }
    Ok(())
}

impl Keyframe {
    fn validate(&self, field: &str) -> Result<()> {
        if !self.time.is_finite() {
            return Err(Error::value(
                format!("{field}.time"),
                format!("must be a finite time in s, but is {}", self.time),
            ));
        }
        let Pose { translation, rotation } = self.pose;
        if !translation.is_finite() {
            return Err(Error::value(
                format!("{field}.translation"),
                format!("must be three finite coordinates in m, but is {translation}"),
            ));
        }
        let length_sq: f32 = rotation.to_array().iter().map(|c| c * c).sum();
        if !(length_sq.is_finite() && length_sq > 1e-12) {
            return Err(Error::value(
                format!("{field}.rotation"),
                format!(
                    "must be a quaternion x, y, z, w other than 0, such as [0, 0, 0, 1], but is {rotation}"
                ),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
