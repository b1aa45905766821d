//! The studio floor: a grid of lines that is filtered per pixel, fading into the background.

use super::content::Content;
use super::lens::Lens;
use super::look::Look;
use glam::{Vec2, Vec3};
use motes::simd::{Simd, Vector};

/// The floor's scale for one picture.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    pub middle: Vec2,
    /// Distance between two fine lines [m].
    pub spacing: f32,
    /// Where the floor starts to fade and where it is gone, from the middle [m].
    pub fade: (f32, f32),
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
    #[inline(always)]
    pub fn pattern<L: Simd>(
        &self,
        lens: &Lens,
        look: &Look,
        ray: Vector<L>,
        depth: L,
    ) -> (Vector<L>, L) {
        let (right, up, forward) = (lens.axes.right, lens.axes.up, lens.axes.forward);
        let world = Vector {
            x: ray.along(Vec3::new(right.x, up.x, forward.x)),
            y: ray.along(Vec3::new(right.y, up.y, forward.y)),
            z: ray.along(Vec3::new(right.z, up.z, forward.z)),
        };
        let (x, z) = (world.x * depth + lens.eye.x, world.z * depth + lens.eye.z);
        let (from_x, from_z) = (x - self.middle.x, z - self.middle.y);
        let far = (from_x * from_x + from_z * from_z).sqrt();
        let faded = (far - self.fade.0) * (1.0 / (self.fade.1 - self.fade.0));
        let share = L::splat(1.0) - faded.within_one();
        // How far the hit moves for a step of one pixel right and down: d(eye + w * drop / fall).
        let inv_fall = L::splat(-1.0) / world.y;
        let scale = depth * lens.pixel;
        let (right_fall, up_fall) = (inv_fall * right.y, inv_fall * up.y);
        let wide_x = (world.x * right_fall + right.x).abs() + (world.x * up_fall + up.x).abs();
        let wide_z = (world.z * right_fall + right.z).abs() + (world.z * up_fall + up.z).abs();
        let spot = [(x, wide_x * scale), (z, wide_z * scale)];
        let fine = lines(spot, self.spacing, 0.014) * 0.55;
        let line = fine.max(lines(spot, self.spacing * 5.0, 0.006));
        let smooth = share * share * (L::splat(3.0) - share * 2.0);
        (Vector::between(look.floor, look.floor_line, line), smooth)
    }
}

/// The share of a pixel's footprint (for x and z, where it is and how wide) that lies on a grid
/// line; the exact box filter, so the grid neither flickers nor makes waves far away.
#[inline(always)]
fn lines<L: Simd>(spot: [(L, L); 2], spacing: f32, share: f32) -> L {
    let [x, z] = spot;
    let (a, b) = (on_line(x, spacing, share), on_line(z, spacing, share));
    a + b - a * b
}

#[inline(always)]
fn on_line<L: Simd>((at, width): (L, L), spacing: f32, share: f32) -> L {
    let x = at * (1.0 / spacing) + 0.5 * share;
    let w = (width * (1.0 / spacing)).max(L::splat(1e-4));
    let half = w * 0.5;
    ((covered(x + half, share) - covered(x - half, share)) / w).within_one()
}

/// How much of the way from 0 to x lies on lines.
#[inline(always)]
fn covered<L: Simd>(x: L, share: f32) -> L {
    let near = x.rounded();
    let whole = L::select(near.above(x), near - 1.0, near);
    whole * share + (x - whole).min(L::splat(share))
}
