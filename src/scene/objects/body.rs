//! `[[body]]`: particles that keep their shape.

use super::mass::DENSITY;
use super::soft_mesh::why_not_solid;
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::{Error, Result};
use crate::scene::build::read_mesh;
use crate::scene::keys::one_of;
use crate::scene::size::{need, product};
use crate::scene::value::{
    AtLeastZero, Count, Exactly, Positive, Real, Rotation, Scale, Share, Spacing, Vector,
};
use crate::shape::mesh::TriangleMesh;
use crate::shape::solid::Recipe;
use crate::world::{Body, BodyShape, Built, Matching, MemoryNeed, World, lattice_points};
use glam::{Quat, Vec3};
use serde::Deserialize;

impl ObjectKinds {
    /// `[[body]]`: particles that keep their shape.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `counts` | 1 | | a block: particles along x, y, z; or |
    /// | `mesh` | | | an .obj file, relative to the scene's folder, or a built-in mesh, made into particles |
    /// | `spacing` | m | needed with `counts` | between neighbours |
    /// | `resolution` | 1 | 16 | with `mesh`: voxels along its longest side |
    /// | `merge` | voxels | never | with `mesh`: voxels deeper than this become larger particles; -2 or less |
    /// | `scale` | 1 | 1 | with `mesh`: a factor, or one for each axis |
    /// | `density` | kg/m³ | 1000 | of what it is made of |
    /// | `position` | m | [0, 0, 0] | of the centre of mass |
    /// | `rotation` | rotation | none | about the centre of mass |
    /// | `velocity` | m/s | 0 | of the centre of mass |
    /// | `spin` | rad/s | 0 | angular velocity |
    /// | `matching` | | "rigid" | `rigid`: it is moved and turned only; `linear`: it may be stretched and sheared as well |
    /// | `stretch` | 1 | 0.5 | with `linear`: the share of a stretch that is let be, 0 to 1 |
    /// | `compliance` | m/N | 0 | how far it gives way; 0 is rigid |
    /// | `copies` | 1 | [1, 1, 1] | so many along x, y, z, this one the first; each is an object, called `NAME 2` and so on |
    /// | `every` | m | needed with `copies` | from copy to copy along x, y, z |
    pub const BODY: &'static str = "body";
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MatchingWord {
    #[default]
    Rigid,
    Linear,
}

table! {
    pub(crate) struct BodyFile {
        counts: Option<Exactly<Count, 3>>,
        mesh: Option<String>,
        spacing: Option<Spacing>,
        resolution: Option<Count>,
        merge: Option<Real>,
        scale: Option<Scale>,
        density: Option<Positive>,
        position: Option<Vector>,
        rotation: Option<Rotation>,
        velocity: Option<Vector>,
        spin: Option<Vector>,
        #[serde(default)]
        matching: MatchingWord,
        stretch: Option<Share>,
        compliance: Option<AtLeastZero>,
        copies: Option<Exactly<Count, 3>>,
        every: Option<Vector>,
    }
}

/// Most copies of a body.
const MOST_COPIES: u128 = 100_000;

/// Voxels along the longest side of a mesh, where the scene does not say.
const RESOLUTION: u64 = 16;

impl BodyFile {
    /// The body and its copies, each in its place; or the key that is wrong, and why.
    pub fn repeated(self) -> std::result::Result<Vec<BodyFile>, (&'static str, String)> {
        let counts = match (&self.copies, &self.every) {
            (None, None) => return Ok(vec![self]),
            (None, Some(_)) => return Err(("every", "goes with `copies` only".into())),
            (Some(_), None) => {
                return Err(("every", "`copies` need it: from copy to copy, m".into()));
            }
            (Some(counts), Some(_)) => product(&counts.0),
        };
        if counts == 0 || counts > MOST_COPIES {
            return Err(("copies", format!("{counts} are not legal; expected 1 to {MOST_COPIES}")));
        }
        let BodyFile { copies, every, .. } = &self;
        let counts = copies.as_ref().map_or([1; 3], |counts| counts.0.map(Count::clamped));
        let every = every.map_or(Vec3::ZERO, |every| every.0);
        let copy = |(number, at): (usize, Vec3)| {
            let mut copy = BodyFile { copies: None, every: None, ..self.clone() };
            copy.position = Some(Vector(self.position.map_or(Vec3::ZERO, |p| p.0) + at * every));
            if number > 0 {
                copy.name = self.name.as_ref().map(|name| format!("{name} {}", number + 1));
            }
            copy
        };
        let places =
            lattice_points(counts).map(|(x, y, z)| Vec3::new(x as f32, y as f32, z as f32));
        Ok(places.enumerate().map(copy).collect())
    }

    fn resolution(&self) -> u64 {
        self.resolution.map_or(RESOLUTION, |count| count.0)
    }

    /// The mesh as large as it is to be.
    fn read(&self, name: &str, site: &Site) -> Result<TriangleMesh> {
        let scale = self.scale.map_or(Vec3::ONE, |s| s.0);
        Ok(read_mesh(name, site.folder)?.transformed(scale, Quat::IDENTITY, Vec3::ZERO))
    }

    fn recipe(&self) -> Recipe {
        let merge = self.merge.map(|bound| bound.0);
        Recipe { merge, ..Recipe::new(self.resolution() as usize) }
    }

    fn shape(&self, path: &str, site: &Site) -> Result<BodyShape> {
        let density = self.density.map_or(DENSITY, |d| d.0);
        let field = |name: &str| format!("{path}.{name}");
        let refuse = |name: &str, given: bool, with: &str| match given {
            true => Err(Error::value(field(name), format!("goes with `{with}` only"))),
            false => Ok(()),
        };
        if let Some(counts) = &self.counts {
            refuse("resolution", self.resolution.is_some(), "mesh")?;
            refuse("merge", self.merge.is_some(), "mesh")?;
            refuse("scale", self.scale.is_some(), "mesh")?;
            let spacing = self.spacing.ok_or_else(|| {
                Error::value(field("spacing"), "`counts` need it: the distance of neighbours, m")
            })?;
            let counts = counts.0.map(Count::clamped);
            return BodyShape::block(counts, spacing.0, density).map_err(|e| at(path, e));
        }
        let Some(name) = &self.mesh else {
            let message = "a body needs `counts` and `spacing`, or `mesh`";
            return Err(Error::value(field("counts"), message));
        };
        refuse("spacing", self.spacing.is_some(), "counts")?;
        let wrong = |e: Error| Error::value(field("mesh"), e.to_string());
        let mesh = self.read(name, site).map_err(wrong)?;
        if let Some(bound) = self.merge.map(|bound| bound.0).filter(|bound| *bound > -1.0) {
            let message = format!("{bound} is not legal; expected -1 or less, such as -2");
            return Err(Error::value(field("merge"), message));
        }
        BodyShape::of_mesh(&mesh, &self.recipe(), density).map(|(shape, _)| shape).map_err(wrong)
    }
}

/// An error of the library with the name of the object before its field.
fn at(path: &str, error: Error) -> Error {
    match error {
        Error::Value { field, message } => {
            Error::Value { field: format!("{path}.{field}"), message }
        }
        other => other,
    }
}

impl SceneObject for BodyFile {
    fn need(&self) -> MemoryNeed {
        let particles = match &self.counts {
            Some(counts) => product(&counts.0),
            None => u128::from(self.resolution()).saturating_pow(3),
        };
        need(particles, 0, 0)
    }

    fn mesh_name(&self) -> Option<&str> {
        self.mesh.as_deref()
    }

    fn build(&self, world: &mut World, path: &str, site: &Site) -> Result<Built> {
        one_of(path, [("counts", self.counts.is_some()), ("mesh", self.mesh.is_some())])?;
        let linear = self.matching == MatchingWord::Linear;
        if self.stretch.is_some() && !linear {
            let message = "goes with `matching = \"linear\"` only";
            return Err(Error::value(format!("{path}.stretch"), message));
        }
        let shape = self.shape(path, site)?;
        let vector = |v: Option<Vector>| v.map(|v| v.0).unwrap_or_default();
        world.add_body(
            &shape,
            &Body {
                name: path.into(),
                position: vector(self.position),
                rotation: self.rotation.map_or(Quat::IDENTITY, |r| r.0),
                velocity: vector(self.velocity),
                spin: vector(self.spin),
                matching: Matching {
                    stretch: if linear { self.stretch.map_or(0.5, |s| s.0) } else { 0.0 },
                    compliance: self.compliance.map_or(0.0, |c| c.0),
                },
            },
        )
    }

    fn doubt(&self, site: &Site) -> Option<(&'static str, String)> {
        // What cannot be read is an error of `build`.
        let mesh = self.read(self.mesh.as_ref()?, site).ok()?;
        why_not_solid(&mesh, &self.recipe())
    }
}
