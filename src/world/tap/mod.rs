//! Taps: nozzles that particles come out of while the world is stepped, and sinks that take them.
//!
//! Both act on the host at the beginning of a step, one after the other, so that no backend and no
//! number of threads makes a difference. `nozzle` says where particles come out, `check` what is
//! legal, `flow` what happens in a step.

mod check;
mod flow;
mod nozzle;

pub(crate) use flow::Plumbing;
pub use nozzle::Nozzle;

use super::collider::{Collider, Pose, Shape};
use super::particles::Phase;
use super::{Built, Coefficients, Fluid, MaterialId, ObjectId, Surface, World, fluid};
use crate::error::{Error, Result};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// What comes out of a nozzle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Stream {
    /// A fluid.
    Fluid {
        /// At rest, kg/m³.
        density: f32,
        /// What it is made of, as that of a [`Fluid`].
        coefficients: Coefficients,
    },
    /// Loose grains.
    Grains {
        /// Of a grain, kg.
        mass: f32,
    },
}

impl Stream {
    /// A fluid of this density, kg/m³, that slides freely on everything.
    pub fn fluid(density: f32) -> Self {
        Stream::Fluid { density, coefficients: Fluid::default().coefficients }
    }
}

/// A nozzle, and what comes out of it.
///
/// Particles leave on a lattice of two radii across the nozzle, each with `speed` along `direction`.
/// A step begins with all those at hand that have left the nozzle by then, as far along and as fast
/// as they are after that time in free fall: so a stream has neither gaps nor knots, whatever the
/// length of a step.
///
/// ```
/// use glam::Vec3;
/// use motes::{Backend, Emitter, Engine, Nozzle, Stream, World};
/// let mut world = World::new();
/// let tap = world.add_emitter(&Emitter {
///     nozzle: Nozzle::Disc { radius: 0.05 },
///     direction: Vec3::Y,
///     speed: 3.0,
///     radius: 0.01,
///     ..Emitter::default()
/// })?;
/// let mut engine = Engine::new(world, Backend::default())?;
/// for _ in 0..30 {
///     engine.step(1.0 / 60.0)?;
/// }
/// assert!(engine.world().object(tap.object)?.len() > 500);
/// engine.world_mut().open_tap(tap.object, false)?;
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitter {
    /// Name in reports, and of the object that its particles are.
    pub name: String,
    /// Its opening.
    pub nozzle: Nozzle,
    /// The middle of the opening, m.
    pub position: Vec3,
    /// Which way it points; of any length but 0.
    pub direction: Vec3,
    /// Where the first axis of the opening points, as far as that is across the direction; `None`
    /// where it does not matter.
    pub side: Option<Vec3>,
    /// Of what comes out, m/s.
    pub speed: f32,
    /// Particles a second, one after the other; `None` for whole layers, as close behind each other as
    /// the particles lie at rest.
    pub rate: Option<f32>,
    /// Simulated time from which it flows, s.
    pub start: f64,
    /// Simulated time from which it does not flow any more, s; it may be infinite.
    pub stop: f64,
    /// How many of its particles there may be at a time. While there are as many, it waits.
    pub most: u32,
    /// Radius of a particle, m.
    pub radius: f32,
    /// What comes out.
    pub stream: Stream,
}

impl Default for Emitter {
    fn default() -> Self {
        Emitter {
            name: "emitter".into(),
            nozzle: Nozzle::Disc { radius: 0.1 },
            position: Vec3::ZERO,
            direction: Vec3::NEG_Y,
            side: None,
            speed: 1.0,
            rate: None,
            start: 0.0,
            stop: f64::INFINITY,
            most: 20_000,
            radius: 0.01,
            stream: Stream::fluid(1000.0),
        }
    }
}

impl Emitter {
    /// The mass of a particle, kg.
    pub fn particle_mass(&self) -> f32 {
        match self.stream {
            Stream::Grains { mass } => mass,
            Stream::Fluid { density, .. } => fluid::particle_mass(density, self.radius),
        }
    }

    /// Particles that come out in a second while it flows.
    pub fn particles_per_second(&self) -> f64 {
        self.rate.map_or_else(|| self.densest_rate(), f64::from)
    }

    /// The same, of layers that lie as close as at rest.
    fn densest_rate(&self) -> f64 {
        let layer = self.nozzle.points(self.radius).count() as f64;
        layer * f64::from(self.speed) / (2.0 * f64::from(self.radius))
    }
}

/// An emitter of a world, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tap {
    emitter: Emitter,
    object: ObjectId,
    pub(super) phase: Phase,
    pub(super) material: MaterialId,
    /// Where the particles of a layer come out, m.
    outlets: Vec<Vec3>,
    open: bool,
    waits: bool,
    /// Particles that came out, ever.
    sent: u64,
    /// The time up to which it is known how long it flowed, s.
    seen: f64,
    /// How long it did not flow between its start and then, closed or waiting, s.
    idle: f64,
}

impl Tap {
    /// Its nozzle, and what comes out of it.
    pub fn emitter(&self) -> &Emitter {
        &self.emitter
    }
    /// The object that its particles are.
    pub fn object(&self) -> ObjectId {
        self.object
    }
    /// Whether it is turned on. It flows from its start to its stop while it is.
    pub fn is_open(&self) -> bool {
        self.open
    }
    /// Whether it waits for some of its particles to go, because there are as many as there may be.
    pub fn is_waiting(&self) -> bool {
        self.waits
    }
    /// Particles that came out, ever.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// Where fluid and loose grains leave the world: whoever's centre is inside at the beginning of a
/// step is taken out. Parts of cloth, soft bodies and bodies, and what is pinned, stay.
///
/// ```
/// use glam::Vec3;
/// use motes::world::collider::{Pose, Shape};
/// use motes::{Sink, World};
/// let mut world = World::new();
/// let drain = Shape::Box { half: Vec3::splat(0.1) };
/// world.sinks.push(Sink::fixed(drain, Pose::from_translation(Vec3::NEG_Y)));
/// // All that falls below -2 m.
/// let below = Shape::Plane { normal: Vec3::Y };
/// world.sinks.push(Sink::fixed(below, Pose::from_translation(Vec3::NEG_Y * 2.0)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sink {
    /// What it fills, and when. Nothing bumps into it, so of what it is made does not matter.
    pub region: Collider,
    /// Whether it is turned on.
    pub open: bool,
}

impl Sink {
    /// A sink that stays where it is, turned on.
    pub fn fixed(shape: Shape, pose: Pose) -> Self {
        Sink { region: Collider::fixed(shape, pose), open: true }
    }

    /// Checks everything that came from outside; `field` is the path the messages start with.
    pub fn validate(&self, field: &str) -> Result<()> {
        self.region.validate(field)?;
        match self.region.shape {
            Shape::Mesh { closed: false, .. } => Err(Error::value(
                format!("{field}.shape.closed"),
                "a sheet has no inside that could take anything; give a closed mesh",
            )),
            _ => Ok(()),
        }
    }

    /// Whether another is the same; meshes are compared by address.
    pub(crate) fn is_same(&self, other: &Sink) -> bool {
        self.open == other.open && self.region.is_same(&other.region)
    }
}

impl World {
    /// Adds an emitter, which is open. Returns its handle, that of an object with no particles yet:
    /// they come while the world is stepped. Fluids of emitters meet other fluids as any two do.
    ///
    /// # Errors
    /// When a number is not legal, the nozzle is in an obstacle, or there is not enough memory for as
    /// many particles as there may be.
    pub fn add_emitter(&mut self, emitter: &Emitter) -> Result<Built> {
        emitter.check()?;
        let outlets = emitter.outlets();
        self.check_outlets(&emitter.name, &outlets)?;
        let (phase, material) = match emitter.stream {
            Stream::Fluid { density, coefficients } => {
                self.add_fluid_lists()?;
                let fluid = Fluid { density, coefficients, ..Fluid::default() };
                (Phase(self.fluid_group() | Phase::FLUID), self.material_of_fluid(&fluid)?)
            }
            Stream::Grains { .. } => {
                (Phase::group(self.new_group()).self_colliding(), MaterialId::DEFAULT)
            }
        };
        let built = self.built(&emitter.name, Vec::new(), Surface::default());
        self.taps.push(Tap {
            emitter: emitter.clone(),
            object: built.object,
            phase,
            material,
            outlets,
            open: true,
            waits: false,
            sent: 0,
            seen: self.time,
            idle: (self.time - emitter.start).max(0.0),
        });
        Ok(built)
    }

    /// The emitters.
    pub fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// The emitter of this object.
    pub fn tap(&self, object: ObjectId) -> Option<&Tap> {
        self.taps.iter().find(|tap| tap.object == object)
    }

    /// Turns an emitter on or off, from now on. It goes on where it was.
    pub fn open_tap(&mut self, object: ObjectId, open: bool) -> Result<()> {
        let now = self.time;
        let tap = self.taps.iter_mut().find(|tap| tap.object == object);
        let tap = tap.ok_or_else(|| Error::value("emitter", "this object has no emitter"))?;
        tap.see(now);
        tap.open = open;
        Ok(())
    }

    /// Particles that sinks took since the beginning.
    pub fn sunk(&self) -> u64 {
        self.sunk
    }
}
