//! The part of the window that shows the scene, and the camera that looks into it: from pixels to
//! the world and back.

use super::physics::Moment;
use crate::painter::Camera;
use glam::{Vec2, Vec3};

/// A particle this near to the pointer can be taken [px].
const REACH: f32 = 10.0;

/// A camera in its part of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    pub camera: Camera,
    /// Left and top [px].
    pub corner: [u32; 2],
    /// Width and height [px].
    pub size: [u32; 2],
}

impl View {
    pub fn aspect(&self) -> f32 {
        self.size[0].max(1) as f32 / self.size[1].max(1) as f32
    }

    pub fn contains(&self, at: Vec2) -> bool {
        let inside = |k: usize| {
            let low = self.corner[k] as f32;
            (low..low + self.size[k] as f32).contains(&at[k])
        };
        inside(0) && inside(1)
    }

    /// Width of a pixel at depth 1.
    fn pixel(&self) -> f32 {
        2.0 * (self.camera.fov() * 0.5).tan() / self.size[1].max(1) as f32
    }

    fn middle(&self) -> Vec2 {
        Vec2::new(
            self.corner[0] as f32 + self.size[0] as f32 * 0.5,
            self.corner[1] as f32 + self.size[1] as f32 * 0.5,
        )
    }

    /// The ray through a pixel of the window, 1 long along the line of sight.
    pub fn ray(&self, at: Vec2) -> Vec3 {
        let axes = self.camera.axes();
        let offset = (at - self.middle()) * self.pixel();
        axes.forward + axes.right * offset.x - axes.up * offset.y
    }

    /// Pixel of the window and depth [m] of a point in front of the eye.
    pub fn project(&self, p: Vec3) -> Option<(Vec2, f32)> {
        let axes = self.camera.axes();
        let d = p - self.camera.eye;
        let depth = d.dot(axes.forward);
        if depth.is_nan() || depth <= self.camera.near() {
            return None;
        }
        let offset = Vec2::new(d.dot(axes.right), -d.dot(axes.up)) / (depth * self.pixel());
        Some((self.middle() + offset, depth))
    }

    /// The particle under a pixel: the nearest one that covers it, else the one that is closest on
    /// the screen. A particle that is not drawn is never picked.
    pub fn pick(&self, moment: &Moment, at: Vec2) -> Option<u64> {
        let pixel = self.pixel();
        let mut covering: Option<(f32, u64)> = None;
        let mut close: Option<(f32, u64)> = None;
        for (slot, p) in moment.positions.iter().enumerate() {
            if moment.topology.is_hidden(slot) {
                continue;
            }
            let Some((spot, depth)) = self.project(p.truncate()) else { continue };
            let away = spot.distance(at);
            let id = moment.ids[slot];
            if away <= moment.radii[slot] / (depth * pixel) {
                if covering.is_none_or(|(d, _)| depth < d) {
                    covering = Some((depth, id));
                }
            } else if away <= REACH && close.is_none_or(|(d, _)| away < d) {
                close = Some((away, id));
            }
        }
        covering.or(close).map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::physics::Topology;

    #[test]
    fn rays_go_through_what_is_projected() {
        let view = View { corner: [100, 50], size: [800, 600], ..View::default() };
        for p in [Vec3::ZERO, Vec3::new(0.5, 0.2, -1.0), Vec3::new(-1.0, 1.0, 0.3)] {
            let (at, depth) = view.project(p).unwrap();
            let back = view.camera.eye + view.ray(at) * depth;
            assert!(back.distance(p) < 1e-4, "{p} came back as {back}");
        }
        let middle = view.project(view.camera.target).unwrap().0;
        assert!(middle.distance(Vec2::new(500.0, 350.0)) < 1e-2);
        assert!(view.project(view.camera.eye - view.camera.axes().forward).is_none());
    }

    #[test]
    fn the_nearest_particle_is_picked() {
        let mut moment = Moment::default();
        let view = View { size: [800, 600], ..View::default() };
        for (id, p) in [(7, Vec3::ZERO), (9, view.camera.eye * 0.5)] {
            moment.positions.push(p.extend(1.0));
            moment.radii.push(0.1);
            moment.ids.push(id);
        }
        let at = view.project(Vec3::ZERO).unwrap().0;
        assert_eq!(view.pick(&moment, at), Some(9));
        assert_eq!(view.pick(&moment, Vec2::new(5.0, 5.0)), None);
        let hidden = vec![false, true];
        moment.topology = Topology { hidden, ..Topology::default() }.into();
        assert_eq!(view.pick(&moment, at), Some(7), "what is not drawn is not picked");
    }
}
