//! Colliders: solid things particles bump into, standing still or driven along keyframes.

use serde::{Deserialize, Serialize};

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
    /// Static friction coefficient; none = the world's.
    pub friction_static: Option<f32>,
    /// Kinetic friction coefficient; none = the world's.
    pub friction_kinetic: Option<f32>,
    /// Restitution, 0 (no bounce) to 1; none = the world's.
    pub restitution: Option<f32>,
}

impl Collider {
    /// A collider that stays where it is, with the world's friction and restitution.
    pub fn fixed(shape: Shape, pose: Pose) -> Self {
        let pose = Pose::new(pose.translation, pose.rotation);
        Collider {
            name: String::new(),
            shape,
            path: vec![Keyframe { time: 0.0, pose }],
            looped: false,
            friction_static: None,
            friction_kinetic: None,
            restitution: None,
        }
    }

    /// The pose at `time` (s): between two keyframes straight and the shorter way round, before
    /// the first and after the last at rest there, or started over when looped.
    pub fn pose_at(&self, time: f64) -> Pose {
        let (Some(first), Some(last)) = (self.path.first(), self.path.last()) else {
            return Pose::IDENTITY;
        };
        let period = last.time - first.time;
        let time = if self.looped && period > 0.0 {
            first.time + (time - first.time).rem_euclid(period)
        } else {
            time
        };
        let after = self.path.partition_point(|key| key.time <= time);
        let unit = |pose: &Pose| Pose::new(pose.translation, pose.rotation);
        match (after.checked_sub(1).and_then(|i| self.path.get(i)), self.path.get(after)) {
            (Some(a), Some(b)) => {
                let s = (time - a.time) / (b.time - a.time);
                unit(&a.pose).lerp(&unit(&b.pose), s as f32)
            }
            (Some(a), None) => unit(&a.pose),
            (None, _) => unit(&first.pose),
        }
    }

    /// True when the collider changes its place or direction at any time.
    pub fn is_moving(&self) -> bool {
        self.path.windows(2).any(|pair| pair[0].pose != pair[1].pose)
    }

    /// Checks everything that came from outside; `field` is the path the messages start with.
    ///
    /// # Errors
    /// Names the first value that is not allowed and what would be right.
    pub fn validate(&self, field: &str) -> Result<()> {
        self.shape.validate(&format!("{field}.shape"))?;
        if self.path.is_empty() {
            return Err(Error::value(format!("{field}.path"), "must have at least one keyframe"));
        }
        for (i, key) in self.path.iter().enumerate() {
            key.validate(&format!("{field}.path.{i}"))?;
        }
        for (i, pair) in self.path.windows(2).enumerate() {
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
        coefficient(field, "friction_static", self.friction_static, f32::MAX)?;
        coefficient(field, "friction_kinetic", self.friction_kinetic, f32::MAX)?;
        coefficient(field, "restitution", self.restitution, 1.0)
    }
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

fn coefficient(field: &str, name: &str, value: Option<f32>, most: f32) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    if value.is_finite() && (0.0..=most).contains(&value) {
        return Ok(());
    }
    let range = if most == f32::MAX { "0 or more".into() } else { format!("between 0 and {most}") };
    Err(Error::value(format!("{field}.{name}"), format!("must be {range}, but is {value}")))
}

#[cfg(test)]
pub(crate) mod tests;
