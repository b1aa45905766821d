//! Normals and colours of what a row of pixels sees, in view space.

use super::Picture;
use super::lens::Lens;
use super::raster::{SEES_GROUND, Solids, Visibility};
use glam::Vec3;
use motes::simd::{LANES, Simd, Vector, group};

/// A vector for each pixel of a row, by component.
pub type Row3<const N: usize> = [[f32; N]; 3];

/// What is needed to tell how a surface lies.
#[derive(Clone, Copy)]
pub struct Surfaces<'a> {
    pub picture: &'a Picture,
    pub lens: &'a Lens,
    pub solids: Solids<'a>,
    pub seen: &'a Visibility,
    /// Up in view space.
    pub up: Vec3,
}

/// How the surfaces of a row lie: the balls they belong to, or the normals themselves where the
/// radius is 0.
pub struct Bends<const N: usize> {
    centers: Row3<N>,
    radii: [f32; N],
}

impl<const N: usize> Bends<N> {
    #[inline(always)]
    fn set(&mut self, i: usize, center: Vec3, radius: f32) {
        [self.centers[0][i], self.centers[1][i], self.centers[2][i]] = center.to_array();
        self.radii[i] = radius;
    }

    /// Normals at the points `p` of a group.
    #[inline(always)]
    pub fn normals<L: Simd>(&self, g: usize, p: Vector<L>) -> Vector<L> {
        let centers = Vector::read(&self.centers, g);
        let radii = L::read(group(&self.radii, g));
        let round = (p - centers) * (L::splat(1.0) / radii);
        Vector::select(radii.above(L::splat(0.0)), round, centers)
    }
}

/// True when a group sees one thing only.
#[inline(always)]
fn one_for_all(seen: &[u32], start: usize) -> bool {
    let mut differ = 0;
    for i in start..start + LANES {
        differ |= seen[i] ^ seen[start];
    }
    differ == 0
}

impl Surfaces<'_> {
    /// How what the pixels see lies, for rays with these x and this y.
    #[inline(always)]
    pub fn bends<const N: usize>(&self, seen: &[u32; N], x: &[f32; N], y: f32) -> Bends<N> {
        let mut bends = Bends { centers: [[0.0; N]; 3], radii: [0.0; N] };
        for start in (0..N).step_by(LANES) {
            let first = seen[start];
            if one_for_all(seen, start) && self.is_even(first) {
                let (center, radius) = self.bend(first, x[start], y);
                for i in start..start + LANES {
                    bends.set(i, center, radius);
                }
                continue;
            }
            for i in start..start + LANES {
                let (center, radius) = self.bend(seen[i], x[i], y);
                bends.set(i, center, radius);
            }
        }
        bends
    }

    /// Linear light that the solids throw back, by channel; `decode` is the table of sRGB bytes.
    #[inline(always)]
    pub fn colors<const N: usize>(&self, seen: &[u32; N], decode: &[f32; 256]) -> Row3<N> {
        let mut colors = [[0.0; N]; 3];
        for start in (0..N).step_by(LANES) {
            if one_for_all(seen, start) {
                let [r, g, b] = self.color(seen[start]).map(|byte| decode[byte as usize]);
                let [reds, greens, blues] = &mut colors;
                reds[start..start + LANES].fill(r);
                greens[start..start + LANES].fill(g);
                blues[start..start + LANES].fill(b);
                continue;
            }
            for i in start..start + LANES {
                let [r, g, b] = self.color(seen[i]);
                colors[0][i] = decode[r as usize];
                colors[1][i] = decode[g as usize];
                colors[2][i] = decode[b as usize];
            }
        }
        colors
    }

    /// True when all pixels that see this have one bend.
    #[inline(always)]
    fn is_even(&self, seen: u32) -> bool {
        let facet = (seen as usize).checked_sub(self.solids.balls.len());
        facet.and_then(|facet| self.solids.facets.get(facet)).is_none_or(|facet| facet.is_flat)
    }

    #[inline(always)]
    fn bend(&self, seen: u32, x: f32, y: f32) -> (Vec3, f32) {
        let index = seen as usize;
        match self.solids.balls.get(index) {
            Some(ball) => (ball.center, ball.radius),
            None if seen >= SEES_GROUND => (self.up, 0.0),
            None => (self.facet_normal(index - self.solids.balls.len(), Vec3::new(x, y, 1.0)), 0.0),
        }
    }

    #[inline(always)]
    fn color(&self, seen: u32) -> [u8; 3] {
        let index = seen as usize;
        match self.picture.spheres.get(index) {
            Some(sphere) => sphere.color,
            None if seen >= SEES_GROUND => [0; 3],
            None => self.picture.facing(index - self.picture.spheres.len()).color,
        }
    }

    /// The corner normals mixed by where the ray hits.
    #[inline(always)]
    fn facet_normal(&self, index: usize, ray: Vec3) -> Vec3 {
        let facet = &self.solids.facets[index];
        let [a, b, c] = facet.corners;
        if facet.is_flat {
            return a;
        }
        let [e0, e1, e2] = facet.edges;
        (a * e0.dot(ray) + b * e1.dot(ray) + c * e2.dot(ray)).normalize_or(facet.flat)
    }
}
