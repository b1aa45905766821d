//! The lights and stage colours of each theme, in linear light.

use super::Theme;
use super::color::linear;
use glam::Vec3;
use motes::simd::{Simd, Vector};

/// Everything about a picture's mood that is not its content.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Towards the sun, world space.
    pub sun: Vec3,
    pub sun_light: Vec3,
    /// Ambient light from above and from below.
    pub sky_light: Vec3,
    pub bounce_light: Vec3,
    /// Strength of the highlight and of the bright rim at grazing angles.
    pub highlight: f32,
    pub rim: f32,
    /// Background at the horizon and straight above; below the horizon it turns into the floor.
    pub horizon: Vec3,
    pub zenith: Vec3,
    pub floor: Vec3,
    pub floor_line: Vec3,
    /// The part of the floor's light that is left in the sun's shadow.
    pub floor_shade: Vec3,
}

impl Look {
    pub fn of(theme: Theme) -> Self {
        let sun = Vec3::new(-0.42, 1.0, 0.40).normalize();
        match theme {
            Theme::Light => Self {
                sun,
                sun_light: Vec3::new(0.84, 0.80, 0.73),
                sky_light: Vec3::new(0.50, 0.54, 0.60),
                bounce_light: Vec3::new(0.30, 0.285, 0.27),
                highlight: 0.22,
                rim: 0.22,
                horizon: linear([0xf3, 0xf5, 0xf8]),
                zenith: linear([0xc9, 0xd6, 0xe6]),
                floor: linear([0xf3, 0xf4, 0xf6]),
                floor_line: linear([0xcd, 0xd4, 0xde]),
                floor_shade: Vec3::new(0.475, 0.50, 0.545),
            },
            Theme::Dark => Self {
                sun,
                sun_light: Vec3::new(0.92, 0.87, 0.79),
                sky_light: Vec3::new(0.20, 0.24, 0.31),
                bounce_light: Vec3::new(0.07, 0.07, 0.08),
                highlight: 0.26,
                rim: 0.30,
                horizon: linear([0x2a, 0x30, 0x39]),
                zenith: linear([0x12, 0x15, 0x1b]),
                floor: linear([0x31, 0x37, 0x41]),
                floor_line: linear([0x4b, 0x55, 0x64]),
                floor_shade: Vec3::new(0.28, 0.30, 0.34),
            },
        }
    }

    /// The background behind rays whose normalised directions rise by `rise` per unit.
    #[inline(always)]
    pub fn background<L: Simd>(&self, rise: L) -> Vector<L> {
        let t = (rise.abs() * 1.8).within_one();
        let above = rise.above(L::splat(0.0));
        let end = Vector::select(above, Vector::splat(self.zenith), Vector::splat(self.floor));
        let horizon = Vector::splat(self.horizon);
        horizon + (end - horizon) * (t * t * (L::splat(3.0) - t * 2.0))
    }
}
