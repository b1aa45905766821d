//! Matrices of three rows, with every sum in the order of the shaders (`spirv/shared/matrices.spvasm`).

use glam::{Vec3, Vec4};

/// Three rows.
pub(crate) type Rows = [Vec3; 3];

pub(crate) const ONE: Rows = [Vec3::X, Vec3::Y, Vec3::Z];

/// m v.
#[inline(always)]
pub(crate) fn times(m: &Rows, v: Vec3) -> Vec3 {
    Vec3::new(m[0].dot(v), m[1].dot(v), m[2].dot(v))
}

/// m^T v.
#[inline(always)]
pub(crate) fn turned_times(m: &Rows, v: Vec3) -> Vec3 {
    m[0] * v.x + m[1] * v.y + m[2] * v.z
}

/// a b.
#[inline(always)]
pub(crate) fn product(a: &Rows, b: &Rows) -> Rows {
    a.map(|row| turned_times(b, row))
}

/// a b^T.
#[inline(always)]
pub(crate) fn product_turned(a: &Rows, b: &Rows) -> Rows {
    a.map(|row| times(b, row))
}

#[inline(always)]
pub(crate) fn turned(m: &Rows) -> Rows {
    [
        Vec3::new(m[0].x, m[1].x, m[2].x),
        Vec3::new(m[0].y, m[1].y, m[2].y),
        Vec3::new(m[0].z, m[1].z, m[2].z),
    ]
}

#[inline(always)]
pub(crate) fn sum(a: &Rows, b: &Rows) -> Rows {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn difference(a: &Rows, b: &Rows) -> Rows {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scaled(m: &Rows, by: f32) -> Rows {
    [m[0] * by, m[1] * by, m[2] * by]
}

/// The matrix that takes r to v x r.
#[inline(always)]
pub(crate) fn crossing(v: Vec3) -> Rows {
    [Vec3::new(0.0, -v.z, v.y), Vec3::new(v.z, 0.0, -v.x), Vec3::new(-v.y, v.x, 0.0)]
}

/// A symmetric matrix from its six numbers: xx, yy, zz, then xy, xz, yz.
#[inline(always)]
pub(crate) fn symmetric(along: Vec3, across: Vec3) -> Rows {
    [
        Vec3::new(along.x, across.x, across.y),
        Vec3::new(across.x, along.y, across.z),
        Vec3::new(across.y, across.z, along.z),
    ]
}

/// The inverse of a symmetric matrix times its determinant, and the determinant.
#[inline(always)]
pub(crate) fn adjugate(m: &Rows) -> (Rows, f32) {
    let (first, second, third) = (m[1].cross(m[2]), m[2].cross(m[0]), m[0].cross(m[1]));
    ([first, second, third], m[0].dot(first))
}

/// The turn of a unit quaternion [x, y, z, w] less the identity: exact to parts of a small turn.
#[inline(always)]
pub(crate) fn turn_less_one(q: Vec4) -> Rows {
    let v = q.truncate();
    let (double, square) = (v + v, v * v * 2.0);
    let (xy, xz, yz) = (double.x * v.y, double.x * v.z, double.y * v.z);
    let wv = double * q.w;
    [
        Vec3::new(-(square.y + square.z), xy - wv.z, xz + wv.y),
        Vec3::new(xy + wv.z, -(square.x + square.z), yz - wv.x),
        Vec3::new(xz - wv.y, yz + wv.x, -(square.x + square.y)),
    ]
}

/// The turn of a unit quaternion.
#[inline(always)]
pub(crate) fn of_turn(q: Vec4) -> Rows {
    sum(&turn_less_one(q), &ONE)
}

/// The product of two quaternions [x, y, z, w]: first b, then a.
#[inline(always)]
pub(crate) fn after(a: Vec4, b: Vec4) -> Vec4 {
    let (u, v) = (a.truncate(), b.truncate());
    let along = v * a.w + u * b.w + u.cross(v);
    along.extend(a.w * b.w - u.dot(v))
}

/// As a unit quaternion; no turn where it has no length.
#[inline(always)]
pub(crate) fn unit(q: Vec4) -> Vec4 {
    let v = q.truncate();
    let length_sq = v.dot(v) + q.w * q.w;
    match length_sq > 1e-30 {
        true => q / length_sq.sqrt(),
        false => Vec4::W,
    }
}

/// Sine over the angle, and cosine, of half of an angle of at most 2 rad, each less one; `y` is the
/// square of the half. Both are exact to parts of a small angle.
#[inline(always)]
pub(crate) fn half_angle(y: f32) -> [f32; 2] {
    let sine = (((y * (1.0 / 362_880.0) - 1.0 / 5040.0) * y + 1.0 / 120.0) * y - 1.0 / 6.0) * y;
    let cosine = (((y * (1.0 / 40_320.0) - 1.0 / 720.0) * y + 1.0 / 24.0) * y - 0.5) * y;
    [sine, cosine]
}

/// The quaternion of a turn by |t| about t, |t| at most 2 rad.
#[inline(always)]
pub(crate) fn turn_by(t: Vec3) -> Vec4 {
    let half = t * 0.5;
    let [sine, cosine] = half_angle(half.dot(half));
    (half * (sine + 1.0)).extend(cosine + 1.0)
}
