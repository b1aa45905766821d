//! Meshes with short edges, so that a skin of few large triangles bends with its body.

use std::collections::HashMap;

use glam::Vec3;

use super::mesh::TriangleMesh;
use crate::world::MemoryNeed;
use crate::{Error, Result};

impl TriangleMesh {
    /// The same surface with no edge longer than `longest` (m). Long edges are halved, whichever
    /// triangles they belong to, so no gaps come between triangles.
    ///
    /// ```
    /// use glam::Vec3;
    /// use motes::shape::mesh::TriangleMesh;
    ///
    /// let mesh = TriangleMesh {
    ///     vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
    ///     triangles: vec![[0, 1, 2]],
    /// };
    /// let fine = mesh.refined(0.8)?;
    /// assert_eq!((fine.vertices.len(), fine.triangles.len()), (6, 4));
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the mesh is not valid, `longest` is not above 0, or the triangles need more memory than
    /// there is.
    pub fn refined(&self, longest: f32) -> Result<Self> {
        self.validate()?;
        if !(longest.is_finite() && longest > 0.0) {
            return Err(Error::value("longest", format!("{longest} m is not above 0")));
        }
        let mut mesh = self.clone();
        while mesh.halve(longest)? {}
        Ok(mesh)
    }

    /// Halves the edges that are too long once. False when there are none.
    fn halve(&mut self, longest: f32) -> Result<bool> {
        let TriangleMesh { vertices, triangles } = self;
        let mut middles: HashMap<[u32; 2], Option<u32>> = HashMap::new();
        for &[a, b, c] in triangles.iter() {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                middles.entry([from.min(to), from.max(to)]).or_insert_with(|| {
                    let [p, q] = [from, to].map(|k| vertices[k as usize]);
                    let (middle, is_long) = (p.midpoint(q), p.distance(q) > longest);
                    // Far from the origin an edge may be too short to have a middle.
                    let is_new = is_long && middle != p && middle != q;
                    is_new.then(|| {
                        vertices.push(middle);
                        vertices.len() as u32 - 1
                    })
                });
            }
        }
        if middles.values().all(Option::is_none) {
            return Ok(false);
        }
        check_memory(triangles.len())?;
        let middle = |a: u32, b: u32| middles[&[a.min(b), a.max(b)]];
        let split = |t: &[u32; 3]| parts(*t, middle, vertices);
        *triangles = triangles.iter().flat_map(split).collect();
        Ok(true)
    }
}

/// Four triangles may come from each.
fn check_memory(triangles: usize) -> Result<()> {
    const EACH: usize = 4 * (size_of::<[u32; 3]>() + size_of::<Vec3>() + 64);
    match MemoryNeed::free_for(triangles.saturating_mul(EACH)) {
        None => Ok(()),
        Some(free) => Err(Error::TooLarge {
            what: format!("a mesh of {triangles} triangles, made finer"),
            needed: format!("{} MiB", triangles.saturating_mul(EACH) >> 20),
            limit: format!("this machine has {} MiB free; take fewer voxels", free >> 20),
        }),
    }
}

/// What a triangle becomes when some of its sides have middles.
fn parts(
    [a, b, c]: [u32; 3],
    middle: impl Fn(u32, u32) -> Option<u32>,
    at: &[Vec3],
) -> Vec<[u32; 3]> {
    // Turned so that the sides with middles come first.
    let sides = [middle(a, b), middle(b, c), middle(c, a)];
    let ([a, b, c], sides) = match sides {
        [None, Some(_), _] => ([b, c, a], [sides[1], sides[2], sides[0]]),
        [None, None, Some(_)] | [Some(_), None, Some(_)] => {
            ([c, a, b], [sides[2], sides[0], sides[1]])
        }
        _ => ([a, b, c], sides),
    };
    match sides {
        [Some(ab), None, _] => vec![[a, ab, c], [ab, b, c]],
        [Some(ab), Some(bc), None] => {
            let far = |p: u32, q: u32| at[p as usize].distance_squared(at[q as usize]);
            // The four corners that are left are cut along their shorter diagonal.
            let mut parts = vec![[ab, b, bc]];
            match far(ab, c) < far(a, bc) {
                true => parts.extend([[a, ab, c], [ab, bc, c]]),
                false => parts.extend([[a, ab, bc], [a, bc, c]]),
            }
            parts
        }
        [Some(ab), Some(bc), Some(ca)] => {
            vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        }
        [None, ..] => vec![[a, b, c]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of any triangles: the surface stays closed, its volume stays, and no edge is too long.
    #[test]
    fn a_refined_mesh_is_the_same_surface() {
        let corners = [[0.0, 0.0, 0.0], [3.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.1, 0.3, 2.0]];
        let mesh = TriangleMesh {
            vertices: corners.map(Vec3::from).to_vec(),
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        for longest in [10.0, 2.5, 1.0, 0.3, 0.11] {
            let fine = mesh.refined(longest).unwrap();
            assert!(fine.is_closed(), "{longest}");
            assert!((fine.signed_volume() - mesh.signed_volume()).abs() < 1e-6);
            for &[a, b, c] in &fine.triangles {
                let [a, b, c] = [a, b, c].map(|k| fine.vertices[k as usize]);
                let longest_side = a.distance(b).max(b.distance(c)).max(c.distance(a));
                assert!(longest_side <= longest && (b - a).cross(c - a).length() > 0.0);
            }
        }
        assert_eq!(mesh.refined(10.0).unwrap(), mesh, "nothing was too long");
    }

    #[test]
    fn nonsense_is_refused_and_what_is_far_away_ends() {
        let mesh = TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2]],
        };
        for longest in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(mesh.refined(longest).unwrap_err().to_string().starts_with("longest: "));
        }
        let far = mesh.transformed(Vec3::ONE, glam::Quat::IDENTITY, Vec3::splat(1e7));
        far.refined(1e-3).unwrap();
    }
}
