//! Contacts with the convex primitives.
//!
//! A tangent plane of a convex body has the whole body behind it: whoever stays in front of one
//! such plane stays out of the body. So one plane is enough, if it is taken on the side the
//! particle came from.

use glam::Vec3;

use super::{LocalPlane, Sweep};
use crate::world::collider::Shape;

pub(super) fn find(shape: &Shape, sweep: &Sweep, emit: &mut impl FnMut(LocalPlane)) {
    let &Sweep { x, p, r, margin } = sweep;
    let (start, start_gradient) = shape.distance(x);
    if start < 0.0 {
        // Out through the side nearest to where it was, not through the one it is heading for.
        let plane = tangent(x, start, start_gradient);
        if plane.height(p) < r + margin {
            emit(plane);
        }
        return;
    }
    let (end, end_gradient) = shape.distance(p);
    let way = p - x;
    let length = way.length();
    // Slow particles may cut a corner by less than their radius; only the centre must not enter.
    // The distance falls by at most the way travelled, so few need the search.
    let enters = end < 0.0 || (start + end <= length && first_touch(shape, x, way, 0.0).is_some());
    let meets = enters || (length > r && start - r <= length);
    let touch = if meets { first_touch(shape, x, way, r) } else { None };
    if let Some(q) = touch {
        let (distance, gradient) = shape.distance(q);
        emit(tangent(q, distance, gradient));
    } else if enters {
        // Rounding alone leads here: the plane at the start is never wrong.
        emit(tangent(x, start, start_gradient));
    } else if end < r + margin {
        emit(tangent(p, end, end_gradient));
    }
}

fn tangent(q: Vec3, distance: f32, gradient: Vec3) -> LocalPlane {
    LocalPlane { normal: gradient, point: q - gradient * distance, skin: 0.0 }
}

/// The first point on the way where the distance comes down to `level`; none when it never does,
/// or when it is below already and grows.
///
/// Newton's method. Along a line the distance to a convex body is convex, so its tangent lies
/// below it: no step goes too far, a tangent that stays above the level proves a miss, and a
/// particle gliding along a wall is done after one step, where sphere tracing would crawl.
fn first_touch(shape: &Shape, x: Vec3, way: Vec3, level: f32) -> Option<Vec3> {
    let mut t = 0.0f32;
    // Near a double root each step halves the gap; 40 take it below what f32 resolves.
    for _ in 0..40 {
        let q = x + way * t;
        let (distance, gradient) = shape.distance(q);
        let (gap, slope) = (distance - level, gradient.dot(way));
        if slope.is_nan() || slope >= 0.0 {
            return None;
        }
        if gap <= 1e-4 * level {
            return Some(q);
        }
        let next = t - gap / slope;
        if next.is_nan() || next > 1.0 {
            return None;
        }
        if next <= t {
            return Some(q);
        }
        t = next;
    }
    Some(x + way * t)
}
