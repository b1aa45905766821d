//! World to view space and view space to pixels, for one camera and one picture size.
//!
//! View space here is (right, up, forward): z is the depth in front of the eye and every pixel has a
//! ray (x, y, 1), so that a ray's parameter IS its depth. The basis is left-handed.

use super::camera::{Axes, Camera};
use glam::{Vec2, Vec3};

/// A camera set up for a picture of a given size.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    pub eye: Vec3,
    pub axes: Axes,
    /// Nearest depth that is drawn [m].
    pub near: f32,
    /// Width and height of the picture [px].
    pub size: Vec2,
    /// Width of a pixel at depth 1 (pixels are square).
    pub pixel: f32,
    /// Rays reach this far to the sides.
    pub half: Vec2,
}

impl Lens {
    pub fn new(camera: &Camera, width: u32, height: u32) -> Self {
        let camera = if camera.is_finite() { *camera } else { Camera::default() };
        let size = Vec2::new(width.max(1) as f32, height.max(1) as f32);
        let tan_y = (camera.fov() * 0.5).tan();
        let pixel = 2.0 * tan_y / size.y;
        Self {
            eye: camera.eye,
            axes: camera.axes(),
            near: camera.near(),
            size,
            pixel,
            half: size * 0.5 * pixel,
        }
    }

    /// A point of the world in view space.
    #[inline(always)]
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.direction(p - self.eye)
    }

    /// A direction of the world in view space.
    #[inline(always)]
    pub fn direction(&self, d: Vec3) -> Vec3 {
        Vec3::new(d.dot(self.axes.right), d.dot(self.axes.up), d.dot(self.axes.forward))
    }

    /// The x of the ray through the middle of pixel column `px`.
    #[inline(always)]
    pub fn ray_x(&self, px: u32) -> f32 {
        (px as f32 + 0.5) * self.pixel - self.half.x
    }

    /// The y of the ray through the middle of pixel row `py` (row 0 is the top).
    #[inline(always)]
    pub fn ray_y(&self, py: u32) -> f32 {
        self.half.y - (py as f32 + 0.5) * self.pixel
    }

    /// Pixel coordinates of a ray (x, y, 1); pixel (0, 0) has its middle at (0.5, 0.5).
    #[inline(always)]
    pub fn pixel_of(&self, ray: Vec2) -> Vec2 {
        Vec2::new(ray.x + self.half.x, self.half.y - ray.y) / self.pixel
    }
}
