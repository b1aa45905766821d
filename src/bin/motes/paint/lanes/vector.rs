//! Eight vectors of three components.

use super::Lanes;
use glam::Vec3;
use std::ops::{Add, Mul, Sub};

#[derive(Clone, Copy)]
pub struct V3<L> {
    pub x: L,
    pub y: L,
    pub z: L,
}

impl<L: Lanes> V3<L> {
    #[inline(always)]
    pub fn splat(v: Vec3) -> Self {
        Self { x: L::splat(v.x), y: L::splat(v.y), z: L::splat(v.z) }
    }

    /// A group of rows of components.
    #[inline(always)]
    pub fn load(rows: &[impl AsRef<[f32]>; 3], group: usize) -> Self {
        let [x, y, z] = rows;
        Self {
            x: L::load(super::group(x.as_ref(), group)),
            y: L::load(super::group(y.as_ref(), group)),
            z: L::load(super::group(z.as_ref(), group)),
        }
    }

    #[inline(always)]
    pub fn store(self, rows: &mut [impl AsMut<[f32]>; 3], group: usize) {
        let [x, y, z] = rows;
        self.x.store(super::group_mut(x.as_mut(), group));
        self.y.store(super::group_mut(y.as_mut(), group));
        self.z.store(super::group_mut(z.as_mut(), group));
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Dot product with one vector for all lanes.
    #[inline(always)]
    pub fn along(self, v: Vec3) -> L {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// `yes` where the mask is set, `no` elsewhere.
    #[inline(always)]
    pub fn select(mask: L, yes: Self, no: Self) -> Self {
        Self {
            x: mask.select(yes.x, no.x),
            y: mask.select(yes.y, no.y),
            z: mask.select(yes.z, no.z),
        }
    }

    /// From one vector to another by a share of the way.
    #[inline(always)]
    pub fn between(a: Vec3, b: Vec3, share: L) -> Self {
        Self::splat(a) + Self::splat(b - a) * share
    }
}

impl<L: Lanes> Add for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<L: Lanes> Sub for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl<L: Lanes> Mul for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { x: self.x * other.x, y: self.y * other.y, z: self.z * other.z }
    }
}

impl<L: Lanes> Mul<L> for V3<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, scale: L) -> Self {
        Self { x: self.x * scale, y: self.y * scale, z: self.z * scale }
    }
}
