//! The keys `solid` and `tube`: the shape that is cut out of a lattice.

use crate::error::{Error, Result};
use crate::scene::value::Tube;
use crate::world::Solid;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SolidWord {
    #[default]
    Box,
    Sphere,
    Cylinder,
    Torus,
}

/// The shape that both keys say together.
pub(super) fn solid(path: &str, word: SolidWord, tube: Option<Tube>) -> Result<Solid> {
    if tube.is_some() && word != SolidWord::Torus {
        return Err(Error::value(format!("{path}.tube"), "only `solid = \"torus\"` has a tube"));
    }
    Ok(match word {
        SolidWord::Box => Solid::Box,
        SolidWord::Sphere => Solid::Sphere,
        SolidWord::Cylinder => Solid::Cylinder,
        SolidWord::Torus => Solid::Torus { tube: tube.map_or(0.25, |t| t.0) },
    })
}
