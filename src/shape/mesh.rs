//! An indexed triangle mesh, loaded from OBJ and checked once at the boundary.

use std::collections::HashMap;

use glam::{DVec3, Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Triangles over shared vertices, in metres.
///
/// ```
/// use motes::shape::mesh::TriangleMesh;
///
/// let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// let (mesh, report) = TriangleMesh::from_obj_bytes("tetrahedron", text)?;
/// assert_eq!((report.triangles, report.degenerate), (4, 0));
/// assert!(mesh.is_closed() && mesh.signed_volume() > 0.0);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TriangleMesh {
    /// Vertex positions, m.
    pub vertices: Vec<Vec3>,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// What a mesh is made of and what was dropped while loading it, so that nothing is lost unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshReport {
    /// Vertices after welding identical ones.
    pub vertices: usize,
    /// Triangles kept.
    pub triangles: usize,
    /// Triangles without an area: dropped by a load, only counted by [`TriangleMesh::report`].
    pub degenerate: usize,
    /// Edges with a triangle on one side only: a closed surface has none.
    pub open_edges: usize,
    /// Edges of more than two triangles, or of two that disagree about which side is outside.
    pub non_manifold_edges: usize,
}

/// How many triangles run along an edge from its lower to its higher vertex, and back.
#[derive(Clone, Copy, Default)]
struct EdgeUse {
    up: u32,
    down: u32,
}

impl TriangleMesh {
    /// A box around the origin with these edges, m.
    ///
    /// ```
    /// use motes::shape::mesh::TriangleMesh;
    /// let brick = TriangleMesh::cuboid(glam::Vec3::new(2.0, 1.0, 0.5));
    /// assert!(brick.is_closed() && brick.signed_volume() == 1.0);
    /// ```
    pub fn cuboid(edges: Vec3) -> Self {
        // Corner k is on the far side along x, y and z where bits 0, 1 and 2 of k are set.
        let side = |k: u32, bit: u32| if k >> bit & 1 == 1 { 0.5 } else { -0.5 };
        let corner = |k: u32| edges * Vec3::new(side(k, 0), side(k, 1), side(k, 2));
        let faces: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        TriangleMesh {
            vertices: (0..8).map(corner).collect(),
            triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        }
    }

    /// Counts vertices, triangles and the edges that keep this from being a closed surface.
    pub fn report(&self) -> MeshReport {
        let mut report = MeshReport {
            vertices: self.vertices.len(),
            triangles: self.triangles.len(),
            degenerate: self.triangles.iter().filter(|t| self.is_degenerate(t)).count(),
            ..MeshReport::default()
        };
        for edge in self.edge_uses().values() {
            match (edge.up, edge.down) {
                (1, 1) => {}
                (1, 0) | (0, 1) => report.open_edges += 1,
                _ => report.non_manifold_edges += 1,
            }
        }
        report
    }

    /// True when every edge is run along as often one way as the other, so that inside and outside
    /// are defined. Solids that touch along an edge are closed though not manifold there.
    pub fn is_closed(&self) -> bool {
        !self.triangles.is_empty() && self.edge_uses().values().all(|edge| edge.up == edge.down)
    }

    /// Volume, m^3; negative when the triangles of a closed mesh face inwards.
    pub fn signed_volume(&self) -> f64 {
        let six_fold: f64 = self
            .triangles
            .iter()
            .filter_map(|t| self.corners(t))
            .map(|[a, b, c]| a.dot(b.cross(c)))
            .sum();
        six_fold / 6.0
    }

    /// Lowest and highest corner of the box around all vertices, or `None` without any.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.vertices.first()?;
        Some(self.vertices.iter().fold((first, first), |(lo, hi), &v| (lo.min(v), hi.max(v))))
    }

    /// The mesh scaled, then turned, then moved. A mirroring scale also turns the triangles round,
    /// so that outside stays outside.
    #[must_use]
    pub fn transformed(&self, scale: Vec3, rotation: Quat, translation: Vec3) -> Self {
        let mirrored = scale.x * scale.y * scale.z < 0.0;
        let place = |&v: &Vec3| rotation * (v * scale) + translation;
        let wind = |&[a, b, c]: &[u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        Self {
            vertices: self.vertices.iter().map(place).collect(),
            triangles: self.triangles.iter().map(wind).collect(),
        }
    }

    /// Checks a mesh built by hand: at least one triangle, finite vertices, indices in bounds.
    /// Meshes from [`TriangleMesh::load_obj`] have passed this.
    pub fn validate(&self) -> Result<()> {
        if self.triangles.is_empty() {
            return Err(Error::value("mesh.triangles", "there are none; give at least one"));
        }
        if let Some(k) = self.vertices.iter().position(|v| !v.is_finite()) {
            let v = self.vertices[k];
            return Err(Error::value(
                format!("mesh.vertices.{k}"),
                format!("{v} is not finite; give metres as ordinary numbers"),
            ));
        }
        let count = self.vertices.len();
        let outside = |t: &[u32; 3]| t.iter().any(|&i| i as usize >= count);
        if let Some(k) = self.triangles.iter().position(outside) {
            return Err(Error::value(
                format!("mesh.triangles.{k}"),
                format!(
                    "{:?} names a vertex that is not there; indices must be below {count}",
                    self.triangles[k]
                ),
            ));
        }
        Ok(())
    }

    /// Welds vertices at the same place, drops triangles without an area, and reports both.
    pub(crate) fn welded(&self) -> (Self, MeshReport) {
        let mut vertices = Vec::new();
        let mut index_of = HashMap::new();
        let slot: Vec<u32> = self
            .vertices
            .iter()
            .map(|&v| {
                // Adding zero makes -0 and 0 one key.
                let key = (v + Vec3::ZERO).to_array().map(f32::to_bits);
                *index_of.entry(key).or_insert_with(|| {
                    vertices.push(v);
                    (vertices.len() - 1) as u32
                })
            })
            .collect();
        let welded = self.triangles.iter().map(|t| t.map(|i| slot[i as usize])).collect();
        let mut mesh = Self { vertices, triangles: welded };
        let solid: Vec<[u32; 3]> =
            mesh.triangles.iter().filter(|t| !mesh.is_degenerate(t)).copied().collect();
        let degenerate = mesh.triangles.len() - solid.len();
        mesh.triangles = solid;
        let report = MeshReport { degenerate, ..mesh.report() };
        (mesh, report)
    }

    /// No area that a normal could be made from. The bound is relative, so a small mesh is not
    /// thrown away, and far below f32 rounding, so a thin triangle that closes a surface stays.
    fn is_degenerate(&self, triangle: &[u32; 3]) -> bool {
        const SLIVER: f64 = 1e-10;
        let Some([a, b, c]) = self.corners(triangle) else { return true };
        let longest_sq =
            a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
        // Also below what f32 can hold: later passes compute normals in f32.
        let least = (SLIVER * longest_sq).max(f64::from(f32::MIN_POSITIVE));
        let area = (b - a).cross(c - a).length();
        area.is_nan() || area < least
    }

    fn corners(&self, triangle: &[u32; 3]) -> Option<[DVec3; 3]> {
        let corner = |i: u32| self.vertices.get(i as usize).map(|v| v.as_dvec3());
        let [a, b, c] = *triangle;
        Some([corner(a)?, corner(b)?, corner(c)?])
    }

    fn edge_uses(&self) -> HashMap<(u32, u32), EdgeUse> {
        let mut edges: HashMap<(u32, u32), EdgeUse> =
            HashMap::with_capacity(self.triangles.len() * 3 / 2);
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let edge = edges.entry((from.min(to), from.max(to))).or_default();
                if from < to {
                    edge.up += 1;
                } else {
                    edge.down += 1;
                }
            }
        }
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> TriangleMesh {
        TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    #[test]
    fn a_tetrahedron_is_closed_and_has_its_volume() {
        let mesh = tetrahedron();
        mesh.validate().unwrap();
        assert!(mesh.is_closed());
        assert!((mesh.signed_volume() - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(mesh.bounds(), Some((Vec3::ZERO, Vec3::ONE)));
    }

    #[test]
    fn faults_of_the_surface_are_counted() {
        let mut open = tetrahedron();
        open.triangles.pop();
        assert_eq!(open.report().open_edges, 3);
        assert!(!open.is_closed());

        let mut flipped = tetrahedron();
        flipped.triangles[3] = [1, 3, 2];
        assert_eq!(flipped.report().non_manifold_edges, 3);
        assert!(!flipped.is_closed());
    }

    #[test]
    fn welding_joins_corners_and_counts_what_it_drops() {
        let mut loose = TriangleMesh::default();
        for triangle in tetrahedron().triangles {
            let start = loose.vertices.len() as u32;
            loose.vertices.extend(triangle.map(|i| tetrahedron().vertices[i as usize]));
            loose.triangles.push([start, start + 1, start + 2]);
        }
        loose.vertices[0] = -Vec3::ZERO;
        loose.triangles.push([0, 1, 1]);
        let (mesh, report) = loose.welded();
        assert_eq!(
            report,
            MeshReport { vertices: 4, triangles: 4, degenerate: 1, ..MeshReport::default() }
        );
        assert!(mesh.is_closed());
    }

    #[test]
    fn a_small_mesh_is_not_degenerate_but_a_line_is() {
        let small = tetrahedron().transformed(Vec3::splat(1e-6), Quat::IDENTITY, Vec3::ONE * 1e-7);
        assert_eq!(small.report().degenerate, 0);
        let line = TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::splat(0.1), Vec3::splat(0.3)],
            triangles: vec![[0, 1, 2]],
        };
        assert_eq!(line.report().degenerate, 1);
    }

    #[test]
    fn a_mirrored_mesh_keeps_its_outside() {
        let turn = Quat::from_rotation_y(0.7);
        let mesh = tetrahedron().transformed(Vec3::new(-2.0, 1.0, 3.0), turn, Vec3::splat(5.0));
        assert!(mesh.is_closed());
        assert!((mesh.signed_volume() - 1.0).abs() < 1e-4, "{}", mesh.signed_volume());
    }

    #[test]
    fn hand_made_nonsense_is_refused_by_name() {
        assert!(TriangleMesh::default().validate().is_err());
        assert_eq!(TriangleMesh::default().bounds(), None);
        let mut mesh = tetrahedron();
        mesh.vertices[2].y = f32::NAN;
        assert!(mesh.validate().unwrap_err().to_string().starts_with("mesh.vertices.2: "));
        let mut mesh = tetrahedron();
        mesh.triangles[1] = [0, 1, 4];
        assert!(mesh.validate().unwrap_err().to_string().starts_with("mesh.triangles.1: "));
        mesh.report();
        mesh.signed_volume();
    }
}
