//! Where the interesting part of a picture is: sets the frame, the shadow map and the floor's scale.

use super::Picture;
use glam::Vec3;

/// Spheres looked at to find the box; a sample is enough and keeps the cost flat.
const SAMPLE: usize = 4096;
/// Share of the sample cut off at each end before outliers are judged.
const CUT: f32 = 0.002;
/// How far beyond the cut ends, in shares of the extent, a sphere still counts as content.
const SLACK: f32 = 0.35;

/// The box around the content, without a few stray particles, and the usual sphere radius [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Content {
    pub min: Vec3,
    pub max: Vec3,
    /// Median radius of the spheres, 0 without spheres.
    pub radius: f32,
}

impl Content {
    pub fn of(picture: &Picture) -> Option<Self> {
        let spheres = Self::of_spheres(picture);
        let mut corners = picture
            .triangles
            .iter()
            .flat_map(|t| t.p)
            .chain(picture.lines.iter().flat_map(|l| [l.a, l.b]))
            .filter(|p| p.is_finite())
            .peekable();
        if corners.peek().is_none() {
            return spheres;
        }
        let (mut min, mut max) =
            corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
        let mut radius = 0.0;
        if let Some(spheres) = spheres {
            // A wide wall or floor must not push the particles into a corner of the picture.
            let reach = Vec3::splat((spheres.max - spheres.min).max_element());
            min = min.max(spheres.min - reach).min(spheres.min);
            max = max.min(spheres.max + reach).max(spheres.max);
            radius = spheres.radius;
        }
        Some(Self { min, max, radius })
    }

    fn of_spheres(picture: &Picture) -> Option<Self> {
        let usable =
            |s: &&super::Sphere| s.center.is_finite() && s.radius.is_finite() && s.radius > 0.0;
        let stride = picture.spheres.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<_> = picture.spheres.iter().step_by(stride).filter(usable).collect();
        if sample.is_empty() {
            return None;
        }
        let mut values: Vec<f32> = sample.iter().map(|s| s.radius).collect();
        let half = values.len() / 2;
        let radius = *values.select_nth_unstable_by(half, f32::total_cmp).1;
        let (mut min, mut max) = (Vec3::ZERO, Vec3::ZERO);
        for axis in 0..3 {
            values.clear();
            values.extend(sample.iter().map(|s| s.center[axis]));
            let least = values.iter().fold(f32::INFINITY, |a, &b| a.min(b));
            let most = values.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            let last = values.len() - 1;
            let cut = (last as f32 * CUT) as usize;
            let low = *values.select_nth_unstable_by(cut, f32::total_cmp).1;
            let high = *values.select_nth_unstable_by(last - cut, f32::total_cmp).1;
            let slack = (high - low) * SLACK;
            min[axis] = least.max(low - slack) - radius;
            max[axis] = most.min(high + slack) + radius;
        }
        Some(Self { min, max, radius })
    }

    /// Length of the box's diagonal [m], never 0.
    pub fn diagonal(&self) -> f32 {
        (self.max - self.min).length().max(1e-4)
    }

    /// Middle of the box.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }
}
