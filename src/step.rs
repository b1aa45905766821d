//! THE MAP: what one step of the simulation does, in order.
//!
//! [`schedule`] turns a world into the list of passes of a step; it is pure, and `{}` prints it.
//! [`walk`] runs that list. A backend knows how to run one pass; it never decides which.

use crate::cpu::Cpu;
use crate::error::Result;
use crate::report::StepReport;
use crate::world::{Acceleration, BroadPhase, Kind, Params, Solver, World};
use std::fmt;
use std::time::Instant;

pub(crate) mod lists;

/// The passes, in the order a step meets them. [`crate::pass`] says what each reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is described in pass.rs, one line a pass
pub enum Pass {
    BreakConstraints,
    SortParticles,
    Predict,
    Bounds,
    GridCount,
    GridScan,
    GridSort,
    MortonCodes,
    RadixCount,
    RadixScan,
    RadixScatter,
    OctreeBuild,
    BvhBuild,
    BvhBoxes,
    FindNeighborsGrid,
    FindNeighborsOctree,
    FindNeighborsBvh,
    FindNeighborsBrute,
    ColorContacts,
    CollideEnvironment,
    StabilizeContacts,
    SolveContacts,
    ApplyDeltas,
    SolveEnvironment,
    SolveDistance,
    SolveBend,
    SolveVolume,
    SolvePin,
    Accelerate,
    UpdateVelocity,
    Restitution,
    Sleep,
}

/// Which part of its work a dispatch of a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    All,
    /// One colour of a coloured sweep.
    Color(u8),
    /// One digit of a radix sort.
    Digit(u8),
    /// The corrections of a kind of constraint (`apply_deltas` after a Jacobi sweep).
    Of(Kind),
    /// Where the substep began, not the predicted positions (pre-stabilisation).
    Start,
    /// Position and prediction follow where the substep began (`apply_deltas`).
    Settle,
    /// Velocities (`apply_deltas` after `restitution`).
    Velocity,
}

/// One pass to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dispatch {
    /// Which pass.
    pub pass: Pass,
    /// Which part of it.
    pub part: Part,
}

/// The passes of a step, by the place they have in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Once, at the start of the step.
    pub begin: Vec<Dispatch>,
    /// Before the first substep, when particles are to be put in order of place.
    pub sort: Vec<Dispatch>,
    /// At the start of every substep.
    pub predict: Vec<Dispatch>,
    /// When a particle has moved out of its neighbour list's margin.
    pub lists: Vec<Dispatch>,
    /// Every substep, once the lists are good.
    pub collide: Vec<Dispatch>,
    /// Each pre-stabilisation iteration.
    pub stabilize: Vec<Dispatch>,
    /// Once, after the pre-stabilisation iterations.
    pub settle: Vec<Dispatch>,
    /// Each solver iteration.
    pub iterate: Vec<Dispatch>,
    /// At the end of every substep.
    pub finish: Vec<Dispatch>,
    /// What finds neighbours, once `auto` has chosen; `None` where nothing can touch.
    pub broad_phase: Option<BroadPhase>,
    /// Substeps a step.
    pub substeps: u32,
    /// Pre-stabilisation iterations a substep.
    pub stabilization: u32,
    /// Solver iterations a substep.
    pub iterations: u32,
}

/// What one step of `world` will do (physics.md 1).
pub fn schedule(world: &World) -> Schedule {
    let mut s = Schedule::default();
    let Params { substeps, stabilization, iterations, solver, .. } = world.params;
    (s.substeps, s.stabilization, s.iterations) = (substeps, stabilization, iterations);
    let contacts = world.may_touch();
    let colliders = !world.colliders.is_empty();
    // Contacts are solved in place, but by Jacobi, which gathers them first.
    let gathers = solver == Solver::Jacobi;
    let all = |pass| Dispatch { pass, part: Part::All };
    let part = |pass, part| Dispatch { pass, part };

    if world.has_breakable() {
        s.begin.push(all(Pass::BreakConstraints));
    }

    s.predict.push(all(Pass::Predict));
    if contacts {
        s.predict.push(all(Pass::Bounds));
        s.sort.push(part(Pass::Bounds, Part::Start));
        s.sort.extend(lists::morton_order());
        s.sort.push(all(Pass::SortParticles));
        let structure = world.params.broad_phase.resolve(world.particles.radius.iter().copied());
        s.lists.extend(lists::passes(structure));
        s.broad_phase = Some(structure);
        if solver == Solver::Colored {
            s.lists.push(all(Pass::ColorContacts));
        }
    }

    if colliders {
        s.collide.push(all(Pass::CollideEnvironment));
    }

    if contacts {
        s.stabilize.push(all(Pass::StabilizeContacts));
        if gathers {
            s.stabilize.push(part(Pass::ApplyDeltas, Part::Start));
        }
    }
    if colliders {
        s.stabilize.push(part(Pass::SolveEnvironment, Part::Start));
    }
    if (contacts || colliders) && stabilization > 0 {
        s.settle.push(part(Pass::ApplyDeltas, Part::Settle));
    }

    if contacts {
        s.iterate.push(all(Pass::SolveContacts));
        if gathers {
            s.iterate.push(all(Pass::ApplyDeltas));
        }
    }
    if colliders {
        s.iterate.push(all(Pass::SolveEnvironment));
    }
    for kind in Kind::ALL {
        sweep(&mut s.iterate, world, kind, solver);
    }
    // Contacts push one way only: what carries them further may drive particles through.
    let steady = matches!(solver, Solver::Colored | Solver::Jacobi) && !contacts && !colliders;
    if world.params.acceleration == Acceleration::Chebyshev && steady {
        s.iterate.push(all(Pass::Accelerate));
    }

    // Constraints may have pulled a particle back into an obstacle: the obstacle has the last word.
    // The planes are found anew along the way it really took, so thin sheets hold.
    if colliders && world.constraint_count() > 0 {
        s.finish.push(all(Pass::CollideEnvironment));
        s.finish.push(all(Pass::SolveEnvironment));
    }
    s.finish.push(all(Pass::UpdateVelocity));
    if world.may_bounce() && (contacts || colliders) {
        s.finish.push(all(Pass::Restitution));
        if gathers {
            s.finish.push(part(Pass::ApplyDeltas, Part::Velocity));
        }
    }
    s.finish.push(all(Pass::Sleep));
    s
}

/// One sweep over the constraints of a kind.
fn sweep(list: &mut Vec<Dispatch>, world: &World, kind: Kind, solver: Solver) {
    let (pass, colors) = match kind {
        Kind::Distance => (Pass::SolveDistance, world.distance.color_count()),
        Kind::Bend => (Pass::SolveBend, world.bend.color_count()),
        Kind::Volume => (Pass::SolveVolume, world.volume.color_count()),
        Kind::Pin => (Pass::SolvePin, 0),
    };
    if world.count(kind) == 0 {
        return;
    }
    match solver {
        // No two pins share a particle: one dispatch for any solver.
        _ if kind == Kind::Pin => list.push(Dispatch { pass, part: Part::All }),
        Solver::Seidel | Solver::Lockfree => list.push(Dispatch { pass, part: Part::All }),
        Solver::Colored => {
            list.extend((0..colors).map(|c| Dispatch { pass, part: Part::Color(c as u8) }));
        }
        Solver::Jacobi => {
            list.push(Dispatch { pass, part: Part::All });
            list.push(Dispatch { pass: Pass::ApplyDeltas, part: Part::Of(kind) });
        }
    }
}

impl World {
    pub(crate) fn has_breakable(&self) -> bool {
        self.distance.has_breakable() || self.bend.has_breakable() || self.volume.has_breakable()
    }
    fn may_bounce(&self) -> bool {
        self.params.restitution > 0.0
            || self.colliders.iter().any(|c| c.restitution.is_some_and(|e| e > 0.0))
    }
}

/// What runs dispatches, here or on a device.
pub(crate) trait Run {
    /// A substep of `h` seconds begins.
    fn begin_substep(&mut self, world: &World, h: f32);
    /// Runs dispatches one after the other.
    fn run(
        &mut self,
        dispatches: &[Dispatch],
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()>;
    /// Whether `bounds` found that the neighbour lists must be made again.
    fn lists_are_stale(&self) -> bool;
}

/// One step, in substeps of `h` seconds.
pub(crate) fn walk(
    runner: &mut impl Run,
    world: &mut World,
    schedule: &Schedule,
    h: f32,
    report: &mut StepReport,
) -> Result<()> {
    let started = Instant::now();
    runner.run(&schedule.begin, world, report)?;
    if world.sort_is_due() {
        runner.run(&schedule.sort, world, report)?;
    }
    for _ in 0..schedule.substeps {
        runner.begin_substep(world, h);
        runner.run(&schedule.predict, world, report)?;
        if runner.lists_are_stale() {
            runner.run(&schedule.lists, world, report)?;
            report.list_builds += 1;
        }
        runner.run(&schedule.collide, world, report)?;
        for _ in 0..schedule.stabilization {
            runner.run(&schedule.stabilize, world, report)?;
        }
        runner.run(&schedule.settle, world, report)?;
        for _ in 0..schedule.iterations {
            runner.run(&schedule.iterate, world, report)?;
            report.iterations += 1;
            if ends_early(world, h, started) {
                break;
            }
        }
        runner.run(&schedule.finish, world, report)?;
        world.time += f64::from(h);
    }
    Ok(())
}

impl Run for Cpu {
    fn begin_substep(&mut self, world: &World, h: f32) {
        self.begin_substep(world, h);
    }
    fn run(
        &mut self,
        dispatches: &[Dispatch],
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        run(dispatches, self, world, report)
    }
    fn lists_are_stale(&self) -> bool {
        self.lists_are_stale()
    }
}

/// Runs dispatches one after the other. Each ends before the next begins, workers included, so the
/// wall time around it is the pass's own.
pub(crate) fn run(
    dispatches: &[Dispatch],
    cpu: &mut Cpu,
    world: &mut World,
    report: &mut StepReport,
) -> Result<()> {
    // One reading of the clock a dispatch: where one ends, the next begins.
    let mut started = Instant::now();
    for dispatch in dispatches {
        cpu.team.charge(Some(dispatch.pass));
        cpu.run(dispatch, world, report)?;
        let ended = Instant::now();
        report.passes.add(dispatch.pass, ended - started);
        started = ended;
    }
    cpu.team.charge(None);
    Ok(())
}

/// Whether the residual or the time budget ends the iterations (seed 002, 3.2.5).
fn ends_early(world: &World, h: f32, started: Instant) -> bool {
    let Params { until_residual, budget_ms, .. } = world.params;
    let budget_gone =
        budget_ms > 0.0 && started.elapsed().as_secs_f64() * 1e3 >= f64::from(budget_ms);
    // Contacts have no residual: without constraints there is nothing to wait for.
    let solved = until_residual > 0.0 && world.constraint_count() > 0 && {
        let (at, end) = (&world.particles.predicted, world.time + f64::from(h));
        let of = |&kind| crate::report::residual_at(world, kind, at, end);
        Kind::ALL.iter().map(of).sum::<f64>() <= f64::from(until_residual)
    };
    budget_gone || solved
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::All => write!(f, "{}", self.pass.name()),
            Part::Color(c) | Part::Digit(c) => write!(f, "{}[{c}]", self.pass.name()),
            Part::Of(kind) => write!(f, "{}({})", self.pass.name(), kind.name()),
            Part::Start => write!(f, "{}(start)", self.pass.name()),
            Part::Settle => write!(f, "{}(settle)", self.pass.name()),
            Part::Velocity => write!(f, "{}(velocity)", self.pass.name()),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line =
            |list: &[Dispatch]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        writeln!(f, "begin: {}", line(&self.begin))?;
        writeln!(f, "sort, when due: {}", line(&self.sort))?;
        writeln!(f, "{} substeps of", self.substeps)?;
        writeln!(f, "  predict: {}", line(&self.predict))?;
        writeln!(f, "  lists, when stale: {}", line(&self.lists))?;
        writeln!(f, "  collide: {}", line(&self.collide))?;
        writeln!(f, "  {} x stabilize: {}", self.stabilization, line(&self.stabilize))?;
        writeln!(f, "  settle: {}", line(&self.settle))?;
        writeln!(f, "  {} x iterate: {}", self.iterations, line(&self.iterate))?;
        write!(f, "  finish: {}", line(&self.finish))
    }
}
