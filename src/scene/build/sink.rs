//! Sinks of a scene: shapes as those of colliders, that take what comes into them.

use super::collider;
use crate::error::{Error, Result};
use crate::scene::file::ColliderFile;
use crate::world::Sink;
use std::path::Path;

pub(super) fn read(path: &str, file: &ColliderFile, folder: Option<&Path>) -> Result<Sink> {
    let of_matter = [
        ("material", file.material.is_some()),
        ("friction", file.friction.is_some()),
        ("static_friction", file.static_friction.is_some()),
        ("restitution", file.restitution.is_some()),
        ("thickness", file.thickness.is_some()),
    ];
    if let Some((key, _)) = of_matter.iter().find(|(_, given)| *given) {
        let message = "nothing touches a sink; leave it out, or make it a [[collider]]";
        return Err(Error::value(format!("{path}.{key}"), message));
    }
    let sink = Sink { region: collider::read(path, file, folder)?, open: true };
    sink.validate(path).map_err(collider::in_file_words)?;
    Ok(sink)
}
