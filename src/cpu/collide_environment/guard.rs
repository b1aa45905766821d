//! What proves in a few operations that a particle meets nothing of a collider: most are far from
//! all of them.

use super::Posed;
use crate::simd::{EIGHT, Kernel, LANES, Simd, Vector};
use crate::world::collider::{Collider, Pose, Shape};
use glam::{Vec3, Vec4};

/// A plane or a ball with the whole collider behind or inside it, where that is easy to give.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    /// n.p + d >= 0 is free, where the substep ends. Whoever ends far in front of a plane has not
    /// met it on the way either.
    Plane(Vec4),
    /// A collider at rest.
    Ball { center: Vec3, radius: f32 },
    /// A collider that moves: its ball where the substep ends, larger by how far it came, and how much
    /// of the distance from it counts: a turn by an angle moves what is far, as it sees it, by that
    /// share of the distance.
    Moving { center: Vec3, radius: f32, share: f32 },
    /// Anything may happen.
    None,
}

impl Guard {
    /// The guard of a collider with these poses at both ends of the substep.
    pub fn of(collider: &Collider, start: Pose, end: Pose) -> Guard {
        let ball = |local: Vec3, radius: f32| {
            let center = end.apply_point(local);
            if start == end {
                return Guard::Ball { center, radius };
            }
            let came = (center - start.apply_point(local)).length();
            let share = 1.0 - turn_between(&start, &end) * 1.001 - 1e-5;
            match share > 0.5 {
                true => Guard::Moving { center, radius: radius + came * 1.001, share },
                false => Guard::None,
            }
        };
        match &collider.shape {
            Shape::Plane { normal } => {
                let normal = end.apply_vector(normal.normalize_or(Vec3::Y));
                Guard::Plane(normal.extend(-normal.dot(end.translation)))
            }
            Shape::Sphere { radius } => ball(Vec3::ZERO, *radius),
            Shape::Box { half } => ball(Vec3::ZERO, half.length()),
            Shape::Capsule { radius, half_height } => ball(Vec3::ZERO, radius + half_height),
            Shape::Cylinder { radius, half_height } => ball(Vec3::ZERO, radius + half_height),
            Shape::Cone { radius, height } => ball(Vec3::ZERO, radius + height),
            Shape::Mesh { bvh, thickness, .. } => match bvh.bounds() {
                Some((low, high)) => {
                    ball((low + high) * 0.5, 0.5 * (high - low).length() + thickness)
                }
                None => Guard::None,
            },
        }
    }

    /// True when a particle on its way from `x` to `p` certainly stays farther than `reach` away.
    #[inline]
    pub fn is_far(&self, x: Vec3, p: Vec3, reach: f32) -> bool {
        // Rounding grows with the coordinates.
        let hair = |at: f32| 1e-5 * (p.abs().element_sum() + at + reach);
        match *self {
            Guard::Plane(plane) => plane.dot(p.extend(1.0)) > reach + hair(plane.w.abs()),
            Guard::Ball { center, radius } => {
                let away = (p - center).length() - (p - x).length() - radius;
                away > reach + hair(center.abs().element_sum() + radius)
            }
            Guard::Moving { center, radius, share } => {
                let away = (p - center).length() * share - (p - x).length() - radius;
                away > reach + hair(center.abs().element_sum() + radius)
            }
            Guard::None => false,
        }
    }
}

/// How far apart the two rotations take a point at distance 1, at most: twice the sine of half the angle.
fn turn_between(start: &Pose, end: &Pose) -> f32 {
    let [ax, ay, az, aw] = start.rotation.to_array();
    let [bx, by, bz, bw] = end.rotation.to_array();
    // The vector of the rotation that leads from one to the other.
    let x = aw * bx - bw * ax - (ay * bz - az * by);
    let y = aw * by - bw * ay - (az * bx - ax * bz);
    let z = aw * bz - bw * az - (ax * by - ay * bx);
    2.0 * Vec3::new(x, y, z).length()
}

/// Which of up to eight particles may meet any collider, as bits: a first look that spares most.
/// It may err towards near, so rounding need not be that of [`Guard::is_far`].
pub(super) struct Near<'a> {
    pub posed: &'a [Posed],
    pub position: &'a [Vec4],
    pub start: &'a [Vec4],
    pub predicted: &'a [Vec4],
    pub radius: &'a [f32],
    /// Radii away from which nothing is met.
    pub reach: f32,
}

impl Kernel for Near<'_> {
    type Output = u32;
    #[inline(always)]
    fn run<S: Simd>(self) -> u32 {
        let Near { posed, position, start, predicted, radius, reach } = self;
        let count = radius.len();
        assert!(count <= LANES && position.len() == count);
        assert!(start.len() == count && predicted.len() == count);
        if count < LANES {
            return u32::MAX; // few: look closely
        }
        // SAFETY: there are eight of each, as asserted.
        let (base, x, p, r) = unsafe {
            let vector = |of: &[Vec4]| {
                let [x, y, z, _] = S::gather(of.as_ptr().cast(), EIGHT.as_ptr());
                Vector { x, y, z }
            };
            (vector(position), vector(start), vector(predicted), S::load(radius.as_ptr()))
        };
        let (x, p) = (base + x, base + p);
        let r = r * S::splat(reach);
        let size = p.x.abs() + p.y.abs() + p.z.abs() + r;
        // Twice that of `is_far`.
        let hair = S::splat(2e-5);
        let mut near = 0;
        for posed in posed {
            near |= match posed.guard {
                Guard::Plane(n) => {
                    let height = p.x * S::splat(n.x) + p.y * S::splat(n.y) + p.z * S::splat(n.z);
                    (height + S::splat(n.w)).at_most(r + (size + S::splat(n.w.abs())) * hair)
                }
                Guard::Ball { center, radius } => {
                    let [x_at, y_at, z_at] = center.to_array();
                    let middle = Vector { x: S::splat(x_at), y: S::splat(y_at), z: S::splat(z_at) };
                    let away = (p - middle).length() - (p - x).length() - S::splat(radius);
                    let far = S::splat(center.abs().element_sum() + radius);
                    away.at_most(r + (size + far) * hair)
                }
                Guard::Moving { center, radius, share } => {
                    let [x_at, y_at, z_at] = center.to_array();
                    let middle = Vector { x: S::splat(x_at), y: S::splat(y_at), z: S::splat(z_at) };
                    let away = (p - middle).length() * S::splat(share);
                    let away = away - (p - x).length() - S::splat(radius);
                    let far = S::splat(center.abs().element_sum() + radius);
                    away.at_most(r + (size + far) * hair)
                }
                Guard::None => u32::MAX,
            };
        }
        near
    }
}
