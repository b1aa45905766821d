//! The interesting part of a picture: it sets the frame, the shadow map and the floor's scale.

use super::Picture;
use glam::Vec3;

/// Particles looked at to find the box; a sample is enough and keeps the cost flat.
const SAMPLE: usize = 4096;
/// Share of the sample cut off at each end before outliers are judged.
const CUT: f32 = 0.002;
/// How far beyond the cut ends, in shares of the extent, a particle still counts as content.
const SLACK: f32 = 0.35;

/// The box around the content, without a few stray particles, and the usual particle radius [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Content {
    pub min: Vec3,
    pub max: Vec3,
    /// Median radius of the particles, 0 without particles.
    pub radius: f32,
}

impl Content {
    /// The particles of the picture with the triangles and lines around them. A picture that does
    /// not say where its particles are has its spheres and droplets for them.
    pub fn of(picture: &Picture) -> Option<Self> {
        let particles = picture.particles.or_else(|| Self::of_drawn(picture));
        let mut corners = picture
            .triangles
            .iter()
            .flat_map(|t| t.p)
            .chain(picture.lines.iter().flat_map(|l| [l.a, l.b]))
            .filter(|p| p.is_finite())
            .peekable();
        if corners.peek().is_none() {
            return particles;
        }
        let (mut min, mut max) =
            corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
        let mut radius = 0.0;
        if let Some(particles) = particles {
            // A wide wall or floor must not push the particles into a corner of the picture.
            let reach = Vec3::splat((particles.max - particles.min).max_element());
            min = min.max(particles.min - reach).min(particles.min);
            max = max.min(particles.max + reach).max(particles.max);
            radius = particles.radius;
        }
        Some(Self { min, max, radius })
    }

    /// The box around spheres and droplets; none when not one of them can be drawn.
    fn of_drawn(Picture { spheres, droplets, .. }: &Picture) -> Option<Self> {
        let at = |i: usize| match spheres.get(i) {
            Some(sphere) => (sphere.center, sphere.radius),
            None => {
                let droplet = &droplets[i - spheres.len()];
                (droplet.center, droplet.radius)
            }
        };
        Self::of_particles(spheres.len() + droplets.len(), at)
    }

    /// The box around particles, of which `at` gives the middle and the radius; none when not one
    /// of them is finite and has a size.
    pub fn of_particles(count: usize, at: impl Fn(usize) -> (Vec3, f32)) -> Option<Self> {
        let usable = |&(center, radius): &(Vec3, f32)| {
            center.is_finite() && radius.is_finite() && radius > 0.0
        };
        let stride = count.div_ceil(SAMPLE).max(1);
        let sample: Vec<_> = (0..count).step_by(stride).map(at).filter(usable).collect();
        if sample.is_empty() {
            return None;
        }
        let mut values: Vec<f32> = sample.iter().map(|&(_, radius)| radius).collect();
        let half = values.len() / 2;
        let radius = *values.select_nth_unstable_by(half, f32::total_cmp).1;
        let (mut min, mut max) = (Vec3::ZERO, Vec3::ZERO);
        for axis in 0..3 {
            values.clear();
            values.extend(sample.iter().map(|(center, _)| center[axis]));
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
