//! A step on the device, made from the tree of the schedule.
//!
//! A command buffer holds a [chunk](Program::chunks) of a step: dispatches one after the other. A step
//! of ordinary length is one chunk, with its loops unrolled. A loop that is too long for that becomes
//! a chunk that is recorded once and done several times, so the commands of a step stay few however
//! many turns its loops take. Chunks are recorded when the schedule or a buffer changes, not
//! otherwise.

use super::layout::{READ_SUBSTEP, state};
use super::plan::Plan;
use super::stages::{Groups, Stage, stages};
use crate::step::{Condition, Dispatch, Loop, Node, Pass, Schedule};
use crate::world::ListId;
use std::collections::HashMap;

#[cfg(test)]
mod tests;

/// Kernels of a loop that is unrolled, at most.
pub(crate) const UNROLLED: usize = 8192;

/// A dispatch, and where in a step it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Turn {
    /// The number of the substep, for passes that read it; 0 for others.
    pub substep: u32,
    /// The list that it is about.
    pub list: ListId,
    pub dispatch: Dispatch,
    /// It is done only when the list is stale: the device counts its groups.
    pub when_stale: bool,
}

/// What is done next in a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Play {
    /// A chunk, by its number.
    Chunk(usize),
    /// A chunk that puts the particles in order of place. The host decides whether it is done.
    Sort(usize),
    /// Several chunks, one after the other, several times.
    Times { count: u32, body: Vec<Play> },
}

/// A step as the device does it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// What each command buffer does.
    pub chunks: Vec<Vec<Turn>>,
    /// In which order, and how often, they are done.
    pub plays: Vec<Play>,
}

impl Program {
    /// Makes the program of a schedule. A loop of more than `unrolled` kernels becomes a chunk.
    pub fn of(schedule: &Schedule, plan: &Plan, unrolled: usize) -> Self {
        let mut builder = Builder {
            plan,
            unrolled,
            program: Program::default(),
            numbers: HashMap::new(),
            open: Vec::new(),
        };
        builder.add(&schedule.nodes, Place::default());
        builder.close();
        builder.program
    }

    /// Visits the numbers of the chunks in the order in which they are done.
    pub fn each<E>(
        &self,
        sorts: bool,
        visit: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        fn go<E>(
            plays: &[Play],
            sorts: bool,
            visit: &mut impl FnMut(usize) -> Result<(), E>,
        ) -> Result<(), E> {
            for play in plays {
                match play {
                    Play::Chunk(chunk) => visit(*chunk)?,
                    Play::Sort(chunk) if sorts => visit(*chunk)?,
                    Play::Sort(_) => {}
                    Play::Times { count, body } => {
                        for _ in 0..*count {
                            go(body, sorts, visit)?;
                        }
                    }
                }
            }
            Ok(())
        }
        go(&self.plays, sorts, visit)
    }

    /// How often each chunk is done in a step that does not sort.
    pub fn counts(&self) -> Vec<u32> {
        fn go(plays: &[Play], times: u32, counts: &mut [u32]) {
            for play in plays {
                match play {
                    Play::Chunk(chunk) => counts[*chunk] += times,
                    Play::Sort(_) => {}
                    Play::Times { count, body } => go(body, times * count, counts),
                }
            }
        }
        let mut counts = vec![0; self.chunks.len()];
        go(&self.plays, 1, &mut counts);
        counts
    }

    /// The chunk that sorts, if there is one.
    pub fn sort(&self) -> Option<usize> {
        self.plays.iter().find_map(|play| match play {
            Play::Sort(chunk) => Some(*chunk),
            _ => None,
        })
    }
}

/// Where in the tree the builder is.
#[derive(Clone, Copy, Default)]
struct Place {
    substep: u32,
    list: ListId,
    when_stale: bool,
    /// The loop over substeps is not unrolled: substeps share every chunk that is the same in all of
    /// them, so what reads the substep's number stands in chunks of its own.
    shares: bool,
}

struct Builder<'a> {
    plan: &'a Plan,
    unrolled: usize,
    program: Program,
    /// The number of each chunk, so that none is there twice.
    numbers: HashMap<Vec<Turn>, usize>,
    /// The chunk in the making.
    open: Vec<Turn>,
}

impl Builder<'_> {
    fn add(&mut self, nodes: &[Node], place: Place) {
        for node in nodes {
            match node {
                Node::Run(dispatch) => self.run(dispatch, place),
                Node::When { condition: Condition::ListIsStale, body } => {
                    self.add(body, Place { when_stale: true, ..place });
                }
                Node::ForList { list, body, .. } => {
                    self.add(body, Place { list: *list, ..place });
                }
                Node::When { condition: Condition::SortIsDue, body } => {
                    self.close();
                    self.add(body, place);
                    if let Some(chunk) = self.take() {
                        self.program.plays.push(Play::Sort(chunk));
                    }
                }
                Node::Times { what, count, body } => self.times(*what, *count, body, place),
            }
        }
    }

    fn run(&mut self, dispatch: &Dispatch, place: Place) {
        let numbered = reads_number(dispatch);
        let substep = match dispatch.pass {
            Pass::Bounds => place.substep.min(1),
            _ if numbered => place.substep,
            _ => 0,
        };
        let last = self.open.last().map(|turn| reads_number(&turn.dispatch));
        if place.shares && last.is_some_and(|last| last != numbered) {
            self.close();
        }
        let Place { list, when_stale, .. } = place;
        self.open.push(Turn { substep, list, dispatch: *dispatch, when_stale });
    }

    fn times(&mut self, what: Loop, count: u32, body: &[Node], place: Place) {
        let numbered = what == Loop::Substeps;
        let turn = |k: u32| if numbered { Place { substep: k, ..place } } else { place };
        let fits = self.kernels(body).saturating_mul(count as usize) <= self.unrolled;
        if fits && !place.shares {
            (0..count).for_each(|k| self.add(body, turn(k)));
            return;
        }
        self.close();
        if numbered {
            for k in 0..count {
                self.add(body, Place { shares: true, ..turn(k) });
                self.close();
            }
            return;
        }
        let before = std::mem::take(&mut self.program.plays);
        self.add(body, place);
        self.close();
        let body = std::mem::replace(&mut self.program.plays, before);
        self.program.plays.push(Play::Times { count, body });
    }

    /// How many kernels some nodes are, were nothing chunked.
    fn kernels(&self, nodes: &[Node]) -> usize {
        let of = |node: &Node| match node {
            Node::Run(dispatch) => kernels(dispatch, self.plan).len(),
            Node::When { body, .. } | Node::ForList { body, .. } => self.kernels(body),
            Node::Times { count, body, .. } => self.kernels(body).saturating_mul(*count as usize),
        };
        nodes.iter().map(of).fold(0, usize::saturating_add)
    }

    /// Ends the chunk in the making, which is done once.
    fn close(&mut self) {
        if let Some(chunk) = self.take() {
            self.program.plays.push(Play::Chunk(chunk));
        }
    }

    /// Ends the chunk in the making and gives its number; `None` when it is empty.
    fn take(&mut self) -> Option<usize> {
        let turns = std::mem::take(&mut self.open);
        if turns.is_empty() {
            return None;
        }
        let chunks = &mut self.program.chunks;
        let number = *self.numbers.entry(turns).or_insert_with_key(|turns| {
            chunks.push(turns.clone());
            chunks.len() - 1
        });
        Some(number)
    }
}

/// Whether a dispatch is another one in every substep. `bounds` is not: it only tells the first
/// substep from the others.
fn reads_number(dispatch: &Dispatch) -> bool {
    dispatch.pass != Pass::Bounds && READ_SUBSTEP.contains(&dispatch.pass)
}

/// What the device does for a dispatch: the stages that have anything to do.
pub(crate) fn kernels(dispatch: &Dispatch, plan: &Plan) -> Vec<Stage> {
    let mut list = Vec::new();
    stages(dispatch, plan, &mut list);
    list.retain(|stage| size(stage.groups, plan, false) != Size::Fixed(0));
    list
}

/// How many workgroups a stage takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    Fixed(u32),
    /// In this slot of the indirect arguments.
    Indirect(u32),
}

/// The size of a stage; `when_stale`, what the device counts.
pub(crate) fn size(groups: Groups, plan: &Plan, when_stale: bool) -> Size {
    use state::slot;
    let each = |items: usize| Size::Fixed(items.div_ceil(plan.workgroup as usize) as u32);
    let counted =
        |at: u32, otherwise: Size| if when_stale { Size::Indirect(at) } else { otherwise };
    match groups {
        Groups::Particles => counted(slot::PARTICLES, each(plan.particles)),
        Groups::One => counted(slot::ONE, Size::Fixed(1)),
        Groups::Blocks => {
            let blocks = plan.particles.div_ceil(super::layout::COUNTED) as u32;
            counted(slot::BLOCKS, Size::Fixed(blocks))
        }
        Groups::Buckets => Size::Indirect(slot::BUCKETS),
        Groups::TilesOfColor(color) => Size::Indirect(slot::TILE_COLOR + color),
        Groups::Tiles => Size::Indirect(slot::TILES),
        Groups::Nodes => Size::Indirect(slot::NODES),
        Groups::Items(items) => each(items),
        Groups::Exactly(count) => Size::Fixed(count),
    }
}
