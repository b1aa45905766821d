//! Vectors of space whose components are numbers of either kind.

use super::{Number, Simd, group, group_mut};
use glam::Vec3;
use std::ops::{Add, Mul, Neg, Sub};

/// A vector, or one in each lane.
#[derive(Clone, Copy)]
pub struct Vector<L> {
    pub x: L,
    pub y: L,
    pub z: L,
}

impl From<Vec3> for Vector<f32> {
    #[inline(always)]
    fn from(v: Vec3) -> Self {
        Vector { x: v.x, y: v.y, z: v.z }
    }
}

impl From<Vector<f32>> for Vec3 {
    #[inline(always)]
    fn from(v: Vector<f32>) -> Self {
        Vec3::new(v.x, v.y, v.z)
    }
}

impl<L: Number> Vector<L> {
    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Vector {
            x: self.y * other.z - other.y * self.z,
            y: self.z * other.x - other.z * self.x,
            z: self.x * other.y - other.x * self.y,
        }
    }
    #[inline(always)]
    pub fn length_sq(self) -> L {
        self.dot(self)
    }
    #[inline(always)]
    pub fn length(self) -> L {
        self.length_sq().sqrt()
    }
    /// `yes` where the mask is set, `no` elsewhere, bit for bit.
    #[inline(always)]
    pub fn select(mask: L::Mask, yes: Self, no: Self) -> Self {
        Vector {
            x: L::select(mask, yes.x, no.x),
            y: L::select(mask, yes.y, no.y),
            z: L::select(mask, yes.z, no.z),
        }
    }
}

impl<L: Simd> Vector<L> {
    /// One vector in all lanes.
    #[inline(always)]
    pub fn splat(v: Vec3) -> Self {
        Vector { x: L::splat(v.x), y: L::splat(v.y), z: L::splat(v.z) }
    }

    /// A group of three rows, one for each component.
    #[inline(always)]
    pub fn read(rows: &[impl AsRef<[f32]>; 3], at: usize) -> Self {
        let [x, y, z] = rows;
        Vector {
            x: L::read(group(x.as_ref(), at)),
            y: L::read(group(y.as_ref(), at)),
            z: L::read(group(z.as_ref(), at)),
        }
    }

    /// Writes a group of three rows.
    #[inline(always)]
    pub fn write(self, rows: &mut [impl AsMut<[f32]>; 3], at: usize) {
        let [x, y, z] = rows;
        self.x.write(group_mut(x.as_mut(), at));
        self.y.write(group_mut(y.as_mut(), at));
        self.z.write(group_mut(z.as_mut(), at));
    }

    /// Dot product with one vector for all lanes.
    #[inline(always)]
    pub fn along(self, v: Vec3) -> L {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// From one vector to another by a share of the way.
    #[inline(always)]
    pub fn between(a: Vec3, b: Vec3, share: L) -> Self {
        Self::splat(a) + Self::splat(b - a) * share
    }

    /// Component by component.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Vector { x: self.x * other.x, y: self.y * other.y, z: self.z * other.z }
    }
}

impl<L: Number> Add for Vector<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Vector { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<L: Number> Sub for Vector<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Vector { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl<L: Number> Mul<L> for Vector<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: L) -> Self {
        Vector { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl<L: Number> Neg for Vector<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Vector { x: -self.x, y: -self.y, z: -self.z }
    }
}
