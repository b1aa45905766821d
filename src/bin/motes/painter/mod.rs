//! A software painter: lit spheres, triangles and lines on a studio floor, with shadows, on any
//! machine. It knows nothing of scenes or worlds, only of what is to be seen.
//!
//! project -> bin to tiles -> visibility per tile, shadow map beside it -> occlusion -> light per tile
//! -> fluids -> lines -> sRGB

mod camera;
mod canvas;
mod color;
mod content;
mod front;
#[cfg(all(feature = "viewer", feature = "vulkan"))]
pub mod gpu;
mod ground;
mod lens;
mod look;
mod occlusion;
pub mod palette;
pub mod picture;
mod project;
mod raster;
mod shade;
mod shadow;
pub mod skin;
mod software;
mod spiral;
mod strokes;
mod sunlight;
mod surface;
pub mod tessellate;
#[cfg(test)]
mod tests;
mod tiles;
pub mod tint;
#[cfg(feature = "viewer")]
pub mod ui;
mod water;

pub use camera::Camera;
pub use canvas::{Canvas, SIDE_LIMIT};
pub use content::Content;
pub use software::{Painter, Quality};

use glam::Vec3;

/// A ball; not drawn when not finite or its radius is not above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Middle [m].
    pub center: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// sRGB.
    pub color: [u8; 3],
}

/// A particle of a fluid, drawn as a part of its surface; not drawn as spheres are not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Droplet {
    /// Middle [m].
    pub center: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// What light is after a long way through the fluid, sRGB.
    pub color: [u8; 3],
    /// How fast it moves [m/s].
    pub speed: f32,
}

/// A triangle, corners counter-clockwise seen from its front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Corners [m].
    pub p: [Vec3; 3],
    /// Normals at the corners; where they do not make one, the flat normal is used.
    pub n: [Vec3; 3],
    /// sRGB.
    pub color: [u8; 3],
    /// Seen from both sides, as a cloth is.
    pub two_sided: bool,
}

/// A straight line, not lit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// One end [m].
    pub a: Vec3,
    /// Other end [m].
    pub b: Vec3,
    /// sRGB.
    pub color: [u8; 3],
    /// Width in pixels of the finished picture.
    pub width_px: f32,
}

/// The mood of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Slate floor, low ambient light.
    Dark,
    /// Bright studio.
    #[default]
    Light,
}

/// All that is to be seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    pub spheres: Vec<Sphere>,
    pub droplets: Vec<Droplet>,
    pub triangles: Vec<Triangle>,
    /// Sides of endless planes: they take shadows and throw none, since one can look through their
    /// backs and the sun has to, as well. They do not count as content.
    pub walls: Vec<Triangle>,
    pub lines: Vec<Line>,
    /// The box of all particles, also of those that a skin hides: spheres alone would be the few
    /// that no skin has. None where every particle is drawn as a sphere.
    pub particles: Option<Content>,
    /// Length of the scene's diagonal [m]: how deep fluids are clear and how fast they foam follow from
    /// it, and must not change while they move. That of the droplets where it is 0.
    pub size: f32,
    /// Height of the floor [m].
    pub ground: Option<f32>,
    pub theme: Theme,
}

impl Picture {
    /// Triangles and walls as one row; `index` is in it.
    fn facing(&self, index: usize) -> &Triangle {
        match self.triangles.get(index) {
            Some(triangle) => triangle,
            None => &self.walls[index - self.triangles.len()],
        }
    }
}

/// Paints at the given size, one sample a pixel. Sides are cut at `SIDE_LIMIT`.
#[cfg(test)]
pub fn paint(picture: &Picture, camera: &Camera, width: u32, height: u32) -> Canvas {
    let mut canvas = Canvas::default();
    Painter::new(Quality::LIVE).paint(picture, camera, width, height, &mut canvas);
    canvas
}

/// Paints with smooth edges and softer shadows, four samples a pixel, for pictures that are kept.
/// Sides are cut at half of `SIDE_LIMIT`.
pub fn paint_fine(picture: &Picture, camera: &Camera, width: u32, height: u32) -> Canvas {
    let mut canvas = Canvas::default();
    let (width, height) = (width.saturating_mul(2), height.saturating_mul(2));
    Painter::new(Quality::FINE).paint(picture, camera, width, height, &mut canvas);
    canvas.halved()
}
