//! Walks the tree of a step, dispatch by dispatch: how the CPU takes a step.

use super::{Condition, Dispatch, Loop, Node};
use crate::cpu::Cpu;
use crate::error::Result;
use crate::report::StepReport;
use crate::world::{Kind, ListId, Params, World};
use std::time::Instant;

/// What runs the dispatches that a walk meets, here or on a device.
pub(crate) trait Run {
    /// A substep of `h` seconds begins.
    fn begin_substep(&mut self, world: &World, h: f32);
    /// Runs a dispatch to its end.
    fn run(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()>;
    /// From here on, passes are about this list.
    fn begin_list(&mut self, list: ListId);
    /// Whether `bounds` found that the list must be made again.
    fn list_is_stale(&self) -> bool;
}

/// Walks through nodes once, in substeps of `h` seconds. The report gets the calls and the wall time
/// of every pass.
pub(crate) fn walk(
    runner: &mut impl Run,
    world: &mut World,
    nodes: &[Node],
    h: f32,
    report: &mut StepReport,
) -> Result<()> {
    Walk { runner, world, h, report, started: Instant::now(), list: ListId::CONTACTS }
        .through(nodes)
}

struct Walk<'a, R> {
    runner: &'a mut R,
    world: &'a mut World,
    h: f32,
    report: &'a mut StepReport,
    started: Instant,
    list: ListId,
}

impl<R: Run> Walk<'_, R> {
    fn through(&mut self, nodes: &[Node]) -> Result<()> {
        // The clock is read once for each dispatch: where one ends, the next begins.
        let mut since = Instant::now();
        for node in nodes {
            match node {
                Node::Run(dispatch) => {
                    self.runner.run(dispatch, self.world, self.report)?;
                    let now = Instant::now();
                    self.report.passes.add(dispatch.pass, now - since);
                    since = now;
                    continue;
                }
                Node::When { condition, body } => {
                    if self.holds(*condition) {
                        self.through(body)?;
                        let builds =
                            *condition == Condition::ListIsStale && self.list == ListId::CONTACTS;
                        self.report.list_builds += u32::from(builds);
                    }
                }
                Node::ForList { list, body, .. } => {
                    self.begin_list(*list);
                    self.through(body)?;
                    self.begin_list(ListId::CONTACTS);
                }
                Node::Times { what, count, body } => {
                    for _ in 0..*count {
                        self.begin(*what);
                        self.through(body)?;
                        if self.end(*what) {
                            break;
                        }
                    }
                }
            }
            since = Instant::now();
        }
        Ok(())
    }

    fn holds(&self, condition: Condition) -> bool {
        match condition {
            Condition::SortIsDue => self.world.sort_is_due(),
            Condition::ListIsStale => self.runner.list_is_stale(),
        }
    }

    fn begin_list(&mut self, list: ListId) {
        self.list = list;
        self.runner.begin_list(list);
    }

    /// What belongs to the start of a turn.
    fn begin(&mut self, what: Loop) {
        if what == Loop::Substeps {
            self.runner.begin_substep(self.world, self.h);
        }
    }

    /// What belongs to the end of a turn; returns whether it was the last one.
    fn end(&mut self, what: Loop) -> bool {
        match what {
            Loop::Substeps => self.world.time += f64::from(self.h),
            Loop::Iterations => {
                self.report.iterations += 1;
                return self.ends_early();
            }
        }
        false
    }

    /// Whether the residual or the time budget ends the iterations.
    fn ends_early(&self) -> bool {
        let Params { until_residual, budget_ms, .. } = self.world.params;
        let spent = || self.started.elapsed().as_secs_f64() * 1e3;
        let budget_gone = budget_ms > 0.0 && spent() >= f64::from(budget_ms);
        budget_gone || (until_residual > 0.0 && self.residual_is_at_most(until_residual))
    }

    /// Contacts have no residual. Without constraints there is nothing to wait for, so the answer is
    /// no.
    fn residual_is_at_most(&self, limit: f32) -> bool {
        let (world, end) = (&*self.world, self.world.time + f64::from(self.h));
        let of = |&kind| world.residual_at(kind, world.particles.predictions(), end);
        world.constraint_count() > 0 && Kind::ALL.iter().map(of).sum::<f64>() <= f64::from(limit)
    }
}

impl Run for Cpu {
    fn begin_substep(&mut self, world: &World, h: f32) {
        self.begin_substep(world, h);
    }
    /// The dispatch ends before this returns, workers included. So the wall time around it is the
    /// pass's own.
    fn run(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        self.team.charge(Some(dispatch.pass));
        let done = self.run(dispatch, world, report);
        self.team.charge(None);
        done
    }
    fn begin_list(&mut self, list: ListId) {
        self.scratch.list = list;
    }
    fn list_is_stale(&self) -> bool {
        self.scratch.stale
    }
}
