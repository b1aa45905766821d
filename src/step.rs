//! THE MAP: what one step of the simulation does, in order.
//!
//! [`schedule`] turns a world into the tree of a step: passes, loops around them, and conditions. It
//! is a pure function. The CPU walks the tree ([`walk`](mod@walk)), Vulkan records the same tree, and
//! `{}` prints it. A backend knows how to run one pass; it never decides which. Before a step begins,
//! sinks take particles and emitters send some (`world/tap/flow.rs`), on the host for every backend.

pub use crate::pass::Pass;
use crate::world::{Acceleration, AddedList, Kind, ListDescription, ListId, Params, Solver, World};

mod crowd;
pub(crate) mod lists;
mod tree;
pub(crate) mod walk;

pub(crate) use crowd::Crowd;
pub use tree::{Condition, Loop, Node, Schedule};

use tree::Body;

/// How often triangles that pass a vertex go back, and then their neighbours, and theirs.
const GO_BACK: u32 = 6;

/// Which part of its work a dispatch of a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    All,
    /// One colour of a coloured sweep.
    Color(u8),
    /// One digit of a radix sort.
    Digit(u8),
    /// One of the winds that blow on surfaces, in their order.
    Wind(u32),
    /// The corrections of a kind of constraint (`apply_deltas` after a Jacobi sweep).
    Of(Kind),
    /// Where the substep began, not the predicted positions (`bounds`). What passes a vertex goes back
    /// there (`solve_points`), and is looked at again (`collide_points`).
    Start,
    /// Before the lists are made anew (`remember_contacts`).
    Lists,
    /// Once more, where the particles really went (`collide_environment`).
    Again,
    /// What the pass remembers from iteration to iteration begins anew (`accelerate`).
    Begin,
    /// Contacts between particles, not those with obstacles (`restitution`).
    Pairs,
    /// Contacts with obstacles, not those between particles (`restitution`).
    Walls,
    /// What touches is counted for the report, and nothing moves.
    Count,
}

/// One pass to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dispatch {
    /// Which pass.
    pub pass: Pass,
    /// Which part of it.
    pub part: Part,
}

/// What one step of `world` will do.
pub fn schedule(world: &World) -> Schedule {
    let Params { substeps, iterations, solver, acceleration, .. } = world.params;
    let crowd = Crowd::of(world);
    let crowd::Traits { contacts, fluid, shore, surfaces, bodies, structure } = crowd.traits;
    let obstacles = !world.colliders.is_empty();
    let points = world.meets_points();
    let fluids: Vec<_> = world.fluid_lists(shore).collect();
    let winds = if surfaces { world.surface_winds().count() as u32 } else { 0 };
    let walls_of_bodies = obstacles && world.has_rigid_bodies();
    let pairs_of_bodies = world.rigid_bodies_may_touch();
    // Most solvers move the two particles of a contact at once. Jacobi first gathers what every
    // contact asks for, and `apply_deltas` then moves the particles.
    let gathers = solver == Solver::Jacobi;
    // A contact only pushes. If acceleration carried such a push further, it could drive particles
    // through each other.
    let accelerates = acceleration == Acceleration::Chebyshev
        && matches!(solver, Solver::Colored | Solver::Jacobi)
        && !contacts
        && !obstacles
        && !bodies
        && !fluid;
    let mut step = Body::default();
    if contacts || fluid {
        step.when(Condition::SortIsDue, |sort| {
            sort.part(Pass::Bounds, Part::Start);
            sort.extend(lists::morton_order());
            sort.run(Pass::SortParticles);
        });
    }
    if world.has_breakable() {
        step.run(Pass::BreakConstraints);
    }
    step.times(Loop::Substeps, substeps, |substep| {
        for wind in 0..winds {
            substep.part(Pass::CatchWind, Part::Wind(wind));
        }
        substep.run(Pass::Predict);
        if bodies {
            substep.run(Pass::BodyPredict);
        }
        if let Some(structure) = structure {
            substep.for_list(ListId::CONTACTS, ListDescription::CONTACTS, |list| {
                list.run(Pass::Bounds);
                list.when(Condition::ListIsStale, |anew| {
                    anew.part(Pass::RememberContacts, Part::Lists);
                    anew.extend(lists::passes(structure));
                    if solver == Solver::Colored {
                        anew.run(Pass::ColorContacts);
                    }
                });
            });
        }
        for (added, &structure) in world.lists.iter().zip(&crowd.added) {
            if !lists::is_needed(added, fluid, shore) {
                continue;
            }
            substep.for_list(added.id, &added.description.name, |list| {
                list.run(Pass::Bounds);
                list.when(Condition::ListIsStale, |anew| anew.extend(lists::passes(structure)));
            });
        }
        if obstacles {
            substep.run(Pass::CollideEnvironment);
        }
        bounce(substep, world);
        if contacts {
            substep.run(Pass::AnchorContacts);
        }
        if points {
            substep.run(Pass::CollidePoints);
        }
        if fluid {
            // How compressed it is already, which is not resolved at once.
            let start = Dispatch { pass: Pass::DensityLambda, part: Part::Start };
            of_fluid(substep, &fluids[..1], start);
            // What draws it acts as gravity does, before the solve. Solids are asked where they hold it.
            let (tension, adhesion) = (world.has_tension(), world.has_adhesion());
            let asked = if adhesion { &fluids[..] } else { &fluids[..1] };
            if tension {
                let normals = Dispatch { pass: Pass::FluidNormals, part: Part::All };
                of_fluid(substep, &fluids[..1], normals);
            }
            if tension || adhesion {
                let cohesion = Dispatch { pass: Pass::FluidCohesion, part: Part::All };
                of_fluid(substep, asked, cohesion);
            }
        }
        if accelerates {
            substep.part(Pass::Accelerate, Part::Begin);
        }
        substep.times(Loop::Iterations, iterations, |turn| {
            if contacts {
                turn.run(Pass::SolveContacts);
                if gathers {
                    turn.run(Pass::ApplyDeltas);
                }
            }
            if obstacles {
                turn.run(Pass::SolveEnvironment);
            }
            if points {
                turn.run(Pass::SolvePoints);
            }
            // Fluid answers what contacts and obstacles moved into it. Constraints come last, as they do
            // after contacts: what they hold together is stiffer than water.
            for pass in [Pass::DensityLambda, Pass::DensityDelta] {
                of_fluid(turn, &fluids, Dispatch { pass, part: Part::All });
            }
            let mut sweeps = Vec::new();
            for kind in Kind::ALL {
                sweep(&mut sweeps, world, kind, solver);
            }
            turn.extend(sweeps);
            if bodies {
                turn.run(Pass::ShapeMoments);
                turn.run(Pass::ShapeRotation);
                turn.run(Pass::ShapeApply);
            }
            if accelerates {
                turn.run(Pass::Accelerate);
            }
        });

        // The constraints may have pulled cloth over a vertex or a particle back into an obstacle, so
        // the obstacles have the last word. Their planes are found anew along the way that the
        // particle really took: so even thin sheets hold.
        if points {
            substep.run(Pass::CollidePoints);
            substep.run(Pass::SolvePoints);
        }
        if obstacles && world.constraint_count() > 0 {
            substep.part(Pass::CollideEnvironment, Part::Again);
            substep.run(Pass::SolveEnvironment);
        } else if obstacles && fluid {
            substep.run(Pass::SolveEnvironment);
        }
        if points {
            // What still passes a vertex goes back to where it was, and so do its neighbours where
            // that makes them pass it.
            for turn in 0..GO_BACK {
                let part = if turn == 0 { Part::All } else { Part::Start };
                substep.part(Pass::CollidePoints, part);
                substep.part(Pass::SolvePoints, Part::Start);
            }
        }
        // Obstacles and other bodies have the last word on rigid bodies, too: what particles did to them
        // is known.
        if walls_of_bodies {
            substep.run(Pass::BodyWalls);
        }
        if pairs_of_bodies {
            for pass in [Pass::BodyPairs, Pass::BodyContacts, Pass::ColorBodies] {
                substep.run(pass);
            }
        }
        if walls_of_bodies || pairs_of_bodies {
            substep.run(Pass::SolveBodies);
            substep.run(Pass::PlaceBodies);
        }
        substep.run(Pass::UpdateVelocity);
        if bodies {
            substep.run(Pass::BodyVelocity);
        }
        if fluid {
            let whirls = world.params.fluid_vorticity > 0.0;
            let passes = [
                (Pass::FluidCurls, whirls),
                (Pass::FluidVorticity, whirls),
                (Pass::FluidViscosity, world.thickest() > 0.0),
            ];
            for (pass, _) in passes.into_iter().filter(|(_, wanted)| *wanted) {
                of_fluid(substep, &fluids[..1], Dispatch { pass, part: Part::All });
            }
        }
        substep.run(Pass::Sleep);
    });
    if contacts || obstacles {
        step.run(Pass::RememberContacts);
    }
    if contacts {
        step.part(Pass::SolveContacts, Part::Count);
    }
    if obstacles {
        step.part(Pass::SolveEnvironment, Part::Count);
    }
    step.run(Pass::Rebase);
    Schedule { nodes: step.nodes, broad_phase: structure }
}

/// A pass of fluids, for each of their lists.
fn of_fluid(body: &mut Body, lists: &[&AddedList], dispatch: Dispatch) {
    for list in lists {
        body.for_list(list.id, &list.description.name, |body| {
            body.part(dispatch.pass, dispatch.part)
        });
    }
}

/// What closes fast bounces before the solve, which then finds only what closes slowly, and stops it.
fn bounce(substep: &mut Body, world: &World) {
    let part = match (world.pairs_may_bounce(), world.walls_may_bounce()) {
        (true, true) => Part::All,
        (true, false) => Part::Pairs,
        (false, true) => Part::Walls,
        (false, false) => return,
    };
    substep.part(Pass::Restitution, part);
    // Who bounced goes another way, perhaps into another obstacle.
    if !world.colliders.is_empty() {
        substep.part(Pass::CollideEnvironment, Part::Again);
    }
}

/// One sweep over the constraints of a kind.
fn sweep(list: &mut Vec<Dispatch>, world: &World, kind: Kind, solver: Solver) {
    if world.count(kind) == 0 {
        return;
    }
    let pass = kind.solve();
    let all = Dispatch { pass, part: Part::All };
    // No two pins share a particle: one dispatch does for any solver.
    let Some(rows) = world.rows(kind) else { return list.push(all) };
    match solver {
        Solver::Seidel | Solver::Lockfree => list.push(all),
        Solver::Colored => {
            let color = |c| Dispatch { pass, part: Part::Color(c as u8) };
            list.extend((0..rows.color_count()).map(color));
        }
        Solver::Jacobi => {
            list.push(all);
            list.push(Dispatch { pass: Pass::ApplyDeltas, part: Part::Of(kind) });
        }
    }
}

impl World {
    pub(crate) fn has_breakable(&self) -> bool {
        self.sets.all().iter().any(|rows| rows.has_breakable())
    }
}
