//! The sides of a soft body, for picks.

use super::pick::Layout;
use glam::Vec3;

/// Where the particles of a body are.
pub(super) struct Faces {
    /// In the frame of the body, m.
    pub local: Vec<Vec3>,
    /// Between neighbours, m.
    pub spacing: f32,
}

impl Layout for Faces {
    fn count(&self) -> usize {
        self.local.len()
    }

    fn known(&self) -> &'static str {
        "top, bottom, left, right, front, back, all, or an index"
    }

    fn word(&self, word: &str) -> Option<Vec<usize>> {
        let direction = match word {
            "top" => Vec3::Y,
            "bottom" => Vec3::NEG_Y,
            "right" => Vec3::X,
            "left" => Vec3::NEG_X,
            "front" => Vec3::Z,
            "back" => Vec3::NEG_Z,
            _ => return None,
        };
        let heights = self.local.iter().map(|p| p.dot(direction));
        let outermost = heights.clone().fold(f32::NEG_INFINITY, f32::max);
        let outer = heights.enumerate().filter(|(_, h)| *h > outermost - self.spacing * 0.25);
        Some(outer.map(|(i, _)| i).collect())
    }
}
