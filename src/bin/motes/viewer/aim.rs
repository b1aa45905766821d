//! What the pointer points at in the scene: a ray against obstacles and particles.

use super::physics::Moment;
use super::view::View;
use glam::{Vec2, Vec3};
use motes::Collider;

/// Steps that a ray makes at most before it has missed.
const STEPS: u32 = 256;
/// How near a ray comes to a surface, as a share of the way to it.
const NEAR: f32 = 5e-4;

/// Where a ray meets something.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub point: Vec3,
    /// Out of what was hit, 1 long.
    pub normal: Vec3,
    /// Along the ray [m].
    pub away: f32,
    /// The number of the obstacle; none for a particle.
    pub obstacle: Option<usize>,
}

/// The nearest obstacle or particle below a pixel.
pub fn cast(view: &View, moment: &Moment, at: Vec2, reach: f32) -> Option<Hit> {
    let eye = view.camera.eye;
    let along = view.ray(at).normalize_or(Vec3::NEG_Z);
    let obstacles = moment.colliders.iter().enumerate().filter_map(|(k, collider)| {
        let (away, normal) = march(collider, moment.time, eye, along, reach)?;
        Some(Hit { point: eye + along * away, normal, away, obstacle: Some(k) })
    });
    let drawn = (0..moment.positions.len()).filter(|&slot| !moment.topology.is_hidden(slot));
    let particles = drawn.filter_map(|slot| {
        let center = moment.positions[slot].truncate();
        let away = sphere(eye, along, center, moment.radii[slot])?;
        let point = eye + along * away;
        let normal = (point - center).normalize_or(Vec3::Y);
        Some(Hit { point, normal, away, obstacle: None })
    });
    obstacles.chain(particles).min_by(|a, b| a.away.total_cmp(&b.away))
}

/// Goes along the ray as far as the distance to the surface allows, again and again. What begins
/// inside goes out first.
fn march(
    collider: &Collider,
    time: f64,
    eye: Vec3,
    along: Vec3,
    reach: f32,
) -> Option<(f32, Vec3)> {
    let pose = collider.pose_at(time);
    let (eye, along) = (pose.inverse_point(eye), pose.inverse_vector(along));
    let (mut away, mut outside) = (0.0, false);
    for _ in 0..STEPS {
        let (distance, normal) = collider.shape.distance(eye + along * away);
        let close = NEAR * away.max(0.01);
        if outside && distance <= close {
            return Some((away, pose.apply_vector(normal)));
        }
        outside |= distance > close;
        away += distance.abs().max(close);
        if away.is_nan() || away > reach {
            return None;
        }
    }
    None
}

/// Where a ray first meets a ball in front of the eye.
fn sphere(eye: Vec3, along: Vec3, center: Vec3, radius: f32) -> Option<f32> {
    let to = center - eye;
    let middle = to.dot(along);
    let under = radius * radius - (to - along * middle).length_squared();
    let away = middle - under.max(0.0).sqrt();
    (under >= 0.0 && away > 0.0).then_some(away)
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::world::collider::{Pose, Shape};

    fn seen(shapes: &[(Shape, Vec3)]) -> Option<Hit> {
        let mut moment = Moment::default();
        let collider = |(shape, at): &(Shape, Vec3)| {
            Collider::fixed(shape.clone(), Pose::from_translation(*at))
        };
        moment.colliders = std::sync::Arc::new(shapes.iter().map(collider).collect());
        let mut view = View { size: [800, 600], ..View::default() };
        view.camera.eye = Vec3::new(0.0, 3.0, 4.0);
        view.camera.target = Vec3::new(0.0, 1.0, 0.0);
        let middle = view.project(view.camera.target).unwrap().0;
        cast(&view, &moment, middle, 1000.0)
    }

    #[test]
    fn a_ray_meets_what_is_seen_first() {
        let floor = (Shape::Plane { normal: Vec3::Y }, Vec3::ZERO);
        let ball = (Shape::Sphere { radius: 0.5 }, Vec3::new(0.0, 1.0, 0.0));
        let hit = seen(std::slice::from_ref(&floor)).unwrap();
        // From (0, 3, 4) through (0, 1, 0) the floor is met at z = -2.
        assert!(hit.point.distance(Vec3::new(0.0, 0.0, -2.0)) < 0.02, "{hit:?}");
        assert!(hit.normal.distance(Vec3::Y) < 1e-4);
        let hit = seen(&[floor.clone(), ball]).unwrap();
        assert_eq!(hit.obstacle, Some(1));
        assert!((hit.point.distance(Vec3::Y) - 0.5).abs() < 0.01, "{hit:?}");
        assert!(seen(&[]).is_none());
        // A floor that the eye is below is seen from there, once it was left.
        let high = (Shape::Plane { normal: Vec3::Y }, Vec3::Y * 9.0);
        assert!(seen(&[high]).is_none());
    }

    #[test]
    fn a_particle_is_met_on_its_surface() {
        let (eye, along) = (Vec3::ZERO, Vec3::NEG_Z);
        assert_eq!(sphere(eye, along, Vec3::NEG_Z * 3.0, 1.0), Some(2.0));
        assert_eq!(sphere(eye, along, Vec3::Z * 3.0, 1.0), None, "behind the eye");
        assert_eq!(sphere(eye, along, Vec3::new(2.0, 0.0, -3.0), 1.0), None, "beside the ray");
    }
}
