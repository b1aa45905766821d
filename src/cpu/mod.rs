//! The CPU backend: one file a pass, the sweeps they share, and the team that runs them.

pub mod collide_environment;

pub(crate) mod accelerate;
pub(crate) mod apply_deltas;
pub(crate) mod bounds;
pub(crate) mod break_constraints;
pub(crate) mod broad;
pub(crate) mod bvh_boxes;
pub(crate) mod bvh_build;
pub(crate) mod color_contacts;
pub(crate) mod find_neighbors_brute;
pub(crate) mod find_neighbors_bvh;
pub(crate) mod find_neighbors_grid;
pub(crate) mod find_neighbors_octree;
pub(crate) mod grid_count;
pub(crate) mod grid_scan;
pub(crate) mod grid_sort;
pub(crate) mod morton_codes;
pub(crate) mod octree_build;
pub(crate) mod predict;
pub(crate) mod radix_count;
pub(crate) mod radix_scan;
pub(crate) mod radix_scatter;
pub(crate) mod restitution;
pub(crate) mod sleep;
pub(crate) mod solve_bend;
pub(crate) mod solve_contacts;
pub(crate) mod solve_distance;
pub(crate) mod solve_environment;
pub(crate) mod solve_pin;
pub(crate) mod solve_volume;
pub(crate) mod sort_particles;
pub(crate) mod stabilize_contacts;
pub(crate) mod update_velocity;

mod bvh;
pub(crate) mod candidates;
mod contact;
mod contact_block;
mod joined;
pub(crate) mod lists;
pub(crate) mod nearest;
mod neighbors;
mod solve;
mod sorted;
pub(crate) mod team;
pub(crate) mod tiles;

#[cfg(feature = "vulkan")]
pub(crate) use solve::{Cache, Choice};

use crate::error::Result;
use crate::report::StepReport;
use crate::step::{Dispatch, Part, Pass};
use crate::world::{Solver, World};
use collide_environment::EnvironmentContact;
use glam::Vec4;
use lists::Lists;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use team::Team;

/// When and which part of a pass runs.
pub(crate) struct Moment {
    /// Length of the substep, s.
    pub h: f32,
    /// Time at the start of the substep, s.
    pub time: f64,
    pub part: Part,
}

/// What passes hand to each other beyond the world: nothing here outlives a step but lists that
/// can be made again from the world.
#[derive(Default)]
pub(crate) struct Scratch {
    pub distance: solve::Cache,
    pub bend: solve::Cache,
    pub volume: solve::Cache,
    pub iterates: accelerate::Iterates,
    /// Gathered corrections [x, y, z, how many].
    pub delta: Vec<Vec4>,
    /// Where the substep began, once old overlap is resolved, as contacts see it: [x, y, z, inverse
    /// mass, scaled].
    pub start: Vec<Vec4>,
    /// Velocities before the solve, for restitution.
    pub velocity_prior: Vec<Vec4>,
    pub broad: broad::Broad,
    pub neighbors: neighbors::Neighbors,
    pub joined: joined::Joined,
    pub contact_rows: color_contacts::ContactRows,
    pub environment: Lists<EnvironmentContact>,
    /// Particles with environment contacts.
    pub beside: Vec<u32>,
    /// Which rows of a kind break.
    pub gone: Vec<bool>,
    /// Pose of each collider at both ends of the substep, and what spares particles far from it.
    pub posed: Vec<collide_environment::Posed>,
    /// The lists must be made again.
    pub stale: bool,
    pub quarantined: AtomicU64,
}

/// The CPU backend.
pub(crate) struct Cpu {
    pub team: Team,
    pub(crate) scratch: Scratch,
    h: f32,
}

impl Cpu {
    pub fn new(threads: usize) -> Result<Self> {
        Ok(Cpu { team: Team::new(threads)?, scratch: Scratch::default(), h: 0.0 })
    }

    /// Drops everything made for another world.
    pub fn forget(&mut self) {
        self.scratch = Scratch::default();
    }

    /// Sizes the arrays and brings caches up to date.
    pub fn begin_substep(&mut self, world: &World, h: f32) {
        self.h = h;
        let n = world.particles.len();
        let s = &mut self.scratch;
        s.stale = false;
        s.iterates.begin(world.params.rho);
        s.delta.resize(n, Vec4::ZERO);
        s.start.resize(n, Vec4::ZERO);
        s.velocity_prior.resize(n, Vec4::ZERO);
        // Passes that are not scheduled leave no lists behind for those that are.
        if world.colliders.is_empty() {
            s.environment.clear(n);
            s.beside.clear();
        }
        s.distance.update(&world.distance, &world.params, h);
        s.bend.update(&world.bend, &world.params, h);
        s.volume.update(&world.volume, &world.params, h);
    }

    /// Whether `bounds` found that the neighbour lists must be made again.
    pub fn lists_are_stale(&self) -> bool {
        self.scratch.stale
    }

    /// Runs one dispatch.
    pub fn run(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        let Cpu { team, scratch, h } = self;
        let at = Moment { h: *h, time: world.time, part: dispatch.part };
        match dispatch.pass {
            Pass::BreakConstraints => break_constraints::run(team, world, scratch, report),
            Pass::Predict => predict::run(team, world, scratch, &at),
            Pass::SortParticles => sort_particles::run(world, scratch),
            Pass::Bounds => bounds::run(team, world, scratch, &at),
            Pass::GridCount
            | Pass::GridScan
            | Pass::GridSort
            | Pass::MortonCodes
            | Pass::RadixCount
            | Pass::RadixScan
            | Pass::RadixScatter
            | Pass::OctreeBuild
            | Pass::BvhBuild
            | Pass::BvhBoxes => {
                scratch.broad.build(team, dispatch, &world.params, &world.particles.phase);
            }
            Pass::FindNeighborsGrid
            | Pass::FindNeighborsOctree
            | Pass::FindNeighborsBvh
            | Pass::FindNeighborsBrute => {
                let Scratch { broad, neighbors, joined, .. } = scratch;
                let gathers = world.params.solver == Solver::Jacobi;
                joined.update(&world.distance, world.particles.len());
                let neighbors::Neighbors { lists, traits, both, built } = neighbors;
                let filter =
                    neighbors::Filter::new(team, &world.particles, joined, traits, gathers);
                *both = gathers;
                *built = false;
                broad.find(team, dispatch.pass, &world.params, &filter, lists)?;
                *built = true;
            }
            Pass::ColorContacts => color_contacts::run(team, scratch)?,
            Pass::CollideEnvironment => collide_environment::run(team, world, scratch, &at)?,
            Pass::StabilizeContacts => stabilize_contacts::run(team, world, scratch),
            Pass::SolveContacts => solve_contacts::run(team, world, scratch),
            Pass::ApplyDeltas => apply_deltas::run(team, world, scratch, &at),
            Pass::SolveEnvironment => solve_environment::run(team, world, scratch, &at),
            Pass::SolveDistance => solve_distance::run(team, world, scratch, &at),
            Pass::SolveBend => solve_bend::run(team, world, scratch, &at),
            Pass::SolveVolume => solve_volume::run(team, world, scratch, &at),
            Pass::SolvePin => solve_pin::run(world, &at),
            Pass::Accelerate => accelerate::run(team, world, scratch),
            Pass::UpdateVelocity => update_velocity::run(team, world, scratch, &at),
            Pass::Restitution => restitution::run(team, world, scratch, &at),
            Pass::Sleep => sleep::run(team, world),
        }
        Ok(())
    }

    /// Fills what a report says of the whole step.
    pub fn finish_step(&mut self, world: &mut World, report: &mut StepReport) {
        report.quarantined = self.scratch.quarantined.swap(0, Relaxed);
        world.quarantined += report.quarantined;
        if report.quarantined > 0 {
            world.particle_revision += 1; // pinned pairs are not listed
        }
        if report.passes.calls(Pass::Bounds) > 0 {
            report.listed += self.scratch.neighbors.pair_count();
            report.contacts += contact::count_touching(&self.team, world, &self.scratch);
        }
        if report.passes.calls(Pass::CollideEnvironment) > 0 {
            report.listed += self.scratch.environment.len();
            report.contacts += contact::count_environment(world, &self.scratch);
        }
    }
}
