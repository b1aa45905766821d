//! Skins: the vertices of a mesh that follow particles.
//!
//! A [`BarycentricSkin`] hangs each vertex on three particles, with its height above their plane; it
//! is for surfaces, and for bodies of any shape. A [`WeightedSkin`] blends more particles, which is
//! smoother, and needs particles that are not all in one plane. A [`MeshSkin`] takes the one or the
//! other for each vertex, and opens where the body tears. All are made at rest, and leave the mesh as
//! it is there.

mod barycentric;
mod bonds;
mod hang;
mod mesh_skin;
mod weighted;

pub use barycentric::BarycentricSkin;
pub use bonds::Bonds;
pub use mesh_skin::{MeshSkin, Worn};
pub use weighted::WeightedSkin;

use glam::Vec3;

use crate::search::{Nearest, Search};
use crate::world::Params;
use crate::{Error, Result};

/// Of each vertex the particles that are nearest to it.
fn nearest(vertices: &[Vec3], particles: &[Vec3], count: usize) -> Result<Nearest> {
    if let Some(k) = vertices.iter().position(|v| !v.is_finite()) {
        return Err(Error::value(format!("vertices.{k}"), "is not finite"));
    }
    Search::new(Params::default(), 0)?.nearest(particles, vertices, count)
}

/// Refuses particles that are not those that a skin was made with.
fn check(most: usize, particles: &[Vec3]) -> Result<()> {
    match particles.len() >= most {
        true => Ok(()),
        false => {
            let count = particles.len();
            let message = format!("there are {count}; the skin was made with at least {most}");
            Err(Error::value("particles", message))
        }
    }
}
