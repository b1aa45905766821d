//! Where the picture is taken from: a look-at perspective camera and the ways a viewer moves it.

use glam::{Quat, Vec3};

/// The aspect ratio `Camera::frame_box` assumes; pictures are 16:9 unless asked otherwise.
const WIDE: f32 = 16.0 / 9.0;
/// How much of the picture a framed box may fill; the rest is air.
const FILL: f32 = 0.9;
/// Looking straight up or down would leave `up` without a meaning, so an orbit stops short of it [rad].
const PITCH_LIMIT: f32 = 1.54;

/// A perspective camera, y up. Any field may be changed between two pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the camera is [m].
    pub eye: Vec3,
    /// The point in the middle of the picture [m].
    pub target: Vec3,
    /// Which way is up in the picture; need not be normalised.
    pub up: Vec3,
    /// Vertical field of view [rad].
    pub fov_y: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self { eye: Vec3::new(3.0, 2.4, 5.0), target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.6 }
    }
}

/// The orthonormal axes of a camera; finite whatever the camera holds.
#[derive(Clone, Copy, Debug)]
pub struct Axes {
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
}

impl Camera {
    /// A three-quarter view of the box from `min` to `max`, slightly from above, for a 16:9 picture.
    #[cfg(test)]
    pub fn frame_box(min: Vec3, max: Vec3) -> Self {
        Self::frame_box_from(min, max, 0.55, 0.38, WIDE)
    }

    /// Frames the box seen from `yaw` (0 looks along -z, growing towards +x) and `pitch` above the
    /// horizon [rad]: the nearest eye from which all eight corners are inside the picture.
    pub fn frame_box_from(min: Vec3, max: Vec3, yaw: f32, pitch: f32, aspect: f32) -> Self {
        let fallback = Self::default();
        if !(min.is_finite() && max.is_finite() && yaw.is_finite() && pitch.is_finite()) {
            return fallback;
        }
        let (low, high) = (min.min(max), min.max(max));
        let target = (low + high) * 0.5;
        let half = ((high - low) * 0.5).max(Vec3::splat(1e-3));
        let pitch = pitch.clamp(-PITCH_LIMIT, PITCH_LIMIT);
        let back =
            Vec3::new(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos()).normalize();

        let mut camera = Self { eye: target + back, target, ..fallback };
        let axes = camera.axes();
        let tan_y = (camera.fov_y * 0.5).tan() * FILL;
        let tan_x = tan_y * if aspect.is_finite() { aspect.clamp(0.1, 10.0) } else { WIDE };
        let mut distance = 0.0_f32;
        for corner in 0..8 {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let p = half * Vec3::new(sign(0), sign(1), sign(2));
            let depth = p.dot(axes.forward);
            distance = distance.max(p.dot(axes.right).abs() / tan_x - depth);
            distance = distance.max(p.dot(axes.up).abs() / tan_y - depth);
        }
        camera.eye = target + back * distance;
        camera
    }

    /// Turns the eye around the target: `yaw` about the world's y, `pitch` upwards [rad].
    pub fn orbit(&mut self, yaw: f32, pitch: f32) {
        let arm = self.eye - self.target;
        let length = arm.length();
        if !(length.is_finite() && length > 0.0 && yaw.is_finite() && pitch.is_finite()) {
            return;
        }
        let old_pitch = (arm.y / length).clamp(-1.0, 1.0).asin();
        let new_pitch = (old_pitch + pitch).clamp(-PITCH_LIMIT, PITCH_LIMIT);
        let flat = Vec3::new(arm.x, 0.0, arm.z).normalize_or(Vec3::Z);
        let flat = Quat::from_rotation_y(yaw) * flat;
        self.eye = self.target + (flat * new_pitch.cos() + Vec3::Y * new_pitch.sin()) * length;
    }

    /// Moves the eye along its line to the target; below 1 comes closer.
    pub fn zoom(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.eye = self.target + (self.eye - self.target) * factor;
        }
    }

    /// Slides eye and target sideways and upwards, in shares of the picture's height.
    pub fn pan(&mut self, right: f32, up: f32) {
        let axes = self.axes();
        let scale = 2.0 * (self.fov_y * 0.5).tan() * (self.eye - self.target).length();
        let shift = (axes.right * right + axes.up * up) * scale;
        if shift.is_finite() {
            self.eye += shift;
            self.target += shift;
        }
    }

    /// The camera's axes; a degenerate camera (eye on target, up along the view) gets usable ones.
    pub fn axes(&self) -> Axes {
        let forward = (self.target - self.eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        let right = forward
            .cross(self.up)
            .try_normalize()
            .unwrap_or_else(|| forward.any_orthonormal_vector());
        Axes { right, up: right.cross(forward), forward }
    }

    /// Nothing closer than this is drawn [m].
    pub fn near(&self) -> f32 {
        let reach = (self.target - self.eye).length();
        if reach.is_finite() { (reach * 1e-3).clamp(1e-5, 1e3) } else { 1e-3 }
    }

    /// The field of view kept within what a perspective picture can show [rad].
    pub fn fov(&self) -> f32 {
        if self.fov_y.is_finite() { self.fov_y.clamp(0.01, 2.8) } else { 0.6 }
    }

    /// True when a picture can be taken at all.
    pub fn is_finite(&self) -> bool {
        self.eye.is_finite() && self.target.is_finite() && self.up.is_finite()
    }
}
