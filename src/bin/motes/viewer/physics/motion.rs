//! How a body moves as a whole, found from the particles that are shown.

use super::moment::Moment;
use glam::{DMat3, DVec3, Vec4};

/// Of a body that is as good as rigid.
pub struct Motion {
    /// Centre of mass, m.
    pub center: DVec3,
    /// Of the centre, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl Moment {
    /// The motion of the object with this number; none when all of its particles are fixed.
    pub fn motion_of(&self, object: u32) -> Option<Motion> {
        let own = self.topology.object.iter().enumerate().filter(|(_, k)| **k == object);
        let rows = own.filter_map(|(slot, _)| {
            Some((*self.positions.get(slot)?, *self.velocities.get(slot)?))
        });
        motion(&rows.collect::<Vec<_>>())
    }
}

/// From places with the inverse of the mass, and velocities.
fn motion(rows: &[(Vec4, Vec4)]) -> Option<Motion> {
    let rows: Vec<(f64, DVec3, DVec3)> = rows
        .iter()
        .filter(|(p, _)| p.w > 0.0)
        .map(|(p, v)| (1.0 / f64::from(p.w), p.truncate().as_dvec3(), v.truncate().as_dvec3()))
        .collect();
    let mass: f64 = rows.iter().map(|(m, ..)| m).sum();
    if rows.is_empty() {
        return None;
    }
    let center = rows.iter().map(|&(m, p, _)| p * m).sum::<DVec3>() / mass;
    let velocity = rows.iter().map(|&(m, _, v)| v * m).sum::<DVec3>() / mass;
    let (mut momentum, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
    for &(m, p, v) in &rows {
        let arm = p - center;
        momentum += arm.cross(v - velocity) * m;
        let cross = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
        inertia += (DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - cross) * m;
    }
    // Particles in a line do not say how they turn about it.
    let size = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
    let is_solid = inertia.determinant() > 1e-9 * size.powi(3);
    let spin = if is_solid { inertia.inverse() * momentum } else { DVec3::ZERO };
    Some(Motion { center, velocity, spin })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_turning_body_is_seen_to_turn() {
        let (spin, speed) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(3.0, 0.0, -1.0));
        let middle = Vec3::new(5.0, 1.0, 2.0);
        let row = |k: usize| {
            let arm = Vec3::new((k % 3) as f32, (k / 3 % 2) as f32, (k / 6) as f32);
            let arm = arm - Vec3::new(1.0, 0.5, 1.0);
            ((middle + arm).extend(0.5), (speed + spin.cross(arm)).extend(0.0))
        };
        let rows: Vec<_> = (0..18).map(row).collect();
        let found = motion(&rows).unwrap();
        assert!(found.center.distance(middle.as_dvec3()) < 1e-6);
        assert!(found.velocity.distance(speed.as_dvec3()) < 1e-6);
        assert!(found.spin.distance(spin.as_dvec3()) < 1e-5, "{}", found.spin);
        let line: Vec<_> = [0, 1, 2].map(row).to_vec();
        assert_eq!(motion(&line).unwrap().spin, DVec3::ZERO);
        assert!(motion(&[(Vec4::ZERO, Vec4::ZERO)]).is_none(), "it is fixed");
    }
}
