//! The tree that a schedule is: passes, loops and conditions, and how it prints.

use super::{Dispatch, Part, Pass};
use crate::world::{BroadPhase, ListId};
use std::fmt;

/// A loop of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loop {
    /// The substeps of a step.
    Substeps,
    /// The solver iterations of a substep. On the CPU they may end before their count is reached
    /// (`until_residual`, `budget_ms`).
    Iterations,
}

/// When a part of a step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The particles are to be put in order of place. The host decides this before the step.
    SortIsDue,
    /// `bounds` found that a particle left the margin of the list that the tree is about here.
    ListIsStale,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// One pass runs.
    Run(Dispatch),
    /// The body is done several times.
    Times {
        /// Which loop it is.
        what: Loop,
        /// How often.
        count: u32,
        /// What is repeated.
        body: Vec<Node>,
    },
    /// The body is done if the condition holds.
    When {
        /// The condition.
        condition: Condition,
        /// What is done then.
        body: Vec<Node>,
    },
    /// The body is about one of the neighbour lists: its passes read what describes that list, and
    /// write that list.
    ForList {
        /// Its number.
        list: ListId,
        /// Its name.
        name: String,
        /// What is done for it.
        body: Vec<Node>,
    },
}

/// What a step does, as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// One after the other.
    pub nodes: Vec<Node>,
    /// What finds neighbours, once `auto` has chosen; `None` where nothing can touch.
    pub broad_phase: Option<BroadPhase>,
}

impl Node {
    /// What is below this node; nothing below a pass.
    fn body(&self) -> &[Node] {
        match self {
            Node::Run(_) => &[],
            Node::Times { body, .. } | Node::When { body, .. } | Node::ForList { body, .. } => body,
        }
    }
}

/// Every dispatch below some nodes in order, each once, however often it is run.
fn dispatches(nodes: &[Node], holds: &impl Fn(Condition) -> bool) -> Vec<Dispatch> {
    let of = |node: &Node| match node {
        Node::Run(dispatch) => vec![*dispatch],
        Node::When { condition, .. } if !holds(*condition) => Vec::new(),
        _ => dispatches(node.body(), holds),
    };
    nodes.iter().flat_map(of).collect()
}

impl Schedule {
    /// Every dispatch of the tree in order, each once, however often it is run.
    pub fn dispatches(&self) -> Vec<Dispatch> {
        dispatches(&self.nodes, &|_| true)
    }

    /// The same, without what stands below a condition that does not hold.
    pub fn dispatches_if(&self, holds: impl Fn(Condition) -> bool) -> Vec<Dispatch> {
        dispatches(&self.nodes, &holds)
    }

    /// The dispatches of one turn of a loop, each once.
    pub fn dispatches_in(&self, what: Loop) -> Vec<Dispatch> {
        fn find(nodes: &[Node], wanted: Loop) -> Option<&[Node]> {
            nodes.iter().find_map(|node| match node {
                Node::Times { what, body, .. } if *what == wanted => Some(&body[..]),
                _ => find(node.body(), wanted),
            })
        }
        dispatches(find(&self.nodes, what).unwrap_or_default(), &|_| true)
    }

    /// How many turns of a loop a step takes in all: a loop inside another takes its turns anew in
    /// each turn of the outer one.
    pub fn turns(&self, wanted: Loop) -> u32 {
        fn turns(nodes: &[Node], wanted: Loop) -> u32 {
            let of = |node: &Node| match node {
                Node::Times { what, count, .. } if *what == wanted => *count,
                Node::Times { count, body, .. } => count * turns(body, wanted),
                _ => turns(node.body(), wanted),
            };
            nodes.iter().map(of).sum()
        }
        turns(&self.nodes, wanted)
    }

    /// The tree as text, a node a line, with a remark behind the name of each dispatch.
    pub fn with_remarks(&self, remark: impl Fn(&Dispatch) -> String) -> String {
        let mut out = String::new();
        print(&self.nodes, 0, &remark, &mut out);
        out
    }
}

fn print(nodes: &[Node], depth: usize, remark: &impl Fn(&Dispatch) -> String, out: &mut String) {
    for node in nodes {
        let line = match node {
            Node::Run(dispatch) => format!("{dispatch}{}", remark(dispatch)),
            Node::Times { what, count, .. } => format!("{count} times ({})", what.name()),
            Node::When { condition, .. } => format!("when {}", condition.name()),
            Node::ForList { name, .. } => format!("for the list {name:?}"),
        };
        out.push_str(&format!("{:1$}{line}\n", "", 2 * depth));
        print(node.body(), depth + 1, remark, out);
    }
}

impl Loop {
    /// The name in the printed tree, which is that of the parameter.
    pub fn name(self) -> &'static str {
        match self {
            Loop::Substeps => "substeps",
            Loop::Iterations => "iterations",
        }
    }
}

impl Condition {
    /// The words in the printed tree.
    pub fn name(self) -> &'static str {
        match self {
            Condition::SortIsDue => "a sort is due",
            Condition::ListIsStale => "the list is stale",
        }
    }
}

impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pass.name())?;
        match self.part {
            Part::All => Ok(()),
            Part::Color(c) | Part::Digit(c) => write!(f, "[{c}]"),
            Part::Wind(number) => write!(f, "[{number}]"),
            Part::Of(kind) => write!(f, "({})", kind.name()),
            Part::Start => f.write_str("(start)"),
            Part::Again => f.write_str("(again)"),
            Part::Lists => f.write_str("(lists)"),
            Part::Begin => f.write_str("(begin)"),
            Part::Pairs => f.write_str("(pairs)"),
            Part::Walls => f.write_str("(walls)"),
            Part::Count => f.write_str("(count)"),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.with_remarks(|_| String::new()).trim_end())
    }
}

/// A list of nodes in the making. A loop or a condition around nothing is left out.
#[derive(Default)]
pub(super) struct Body {
    pub nodes: Vec<Node>,
}

impl Body {
    /// All of a pass.
    pub fn run(&mut self, pass: Pass) {
        self.part(pass, Part::All);
    }

    /// A part of a pass.
    pub fn part(&mut self, pass: Pass, part: Part) {
        self.nodes.push(Node::Run(Dispatch { pass, part }));
    }

    /// Several dispatches.
    pub fn extend(&mut self, dispatches: impl IntoIterator<Item = Dispatch>) {
        self.nodes.extend(dispatches.into_iter().map(Node::Run));
    }

    /// What `fill` puts in, `count` times.
    pub fn times(&mut self, what: Loop, count: u32, fill: impl FnOnce(&mut Body)) {
        let mut body = Body::default();
        fill(&mut body);
        if count > 0 && !body.nodes.is_empty() {
            self.nodes.push(Node::Times { what, count, body: body.nodes });
        }
    }

    /// What `fill` puts in, for one of the neighbour lists.
    pub fn for_list(&mut self, list: ListId, name: &str, fill: impl FnOnce(&mut Body)) {
        let mut body = Body::default();
        fill(&mut body);
        self.nodes.push(Node::ForList { list, name: name.into(), body: body.nodes });
    }

    /// What `fill` puts in, if the condition holds.
    pub fn when(&mut self, condition: Condition, fill: impl FnOnce(&mut Body)) {
        let mut body = Body::default();
        fill(&mut body);
        if !body.nodes.is_empty() {
            self.nodes.push(Node::When { condition, body: body.nodes });
        }
    }
}
