//! Colliders of a scene, with the meshes they load.

use super::material::coefficients;
use crate::error::{Error, Result};
use crate::scene::builtin;
use crate::scene::file::{ColliderFile, ShapeWord};
use crate::scene::keys::require;
use crate::scene::value::Positive;
use crate::shape::mesh::TriangleMesh;
use crate::world::MaterialId;
use crate::world::collider::{Collider, Keyframe, Pose, Shape};
use glam::{Quat, Vec3};
use std::path::{Path, PathBuf};

/// Reads a collider; `folder` is where relative mesh paths start (none: built-in meshes only).
pub(super) fn read(path: &str, file: &ColliderFile, folder: Option<&Path>) -> Result<Collider> {
    let shape = read_shape(path, file, folder)?;
    let position = file.position.map(|v| v.0).unwrap_or_default();
    let rotation = file.rotation.map_or(Quat::IDENTITY, |r| r.0);
    let mut keys: Vec<Keyframe> = file
        .keyframes
        .iter()
        .map(|key| {
            let position = key.position.map_or(position, |v| v.0);
            let rotation = key.rotation.map_or(rotation, |r| r.0);
            Keyframe { time: key.time.0, pose: Pose::new(position, rotation) }
        })
        .collect();
    if keys.is_empty() {
        keys.push(Keyframe { time: 0.0, pose: Pose::new(position, rotation) });
    }
    let collider = Collider {
        name: file.name.clone().unwrap_or_else(|| path.into()),
        shape,
        path: keys,
        looped: file.looped,
        material: MaterialId::DEFAULT,
        coefficients: coefficients(
            file.friction,
            file.static_friction,
            file.restitution,
            file.fluid_adhesion,
        ),
        limb: None,
    };
    collider.validate(path).map_err(in_file_words)?;
    Ok(collider)
}

/// The library's names of fields as the scene file has them.
pub(super) fn in_file_words(error: Error) -> Error {
    match error {
        Error::Value { field, message } => Error::Value {
            field: field.replace(".shape.", ".").replace(".path.", ".keyframes."),
            message,
        },
        other => other,
    }
}

fn read_shape(path: &str, file: &ColliderFile, folder: Option<&Path>) -> Result<Shape> {
    let given = [
        ("normal", file.normal.is_some()),
        ("radius", file.radius.is_some()),
        ("half", file.half.is_some()),
        ("half_height", file.half_height.is_some()),
        ("height", file.height.is_some()),
        ("mesh", file.mesh.is_some()),
        ("scale", file.scale.is_some()),
        ("closed", file.closed.is_some()),
        ("thickness", file.thickness.is_some()),
    ];
    let (what, needs, may): (_, &[&str], &[&str]) = match file.shape {
        ShapeWord::Plane => ("plane", &[], &["normal"]),
        ShapeWord::Sphere => ("sphere", &["radius"], &[]),
        ShapeWord::Box => ("box", &["half"], &[]),
        ShapeWord::Capsule => ("capsule", &["radius", "half_height"], &[]),
        ShapeWord::Cylinder => ("cylinder", &["radius", "half_height"], &[]),
        ShapeWord::Cone => ("cone", &["radius", "height"], &[]),
        ShapeWord::Mesh => ("mesh", &["mesh"], &["scale", "closed", "thickness"]),
    };
    require(path, what, &given, needs, may)?;
    // What is missing has been refused above.
    let size = |v: Option<Positive>| v.map_or(0.0, |v| v.0);
    let (radius, half_height) = (size(file.radius), size(file.half_height));
    Ok(match file.shape {
        ShapeWord::Plane => Shape::Plane { normal: file.normal.map_or(Vec3::Y, |n| n.0) },
        ShapeWord::Sphere => Shape::Sphere { radius },
        ShapeWord::Box => {
            Shape::Box { half: file.half.map_or(Vec3::ZERO, |h| Vec3::from(h.0.map(|v| v.0))) }
        }
        ShapeWord::Capsule => Shape::Capsule { radius, half_height },
        ShapeWord::Cylinder => Shape::Cylinder { radius, half_height },
        ShapeWord::Cone => Shape::Cone { radius, height: size(file.height) },
        ShapeWord::Mesh => {
            let wrong = |e: Error| Error::value(format!("{path}.mesh"), e.to_string());
            let mesh =
                read_mesh(file.mesh.as_deref().unwrap_or_default(), folder).map_err(wrong)?;
            let scale = file.scale.map_or(Vec3::ONE, |s| s.0);
            let mesh = mesh.transformed(scale, Quat::IDENTITY, Vec3::ZERO);
            let thickness = file.thickness.map_or(0.0, |t| t.0);
            Shape::mesh(mesh, file.closed.unwrap_or(true), thickness).map_err(wrong)?
        }
    })
}

/// The file that a mesh is read from; none for a built-in mesh and for a name that is no path.
pub(in crate::scene) fn mesh_file(name: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let is_file = builtin::mesh_bytes(name).is_none() && name.contains(['.', '/', '\\']);
    folder.filter(|_| is_file).map(|folder| folder.join(name))
}

/// A built-in mesh by its name, else a file.
pub(in crate::scene) fn read_mesh(name: &str, folder: Option<&Path>) -> Result<TriangleMesh> {
    if let Some(bytes) = builtin::mesh_bytes(name) {
        return TriangleMesh::from_obj_bytes(name, bytes).map(|(mesh, _)| mesh);
    }
    match mesh_file(name, folder) {
        Some(file) => TriangleMesh::load_obj(file).map(|(mesh, _)| mesh),
        None => {
            let known = crate::scene::Scene::builtin_mesh_names();
            let instead = crate::suggest::instead(name, known);
            Err(Error::value(
                name,
                format!("no such mesh; {instead}; or give the path of an .obj file"),
            ))
        }
    }
}
