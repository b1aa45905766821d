//! Where a collider is: a translation and a rotation.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A rigid placement, from the local frame to the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// World position of the local origin, m.
    pub translation: Vec3,
    /// Rotation from local to world directions; of unit length wherever a pose is applied.
    pub rotation: Quat,
}

impl Pose {
    /// Local frame and world frame are the same.
    pub const IDENTITY: Pose = Pose { translation: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// A pose with its rotation brought to unit length (no rotation when it is zero).
    pub fn new(translation: Vec3, rotation: Quat) -> Self {
        Pose { translation, rotation: normalized(rotation.to_array()) }
    }

    /// A pose that only moves.
    pub fn from_translation(translation: Vec3) -> Self {
        Pose { translation, rotation: Quat::IDENTITY }
    }

    /// A local point in the world.
    pub fn apply_point(&self, p: Vec3) -> Vec3 {
        self.apply_vector(p) + self.translation
    }

    /// A local direction in the world.
    pub fn apply_vector(&self, v: Vec3) -> Vec3 {
        rotate(self.rotation.xyz(), self.rotation.w, v)
    }

    /// The same pose in a world whose origin is `base`.
    pub(crate) fn seen_from(&self, base: Vec3) -> Self {
        Pose { translation: self.translation - base, ..*self }
    }

    /// A world point in the local frame.
    pub fn inverse_point(&self, p: Vec3) -> Vec3 {
        self.inverse_vector(p - self.translation)
    }

    /// A world direction in the local frame.
    pub fn inverse_vector(&self, v: Vec3) -> Vec3 {
        rotate(-self.rotation.xyz(), self.rotation.w, v)
    }

    /// The pose a fraction `s` of the way to `to`: straight for the translation, the shorter way
    /// round for the rotation (normalised linear, so no trigonometry).
    pub fn lerp(&self, to: &Pose, s: f32) -> Pose {
        let (a, mut b) = (self.rotation.to_array(), to.rotation.to_array());
        let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        if dot < 0.0 {
            b = b.map(|c| -c);
        }
        let mix: [f32; 4] = std::array::from_fn(|i| a[i] + (b[i] - a[i]) * s);
        let translation = self.translation + (to.translation - self.translation) * s;
        Pose { translation, rotation: normalized(mix) }
    }
}

impl Default for Pose {
    fn default() -> Self {
        Pose::IDENTITY
    }
}

/// Written out, since glam's own has another order of operations for each SIMD level and would
/// give other bits.
fn rotate(axis: Vec3, w: f32, v: Vec3) -> Vec3 {
    let t = axis.cross(v) * 2.0;
    v + t * w + axis.cross(t)
}

fn normalized(q: [f32; 4]) -> Quat {
    let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    if length > 0.0 && length.is_finite() {
        Quat::from_array(q.map(|c| c / length))
    } else {
        Quat::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inverse_undoes_apply(q in prop::array::uniform4(-1.0f32..1.0), t in prop::array::uniform3(-5.0f32..5.0), p in prop::array::uniform3(-5.0f32..5.0)) {
            let pose = Pose::new(t.into(), Quat::from_array(q));
            let p = Vec3::from(p);
            prop_assert!((pose.inverse_point(pose.apply_point(p)) - p).length() < 1e-4);
            prop_assert!((pose.apply_vector(p) - pose.rotation * p).length() < 1e-4);
            prop_assert!((pose.inverse_vector(p) - pose.rotation.inverse() * p).length() < 1e-4);
        }
    }

    #[test]
    fn lerp_takes_the_shorter_way() {
        let a = Pose::new(Vec3::ZERO, Quat::from_rotation_y(0.2));
        let b = Pose::new(Vec3::X, -Quat::from_rotation_y(0.4));
        let middle = a.lerp(&b, 0.5);
        assert!(
            (middle.apply_vector(Vec3::X) - Quat::from_rotation_y(0.3) * Vec3::X).length() < 1e-5
        );
        assert_eq!(middle.translation, Vec3::new(0.5, 0.0, 0.0));
    }

    #[test]
    fn a_zero_rotation_is_no_rotation() {
        assert_eq!(Pose::new(Vec3::X, Quat::from_array([0.0; 4])), Pose::from_translation(Vec3::X));
    }
}
