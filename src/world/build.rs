//! What the builders of cloth, lattices and grains share.

use super::Constraint;
use crate::error::{Error, Result};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// How stiff and how strong constraints are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// PBD stiffness, 0..=1 (1 = rigid).
    pub stiffness: f32,
    /// XPBD compliance (0 = rigid): m/N for edges, rad/(N m) for hinges, m⁵/N for volumes.
    pub compliance: f32,
    /// Strain beyond which a constraint breaks; infinite for never.
    pub break_at: f32,
    /// Strain beyond which it yields; infinite for never.
    pub yield_at: f32,
}

impl Default for Bond {
    fn default() -> Self {
        Bond { stiffness: 1.0, compliance: 0.0, break_at: f32::INFINITY, yield_at: f32::INFINITY }
    }
}

impl Bond {
    /// An unbreakable bond of this compliance.
    pub fn compliant(compliance: f32) -> Self {
        Bond { compliance, ..Default::default() }
    }

    pub(crate) fn constraint<const N: usize>(
        &self,
        particles: [u32; N],
        rest: f32,
    ) -> Constraint<N> {
        Constraint {
            particles,
            rest,
            stiffness: self.stiffness,
            compliance: self.compliance,
            break_at: self.break_at,
            yield_at: self.yield_at,
            color_hint: None,
        }
    }

    /// Checks the ranges; `field` names it in the message.
    pub fn validate(&self, field: &str) -> Result<()> {
        let wrong = |name: &str, message: &str| {
            Err(Error::value(format!("{field}.{name}"), message.to_string()))
        };
        if !(0.0..=1.0).contains(&self.stiffness) {
            return wrong("stiffness", "expected a number from 0 to 1");
        }
        if !(self.compliance.is_finite() && self.compliance >= 0.0) {
            return wrong("compliance", "expected a number of at least 0");
        }
        if self.break_at.is_nan() || self.break_at <= 0.0 {
            return wrong("break_at", "expected a strain above 0");
        }
        if self.yield_at.is_nan() || self.yield_at <= 0.0 {
            return wrong("yield_at", "expected a strain above 0");
        }
        Ok(())
    }
}

/// Which particles of a lattice are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Solid {
    /// All.
    Box,
    /// The inscribed ellipsoid.
    Sphere,
    /// The inscribed elliptic cylinder with its axis along y.
    Cylinder,
    /// The inscribed torus around the y axis; `tube` is its thickness as a share of the outer
    /// radius (0..0.5).
    Torus {
        /// Tube radius over outer radius.
        tube: f32,
    },
}

impl Solid {
    /// Whether the point (each axis -1..1 over the lattice) is inside.
    pub(super) fn contains(self, u: Vec3) -> bool {
        // A little slack keeps points that lie on the surface but for rounding.
        const ON: f32 = 1.0 + 1e-4;
        match self {
            Solid::Box => true,
            Solid::Sphere => u.length_squared() <= ON,
            Solid::Cylinder => u.x * u.x + u.z * u.z <= ON,
            Solid::Torus { tube } => {
                let ring = (u.x * u.x + u.z * u.z).sqrt() - (1.0 - tube);
                let (a, b) = (ring / tube, u.y);
                a * a + b * b <= ON
            }
        }
    }
}

/// Contact candidates of `n` particles on a lattice, at half as much again as the radii.
pub(super) fn neighbors(n: u128, radius: f32, spacing: f32) -> u128 {
    let across = 2.0 * (2.0 * 1.5 * f64::from(radius) / f64::from(spacing)) + 1.0;
    let each = (across * across * across) as u128; // saturates; not a number gives 0
    n.saturating_mul(each.min(n))
}

pub(crate) fn lattice_points(counts: [u32; 3]) -> impl Iterator<Item = (u32, u32, u32)> {
    let [nx, ny, nz] = counts;
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (x, y, z))))
}

/// The lattice point with each axis scaled to -1..1.
pub(super) fn unit_point(counts: [u32; 3], x: u32, y: u32, z: u32) -> Vec3 {
    let scale = |k: u32, n: u32| if n > 1 { 2.0 * k as f32 / (n - 1) as f32 - 1.0 } else { 0.0 };
    Vec3::new(scale(x, counts[0]), scale(y, counts[1]), scale(z, counts[2]))
}
