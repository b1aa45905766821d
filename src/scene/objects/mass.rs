//! Masses of particles that are given by a density.

use crate::scene::value::Positive;

/// kg/m³: water.
pub(super) const DENSITY: f32 = 1000.0;

/// The mass of a ball: as given, or of a material with this density.
pub(super) fn ball_mass(mass: Option<Positive>, density: Option<Positive>, radius: f32) -> f32 {
    let volume = 4.0 / 3.0 * std::f32::consts::PI * radius * radius * radius;
    mass.map_or(density.map_or(DENSITY, |d| d.0) * volume, |m| m.0)
}
