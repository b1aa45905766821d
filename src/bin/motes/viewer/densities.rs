//! Mass density around every particle of a frame: rho_i = sum_j m_j W(|x_i - x_j|), the particle
//! itself included, with the kernel poly6 of the fluids (Müller et al. 2003), whose integral is 1.
//! Measured in the window's thread, only for frames that are drawn and only while it is shown.

use super::physics::Frame;
use glam::Vec3;
use motes::Params;
use motes::search::{Reach, Search};
use rayon::prelude::*;
use std::f32::consts::PI;

/// The kernel reaches this many mean radii: two particles far where they touch.
const REACH: f32 = 4.0;

/// What is kept from frame to frame.
#[derive(Default)]
pub struct Densities {
    search: Option<Search>,
    points: Vec<Vec3>,
    masses: Vec<f32>,
}

impl Densities {
    /// Gives the frame its densities, unless it has them.
    pub fn measure(&mut self, frame: &mut Frame) -> motes::Result<()> {
        let count = frame.positions.len();
        if frame.densities.len() == count {
            return Ok(());
        }
        // Whatever goes wrong is said once, not again for the same frame.
        frame.densities.clear();
        frame.densities.resize(count, 0.0);
        let reach = REACH * frame.radii.iter().sum::<f32>() / count.max(1) as f32;
        self.points.clear();
        self.points.extend(frame.positions.iter().map(|p| p.truncate()));
        self.masses.clear();
        self.masses.extend(masses(frame));
        if self.search.is_none() {
            self.search = Some(Search::new(Params::default(), 0)?);
        }
        let Some(search) = &mut self.search else { return Ok(()) };
        search.find(&self.points, Reach::Fixed(reach))?;
        let (search, points, masses) = (&*search, &self.points, &self.masses);
        let kernel = Poly6::new(reach);
        frame.densities.par_iter_mut().enumerate().with_min_len(256).for_each(|(i, density)| {
            let around = search.of(i).iter().map(|&j| {
                let j = j as usize;
                masses[j] * kernel.at(points[i].distance_squared(points[j]))
            });
            *density = masses[i] * kernel.at(0.0) + around.sum::<f32>();
        });
        Ok(())
    }
}

/// A fixed particle's mass is not known: it counts as the mean of those that are free.
fn masses(frame: &Frame) -> impl Iterator<Item = f32> {
    let free = || frame.positions.iter().filter(|p| p.w > 0.0).map(|p| 1.0 / p.w);
    let mean = free().sum::<f32>() / free().count().max(1) as f32;
    frame.positions.iter().map(move |p| if p.w > 0.0 { 1.0 / p.w } else { mean })
}

/// W(r) = 315 / (64 pi h^9) (h² - r²)³ [1/m³].
struct Poly6 {
    /// h².
    reach_sq: f32,
    factor: f32,
}

impl Poly6 {
    fn new(reach: f32) -> Self {
        // In units of h: its ninth power would leave the range of f32.
        Poly6 { reach_sq: reach * reach, factor: 315.0 / (64.0 * PI * reach.powi(3)) }
    }

    fn at(&self, distance_sq: f32) -> f32 {
        self.factor * (1.0 - distance_sq / self.reach_sq).max(0.0).powi(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(points: impl Iterator<Item = Vec3>, mass: f32, radius: f32) -> Frame {
        let positions: Vec<_> = points.map(|p| p.extend(1.0 / mass)).collect();
        let radii = vec![radius; positions.len()];
        Frame { positions, radii, ..Frame::default() }
    }

    fn measured(mut frame: Frame) -> Vec<f32> {
        Densities::default().measure(&mut frame).unwrap();
        frame.densities
    }

    /// `n` particles along each side, `spacing` apart, from the origin.
    fn lattice(n: u32, spacing: f32) -> impl Iterator<Item = Vec3> {
        let at = move |i: u32| Vec3::new((i % n) as f32, (i / n % n) as f32, (i / n / n) as f32);
        (0..n * n * n).map(move |i| at(i) * spacing)
    }

    #[test]
    fn inside_a_lattice_is_the_mass_of_a_cell_over_its_volume() {
        for (spacing, mass) in [(0.1, 0.7), (0.02, 0.008)] {
            let densities = measured(frame(lattice(9, spacing), mass, 0.5 * spacing));
            let whole = mass / f32::powi(spacing, 3);
            let middle = densities[4 + 4 * 9 + 4 * 81] / whole;
            assert!((middle - 1.0).abs() < 0.02, "{middle} of {whole} kg/m³");
            // A corner has three neighbours at one spacing, three at sqrt 2, one at sqrt 3, which
            // count 27/64, 8/64 and 1/64 of itself.
            let own = 315.0 / (64.0 * PI * 8.0);
            let corner = own * (1.0 + 3.0 * 27.0 / 64.0 + 3.0 * 8.0 / 64.0 + 1.0 / 64.0);
            let found = densities[0] / whole;
            assert!((found - corner).abs() < 1e-4, "{found} at the corner, not {corner}");
        }
    }

    #[test]
    fn a_lone_particle_has_its_own_kernel() {
        let (mass, radius) = (2.0, 0.25);
        let points = [Vec3::ZERO, Vec3::X * 1.01].into_iter();
        let densities = measured(frame(points, mass, radius));
        // 315 / (64 pi) = 1.56668 over the cube of 4 x 0.25 m.
        assert!(densities.iter().all(|d| (d - 2.0 * 1.566_68).abs() < 1e-4), "{densities:?}");
        // Nearer than the reach they feel each other.
        let near = measured(frame([Vec3::ZERO, Vec3::X * 0.5].into_iter(), mass, radius));
        let both = 2.0 * 1.566_68 * (1.0 + 0.75f32.powi(3));
        assert!(near.iter().all(|d| (d - both).abs() < 1e-4), "{near:?}");
    }

    #[test]
    fn fixed_particles_count_like_the_others() {
        let pair = || frame([Vec3::ZERO, Vec3::X * 0.5].into_iter(), 2.0, 0.25);
        let mut pinned = pair();
        pinned.positions[0].w = 0.0;
        assert_eq!(measured(pinned), measured(pair()));
        assert!(measured(Frame::default()).is_empty());
    }
}
