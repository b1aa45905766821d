//! How obstacles fill the kernel of a fluid particle, as if they were fluid at rest.
//! Behind a plane at distance q H: f = 1/2 - 315/256 (q - 4/3 q³ + 6/5 q⁵ - 4/7 q⁷ + q⁹/9), the
//! integral of poly6; its slope is the integral of spiky over the plane, (1 - q)⁴ (7.5 - 6 (1 - q)) / H.
//! Both times what makes a lattice whose first layer touches the plane have its rest density.

use crate::cpu::collide_environment::EnvironmentContact;
use glam::{Vec3, Vec4};

/// A lattice has this part of f behind a plane that it touches.
const LATTICE: f32 = 0.881_316_8;
/// 315 / 256.
const FACTOR: f32 = 1.230_468_8;
/// Coefficients of q³, q⁵, q⁷, q⁹.
const CUBED: f32 = 1.333_333_4;
const FIFTH: f32 = 1.2;
const SEVENTH: f32 = 0.571_428_6;
const NINTH: f32 = 0.111_111_11;

/// What a plane at distance q H fills, and the slope of that, 1 / H.
#[inline]
fn filled(q: f32) -> [f32; 2] {
    let q = if q < -1.0 { -1.0 } else { q };
    let q_sq = q * q;
    let series = 1.0 - q_sq * (CUBED - q_sq * (FIFTH - q_sq * (SEVENTH - q_sq * NINTH)));
    let left = 1.0 - q.abs();
    let left_sq = left * left;
    let slope = (left_sq * left_sq) * (7.5 - 6.0 * left);
    [LATTICE * (0.5 - FACTOR * (q * series)), LATTICE * slope]
}

/// What the planes fill of the kernel of a particle at p, counted from where its step began, and the
/// gradient of that: [x, y, z, filled]. Planes that face the same way, as two of one floor, count
/// once; what planes across each other have both is taken off.
pub(crate) fn behind(contacts: &[EnvironmentContact], p: Vec3, radius: f32) -> Vec4 {
    let per_length = 0.25 / radius;
    let ratio = |plane: Vec4| {
        let normal = plane.truncate();
        (normal.dot(p) + plane.w) * per_length
    };
    let mut sum = Vec4::ZERO;
    for (k, contact) in contacts.iter().enumerate() {
        let q = ratio(contact.plane);
        if q.is_nan() || q >= 1.0 {
            continue;
        }
        let normal = contact.plane.truncate();
        let [own, slope] = filled(q);
        if own <= 0.0 {
            continue; // rounding alone: it only just does not reach
        }
        let mut known = 0.0f32;
        for earlier in &contacts[..k] {
            let q = ratio(earlier.plane);
            let along = normal.dot(earlier.plane.truncate());
            if !(q < 1.0 && along > 0.0) {
                continue;
            }
            let [other, _] = filled(q);
            let both = (along * along) * if other < own { other } else { own };
            known = if both > known { both } else { known };
        }
        // Of what others fill, that part is behind this plane anyway.
        let across = (sum.w - known) / (1.0 - known);
        let kept = (1.0 - known / own) * (1.0 - across);
        let steep = slope * per_length * kept;
        sum += (normal * -steep).extend(own * kept);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(normal: Vec3, d: f32) -> EnvironmentContact {
        EnvironmentContact { plane: normal.extend(d), ..EnvironmentContact::default() }
    }

    /// The integral of poly6 behind a plane, by sums.
    fn integral(q: f64) -> f64 {
        let steps = 4000;
        let dz = (1.0 - q) / f64::from(steps);
        let slice = |k: i32| {
            let z = q + (f64::from(k) + 0.5) * dz;
            (1.0 - z * z).max(0.0).powi(4) * dz
        };
        315.0 / 256.0 * (0..steps).map(slice).sum::<f64>()
    }

    #[test]
    fn a_plane_fills_what_is_behind_it() {
        for k in -10..=10 {
            let q = k as f32 / 10.0;
            let [filled, _] = filled(q);
            let expected = f64::from(LATTICE) * integral(f64::from(q));
            assert!((f64::from(filled) - expected).abs() < 1e-5, "{q}: {filled} {expected}");
        }
        let beyond = filled(-3.0);
        assert!((beyond[0] - LATTICE).abs() < 1e-5 && beyond[1].abs() < 1e-5);
    }

    /// A lattice that touches a plane has its rest density: the layers behind it weigh 0.190909.
    #[test]
    fn the_first_layer_is_at_rest() {
        let at = behind(&[wall(Vec3::Y, 0.0)], Vec3::Y * 0.1, 0.1);
        assert!((at.w - 0.190_909).abs() < 1e-5, "{at}");
        assert!(at.y < 0.0 && at.x == 0.0 && at.z == 0.0);
    }

    #[test]
    fn planes_of_one_floor_count_once_and_corners_overlap() {
        let (p, floor) = (Vec3::splat(0.1), wall(Vec3::Y, 0.0));
        let one = behind(&[floor], p, 0.1);
        for other in [0.0, -0.05] {
            let twice = behind(&[floor, wall(Vec3::Y, other)], p, 0.1);
            let nearest = behind(&[wall(Vec3::Y, other.min(0.0))], p, 0.1);
            assert!((twice.w - one.w.max(nearest.w)).abs() < 1e-6, "{twice} {one}");
        }
        let corner = behind(&[floor, wall(Vec3::X, 0.0)], p, 0.1);
        assert!((corner.w - (1.0 - (1.0 - one.w) * (1.0 - one.w))).abs() < 1e-6);
    }
}
