//! Lengths and speeds by which a picture's fluids are drawn. Both painters take them from here.

use crate::painter::content::Content;
use crate::painter::lens::Lens;
use crate::painter::{Droplet, Picture};

/// Droplets are drawn larger by this: at rest they are two radii apart, and must leave no holes.
pub const SWELL: f32 = 1.5;
/// How far the filter looks, in radii of a droplet: bumps of droplets side by side are gone then.
const REACH: f32 = 5.0;
/// Samples that the filter takes to each side at most.
pub const TAPS: usize = 24;
/// The largest number of pixels from one sample to the next.
const MOST_STEP: f32 = 8.0;
/// Surfaces farther apart than this are not one, in radii. Along the way of the filter the range
/// grows with what it has found.
const RANGE: f32 = 5.0;
/// What is farther counts as this far behind, in radii: it rounds edges and does not fold them.
const SINK: f32 = 1.0;
/// Thickness is spread this far around the middle of a droplet, in radii.
const SPREAD: f32 = 2.5;
/// Foam is on droplets at most this far below the surface, in radii.
const SKIN: f32 = 6.0;
/// How deep one sees, as a share of the scene's size.
const CLARITY: f32 = 0.25;
/// Standard gravity [m/s²].
const GRAVITY: f32 = 9.8;

/// The scale of a picture's fluids.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// Median radius of the droplets [m].
    pub radius: f32,
    /// Samples that the filter takes to each side, times the depth [m].
    pub reach: f32,
    /// From one sample to the next [px].
    pub step: usize,
    /// Depths that are of one surface [m].
    pub range: f32,
    /// How far behind what is farther counts [m].
    pub sink: f32,
    /// How far thickness is spread, in radii of each droplet.
    pub spread: f32,
    /// How deep foam is seen [m].
    pub skin: f32,
    /// Water this deep has its full colour [m].
    pub clarity: f32,
    /// Where water begins to foam, and where it is white [m/s].
    pub rapid: [f32; 2],
}

impl Scale {
    /// None where there is no droplet to be drawn.
    pub fn of(picture: &Picture, lens: &Lens) -> Option<Self> {
        let droplets = &picture.droplets;
        let at = |k: usize| (droplets[k].center, droplets[k].radius);
        let content = Content::of_particles(droplets.len(), at)?;
        let size = if picture.size > 0.0 { picture.size } else { content.diagonal() };
        let radius = content.radius;
        let depth = lens.point(content.center()).z.max(lens.near);
        let reach = REACH * radius / lens.pixel;
        let step = (reach / depth / TAPS as f32).ceil().clamp(1.0, MOST_STEP);
        // What falls as far as a quarter of the scene is fast.
        let fast = (2.0 * GRAVITY * 0.25 * size).sqrt();
        Some(Self {
            radius,
            reach: reach / step,
            step: step as usize,
            range: RANGE * radius,
            sink: SINK * radius,
            spread: SPREAD,
            skin: SKIN * radius,
            clarity: CLARITY * size,
            rapid: [0.6 * fast, 1.6 * fast],
        })
    }

    /// How white a droplet is for its speed, from 0 to 1.
    pub fn foam(&self, droplet: &Droplet) -> f32 {
        let [slow, fast] = self.rapid;
        let share = ((droplet.speed - slow) / (fast - slow)).clamp(0.0, 1.0);
        share * share * (3.0 - 2.0 * share)
    }
}
