//! Skeletons of a scene, with the files they load.

use super::material::{self, coefficients};
use crate::error::{Error, Result};
use crate::scene::builtin;
use crate::scene::file::SkeletonFile;
use crate::skeleton::Rig;
use crate::suggest::instead;
use crate::world::collider::{Keyframe, Pose};
use crate::world::{Character, MaterialId, SkeletonId, World};
use glam::Quat;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Adds a character; `folder` is where relative paths start (none: built-in skeletons only).
pub(super) fn add(
    world: &mut World,
    path: &str,
    file: &SkeletonFile,
    folder: Option<&Path>,
) -> Result<SkeletonId> {
    let at = |key: &str| format!("{path}.{key}");
    let rig = read(&file.file, folder).map_err(|e| Error::value(at("file"), e.to_string()))?;
    let clip = match &file.clip {
        None => None,
        Some(name) => match rig.clip(name) {
            Ok(clip) => Some(clip),
            Err(Error::Value { message, .. }) => return Err(Error::value(at("clip"), message)),
            Err(other) => return Err(other),
        },
    };
    if clip.is_none() {
        let of_clip = [
            ("speed", file.speed.is_some()),
            ("start", file.start.is_some()),
            ("looped", file.looped.is_some()),
        ];
        if let Some((key, _)) = of_clip.iter().find(|(_, given)| *given) {
            let known = rig.clips.iter().map(|clip| clip.name.as_str());
            let message = format!("has no effect without `clip`; {}", instead("", known));
            return Err(Error::value(at(key), message));
        }
    }
    if file.radius.is_some() && rig.mesh.is_some() {
        let message = "has no effect: limbs are as thick as the mesh; leave it out";
        return Err(Error::value(at("radius"), message));
    }
    let position = file.position.map(|v| v.0).unwrap_or_default();
    let rotation = file.rotation.map_or(Quat::IDENTITY, |r| r.0);
    let key = |time: f64, place: Option<_>, turn: Option<_>| Keyframe {
        time,
        pose: Pose::new(place.unwrap_or(position), turn.unwrap_or(rotation)),
    };
    let keyframes = file
        .keyframes
        .iter()
        .map(|k| key(k.time.0, k.position.map(|v| v.0), k.rotation.map(|r| r.0)));
    let mut way: Vec<Keyframe> = keyframes.collect();
    if way.is_empty() {
        way.push(key(0.0, None, None));
    }
    let own = coefficients(file.friction, file.static_friction, file.restitution, None);
    let material = match &file.material {
        Some(name) => material::find(world, &at("material"), name)?,
        None => MaterialId::DEFAULT,
    };
    let character = Character {
        name: file.name.clone().unwrap_or_else(|| path.into()),
        clip,
        start: file.start.map_or(0.0, |s| s.0),
        speed: file.speed.map_or(1.0, |s| s.0),
        looped: file.looped.unwrap_or(true),
        path: way,
        scale: file.scale.map_or(1.0, |s| f64::from(s.0)),
        radius: file.radius.map(|r| f64::from(r.0)),
        material,
        coefficients: own,
        ..Character::of(Arc::new(rig))
    };
    character.validate(path).map_err(in_file_words)?;
    world.add_skeleton(&character).map_err(|error| match error {
        Error::Value { message, .. } => Error::value(at("file"), message),
        other => other,
    })
}

/// The library's names of fields as the scene file has them.
fn in_file_words(error: Error) -> Error {
    match error {
        Error::Value { field, message } => {
            Error::Value { field: field.replace(".path.", ".keyframes."), message }
        }
        other => other,
    }
}

/// A built-in skeleton by its name, else a file.
fn read(name: &str, folder: Option<&Path>) -> Result<Rig> {
    if let Some(bytes) = builtin::skeleton_bytes(name) {
        return Rig::from_bytes(name, bytes, None);
    }
    match file_of(name, folder) {
        Some(file) => Rig::load(file),
        None => {
            let meant = instead(name, crate::scene::Scene::builtin_skeleton_names());
            let message =
                format!("no such skeleton; {meant}; or give the path of a BVH, glTF or GLB file");
            Err(Error::value(name, message))
        }
    }
}

/// The file that a skeleton is read from; none for a built-in one and for a name that is no path.
pub(in crate::scene) fn file_of(name: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let is_file = builtin::skeleton_bytes(name).is_none() && name.contains(['.', '/', '\\']);
    folder.filter(|_| is_file).map(|folder| folder.join(name))
}
