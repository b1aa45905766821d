//! The forms a collider can have, and the checks on their sizes.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::shape::mesh::TriangleMesh;
use crate::shape::triangle_bvh::TriangleBvh;
use crate::{Error, Result};
use std::sync::Arc;

/// The form of a collider in its local frame. The axis of capsule, cylinder and cone is local y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ShapeData", into = "ShapeData")]
pub enum Shape {
    /// Everything below the plane through the local origin.
    Plane {
        /// Out of the solid side; any length but zero.
        normal: Vec3,
    },
    /// A ball about the local origin.
    Sphere {
        /// m.
        radius: f32,
    },
    /// A block about the local origin.
    Box {
        /// Half the size along each axis, m.
        half: Vec3,
    },
    /// A cylinder with a half ball on either end.
    Capsule {
        /// m.
        radius: f32,
        /// Half the length of the straight part, m; the whole is 2 (half_height + radius) long.
        half_height: f32,
    },
    /// A solid cylinder about the local origin.
    Cylinder {
        /// m.
        radius: f32,
        /// Half the length, m.
        half_height: f32,
    },
    /// A solid cone: base at local y = 0, apex at y = height.
    Cone {
        /// Of the base, m.
        radius: f32,
        /// m.
        height: f32,
    },
    /// Triangles; make it with [`Shape::mesh`], so that mesh and hierarchy belong together.
    Mesh {
        /// The triangles, for drawing and for snapshots.
        mesh: Arc<TriangleMesh>,
        /// The hierarchy over the same triangles: what collisions read.
        bvh: Arc<TriangleBvh>,
        /// True: solid, particles are pushed to the outside. False: a sheet with two sides.
        closed: bool,
        /// Of the sheet, m, half of it to either side; not used when closed.
        thickness: f32,
    },
}

/// What is stored of a shape: all but the hierarchy, which is built again from the mesh.
#[derive(Serialize, Deserialize)]
enum ShapeData {
    Plane { normal: Vec3 },
    Sphere { radius: f32 },
    Box { half: Vec3 },
    Capsule { radius: f32, half_height: f32 },
    Cylinder { radius: f32, half_height: f32 },
    Cone { radius: f32, height: f32 },
    Mesh { mesh: TriangleMesh, closed: bool, thickness: f32 },
}

impl From<Shape> for ShapeData {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Plane { normal } => ShapeData::Plane { normal },
            Shape::Sphere { radius } => ShapeData::Sphere { radius },
            Shape::Box { half } => ShapeData::Box { half },
            Shape::Capsule { radius, half_height } => ShapeData::Capsule { radius, half_height },
            Shape::Cylinder { radius, half_height } => ShapeData::Cylinder { radius, half_height },
            Shape::Cone { radius, height } => ShapeData::Cone { radius, height },
            Shape::Mesh { mesh, closed, thickness, .. } => {
                ShapeData::Mesh { mesh: Arc::unwrap_or_clone(mesh), closed, thickness }
            }
        }
    }
}

impl TryFrom<ShapeData> for Shape {
    type Error = Error;

    fn try_from(data: ShapeData) -> Result<Self> {
        Ok(match data {
            ShapeData::Plane { normal } => Shape::Plane { normal },
            ShapeData::Sphere { radius } => Shape::Sphere { radius },
            ShapeData::Box { half } => Shape::Box { half },
            ShapeData::Capsule { radius, half_height } => Shape::Capsule { radius, half_height },
            ShapeData::Cylinder { radius, half_height } => Shape::Cylinder { radius, half_height },
            ShapeData::Cone { radius, height } => Shape::Cone { radius, height },
            ShapeData::Mesh { mesh, closed, thickness } => Shape::mesh(mesh, closed, thickness)?,
        })
    }
}

impl Shape {
    /// A mesh with its hierarchy.
    ///
    /// # Errors
    /// When a triangle names a vertex that is not there, or a vertex is not finite.
    pub fn mesh(mesh: TriangleMesh, closed: bool, thickness: f32) -> Result<Shape> {
        let bvh = TriangleBvh::build(&mesh)?;
        Ok(Shape::Mesh { mesh: Arc::new(mesh), bvh: Arc::new(bvh), closed, thickness })
    }

    /// Whether another has the same form. Meshes are compared by address, not triangle by triangle.
    pub(crate) fn is_same(&self, other: &Shape) -> bool {
        match (self, other) {
            (
                Shape::Mesh { mesh, bvh, closed, thickness },
                Shape::Mesh { mesh: m, bvh: b, closed: c, thickness: t },
            ) => Arc::ptr_eq(mesh, m) && Arc::ptr_eq(bvh, b) && closed == c && thickness == t,
            _ => self == other,
        }
    }

    /// Checks every size; `field` is the path the messages start with.
    ///
    /// # Errors
    /// Names the first value that is not allowed and what would be right.
    pub fn validate(&self, field: &str) -> Result<()> {
        match self {
            Shape::Plane { normal } => {
                if normal.is_finite() && normal.try_normalize().is_some() {
                    return Ok(());
                }
                Err(Error::value(
                    format!("{field}.normal"),
                    format!("must be a direction such as [0, 1, 0], but is {normal}"),
                ))
            }
            Shape::Sphere { radius } => positive(field, "radius", *radius),
            Shape::Box { half } => {
                positive(field, "half.x", half.x)?;
                positive(field, "half.y", half.y)?;
                positive(field, "half.z", half.z)
            }
            Shape::Capsule { radius, half_height } | Shape::Cylinder { radius, half_height } => {
                positive(field, "radius", *radius)?;
                positive(field, "half_height", *half_height)
            }
            Shape::Cone { radius, height } => {
                positive(field, "radius", *radius)?;
                positive(field, "height", *height)
            }
            Shape::Mesh { mesh, bvh, closed, thickness } => {
                validate_mesh(field, mesh, bvh)?;
                if *closed {
                    validate_closed(field, mesh)?;
                }
                if thickness.is_finite() && *thickness >= 0.0 {
                    return Ok(());
                }
                Err(Error::value(
                    format!("{field}.thickness"),
                    format!("must be a finite length of 0 m or more, but is {thickness}"),
                ))
            }
        }
    }
}

fn positive(field: &str, name: &str, value: f32) -> Result<()> {
    // The smallest normal number: below it, 1 / size overflows.
    if value.is_finite() && value >= f32::MIN_POSITIVE {
        return Ok(());
    }
    Err(Error::value(
        format!("{field}.{name}"),
        format!("must be a finite length above 0 m, but is {value}"),
    ))
}

fn validate_mesh(field: &str, mesh: &TriangleMesh, bvh: &TriangleBvh) -> Result<()> {
    if mesh.triangles.is_empty() {
        return Err(Error::value(format!("{field}.mesh"), "must have at least one triangle"));
    }
    if *bvh != TriangleBvh::build(mesh)? {
        return Err(Error::value(
            format!("{field}.bvh"),
            "was built from another mesh: build the shape with Shape::mesh",
        ));
    }
    Ok(())
}

/// Closed: each edge is run along once in either direction, and the volume is positive.
fn validate_closed(field: &str, mesh: &TriangleMesh) -> Result<()> {
    let mut edges: Vec<(u32, u32, u32)> = Vec::with_capacity(mesh.triangles.len() * 3);
    let mut volume = 0.0;
    for &[a, b, c] in &mesh.triangles {
        edges.extend([(a, b), (b, c), (c, a)].map(|(i, j)| (i.min(j), i.max(j), u32::from(i > j))));
        let corner =
            |i: u32| mesh.vertices.get(i as usize).map_or(glam::DVec3::ZERO, |v| v.as_dvec3());
        volume += corner(a).dot(corner(b).cross(corner(c)));
    }
    edges.sort_unstable();
    // A non-manifold edge with two triangles in either direction still encloses a volume.
    let mut rest = edges.as_slice();
    while let Some(&(i, j, _)) = rest.first() {
        let count = rest.iter().take_while(|e| (e.0, e.1) == (i, j)).count();
        let (same, after) = rest.split_at(count);
        let forward = same.iter().filter(|e| e.2 == 0).count();
        if forward * 2 != count {
            return Err(Error::value(
                format!("{field}.closed"),
                format!(
                    "the edge between vertices {i} and {j} is open or its triangles are wound \
                     against each other: weld and fill the mesh, or set closed = false"
                ),
            ));
        }
        rest = after;
    }
    if volume <= 0.0 {
        return Err(Error::value(
            format!("{field}.closed"),
            "the triangles face inward: wind them counter-clockwise seen from outside",
        ));
    }
    Ok(())
}
