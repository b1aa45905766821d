//! `[[emitter]]`: a nozzle that fluid or grains come out of.

use super::mass::{DENSITY, ball_mass};
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::{Error, Result};
use crate::scene::keys::one_of;
use crate::scene::value::{Count, Direction, Exactly, Positive, Rate, Real64, Spacing, Vector};
use crate::world::{Built, Coefficients, Emitter, Fluid, MemoryNeed, Nozzle, Stream, World};
use serde::Deserialize;

impl ObjectKinds {
    /// `[[emitter]]`: a nozzle that fluid or grains come out of while the scene runs.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `disc` | m | | the radius of a round nozzle; or |
    /// | `rectangle` | m | | half its size along its first and its second axis |
    /// | `position` | m | [0, 0, 0] | of the middle of the nozzle |
    /// | `direction` | direction | [0, -1, 0] | which way it points |
    /// | `side` | direction | any | where the first axis of the nozzle points, across `direction` |
    /// | `speed` | m/s | needed | of what comes out |
    /// | `rate` | 1/s | as dense as at rest | particles a second |
    /// | `start` | s | 0 | from when it flows |
    /// | `stop` | s | never | until when it flows |
    /// | `most` | 1 | 20000 | so many of its particles may be there at a time; it waits for one to go |
    /// | `stream` | | "fluid" | what comes out: `fluid` or `grains` |
    /// | `radius` | m | needed | of a particle; they leave two radii apart |
    /// | `density` | kg/m³ | 1000 | of the fluid at rest, or of what a grain is made of |
    /// | `mass` | kg | | of a grain, instead of its density |
    /// | `fluid_viscosity` | 1/s | of `[params]` | how fast fluid takes on the velocity of the fluid around it |
    ///
    /// A scene is tested for an emitter inside an obstacle. Fluid without a `material` and without
    /// `friction` slides freely on everything. With a `material`, the numbers of fluids are those of the
    /// material.
    pub const EMITTER: &'static str = "emitter";
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StreamWord {
    #[default]
    Fluid,
    Grains,
}

table! {
    pub(crate) struct EmitterFile {
        disc: Option<Positive>,
        rectangle: Option<Exactly<Positive, 2>>,
        position: Option<Vector>,
        direction: Option<Direction>,
        side: Option<Direction>,
        speed: Positive,
        rate: Option<Positive>,
        start: Option<Real64>,
        stop: Option<Real64>,
        most: Option<Count>,
        #[serde(default)]
        stream: StreamWord,
        radius: Spacing,
        density: Option<Positive>,
        mass: Option<Positive>,
        fluid_viscosity: Option<Rate>,
    }
}

impl EmitterFile {
    fn most(&self) -> u32 {
        self.most.map_or(Emitter::default().most, Count::clamped)
    }

    fn emitter(&self, path: &str) -> Result<Emitter> {
        one_of(path, [("disc", self.disc.is_some()), ("rectangle", self.rectangle.is_some())])?;
        one_of(path, [("mass", self.mass.is_some()), ("density", self.density.is_some())])?;
        let wrong = |key: &str, message: &str| Err(Error::value(format!("{path}.{key}"), message));
        let nozzle = match (self.disc, self.rectangle) {
            (Some(disc), _) => Nozzle::Disc { radius: disc.0 },
            (None, Some(half)) => Nozzle::Rectangle { half: half.0.map(|half| half.0) },
            (None, None) => {
                return wrong("disc", "give the nozzle a size: `disc` (its radius) or `rectangle`");
            }
        };
        let stream = match self.stream {
            StreamWord::Grains if self.fluid_viscosity.is_some() => {
                return wrong("fluid_viscosity", "grains are not fluid; leave it out");
            }
            StreamWord::Grains => {
                Stream::Grains { mass: ball_mass(self.mass, self.density, self.radius.0) }
            }
            StreamWord::Fluid if self.mass.is_some() => {
                return wrong("mass", "the mass of fluid follows from its `density`; give that");
            }
            StreamWord::Fluid => {
                let viscosity = self.fluid_viscosity.map(|rate| rate.0);
                Stream::Fluid {
                    density: self.density.map_or(DENSITY, |density| density.0),
                    coefficients: Coefficients { viscosity, ..Fluid::default().coefficients },
                }
            }
        };
        let usual = Emitter::default();
        Ok(Emitter {
            name: path.into(),
            nozzle,
            position: self.position.map(|v| v.0).unwrap_or_default(),
            direction: self.direction.map_or(usual.direction, |d| d.0),
            side: self.side.map(|d| d.0),
            speed: self.speed.0,
            rate: self.rate.map(|rate| rate.0),
            start: self.start.map_or(usual.start, |t| t.0),
            stop: self.stop.map_or(usual.stop, |t| t.0),
            most: self.most(),
            radius: self.radius.0,
            stream,
        })
    }
}

impl SceneObject for EmitterFile {
    fn need(&self) -> MemoryNeed {
        Emitter { most: self.most(), ..Emitter::default() }.memory()
    }

    fn build(&self, world: &mut World, path: &str, _: &Site) -> Result<Built> {
        let material = ("material", self.material.is_some());
        one_of(path, [material, ("fluid_viscosity", self.fluid_viscosity.is_some())])?;
        let nozzle = if self.disc.is_some() { "disc" } else { "rectangle" };
        world.add_emitter(&self.emitter(path)?).map_err(|error| match error {
            Error::Value { field, message } => {
                let field = match field.split_once(".nozzle") {
                    Some((start, _)) => format!("{start}.{nozzle}"),
                    None => field,
                };
                Error::Value { field, message }
            }
            other => other,
        })
    }
}
