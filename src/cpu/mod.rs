//! The CPU backend: one file a pass, the sweeps they share, and the team that runs them.

pub mod collide_environment;

pub(crate) mod accelerate;
pub(crate) mod anchor_contacts;
pub(crate) mod apply_deltas;
pub(crate) mod body_contacts;
pub(crate) mod body_pairs;
pub(crate) mod body_predict;
pub(crate) mod body_velocity;
pub(crate) mod body_walls;
pub(crate) mod bounds;
pub(crate) mod break_constraints;
pub(crate) mod bvh_boxes;
pub(crate) mod bvh_build;
pub(crate) mod catch_wind;
pub(crate) mod collide_points;
pub(crate) mod color_bodies;
pub(crate) mod color_contacts;
pub(crate) mod density_delta;
pub(crate) mod density_lambda;
pub(crate) mod find_neighbors_brute;
pub(crate) mod find_neighbors_bvh;
pub(crate) mod find_neighbors_grid;
pub(crate) mod find_neighbors_octree;
pub(crate) mod fluid_cohesion;
pub(crate) mod fluid_curls;
pub(crate) mod fluid_normals;
pub(crate) mod fluid_viscosity;
pub(crate) mod fluid_vorticity;
pub(crate) mod grid_count;
pub(crate) mod grid_scan;
pub(crate) mod grid_sort;
pub(crate) mod morton_codes;
pub(crate) mod octree_build;
pub(crate) mod place_bodies;
pub(crate) mod predict;
pub(crate) mod radix_count;
pub(crate) mod radix_scan;
pub(crate) mod radix_scatter;
pub(crate) mod rebase;
pub(crate) mod remember_contacts;
pub(crate) mod restitution;
pub(crate) mod shape_apply;
pub(crate) mod shape_moments;
pub(crate) mod shape_rotation;
pub(crate) mod sleep;
pub(crate) mod solve_bend;
pub(crate) mod solve_bodies;
pub(crate) mod solve_contacts;
pub(crate) mod solve_distance;
pub(crate) mod solve_environment;
pub(crate) mod solve_pin;
pub(crate) mod solve_points;
pub(crate) mod solve_volume;
pub(crate) mod sort_particles;
pub(crate) mod update_velocity;

pub(crate) mod contact;
pub(crate) mod fluid;
pub(crate) mod search;
pub(crate) mod shape;
pub(crate) mod solve;
pub(crate) mod team;

use crate::error::Result;
use crate::report::StepReport;
use crate::step::{Dispatch, Part, Pass};
use crate::world::material::MaterialPairs;
use crate::world::{Fans, ListFilter, ListId, World};
use collide_environment::EnvironmentContact;
use collide_points::PointContact;
use glam::Vec4;
use search::{broad, joined, lists::Lists, neighbors};
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
    /// What sweeps keep for each kind of constraint.
    pub kinds: solve::Caches,
    /// The rows of constraints know how their particles lay to each other when the step began; and
    /// those of contacts.
    pub bases_are_known: bool,
    pub contact_bases_are_known: bool,
    pub iterates: accelerate::Iterates,
    /// Gathered corrections [x, y, z, how many]. Before they are gathered, the wind that each
    /// particle feels.
    pub delta: Vec<Vec4>,
    /// The triangles around each particle, where a wind blows on them.
    pub fans: Fans,
    /// Who takes whom in a round of impacts.
    pub impacts: restitution::Impacts,
    pub broad: broad::Broad,
    /// The list of contacts.
    pub neighbors: neighbors::Neighbors,
    /// Lists that were added to the world.
    pub added: neighbors::Added,
    /// The list that passes are about now, whose points the broad phase has once it is made.
    pub list: ListId,
    pub fluid: fluid::FluidScratch,
    pub joined: joined::Joined,
    pub contact_rows: color_contacts::ContactRows,
    /// What contacts hold by entry of the list of contacts, for solvers that go by it.
    pub held: Vec<crate::world::Held>,
    /// The rows of contacts, or `held`, are of the lists as they are.
    pub rows_are_known: bool,
    /// Contacts hold what the world has not been told.
    pub memory_is_behind: bool,
    /// Contacts of each particle: those that act on it, or that the world is told of.
    pub counts: Vec<u32>,
    pub environment: Lists<EnvironmentContact>,
    /// Those of the collision before, where `walls_are_known`; else the world knows.
    pub environment_before: Lists<EnvironmentContact>,
    pub walls_are_known: bool,
    /// Friction and restitution, by what meets what.
    pub material_pairs: MaterialPairs,
    /// Particles with environment contacts.
    pub beside: Vec<u32>,
    /// Vertices of meshes that the triangles around each particle meet.
    pub point_contacts: Lists<PointContact, collide_points::Fan>,
    /// Particles with point contacts.
    pub pricked: Vec<u32>,
    /// 1 when a triangle passes one of them on its way, or was moved since they were listed; else 0.
    pub stirred: u32,
    /// Bodies that keep their shape.
    pub matched: shape::Matched,
    /// Which rows of a kind break.
    pub gone: Vec<bool>,
    /// Pose of each collider at both ends of the substep, and what spares particles far from it.
    pub posed: Vec<collide_environment::Posed>,
    /// The list that passes are about now must be made again.
    pub stale: bool,
    pub quarantined: AtomicU64,
}

impl Scratch {
    /// The phases that structures may go by: those of all particles where the list has what may
    /// touch, none where it has everyone.
    fn phases<'a>(&self, world: &'a World) -> &'a [u32] {
        let list = world.lists.get(self.list);
        match list.is_some_and(|list| list.description.filter == ListFilter::Everything) {
            true => &[],
            false => &world.particles.phase,
        }
    }
}

/// The CPU backend.
pub(crate) struct Cpu {
    pub team: Team,
    pub(crate) scratch: Scratch,
    h: f32,
    /// What ran, once a test has asked for it.
    #[cfg(feature = "harness")]
    pub(crate) log: Option<Vec<Dispatch>>,
}

impl Cpu {
    pub fn new(team: Team) -> Self {
        Cpu {
            team,
            scratch: Scratch::default(),
            h: 0.0,
            #[cfg(feature = "harness")]
            log: None,
        }
    }

    /// Drops everything made for another world.
    pub fn forget(&mut self) {
        self.scratch = Scratch::default();
    }

    /// A step begins, perhaps of a world that was edited since the last one.
    pub fn begin_step(&mut self) {
        self.scratch.bases_are_known = false;
        self.scratch.contact_bases_are_known = false;
    }

    /// The rows of constraints are told how their particles lie to each other.
    pub fn take_bases(&mut self, world: &World) {
        solve::take_bases(&self.team, &mut self.scratch.kinds, world);
        self.scratch.bases_are_known = true;
    }

    /// Sizes the arrays and brings caches up to date.
    pub fn begin_substep(&mut self, world: &World, h: f32) {
        self.h = h;
        let n = world.particles.len();
        let s = &mut self.scratch;
        s.stale = false;
        s.added.forget_removed(world);
        s.delta.resize(n, Vec4::ZERO);
        // Passes that are not scheduled leave no lists behind for those that are.
        if world.colliders.is_empty() {
            s.environment.clear(n);
            s.beside.clear();
        }
        if s.point_contacts.len() > 0 && !world.meets_points() {
            s.point_contacts.clear(n);
            s.pricked.clear();
        }
        s.material_pairs.update(world, h);
        s.material_pairs.find_common(&world.particles.material);
        solve::update(&mut s.kinds, world, h);
    }

    /// Runs one dispatch.
    pub fn run(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        #[cfg(feature = "harness")]
        if let Some(log) = &mut self.log {
            log.push(*dispatch);
        }
        let Cpu { team, scratch, h, .. } = self;
        let at = Moment { h: *h, time: world.time, part: dispatch.part };
        match dispatch.pass {
            Pass::BreakConstraints => break_constraints::run(team, world, scratch, report),
            Pass::CatchWind => catch_wind::run(team, world, scratch, &at),
            Pass::Predict => predict::run(team, world, scratch, &at),
            Pass::BodyPredict => body_predict::run(team, world, scratch, &at),
            Pass::ShapeMoments => shape_moments::run(team, world, scratch),
            Pass::ShapeRotation => shape_rotation::run(team, world, scratch),
            Pass::ShapeApply => shape_apply::run(team, world, scratch, &at),
            Pass::BodyWalls => body_walls::run(team, world, scratch, &at),
            Pass::BodyPairs => body_pairs::run(world, scratch, &at),
            Pass::BodyContacts => body_contacts::run(team, world, scratch, &at),
            Pass::ColorBodies => color_bodies::run(scratch),
            Pass::SolveBodies => solve_bodies::run(team, world, scratch, &at),
            Pass::PlaceBodies => place_bodies::run(team, world, scratch),
            Pass::BodyVelocity => body_velocity::run(team, world, scratch, &at),
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
                let phase = scratch.phases(world);
                scratch.broad.build(team, dispatch, &world.params, phase);
            }
            Pass::FindNeighborsGrid
            | Pass::FindNeighborsOctree
            | Pass::FindNeighborsBvh
            | Pass::FindNeighborsBrute => {
                neighbors::find(team, dispatch.pass, world, scratch)?;
            }
            Pass::ColorContacts => color_contacts::run(team, scratch)?,
            Pass::CollideEnvironment => collide_environment::run(team, world, scratch, &at)?,
            Pass::RememberContacts => remember_contacts::run(team, world, scratch),
            Pass::AnchorContacts => anchor_contacts::run(team, world, scratch, &at),
            Pass::CollidePoints => collide_points::run(team, world, scratch, &at)?,
            Pass::SolveContacts if at.part == Part::Count => {
                report.listed += scratch.neighbors.pair_count();
                report.contacts += contact::count_touching(team, world, scratch);
            }
            Pass::SolveContacts => solve_contacts::run(team, world, scratch, &at),
            Pass::ApplyDeltas => apply_deltas::run(team, world, scratch, &at),
            Pass::SolveEnvironment if at.part == Part::Count => {
                report.listed += scratch.environment.len();
                report.contacts += contact::count_environment(world, scratch);
            }
            Pass::SolveEnvironment => solve_environment::run(team, world, scratch),
            Pass::SolvePoints => solve_points::run(team, world, scratch, &at),
            Pass::DensityLambda => density_lambda::run(team, world, scratch, &at),
            Pass::DensityDelta => density_delta::run(team, world, scratch),
            Pass::SolveDistance => solve_distance::run(team, world, scratch, &at),
            Pass::SolveBend => solve_bend::run(team, world, scratch, &at),
            Pass::SolveVolume => solve_volume::run(team, world, scratch, &at),
            Pass::SolvePin => solve_pin::run(world, &at),
            Pass::Accelerate => accelerate::run(team, world, scratch, &at),
            Pass::UpdateVelocity => update_velocity::run(team, world, scratch, &at),
            Pass::FluidCurls => fluid_curls::run(team, world, scratch),
            Pass::FluidVorticity => fluid_vorticity::run(team, world, scratch, &at),
            Pass::FluidNormals => fluid_normals::run(team, world, scratch),
            Pass::FluidCohesion => fluid_cohesion::run(team, world, scratch, &at),
            Pass::FluidViscosity => fluid_viscosity::run(team, world, scratch, &at),
            Pass::Restitution => restitution::run(team, world, scratch, &at),
            Pass::Sleep => sleep::run(team, world, &at),
            Pass::Rebase => rebase::run(team, world),
        }
        Ok(())
    }

    /// Counts the particles that the passes of a step quarantined.
    pub fn finish_step(&mut self, world: &mut World, report: &mut StepReport) {
        report.quarantined = self.scratch.quarantined.swap(0, Relaxed);
        world.quarantined += report.quarantined;
        if report.quarantined > 0 {
            world.particle_revision += 1; // pinned pairs are not listed
        }
    }
}
