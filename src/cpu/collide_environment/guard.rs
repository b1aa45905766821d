//! What proves in a few operations that a particle meets nothing of a collider: most are far from
//! all of them.

use super::PosedCollider;
use crate::world::collider::Shape;
use glam::{Vec3, Vec4};

/// A plane or a ball with the whole collider behind or inside it, where that is easy to give.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    /// n.p + d >= 0 is free, where the substep ends. Whoever ends far in front of a plane has not
    /// met it on the way either.
    Plane(Vec4),
    /// A collider at rest.
    Ball { center: Vec3, radius: f32 },
    /// Anything may happen.
    None,
}

impl Guard {
    pub fn of(posed: &PosedCollider) -> Guard {
        let ball = |local: Vec3, radius: f32| match posed.start == posed.end {
            true => Guard::Ball { center: posed.end.apply_point(local), radius },
            false => Guard::None,
        };
        match &posed.collider.shape {
            Shape::Plane { normal } => {
                let normal = posed.end.apply_vector(normal.normalize_or(Vec3::Y));
                Guard::Plane(normal.extend(-normal.dot(posed.end.translation)))
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
            Guard::None => false,
        }
    }
}
