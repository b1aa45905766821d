//! How obstacles fill the kernel of a fluid particle, as if they were fluid at rest.
//! Behind a plane at distance q H, with u = 1 - q: f = u⁶ (3.5 - 4.5 u + 1.5 u²), the integral of the
//! kernel, and 1 - f(-q) where the plane is behind the particle. Its slope is the integral of the kernel over
//! the plane, u⁵ (21 - 31.5 u + 12 u²) / H.
//! Both times what makes a lattice whose first layer touches the plane have its rest density.

use crate::cpu::collide_environment::EnvironmentContact;
use glam::{Vec3, Vec4};

/// A lattice has this part of f behind a plane that it touches.
const LATTICE: f32 = 0.717_080_24;

/// What a plane at distance q H fills, and the slope of that, 1 / H.
#[inline]
fn filled(q: f32) -> [f32; 2] {
    let q = if q < -1.0 { -1.0 } else { q };
    let left = 1.0 - q.abs();
    let left_sq = left * left;
    let left_cubed = left_sq * left;
    let beyond = (left_cubed * left_cubed) * (3.5 - left * (4.5 - left * 1.5));
    let part = if q < 0.0 { 1.0 - beyond } else { beyond };
    let slope = (left_cubed * left_sq) * (21.0 - left * (31.5 - left * 12.0));
    [LATTICE * part, LATTICE * slope]
}

/// A plane that reaches into the kernel of a particle.
pub(crate) struct Behind {
    pub normal: Vec3,
    /// The place of its contact in the list.
    pub at: usize,
    /// How far it is, in lengths of the kernel.
    pub q: f32,
    /// What it fills, and the slope of that, 1/m, if it were alone.
    pub filled: f32,
    pub slope: f32,
    /// The part of it that counts.
    pub kept: f32,
}

/// Goes through the planes that reach into the kernel of a particle at p, counted from where its step
/// began. Planes that face the same way, as two of one floor, count once; what planes across each
/// other have both is taken off.
pub(crate) fn each(
    contacts: &[EnvironmentContact],
    p: Vec3,
    radius: f32,
    mut take: impl FnMut(&Behind),
) {
    let per_length = 0.25 / radius;
    let ratio = |plane: Vec4| {
        let normal = plane.truncate();
        (normal.dot(p) + plane.w) * per_length
    };
    let mut sum = 0.0;
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
        let across = (sum - known) / (1.0 - known);
        let kept = (1.0 - known / own) * (1.0 - across);
        take(&Behind { normal, at: k, q, filled: own, slope: slope * per_length, kept });
        sum += own * kept;
    }
}

/// What the planes fill of the kernel of a particle at p, and the gradient of that: [x, y, z, filled].
pub(crate) fn behind(contacts: &[EnvironmentContact], p: Vec3, radius: f32) -> Vec4 {
    let mut sum = Vec4::ZERO;
    each(contacts, p, radius, |plane| {
        let steep = plane.slope * plane.kept;
        sum += (plane.normal * -steep).extend(plane.filled * plane.kept);
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(normal: Vec3, d: f32) -> EnvironmentContact {
        EnvironmentContact { plane: normal.extend(d), ..EnvironmentContact::default() }
    }

    /// The integral of the kernel behind a plane, by sums over planes and the rings in them.
    fn integral(q: f64) -> f64 {
        let steps = 400;
        let dz = (1.0 - q) / f64::from(steps);
        let ring = |z: f64, k: i32| {
            let ds = (1.0 - z * z).max(0.0).sqrt() / f64::from(steps);
            let s = (f64::from(k) + 0.5) * ds;
            let r = (z * z + s * s).sqrt();
            21.0 * (1.0 - r).max(0.0).powi(4) * (1.0 + 4.0 * r) * s * ds
        };
        let plane = |k: i32| {
            let z = q + (f64::from(k) + 0.5) * dz;
            (0..steps).map(|k| ring(z, k)).sum::<f64>() * dz
        };
        (0..steps).map(plane).sum::<f64>()
    }

    #[test]
    fn a_plane_fills_what_is_behind_it() {
        for k in -10..=10 {
            let q = k as f32 / 10.0;
            let [filled, _] = filled(q);
            let expected = f64::from(LATTICE) * integral(f64::from(q));
            assert!((f64::from(filled) - expected).abs() < 2e-5, "{q}: {filled} {expected}");
        }
        let beyond = filled(-3.0);
        assert!((beyond[0] - LATTICE).abs() < 1e-5 && beyond[1].abs() < 1e-5);
    }

    /// A lattice that touches a plane has its rest density: the layers behind it weigh 0.123637.
    #[test]
    fn the_first_layer_is_at_rest() {
        let at = behind(&[wall(Vec3::Y, 0.0)], Vec3::Y * 0.1, 0.1);
        assert!((at.w - 0.123_637).abs() < 1e-5, "{at}");
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
