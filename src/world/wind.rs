//! Wind that blows on surfaces: its numbers, and its gusts.
//!
//! Gusts are noise. A lattice of cells, `gust_length` wide, is carried along by the wind, and every
//! corner of it has a random vector, which changes smoothly into another one every `gust_time`. The
//! air between the corners blends smoothly between them. Every number comes from a hash of whole
//! numbers, so the same place and time give the same bits on every machine, whoever asks.

use crate::error::{Error, Result};
use glam::{UVec3, Vec3};
use serde::{Deserialize, Serialize};

/// Shorter lengths, m, and times, s, have no use as those of gusts, and no finite reciprocal.
const SHORTEST: f32 = 1e-6;
/// Further from the origin than so many lengths of a gust, an f32 has no place between cells: the
/// air there is that of the border.
const FAR: f32 = 4_194_304.0;
/// Random numbers of the lattice have ten bits.
const MOST_DRAWN: u32 = 1023;
/// Factors of the hash, one for each axis and one for time: large odd numbers.
const HASH_PLACE: UVec3 = UVec3::new(0x8da6_b343, 0xd816_3841, 0xcb1a_b31f);
const HASH_LAYER: u32 = 0x9e37_79b1;

/// Wind that blows on the triangles of open surfaces, which are those of cloth: drag along the
/// relative wind and lift across it, from the normal of each triangle.
///
/// ```
/// use glam::Vec3;
/// use motes::{Cloth, Force, ForceKind, SurfaceWind, World};
/// let mut world = World::new();
/// world.add_cloth(&Cloth::default())?;
/// let wind = SurfaceWind { velocity: Vec3::X * 6.0, gust: 0.3, ..SurfaceWind::default() };
/// world.forces.push(Force { kind: ForceKind::SurfaceWind(wind), region: None });
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceWind {
    /// Mean velocity of the air, m/s.
    pub velocity: Vec3,
    /// Density of the air, kg/m³.
    pub density: f32,
    /// Drag of a triangle that the wind meets face-on.
    pub drag_coefficient: f32,
    /// Lift of a triangle that stands aslant.
    pub lift_coefficient: f32,
    /// Strength of the gusts: each component of the air's velocity differs from its mean by at most
    /// this share of the mean speed.
    pub gust: f32,
    /// Width of a gust, m.
    pub gust_length: f32,
    /// How long a gust lasts for who moves with the wind, s.
    pub gust_time: f32,
}

impl Default for SurfaceWind {
    /// Air at sea level, at rest. The drag is that of a square plate.
    fn default() -> Self {
        SurfaceWind {
            velocity: Vec3::ZERO,
            density: 1.2,
            drag_coefficient: 1.2,
            lift_coefficient: 0.8,
            gust: 0.0,
            gust_length: 1.0,
            gust_time: 1.0,
        }
    }
}

impl SurfaceWind {
    /// Checks every number; `field` names the force in the message.
    pub(super) fn validate(&self, field: &str) -> Result<()> {
        if !self.velocity.is_finite() {
            let message = format!("{} is not finite; give three numbers in m/s", self.velocity);
            return Err(Error::value(format!("{field}.velocity"), message));
        }
        let sizes = [
            ("density", self.density, 0.0),
            ("drag_coefficient", self.drag_coefficient, 0.0),
            ("lift_coefficient", self.lift_coefficient, 0.0),
            ("gust", self.gust, 0.0),
            ("gust_length", self.gust_length, SHORTEST),
            ("gust_time", self.gust_time, SHORTEST),
        ];
        for (key, value, least) in sizes {
            if !(value.is_finite() && value >= least) {
                let message =
                    format!("{value} is not legal; give a finite number of at least {least}");
                return Err(Error::value(format!("{field}.{key}"), message));
            }
        }
        Ok(())
    }

    /// What a force is multiplied by: half the density, a third of a triangle for each corner, and
    /// half of what the cross product of two sides measures.
    pub(crate) fn force_factor(&self) -> f32 {
        self.density / 12.0
    }

    /// The air at a time.
    pub(crate) fn at(&self, time: f64) -> Air {
        let (length, velocity) = (f64::from(self.gust_length), self.velocity.as_dvec3());
        // Whole cells and the rest of one are kept apart, so that gusts are as fine after a year.
        let carried = velocity * (time / length);
        let cells = carried.floor();
        let age = time / f64::from(self.gust_time);
        let layer = age.floor();
        // Times that no run reaches have no place within a cell.
        let within = |rest: f64| if rest.is_finite() { rest as f32 } else { 0.0 };
        let rest = within(age - layer);
        let shift = (carried - cells).to_array().map(within);
        let whole = |cells: f64| cells as i64 as u32;
        Air {
            velocity: self.velocity,
            gust_speed: self.gust * self.velocity.length(),
            per_metre: 1.0 / self.gust_length,
            cell: UVec3::ZERO.wrapping_sub(UVec3::new(
                whole(cells.x),
                whole(cells.y),
                whole(cells.z),
            )),
            shift: Vec3::from(shift),
            layer: whole(layer),
            blend: rest * rest * (3.0 - (rest + rest)),
        }
    }
}

/// The air of a wind at one moment: what both backends make its velocity from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Air {
    /// Mean velocity, m/s.
    pub velocity: Vec3,
    /// How far a component may be off, m/s.
    pub gust_speed: f32,
    /// Cells in a metre.
    pub per_metre: f32,
    /// The cell of the lattice that has come to stand at the origin, ...
    pub cell: UVec3,
    /// ... and how far it has been carried beyond, in cells.
    pub shift: Vec3,
    /// The layer of time.
    pub layer: u32,
    /// How much of the next layer there is in it.
    pub blend: f32,
}

impl Air {
    /// The velocity of the air at a place, m/s.
    pub fn velocity_at(&self, x: Vec3) -> Vec3 {
        if self.gust_speed <= 0.0 {
            return self.velocity;
        }
        self.velocity + self.noise(x) * self.gust_speed
    }

    /// Three numbers from -1 to 1 that change smoothly from place to place. Sums, products and whole
    /// numbers alone: the shader gives the same bits.
    fn noise(&self, x: Vec3) -> Vec3 {
        let far = Vec3::splat(FAR);
        let at = (x * self.per_metre).clamp(-far, far) - self.shift;
        let low = at.floor();
        let rest = at - low;
        let s = rest * rest * (Vec3::splat(3.0) - (rest + rest));
        let cell = low.as_ivec3().as_uvec3().wrapping_add(self.cell);
        let row = |y: u32, z: u32, layer: u32| {
            let at = cell.wrapping_add(UVec3::new(0, y, z));
            between(drawn(at, layer), drawn(at.wrapping_add(UVec3::X), layer), s.x)
        };
        let face = |z: u32, layer: u32| between(row(0, z, layer), row(1, z, layer), s.y);
        let cube = |layer: u32| between(face(0, layer), face(1, layer), s.z);
        let mixed = between(cube(self.layer), cube(self.layer.wrapping_add(1)), self.blend);
        mixed * (2.0 / MOST_DRAWN as f32) - Vec3::ONE
    }
}

fn between(a: Vec3, b: Vec3, share: f32) -> Vec3 {
    a + (b - a) * share
}

/// Three numbers from 0 to 1023 that belong to a corner of the lattice and a layer of time.
fn drawn(corner: UVec3, layer: u32) -> Vec3 {
    let by_axis = corner.wrapping_mul(HASH_PLACE);
    let mut hash = by_axis.x ^ by_axis.y ^ by_axis.z ^ layer.wrapping_mul(HASH_LAYER);
    // Every bit of what goes in changes every bit that comes out about as often as not.
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x7feb_352d);
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x846c_a68b);
    hash ^= hash >> 16;
    let number = |shift: u32| ((hash >> shift) & MOST_DRAWN) as f32;
    Vec3::new(number(0), number(10), number(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gusty() -> SurfaceWind {
        let velocity = Vec3::new(3.0, 0.5, -1.0);
        SurfaceWind { velocity, gust: 0.4, gust_length: 0.7, gust_time: 0.5, ..Default::default() }
    }

    /// Gusts stay within their strength, use all of it, and have no mean.
    #[test]
    fn gusts_are_as_strong_as_they_say() {
        let wind = gusty();
        let most = wind.gust * wind.velocity.length();
        let (mut sum, mut largest, mut count) = (Vec3::ZERO, 0.0f32, 0.0);
        for k in 0..20_000 {
            let x = Vec3::new((k % 97) as f32, (k % 89) as f32, (k % 83) as f32) * 0.37;
            let off = wind.at(f64::from(k) * 0.01).velocity_at(x) - wind.velocity;
            largest = largest.max(off.abs().max_element());
            sum += off;
            count += 1.0;
        }
        assert!(largest <= most * 1.000_01 && largest > 0.8 * most, "{largest} of {most}");
        assert!((sum / count).abs().max_element() < 0.02 * most, "{}", sum / count);
    }

    /// No jumps: neither where cells meet, nor when a layer ends, nor when a cell was carried on.
    #[test]
    fn gusts_are_smooth_in_space_and_time() {
        let wind = gusty();
        let off = |x: f32, t: f64| wind.at(t).velocity_at(Vec3::new(x, 0.3 * x, -0.2 * x));
        let steps = |of: &dyn Fn(f64) -> Vec3| {
            let values: Vec<Vec3> = (0..4000).map(|k| of(f64::from(k) * 1e-3)).collect();
            values.windows(2).map(|w| (w[1] - w[0]).length()).fold(0.0, f32::max)
        };
        let most = wind.gust * wind.velocity.length();
        // The steepest slope of a blend is 1.5 a cell, over the whole range and on every axis.
        let along = steps(&|x| off(x as f32 - 2.0, 5.3));
        assert!(
            along > 1e-4 && along < 1.5 * 2.0 * most * 3.0 * 1e-3 / wind.gust_length,
            "{along}"
        );
        let later = steps(&|t| off(0.4, t));
        let cells = wind.velocity.length() / wind.gust_length + 1.0 / wind.gust_time;
        assert!(later > 1e-4 && later < 1.5 * 2.0 * most * 3.0 * 1e-3 * cells, "{later}");
    }

    /// The gusts are carried along: who moves with the wind sees the same ones, but for their age.
    #[test]
    fn gusts_move_with_the_wind() {
        let wind = SurfaceWind { gust_time: 1e6, ..gusty() };
        for k in 0..200 {
            let (x, t) = (Vec3::splat(0.11 * k as f32), 0.25 * f64::from(k));
            let there = wind.at(t).velocity_at(x + wind.velocity * t as f32);
            let here = wind.at(0.0).velocity_at(x);
            assert!(there.distance(here) < 1e-3, "{k}: {there} {here}");
        }
        // The control: who stays does not.
        let (now, then) = (wind.at(0.0), wind.at(1.0));
        assert!(now.velocity_at(Vec3::ZERO).distance(then.velocity_at(Vec3::ZERO)) > 1e-2);
    }

    /// A year later and a light-second away, every number is still one.
    #[test]
    fn far_and_late_air_is_air() {
        for time in [0.0, 3.2e7, 1e30, f64::MAX] {
            for x in [0.0, -1e5, 3e8, -3.4e38] {
                let v = gusty().at(time).velocity_at(Vec3::splat(x));
                assert!(v.is_finite() && v.distance(gusty().velocity) < 4.0, "{time} {x}: {v}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_field() {
        let said = |wind: SurfaceWind| wind.validate("force.0").unwrap_err().to_string();
        assert!(gusty().validate("force.0").is_ok());
        let wrong = SurfaceWind { velocity: Vec3::NAN, ..gusty() };
        assert!(said(wrong).contains("force.0.velocity"));
        for (key, wrong) in [
            ("density", SurfaceWind { density: -1.0, ..gusty() }),
            ("drag_coefficient", SurfaceWind { drag_coefficient: f32::INFINITY, ..gusty() }),
            ("lift_coefficient", SurfaceWind { lift_coefficient: -0.1, ..gusty() }),
            ("gust", SurfaceWind { gust: f32::NAN, ..gusty() }),
            ("gust_length", SurfaceWind { gust_length: 0.0, ..gusty() }),
            ("gust_time", SurfaceWind { gust_time: -2.0, ..gusty() }),
        ] {
            let said = said(wrong);
            assert!(
                said.contains(&format!("force.0.{key}")) && said.contains("at least"),
                "{said}"
            );
        }
    }
}
