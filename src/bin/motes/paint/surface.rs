//! Normals and colours of what a row of pixels sees, in view space.

use super::Picture;
use super::lanes::{Lanes, V3, group};
use super::lens::Lens;
use super::raster::{SEES_GROUND, Solids, Visibility};
use glam::Vec3;

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
    /// Normals at the points `p` of a group.
    #[inline(always)]
    pub fn normals<L: Lanes>(&self, g: usize, p: V3<L>) -> V3<L> {
        let centers = V3::load(&self.centers, g);
        let radii = L::load(group(&self.radii, g));
        let round = (p - centers) * (L::splat(1.0) / radii);
        V3::select(radii.above(L::splat(0.0)), round, centers)
    }
}

impl Surfaces<'_> {
    /// How what the pixels see lies, for rays with these x and this y.
    #[inline(always)]
    pub fn bends<const N: usize>(&self, seen: &[u32; N], x: &[f32; N], y: f32) -> Bends<N> {
        let mut bends = Bends { centers: [[0.0; N]; 3], radii: [0.0; N] };
        for i in 0..N {
            let index = seen[i] as usize;
            let center = match self.solids.balls.get(index) {
                Some(ball) => {
                    bends.radii[i] = ball.radius;
                    ball.center
                }
                None if seen[i] >= SEES_GROUND => self.up,
                None => self.facet_normal(index - self.solids.balls.len(), Vec3::new(x[i], y, 1.0)),
            };
            bends.centers[0][i] = center.x;
            bends.centers[1][i] = center.y;
            bends.centers[2][i] = center.z;
        }
        bends
    }

    /// Linear light that the solids throw back, by channel; `decode` is the table of sRGB bytes.
    #[inline(always)]
    pub fn colors<const N: usize>(&self, seen: &[u32; N], decode: &[f32; 256]) -> Row3<N> {
        let mut colors = [[0.0; N]; 3];
        for i in 0..N {
            if seen[i] >= SEES_GROUND {
                continue;
            }
            let index = seen[i] as usize;
            let [r, g, b] = match self.picture.spheres.get(index) {
                Some(sphere) => sphere.color,
                None => self.picture.facing(index - self.picture.spheres.len()).color,
            };
            colors[0][i] = decode[r as usize];
            colors[1][i] = decode[g as usize];
            colors[2][i] = decode[b as usize];
        }
        colors
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
