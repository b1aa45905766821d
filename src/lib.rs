//! motes: a particle physics engine. Cloth, soft bodies and grains in one position-based solver.
//!
//! A tour, in the order the data flows:
//! - [`World`] is what is simulated: particles, constraints, colliders, forces, parameters.
//! - [`Scene`] is a file that says what is in a world; [`Checker`] says whether a run kept its word.
//! - [`schedule`] says which passes one step of it takes; [`Engine`] runs them.
//! - [`pass`] declares what each pass reads and writes; `src/cpu` has one file for each.
//! - [`search`] finds neighbours of any points, with the same structures the engine uses.
//! - [`StepReport`] tells what a step did and what each pass cost.
//! - `gpu` is the low-level room of Vulkan, for programs that share a device with the engine.

mod cpu;
mod engine;
pub mod error;
pub mod export;
pub mod file;
#[cfg(feature = "vulkan")]
pub mod gpu;
mod kind;
pub mod pass;
pub mod report;
pub mod scene;
pub mod search;
pub mod shape;
#[doc(hidden)] // for the software painter of the program
pub mod simd;
pub mod skeleton;
pub mod snapshot;
mod step;
mod suggest;
pub mod table;
#[cfg(feature = "vulkan")]
pub mod vulkan;
pub mod world;

pub use engine::{Backend, Compression, Engine, Neighbor, NeighborList, Quality, Residual};
pub use error::{Error, Result};
pub use kind::Kind;
pub use report::StepReport;
pub use scene::{CheckResult, Checker, Scene};
pub use step::{Condition, Dispatch, Loop, Node, Part, Pass, Schedule, schedule};
pub use world::{
    Body, BodyId, BodyShape, Bond, Built, Character, Cloth, Coefficients, Collider, Emitter, Fluid,
    FluidRegion, Force, ForceKind, Grains, Lattice, LatticeEdges, ListDescription, ListFilter,
    ListId, ListPairs, ListReach, MatchedBody, Matching, Material, MaterialId, Nozzle, Object,
    ObjectId, Params, Particle, ParticleId, Path, Phase, RotationMethod, Sink, SkeletonId,
    SoftMesh, Solid, Solver, Stream, SurfaceWind, Tap, Who, World,
};

/// The vector instructions the engine uses here: `scalar`, `wide` or `avx2`. The best there are,
/// unless the environment variable `MOTES_SIMD` names one.
pub fn instructions() -> Result<&'static str> {
    Ok(simd::Level::choose()?.word())
}
