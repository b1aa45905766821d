//! The studio floor: a grid of lines that is filtered per pixel, fading into the background.

use super::content::Content;
use super::lens::Lens;
use super::look::Look;
use glam::{Vec2, Vec3};

/// The floor's scale for one picture.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    middle: Vec2,
    /// Distance between two fine lines [m].
    spacing: f32,
    /// Where the floor starts to fade and where it is gone, from the middle [m].
    fade: (f32, f32),
}

impl Floor {
    pub fn new(content: Option<&Content>) -> Self {
        let (middle, size) = match content {
            Some(content) => (content.center(), content.diagonal()),
            None => (Vec3::ZERO, 4.0),
        };
        // The nearest "round" length to a tenth of the content: 1, 2 or 5 times a power of ten.
        let wish = size / 10.0;
        let power = 10.0_f32.powf(wish.log10().floor());
        let step = match wish / power {
            s if s < 1.5 => 1.0,
            s if s < 3.5 => 2.0,
            s if s < 7.5 => 5.0,
            _ => 10.0,
        };
        Self {
            middle: Vec2::new(middle.x, middle.z),
            spacing: step * power,
            fade: (size * 0.7, size * 3.2),
        }
    }

    /// Colour of the unshadowed floor, and how much of it shows before the background (0 to 1).
    #[inline]
    pub fn pattern(&self, lens: &Lens, look: &Look, ray: Vec3, depth: f32) -> (Vec3, f32) {
        let world = lens.world_direction(ray);
        let at = lens.eye + world * depth;
        let far = Vec2::new(at.x, at.z).distance(self.middle);
        let share = 1.0 - ((far - self.fade.0) / (self.fade.1 - self.fade.0)).clamp(0.0, 1.0);
        if share <= 0.0 {
            return (look.floor, 0.0);
        }
        // How far the hit moves for a step of one pixel right and down: d(eye + w * drop / fall).
        let inv_fall = 1.0 / -world.y;
        let step = |axis: Vec3| {
            let moved = (axis + world * (axis.y * inv_fall)) * (depth * lens.pixel);
            Vec2::new(moved.x, moved.z).abs()
        };
        let width = step(lens.axes.right) + step(lens.axes.up);
        let spot = Vec2::new(at.x, at.z);
        let fine = lines(spot, width, self.spacing, 0.014);
        let strong = lines(spot, width, self.spacing * 5.0, 0.006);
        let line = (fine * 0.55).max(strong);
        (look.floor.lerp(look.floor_line, line), share * share * (3.0 - 2.0 * share))
    }
}

/// The share of a pixel's footprint (`width` around `at`) that lies on a grid line; the exact box
/// filter, so the grid neither flickers nor makes waves far away.
#[inline]
fn lines(at: Vec2, width: Vec2, spacing: f32, share: f32) -> f32 {
    // Not `floor`: on plain x86-64 that is a function call, and this runs 16 times a pixel.
    let whole = |x: f32| {
        let cut = x as i32 as f32;
        if cut > x { cut - 1.0 } else { cut }
    };
    let covered = |x: f32| whole(x) * share + (x - whole(x)).min(share);
    let inv_spacing = 1.0 / spacing;
    let along = |x: f32, w: f32| {
        let (x, w) = (x * inv_spacing + 0.5 * share, (w * inv_spacing).max(1e-4));
        ((covered(x + 0.5 * w) - covered(x - 0.5 * w)) / w).clamp(0.0, 1.0)
    };
    let (a, b) = (along(at.x, width.x), along(at.y, width.y));
    a + b - a * b
}
