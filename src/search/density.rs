//! Mass density around every particle: rho_i = sum_j m_j W(|x_i - x_j|), the particle itself
//! included, with the kernel poly6 of the fluids (Müller et al. 2003), whose integral is 1.

use super::{Reach, Search};
use crate::cpu::team::Shared;
use crate::error::{Error, Result};
use glam::{Vec3, Vec4};
use std::f32::consts::PI;

/// The kernel reaches this many mean radii: two particles far where they touch.
const REACH: f32 = 4.0;
/// Particles that a worker takes at once.
const BLOCK: usize = 256;

impl Search {
    /// Measures the mass density around every particle, kg/m³. The particles are given as a world
    /// has them: a position with the inverse mass in `w`, and a radius. The mass of a fixed particle
    /// (`w` is 0) is not known, so it counts as the mean of those that are free. The lists of the
    /// last [`Search::find`] are replaced.
    ///
    /// ```
    /// use glam::Vec3;
    /// use motes::{Grains, Params, World, search::Search};
    /// // 9 x 9 x 9 grains of 1 g, one in each cubic centimetre: 1000 kg/m³ inside.
    /// let mut world = World::new();
    /// world.add_grains(&Grains {
    ///     counts: [9; 3],
    ///     spacing: 0.01,
    ///     radius: 0.005,
    ///     mass: 0.001,
    ///     ..Grains::default()
    /// })?;
    /// let mut densities = Vec::new();
    /// let grains = world.particles();
    /// Search::new(Params::default(), 0)?
    ///     .densities(grains.positions(), grains.radii(), &mut densities)?;
    /// let middle = densities[4 + 4 * 9 + 4 * 81];
    /// assert!((middle - 1000.0).abs() < 20.0);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn densities(
        &mut self,
        positions: &[Vec4],
        radii: &[f32],
        densities: &mut Vec<f32>,
    ) -> Result<()> {
        let count = positions.len();
        densities.clear();
        densities.resize(count, 0.0);
        if radii.len() != count {
            let why = format!("{} radii for {count} positions; expected one each", radii.len());
            return Err(Error::value("radii", why));
        }
        if count == 0 {
            return Ok(());
        }
        let points: Vec<Vec3> = positions.iter().map(|p| p.truncate()).collect();
        let masses: Vec<f32> = masses(positions).collect();
        let reach = REACH * radii.iter().sum::<f32>() / count as f32;
        self.find(&points, Reach::Fixed(reach))?;
        let (lists, kernel) = (&self.lists, Poly6::new(reach));
        self.team.rows(Shared::new(densities), BLOCK, |range, part| {
            for (i, density) in range.zip(part) {
                let around = lists.of(i).iter().map(|&j| {
                    let j = j as usize;
                    masses[j] * kernel.at(points[i].distance_squared(points[j]))
                });
                *density = masses[i] * kernel.at(0.0) + around.sum::<f32>();
            }
        });
        Ok(())
    }
}

fn masses(positions: &[Vec4]) -> impl Iterator<Item = f32> + '_ {
    let free = || positions.iter().filter(|p| p.w > 0.0).map(|p| 1.0 / p.w);
    let mean = free().sum::<f32>() / free().count().max(1) as f32;
    positions.iter().map(move |p| if p.w > 0.0 { 1.0 / p.w } else { mean })
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
    use crate::world::Params;

    fn measured(positions: &[Vec4], radius: f32) -> Vec<f32> {
        let mut densities = Vec::new();
        let radii = vec![radius; positions.len()];
        let mut search = Search::new(Params::default(), 2).unwrap();
        search.densities(positions, &radii, &mut densities).unwrap();
        densities
    }

    fn of_mass(points: impl IntoIterator<Item = Vec3>, mass: f32) -> Vec<Vec4> {
        points.into_iter().map(|p| p.extend(1.0 / mass)).collect()
    }

    /// `n` particles along each side, `spacing` apart, from the origin.
    fn lattice(n: u32, spacing: f32) -> impl Iterator<Item = Vec3> {
        let at = move |i: u32| Vec3::new((i % n) as f32, (i / n % n) as f32, (i / n / n) as f32);
        (0..n * n * n).map(move |i| at(i) * spacing)
    }

    #[test]
    fn inside_a_lattice_is_the_mass_of_a_cell_over_its_volume() {
        for (spacing, mass) in [(0.1, 0.7), (0.02, 0.008)] {
            let densities = measured(&of_mass(lattice(9, spacing), mass), 0.5 * spacing);
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
        let densities = measured(&of_mass([Vec3::ZERO, Vec3::X * 1.01], mass), radius);
        // 315 / (64 pi) = 1.56668 over the cube of 4 x 0.25 m.
        assert!(densities.iter().all(|d| (d - 2.0 * 1.566_68).abs() < 1e-4), "{densities:?}");
        // Nearer than the reach they feel each other.
        let near = measured(&of_mass([Vec3::ZERO, Vec3::X * 0.5], mass), radius);
        let both = 2.0 * 1.566_68 * (1.0 + 0.75f32.powi(3));
        assert!(near.iter().all(|d| (d - both).abs() < 1e-4), "{near:?}");
    }

    #[test]
    fn fixed_particles_count_like_the_others() {
        let pair = of_mass([Vec3::ZERO, Vec3::X * 0.5], 2.0);
        let mut pinned = pair.clone();
        pinned[0].w = 0.0;
        assert_eq!(measured(&pinned, 0.25), measured(&pair, 0.25));
        assert!(measured(&[], 0.25).is_empty());
    }

    #[test]
    fn a_radius_too_few_is_told() {
        let mut search = Search::new(Params::default(), 1).unwrap();
        let wrong = search.densities(&[Vec4::ONE; 2], &[0.1], &mut Vec::new());
        assert!(wrong.unwrap_err().to_string().starts_with("radii"));
    }
}
