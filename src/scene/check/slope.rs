//! The slope of a heap, from the profile of its top over the distance from its middle.

use super::measure;
use crate::world::World;
use glam::DVec3;

/// Angle of the flank, degrees; 0 when there is no heap, or a hollow.
///
/// The height of the highest centre in each ring around the middle falls with the radius; a line
/// is fitted where it is between 85 % and 15 % of the whole, so that neither the rounded top nor
/// the grains that rolled away count.
pub(super) fn degrees(world: &World, object: Option<usize>) -> f64 {
    let up = world.up().as_dvec3();
    let p = &world.particles;
    let at: Vec<(DVec3, f64)> = measure::slots(world, object)
        .map(|s| (p.positions()[s].truncate().as_dvec3(), f64::from(p.radii()[s])))
        .collect();
    if at.is_empty() {
        return 0.0;
    }
    let count = at.len() as f64;
    let middle = at.iter().map(|(x, _)| x).sum::<DVec3>() / count;
    // Two diameters a ring: one grain more or less does not make its top.
    let width = 4.0 * at.iter().map(|(_, r)| r).sum::<f64>() / count;
    let height = |x: &DVec3| x.dot(up);
    let low = at.iter().map(|(x, _)| height(x)).fold(f64::INFINITY, f64::min);

    /// More rings than any heap has; beyond lie grains that flew away.
    const MOST_RINGS: usize = 10_000;
    let mut top: Vec<f64> = Vec::new();
    for (x, _) in &at {
        let flat = (x - middle).reject_from_normalized(up);
        let ring = (flat.length() / width) as usize;
        if ring >= MOST_RINGS {
            continue;
        }
        if top.len() <= ring {
            top.resize(ring + 1, low);
        }
        top[ring] = top[ring].max(height(x));
    }
    if top.is_empty() {
        return 0.0;
    }
    let peak = top.iter().copied().fold(low, f64::max) - low;
    let begin = top.iter().rposition(|h| h - low >= 0.85 * peak).unwrap_or(0);
    let end = top.iter().rposition(|h| h - low >= 0.15 * peak).unwrap_or(0);
    // A ring's top is taken where its highest grain is most likely: on its inner side.
    let points: Vec<(f64, f64)> = (begin..=end).map(|k| (k as f64 * width, top[k])).collect();
    libm::atan(-fitted_slope(&points)).to_degrees().max(0.0)
}

/// Least squares; 0 for fewer than three points.
fn fitted_slope(points: &[(f64, f64)]) -> f64 {
    if points.len() < 3 {
        return 0.0;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    covariance / variance
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
