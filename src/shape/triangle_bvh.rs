//! A bounding volume hierarchy over the triangles of a mesh: which triangles are near a box, which
//! is closest to a point, and whether a point is inside.
//!
//! Nodes lie in depth-first order, each with the index that follows its subtree, so a query walks
//! one array forward and needs no stack. The same mesh always gives the same tree.

use glam::Vec3;
use std::collections::HashSet;
use std::ops::Range;

use super::mesh::TriangleMesh;
use crate::{Error, Result};

pub mod triangle;

pub use triangle::{Feature, closest_point, segment_crossing, unit_normal};

/// Triangles in a leaf: a box test costs about as much as rejecting one triangle.
const LEAF_SIZE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    pub min: Vec3,
    pub max: Vec3,
    /// Next node when this subtree is left out.
    pub skip: u32,
    /// First triangle slot of a leaf.
    pub first: u32,
    /// Number of triangles of a leaf, 0 for an inner node.
    pub count: u32,
}

/// The closest point of a mesh to some point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Index of the triangle in the mesh.
    pub triangle: u32,
    /// The corners of that triangle, m.
    pub corners: [Vec3; 3],
    /// The closest point, m.
    pub point: Vec3,
    /// The part of the triangle it lies on.
    pub feature: Feature,
    /// Squared distance to it, m^2.
    pub distance_sq: f64,
}

/// The hierarchy. It keeps its own copy of the corners in leaf order, so that a query touches
/// consecutive memory and never indexes into a mesh that has changed since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleBvh {
    pub(crate) nodes: Vec<Node>,
    pub(crate) corners: Vec<[Vec3; 3]>,
    pub(crate) ids: Vec<u32>,
    /// Which corners of each triangle stand for their vertex, as bits: of all corners in one place
    /// the first does, so that every vertex is met once.
    pub(crate) standing: Vec<u8>,
    /// A hierarchy over the vertices alone, in the order of its leaves: where triangles are long their
    /// boxes say little about where vertices are.
    vertex_nodes: Vec<Node>,
    vertices: Vec<Vec3>,
}

impl TriangleBvh {
    /// Builds the hierarchy by splitting at the median of the longest axis.
    ///
    /// # Errors
    /// When a triangle names a vertex that is not there, or a vertex is not finite.
    pub fn build(mesh: &TriangleMesh) -> Result<Self> {
        if mesh.triangles.len() > i32::MAX as usize {
            return Err(Error::TooLarge {
                what: "the mesh".into(),
                needed: format!("{} triangles", mesh.triangles.len()),
                limit: format!("a hierarchy holds {}: split the mesh", i32::MAX),
            });
        }
        let mut source = Vec::with_capacity(mesh.triangles.len());
        for (i, triangle) in mesh.triangles.iter().enumerate() {
            let mut corners = [Vec3::ZERO; 3];
            for (corner, &index) in corners.iter_mut().zip(triangle) {
                *corner = *mesh.vertices.get(index as usize).ok_or_else(|| {
                    let count = mesh.vertices.len();
                    Error::value(
                        format!("mesh.triangles.{i}"),
                        format!("names vertex {index}, but there are {count}: use 0 to count - 1"),
                    )
                })?;
                if !corner.is_finite() {
                    return Err(Error::value(
                        format!("mesh.vertices.{index}"),
                        format!("must be three finite coordinates in m, but is {corner}"),
                    ));
                }
            }
            source.push(corners);
        }
        let mut order: Vec<u32> = (0..source.len() as u32).collect();
        let mut bvh = TriangleBvh::default();
        if !order.is_empty() {
            bvh.build_node(&source, &mut order, 0);
        }
        bvh.corners = order.iter().map(|&id| source[id as usize]).collect();
        bvh.ids = order;
        bvh.standing = standing(&bvh.corners);
        bvh.build_vertices();
        Ok(bvh)
    }

    /// The hierarchy over the vertices is one over triangles that are points.
    fn build_vertices(&mut self) {
        let stands = |(corners, bits): (&[Vec3; 3], &u8)| {
            let (corners, bits) = (*corners, *bits);
            (0..3).filter(move |k| bits >> k & 1 != 0).map(move |k| [corners[k]; 3])
        };
        let points: Vec<[Vec3; 3]> =
            self.corners.iter().zip(&self.standing).flat_map(stands).collect();
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        let mut tree = TriangleBvh::default();
        if !order.is_empty() {
            tree.build_node(&points, &mut order, 0);
        }
        self.vertex_nodes = tree.nodes;
        self.vertices = order.iter().map(|&id| points[id as usize][0]).collect();
    }

    /// Halving keeps the depth at log2 of the count, so recursion is safe.
    fn build_node(&mut self, source: &[[Vec3; 3]], order: &mut [u32], first: u32) {
        let (mut min, mut max) = (Vec3::MAX, Vec3::MIN);
        let (mut centre_min, mut centre_max) = (Vec3::MAX, Vec3::MIN);
        for &id in order.iter() {
            for &corner in &source[id as usize] {
                min = min.min(corner);
                max = max.max(corner);
            }
            let centre = centre(&source[id as usize]);
            centre_min = centre_min.min(centre);
            centre_max = centre_max.max(centre);
        }
        let index = self.nodes.len();
        self.nodes.push(Node { min, max, skip: 0, first, count: 0 });
        if order.len() <= LEAF_SIZE {
            // The selection below leaves the order inside a half open; sorting makes it ours.
            order.sort_unstable();
            self.nodes[index].count = order.len() as u32;
        } else {
            let axis = (centre_max - centre_min).max_position();
            let middle = order.len() / 2;
            order.select_nth_unstable_by(middle, |&a, &b| {
                let (ka, kb) =
                    (centre(&source[a as usize])[axis], centre(&source[b as usize])[axis]);
                ka.total_cmp(&kb).then(a.cmp(&b))
            });
            let (left, right) = order.split_at_mut(middle);
            self.build_node(source, left, first);
            self.build_node(source, right, first + middle as u32);
        }
        self.nodes[index].skip = self.nodes.len() as u32;
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.ids.len()
    }

    /// The box around all triangles, none for an empty mesh.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.nodes.first().map(|node| (node.min, node.max))
    }

    /// Calls `visit` with the index and the corners of every triangle whose box meets the box
    /// `min`..`max` (touching counts), in an order that depends on the mesh alone.
    pub fn visit_box(&self, min: Vec3, max: Vec3, mut visit: impl FnMut(u32, &[Vec3; 3])) {
        for slots in leaves(&self.nodes, min, max) {
            for (corners, &id) in self.corners[slots.clone()].iter().zip(&self.ids[slots]) {
                let low = corners[0].min(corners[1]).min(corners[2]);
                let high = corners[0].max(corners[1]).max(corners[2]);
                if low.cmple(max).all() && high.cmpge(min).all() {
                    visit(id, corners);
                }
            }
        }
    }

    /// Whether a vertex of a triangle is in the box `min`..`max` (touching counts).
    pub(crate) fn has_vertex(&self, min: Vec3, max: Vec3) -> bool {
        let inside = |v: &Vec3| v.cmple(max).all() && v.cmpge(min).all();
        leaves(&self.vertex_nodes, min, max).any(|slots| self.vertices[slots].iter().any(inside))
    }

    /// Calls `visit` once for every vertex of a triangle in the box `min`..`max` (touching counts), in
    /// an order that depends on the mesh alone.
    pub(crate) fn visit_vertices(&self, min: Vec3, max: Vec3, mut visit: impl FnMut(Vec3)) {
        for slots in leaves(&self.nodes, min, max) {
            for (corners, standing) in self.corners[slots.clone()].iter().zip(&self.standing[slots])
            {
                for (k, &vertex) in corners.iter().enumerate() {
                    let inside = vertex.cmple(max).all() && vertex.cmpge(min).all();
                    if standing >> k & 1 != 0 && inside {
                        visit(vertex);
                    }
                }
            }
        }
    }

    /// The closest point of the mesh to `p`, the lowest triangle index among equals; none for an
    /// empty mesh.
    pub fn closest(&self, p: Vec3) -> Option<Closest> {
        self.closer(p, None)
    }

    /// The same, for who knows a triangle that is probably near: what is farther is not looked at.
    pub(crate) fn closest_near(&self, p: Vec3, triangle: u32, corners: [Vec3; 3]) -> Closest {
        let (point, feature) = closest_point(&corners, p);
        let distance_sq = point.distance_squared(p.as_dvec3());
        let near = Closest { triangle, corners, point: point.as_vec3(), feature, distance_sq };
        self.closer(p, Some(near)).unwrap_or(near)
    }

    fn closer(&self, p: Vec3, mut best: Option<Closest>) -> Option<Closest> {
        // One entry a level, and halving 2^31 triangles takes fewer than 32 levels.
        let mut stack = [(0u32, 0.0f64); 64];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, distance_sq) = (stack[top].0 as usize, stack[top].1);
            let Some(node) = self.nodes.get(index) else { continue };
            if best.as_ref().is_some_and(|b| distance_sq > b.distance_sq) {
                continue;
            }
            if node.count == 0 {
                let [left, right] = [index + 1, self.nodes[index + 1].skip as usize]
                    .map(|child| (child as u32, box_distance_sq(&self.nodes[child], p)));
                let (near, far) = if right.1 < left.1 { (right, left) } else { (left, right) };
                // What is too far already will not come nearer.
                let most = best.as_ref().map_or(f64::INFINITY, |b| b.distance_sq);
                for child in [far, near].into_iter().filter(|child| child.1 <= most) {
                    stack[top] = child;
                    top += 1;
                }
                continue;
            }
            for slot in node.first as usize..(node.first + node.count) as usize {
                let (corners, triangle) = (self.corners[slot], self.ids[slot]);
                if best.as_ref().is_some_and(|b| is_beyond(&corners, p, b.distance_sq)) {
                    continue;
                }
                let (point, feature) = closest_point(&corners, p);
                let distance_sq = point.distance_squared(p.as_dvec3());
                let better = best.as_ref().is_none_or(|b| {
                    distance_sq < b.distance_sq
                        || (distance_sq == b.distance_sq && triangle < b.triangle)
                });
                if better {
                    let point = point.as_vec3();
                    best = Some(Closest { triangle, corners, point, feature, distance_sq });
                }
            }
        }
        best
    }

    /// True when the mesh winds around `p`: a ray upward, signed crossings counted. Edges and
    /// corners under the ray belong to exactly one of the triangles that share them (top-left
    /// rule), so the count is right there too. Meaningful for closed meshes only.
    pub fn contains(&self, p: Vec3) -> bool {
        let Some((min, max)) = self.bounds() else { return false };
        if !(p.cmpge(min).all() && p.cmple(max).all()) {
            return false;
        }
        let mut winding = 0i64;
        self.visit_box(p, Vec3::new(p.x, max.y, p.z), |_, corners| {
            winding += crossing_above(corners, p);
        });
        winding != 0
    }
}

/// What each node holds by itself whose box meets the box `min`..`max` (touching counts), in order.
#[inline]
fn leaves(nodes: &[Node], min: Vec3, max: Vec3) -> impl Iterator<Item = Range<usize>> {
    let mut index = 0;
    std::iter::from_fn(move || {
        loop {
            let node = nodes.get(index)?;
            if node.min.cmple(max).all() && node.max.cmpge(min).all() {
                index += 1;
                return Some(node.first as usize..(node.first + node.count) as usize);
            }
            index = node.skip as usize;
        }
    })
}

/// Of all corners in one place, the first.
fn standing(corners: &[[Vec3; 3]]) -> Vec<u8> {
    // Zero and minus zero are one place.
    let place = |v: Vec3| (v + Vec3::ZERO).to_array().map(f32::to_bits);
    let mut met = HashSet::with_capacity(corners.len());
    let bits = |corners: &[Vec3; 3]| {
        (0..3).filter(|&k| met.insert(place(corners[k]))).map(|k| 1u8 << k).sum()
    };
    corners.iter().map(bits).collect()
}

fn centre(corners: &[Vec3; 3]) -> Vec3 {
    corners[0] / 3.0 + corners[1] / 3.0 + corners[2] / 3.0
}

fn box_distance_sq(node: &Node, p: Vec3) -> f64 {
    let p = p.as_dvec3();
    p.distance_squared(p.clamp(node.min.as_dvec3(), node.max.as_dvec3()))
}

/// Whether the box of a triangle is farther from a point than this, by more than rounding: a cheap
/// answer for most triangles.
fn is_beyond([a, b, c]: &[Vec3; 3], p: Vec3, distance_sq: f64) -> bool {
    const ROUNDING: f64 = 1.0 + 1e-6;
    let p = p.as_dvec3();
    let [low, high] = [a.min(*b).min(*c), a.max(*b).max(*c)].map(|corner| corner.as_dvec3());
    p.distance_squared(p.clamp(low, high)) > distance_sq * ROUNDING
}

/// +1 when the triangle covers the ray from `p` upward and faces up, -1 when it faces down.
fn crossing_above(corners: &[Vec3; 3], p: Vec3) -> i64 {
    let [a, b, c] = corners.map(|v| v.as_dvec3() - p.as_dvec3());
    // Seen from above with axes (z, x), so that counter-clockwise faces up.
    let edge = |a: glam::DVec3, b: glam::DVec3| a.z * b.x - a.x * b.z;
    let area = edge(a, b) + edge(b, c) + edge(c, a);
    let (b, c, facing) = if area < 0.0 { (c, b, -1) } else { (b, c, 1) };
    if area == 0.0 {
        return 0;
    }
    let weights = [edge(b, c), edge(c, a), edge(a, b)];
    let owns = |weight: f64, from: glam::DVec3, to: glam::DVec3| {
        let along = to - from;
        weight > 0.0 || (weight == 0.0 && (along.x < 0.0 || (along.x == 0.0 && along.z < 0.0)))
    };
    if !(owns(weights[0], b, c) && owns(weights[1], c, a) && owns(weights[2], a, b)) {
        return 0;
    }
    let height = weights[0] * a.y + weights[1] * b.y + weights[2] * c.y;
    if height > 0.0 { facing } else { 0 }
}

#[cfg(test)]
mod tests;
