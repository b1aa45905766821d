//! Mass, centre, moments of inertia and principal axes of a body of even density.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::merge::Cube;
use super::mesh::TriangleMesh;
use super::voxel::VoxelGrid;
use crate::{Error, Result};

/// How a body resists being moved and turned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MassProperties {
    /// m^3.
    pub volume: f64,
    /// kg.
    pub mass: f64,
    /// The centre of mass, m.
    pub centre: DVec3,
    /// Moments of inertia about the principal axes through the centre, kg m^2, smallest first.
    pub moments: DVec3,
    /// Turns x, y and z into the principal axes, which are right-handed.
    pub axes: DQuat,
}

impl MassProperties {
    /// Of solid cubes. Each has the inertia of a cube, not of a point, so that merging changes
    /// nothing: sums are of whole numbers, and so exact.
    ///
    /// # Errors
    /// When there is no cube, or the density is not above 0.
    pub fn of_cubes(grid: &VoxelGrid, cubes: &[Cube], density: f64) -> Result<MassProperties> {
        check(density)?;
        if cubes.is_empty() {
            return Err(Error::value("cubes", "there are none, so there is no mass"));
        }
        // In half voxels, so that centres are whole numbers.
        let (mut volume, mut first, mut second) = (0i128, [0i128; 3], [0i128; 6]);
        for cube in cubes {
            let width = cube.width() as i128;
            let cubed = width * width * width;
            let centre = cube.low.map(|c| 2 * i128::from(c) + width);
            volume += cubed;
            for (sum, c) in first.iter_mut().zip(centre) {
                *sum += cubed * c;
            }
            // Twelve-fold; a cube adds its volume times (width / 2)^2 / 3 on each axis.
            let own = 4 * cubed * width * width;
            for (sum, (i, j)) in second.iter_mut().zip(PAIRS) {
                *sum += 12 * cubed * centre[i] * centre[j] + if i == j { own } else { 0 };
            }
        }
        let half = 0.5 * grid.edge;
        let cubic = grid.edge.powi(3);
        let total = volume as f64;
        let mean = DVec3::from(first.map(|sum| sum as f64 / total));
        // About the centre, still in whole numbers: volume * second - 12 first first^T.
        let centred: [f64; 6] = std::array::from_fn(|k| {
            let (i, j) = PAIRS[k];
            let exact = volume * second[k] - 12 * first[i] * first[j];
            exact as f64 / (12.0 * total) * half * half * cubic
        });
        let centre = grid.origin + mean * half;
        Ok(Self::from_moments(total * cubic, centre, centred, density))
    }

    /// Of the inside of a closed mesh, exactly (a sum over tetrahedra).
    ///
    /// # Errors
    /// When the mesh is not valid or encloses nothing, or the density is not above 0.
    pub fn of_mesh(mesh: &TriangleMesh, density: f64) -> Result<MassProperties> {
        check(density)?;
        mesh.validate()?;
        // From a corner of the mesh, so that a body far from the origin loses nothing.
        let origin = mesh.vertices[mesh.triangles[0][0] as usize].as_dvec3();
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, [0.0; 6]);
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|i| mesh.vertices[i as usize].as_dvec3() - origin);
            let six_fold = a.dot(b.cross(c));
            let sum = a + b + c;
            volume += six_fold / 6.0;
            first += six_fold / 24.0 * sum;
            for (to, (i, j)) in second.iter_mut().zip(PAIRS) {
                *to +=
                    six_fold / 120.0 * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]);
            }
        }
        if volume.is_nan() || volume <= 0.0 {
            let message = "encloses no volume; close it and let its faces look outwards";
            return Err(Error::value("mesh", message));
        }
        let mean = first / volume;
        let centred = std::array::from_fn(|k| {
            let (i, j) = PAIRS[k];
            second[k] - volume * mean[i] * mean[j]
        });
        Ok(Self::from_moments(volume, origin + mean, centred, density))
    }

    /// From the second moments of the volume about its centre.
    fn from_moments(volume: f64, centre: DVec3, second: [f64; 6], density: f64) -> Self {
        let [xx, yy, zz, xy, xz, yz] = second.map(|m| m * density);
        let inertia = DMat3::from_cols(
            DVec3::new(yy + zz, -xy, -xz),
            DVec3::new(-xy, xx + zz, -yz),
            DVec3::new(-xz, -yz, xx + yy),
        );
        let (moments, axes) = principal(inertia);
        MassProperties { volume, mass: density * volume, centre, moments, axes }
    }

    /// The inertia about the centre in the axes of the world, kg m^2.
    pub fn inertia(&self) -> DMat3 {
        let axes = DMat3::from_quat(self.axes);
        axes * DMat3::from_diagonal(self.moments) * axes.transpose()
    }
}

/// Which products of coordinates the six second moments are of.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

fn check(density: f64) -> Result<()> {
    match density.is_finite() && density > 0.0 {
        true => Ok(()),
        false => Err(Error::value("density", format!("{density} kg/m^3 is not above 0"))),
    }
}

/// Eigenvalues and axes of a symmetric matrix, smallest first, by Jacobi's rotations: each makes one
/// entry beside the diagonal zero. A few rounds are enough for full precision, also when eigenvalues
/// are equal.
pub(crate) fn principal(matrix: DMat3) -> (DVec3, DQuat) {
    let mut a = matrix.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..16 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q].abs() <= f64::EPSILON * 1e-3 * (a[p][p].abs() + a[q][q].abs()) {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = 1f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                (axes[p][k], axes[q][k]) =
                    (c * axes[p][k] - s * axes[q][k], s * axes[p][k] + c * axes[q][k]);
            }
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    let mut sorted = DMat3::from_cols_array_2d(&order.map(|i| axes[i]));
    if sorted.determinant() < 0.0 {
        sorted.z_axis = -sorted.z_axis;
    }
    (DVec3::from(order.map(|i| a[i][i])), DQuat::from_mat3(&sorted).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec3};

    #[test]
    fn principal_axes_are_those_the_matrix_was_made_of() {
        let turns = [DQuat::IDENTITY, DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.2, 2.0)];
        for turn in turns {
            for moments in [DVec3::new(1.0, 2.0, 5.0), DVec3::ONE, DVec3::new(1.0, 1.0, 3.0)] {
                let of = |axes: DQuat, moments| {
                    let axes = DMat3::from_quat(axes);
                    axes * DMat3::from_diagonal(moments) * axes.transpose()
                };
                let matrix = of(turn, moments);
                let (found, axes) = principal(matrix);
                assert!((found - moments).abs().max_element() < 1e-14, "{found}");
                assert!(of(axes, found).abs_diff_eq(matrix, 1e-14));
            }
        }
    }

    #[test]
    fn a_turned_tetrahedron_far_away_has_its_known_inertia() {
        let corner = TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let plain = MassProperties::of_mesh(&corner, 6.0).unwrap();
        assert!((plain.mass - 1.0).abs() < 1e-15);
        assert!(plain.centre.abs_diff_eq(DVec3::splat(0.25), 1e-15));
        // About the centre: 3/40 on the diagonal and 1/80 beside it.
        let beside = plain.inertia().x_axis;
        assert!(beside.abs_diff_eq(DVec3::new(0.075, 0.0125, 0.0125), 1e-15), "{beside}");
        assert!((plain.moments - DVec3::new(0.0625, 0.0625, 0.1)).abs().max_element() < 1e-15);
        let far = corner.transformed(Vec3::ONE, Quat::from_rotation_x(1.0), Vec3::splat(50.0));
        let far = MassProperties::of_mesh(&far, 6.0).unwrap();
        assert!((far.moments - plain.moments).abs().max_element() < 1e-5);
    }

    #[test]
    fn nothing_has_no_mass() {
        assert!(MassProperties::of_mesh(&TriangleMesh::default(), 1.0).is_err());
        let flat = TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2]],
        };
        assert!(MassProperties::of_mesh(&flat, 1.0).is_err());
        let grid = VoxelGrid::with_resolution(&flat, 4, 2).unwrap();
        assert!(MassProperties::of_cubes(&grid, &[], 1.0).is_err());
        for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = MassProperties::of_cubes(&grid, &[], density).unwrap_err();
            assert!(error.to_string().starts_with("density: "));
        }
    }
}
