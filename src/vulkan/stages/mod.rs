//! What a dispatch of a pass is on the device: one or more stages, each an entry point of the pass's
//! module, with a barrier after each.

pub(crate) mod bodies;
pub(crate) mod constraints;
pub(crate) mod contacts;
pub(crate) mod environment;
pub(crate) mod fluids;
pub(crate) mod lists;
pub(crate) mod particles;
pub(crate) mod points;
pub(crate) mod surfaces;
pub(crate) mod trees;

use super::plan::Plan;
use crate::step::{Dispatch, Pass};

/// How many workgroups a stage has.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(dead_code)] // not every pass is here yet
pub(crate) enum Groups {
    /// An invocation a particle.
    Particles,
    /// One workgroup.
    One,
    /// A workgroup for each block of particles of the radix sort.
    Blocks,
    /// An invocation a bucket of the grid, and one more.
    Buckets,
    /// A workgroup for each tile of a colour.
    TilesOfColor(u32),
    /// An invocation a tile.
    Tiles,
    /// An invocation a node of the octree.
    Nodes,
    /// An invocation for each of a number that the host knows.
    Items(usize),
    /// So many workgroups.
    Exactly(u32),
}

/// One dispatch on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stage {
    /// Entry point.
    pub entry: &'static str,
    pub groups: Groups,
    /// Push constants behind the substep's number.
    pub push: [u32; 3],
}

impl Stage {
    pub fn new(entry: &'static str, groups: Groups) -> Self {
        Stage { entry, groups, push: [0; 3] }
    }
    #[allow(dead_code)]
    pub fn with(self, push: [u32; 3]) -> Self {
        Stage { push, ..self }
    }
}

/// Appends the stages of a dispatch.
pub(crate) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    match dispatch.pass {
        Pass::Predict | Pass::ApplyDeltas | Pass::UpdateVelocity | Pass::Sleep | Pass::Rebase => {
            particles::stages(dispatch, plan, out);
        }
        Pass::RememberContacts
        | Pass::AnchorContacts
        | Pass::SolveContacts
        | Pass::SolveEnvironment
        | Pass::Restitution => contacts::stages(dispatch, plan, out),
        Pass::Bounds
        | Pass::GridCount
        | Pass::GridScan
        | Pass::GridSort
        | Pass::FindNeighborsGrid
        | Pass::FindNeighborsBrute
        | Pass::ColorContacts => lists::stages(dispatch, plan, out),
        Pass::SortParticles
        | Pass::MortonCodes
        | Pass::RadixCount
        | Pass::RadixScan
        | Pass::RadixScatter
        | Pass::OctreeBuild
        | Pass::BvhBuild
        | Pass::BvhBoxes
        | Pass::FindNeighborsOctree
        | Pass::FindNeighborsBvh => trees::stages(dispatch, plan, out),
        Pass::BodyPredict
        | Pass::ShapeMoments
        | Pass::ShapeRotation
        | Pass::ShapeApply
        | Pass::BodyWalls
        | Pass::BodyPairs
        | Pass::BodyContacts
        | Pass::ColorBodies
        | Pass::SolveBodies
        | Pass::PlaceBodies
        | Pass::BodyVelocity => bodies::stages(dispatch, plan, out),
        Pass::CatchWind => surfaces::stages(dispatch, plan, out),
        Pass::CollideEnvironment => environment::stages(dispatch, plan, out),
        Pass::DensityLambda
        | Pass::DensityDelta
        | Pass::FluidCurls
        | Pass::FluidVorticity
        | Pass::FluidNormals
        | Pass::FluidCohesion
        | Pass::FluidViscosity => fluids::stages(dispatch, plan, out),
        Pass::CollidePoints | Pass::SolvePoints => points::stages(dispatch, plan, out),
        // Breaking, acceleration, and the sweeps of every kind.
        _ => constraints::stages(dispatch, plan, out),
    }
}
