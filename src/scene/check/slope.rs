//! The slope of a heap, from how its grains lie about its axis.

use super::measure;
use crate::world::{ObjectId, World};
use glam::DVec3;

/// Angle of the heap, degrees: that of the cone with the same mean height over the lowest grain and
/// the same mean distance from the axis; 0 when there is no heap.
///
/// A cone of height H and base radius R has the mean height H/4 and the mean distance R/2. All
/// grains count, so that one of them at the top or rolled away from the foot changes little.
pub(super) fn degrees(world: &World, object: Option<ObjectId>) -> f64 {
    let up = world.up().as_dvec3();
    let positions = world.particles.positions();
    let at: Vec<DVec3> =
        measure::slots(world, object).map(|s| positions[s].truncate().as_dvec3()).collect();
    if at.is_empty() {
        return 0.0;
    }
    let count = at.len() as f64;
    let middle = at.iter().sum::<DVec3>() / count;
    let low = at.iter().map(|x| x.dot(up)).fold(f64::INFINITY, f64::min);
    let height = middle.dot(up) - low;
    let flat = |x: &DVec3| (x - middle).reject_from_normalized(up).length();
    let distance = at.iter().map(flat).sum::<f64>() / count;
    libm::atan2(2.0 * height, distance).to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Particle, Phase};
    use glam::Vec3;

    #[test]
    fn a_cone_has_its_angle() {
        for angle in [15.0f32, 30.0, 45.0] {
            let mut world = World::new();
            let spacing = 0.1;
            let steep = angle.to_radians().tan();
            let n = 30;
            for z in -n..=n {
                for x in -n..=n {
                    for y in 0..=n {
                        let at = Vec3::new(x as f32, y as f32, z as f32) * spacing;
                        let flat = at.x.hypot(at.z);
                        if at.y > (3.0 - flat) * steep {
                            continue;
                        }
                        let (velocity, mass, radius) = (Vec3::ZERO, 1.0, spacing / 2.0);
                        let phase = Phase::group(0).self_colliding();
                        let particle = Particle { position: at, velocity, mass, radius, phase };
                        world.add_particle(&particle).unwrap();
                    }
                }
            }
            let measured = degrees(&world, None);
            assert!((measured - f64::from(angle)).abs() < 4.0, "{measured} for {angle}");
        }
    }
}
