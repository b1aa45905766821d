//! Force fields: what accelerates particles besides contacts and constraints.

use super::{SurfaceWind, World};
use crate::error::{Error, Result};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A force field, everywhere or inside a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Force {
    /// What it does.
    pub kind: ForceKind,
    /// Where it acts: lower and upper corner, m. `None` is everywhere.
    pub region: Option<[Vec3; 2]>,
}

/// What a force field does to a particle in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ForceKind {
    /// The same acceleration for every particle, m/s²; adds to the world's gravity.
    Gravity {
        /// m/s².
        acceleration: Vec3,
    },
    /// Air that drags every particle along, whatever it is part of: F = drag (wind - v).
    Wind {
        /// Velocity of the air, m/s.
        velocity: Vec3,
        /// Force per relative speed on one particle, kg/s.
        drag: f32,
    },
    /// A point that attracts (strength above 0) or repels (below 0).
    Point {
        /// m.
        center: Vec3,
        /// Acceleration at the centre, m/s²; it falls linearly to 0 at `reach`.
        strength: f32,
        /// m.
        reach: f32,
    },
    /// Air that blows on the triangles of cloth. A triangle is in the region when all its corners
    /// are. The pass `catch_wind` does it; particles on their own feel nothing of it.
    SurfaceWind(SurfaceWind),
}

impl World {
    /// The winds that blow on surfaces, each with the box that it blows in, in the order of
    /// [`World::forces`].
    pub(crate) fn surface_winds(&self) -> impl Iterator<Item = (&SurfaceWind, Option<[Vec3; 2]>)> {
        self.forces.iter().filter_map(|force| match &force.kind {
            ForceKind::SurfaceWind(wind) => Some((wind, force.region)),
            _ => None,
        })
    }
}

impl Force {
    /// Acceleration over the next `h` seconds of a particle at `x` with velocity `v` and inverse
    /// mass `w`, m/s². Drag is taken at the end of that time, so no drag is too strong for a step.
    pub fn acceleration(&self, x: Vec3, v: Vec3, w: f32, h: f32) -> Vec3 {
        if let Some([low, high]) = self.region
            && (x.cmplt(low).any() || x.cmpgt(high).any())
        {
            return Vec3::ZERO;
        }
        match self.kind {
            ForceKind::Gravity { acceleration } => acceleration,
            ForceKind::Wind { velocity, drag } => {
                (velocity - v) * (drag * w / (1.0 + h * drag * w))
            }
            ForceKind::Point { center, strength, reach } => {
                let d = center - x;
                let distance = d.length();
                if distance >= reach || distance < 1e-9 {
                    Vec3::ZERO
                } else {
                    d * (strength * (1.0 - distance / reach) / distance)
                }
            }
            ForceKind::SurfaceWind(_) => Vec3::ZERO,
        }
    }

    /// Checks that every number is finite and in range; `field` names it in the message.
    pub fn validate(&self, field: &str) -> Result<()> {
        let ok = match self.kind {
            ForceKind::Gravity { acceleration } => acceleration.is_finite(),
            ForceKind::Wind { velocity, drag } => {
                velocity.is_finite() && drag.is_finite() && drag >= 0.0
            }
            ForceKind::Point { center, strength, reach } => {
                center.is_finite() && strength.is_finite() && reach.is_finite() && reach > 0.0
            }
            ForceKind::SurfaceWind(wind) => {
                return wind.validate(field).and(self.check_region(field));
            }
        };
        if !ok {
            return Err(Error::value(
                field,
                "every number must be finite, `drag` at least 0 and `reach` above 0",
            ));
        }
        self.check_region(field)
    }

    fn check_region(&self, field: &str) -> Result<()> {
        if let Some([low, high]) = self.region
            && !(low.is_finite() && high.is_finite() && low.cmple(high).all())
        {
            return Err(Error::value(field, "`region` must be [low, high] with low <= high"));
        }
        Ok(())
    }
}
