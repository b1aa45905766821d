//! The kinds of constraints, as data. A kind is a file here, which says what C is, and a row of the
//! table below; the enum, the sets of a world, the buffers of a device and every loop over kinds
//! follow from that row. How the solvers move particles towards C = 0 is in `src/cpu/solve_*.rs`
//! and `spirv/solve_*.spvasm`.
//!
//! Pins are a kind as well, but they are no rows of this table: a particle has at most one pin, and
//! its target moves, so `src/world/pin.rs` stores them.

mod bend;
mod distance;
mod volume;

pub(crate) use bend::{Bend, Hinge, short_way};
pub(crate) use distance::Distance;
pub(crate) use volume::Volume;

use crate::error::{Error, Result};
use crate::pass::{Buffer, Pass};
use crate::simd::Vector;
use crate::world::{ConstraintRows, ConstraintSet, Places};
use glam::Vec4;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a constraint on `N` particles asks for. Particles are [x, y, z, inverse mass].
pub(crate) trait Constrain<const N: usize>: 'static {
    /// What C is measured in.
    const UNIT: &'static str;
    /// The pairs of corners that hold it together: whoever cuts between two of them cuts it.
    const EDGES: &'static [[usize; 2]];

    /// What it measures of its particles. The rest value of a new constraint is what it measures
    /// then.
    fn measure(p: &[Vec4; N]) -> f32;

    /// C: how far the measure is from its rest value.
    fn error(p: &[Vec4; N], rest: f32) -> f32 {
        Self::measure(p) - rest
    }

    /// The strain by which it breaks and yields.
    fn strain(p: &[Vec4; N], rest: f32) -> f32;

    /// The rest value at which the strain is `limit`: what a constraint that yields takes on.
    fn yielded(p: &[Vec4; N], rest: f32, limit: f32) -> f32;
}

/// A kind that a world stores as a set of rows. The table implements it.
pub(crate) trait Stored<const N: usize>: Constrain<N> {
    /// Its name in the enum.
    const KIND: Kind;
    /// Its rows.
    fn set(sets: &Sets) -> &ConstraintSet<N>;
    /// Its rows, to change.
    fn set_mut(sets: &mut Sets) -> &mut ConstraintSet<N>;
}

/// One turn of a loop over the stored kinds, compiled for each of them. What needs no types of a
/// kind loops over [`Sets::all`] instead.
pub(crate) trait Visit {
    /// The turn of kind `K`.
    fn visit<K: Stored<N>, const N: usize>(&mut self);
}

/// What the table says of a kind.
struct Row {
    name: &'static str,
    unit: &'static str,
    corners: usize,
    edges: &'static [[usize; 2]],
    buffer: Buffer,
    solve: Pass,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident $set:ident $corners:literal $Solve:ident;)+) => {
        /// The kinds of constraints, in the order a solver iteration sweeps them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Kind {
            $($(#[$doc])* $Kind,)+
            /// A particle at a point.
            Pin,
        }

        impl Kind {
            /// The kinds that a world stores as sets of rows: all but pins, which come last.
            pub const SETS: [Kind; [$(Kind::$Kind),+].len()] = [$(Kind::$Kind),+];
            /// Every kind, in solver order.
            pub const ALL: [Kind; Kind::SETS.len() + 1] = [$(Kind::$Kind,)+ Kind::Pin];

            /// Calls the visitor with the type of this kind. Pins have no set, and so no turn.
            pub(crate) fn visit<V: Visit>(self, visitor: &mut V) {
                match self {
                    $(Kind::$Kind => visitor.visit::<$Kind, $corners>(),)+
                    Kind::Pin => {}
                }
            }
        }

        const TABLE: [Row; Kind::ALL.len()] = [
            $(Row {
                name: stringify!($set),
                unit: $Kind::UNIT,
                corners: $corners,
                edges: $Kind::EDGES,
                buffer: Buffer::$Kind,
                solve: Pass::$Solve,
            },)+
            Row {
                name: "pin",
                unit: "m",
                corners: 1,
                edges: &[],
                buffer: Buffer::Pins,
                solve: Pass::SolvePin,
            },
        ];

        /// The constraints of a world: one set for each stored kind.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub(crate) struct Sets {
            $(pub $set: ConstraintSet<$corners>,)+
        }

        impl Sets {
            /// The rows of each kind, in the order of [`Kind::SETS`].
            pub fn all(&self) -> [&ConstraintRows; Kind::SETS.len()] {
                [$(&self.$set),+]
            }
            /// The same, to change.
            pub fn all_mut(&mut self) -> [&mut ConstraintRows; Kind::SETS.len()] {
                [$(&mut self.$set),+]
            }
        }

        $(impl Stored<$corners> for $Kind {
            const KIND: Kind = Kind::$Kind;
            fn set(sets: &Sets) -> &ConstraintSet<$corners> {
                &sets.$set
            }
            fn set_mut(sets: &mut Sets) -> &mut ConstraintSet<$corners> {
                &mut sets.$set
            }
        })+
    };
}

// The kind and its buffer, the name of its set and in files, how many particles it takes, and the
// pass that solves it. Sweeps go from top to bottom, so the order is part of the physics.
kinds! {
    /// Two particles at a rest distance.
    Distance distance 2 SolveDistance;
    /// Two triangles at a rest angle.
    Bend bend 4 SolveBend;
    /// A tetrahedron of rest volume.
    Volume volume 4 SolveVolume;
}

impl Kind {
    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
    /// The name in files and reports.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
    /// What C is measured in.
    pub const fn unit(self) -> &'static str {
        self.row().unit
    }
    /// How many particles a constraint of this kind takes.
    pub const fn corners(self) -> usize {
        self.row().corners
    }
    /// The pairs of corners that hold a constraint together: whoever cuts between two of them cuts
    /// it.
    pub const fn edges(self) -> &'static [[usize; 2]] {
        self.row().edges
    }
    /// The buffer that holds its rows on a device.
    pub const fn buffer(self) -> Buffer {
        self.row().buffer
    }
    /// The pass that solves it.
    pub const fn solve(self) -> Pass {
        self.row().solve
    }
    /// The kind that a pass solves.
    pub fn solved_by(pass: Pass) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.solve() == pass)
    }
    /// The kind whose rows a buffer holds.
    pub fn held_by(buffer: Buffer) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.buffer() == buffer)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;
    fn from_str(word: &str) -> Result<Self> {
        Kind::ALL.into_iter().find(|kind| kind.name() == word).ok_or_else(|| {
            let names = Kind::ALL.map(Kind::name);
            let (last, others) = names.split_last().unwrap_or((&"", &[]));
            let known = format!("{} or {last}", others.join(", "));
            Error::value("kind", format!("`{word}` is not known; use {known}"))
        })
    }
}

impl Sets {
    /// The rows of a kind; pins have none.
    pub fn of(&self, kind: Kind) -> Option<&ConstraintRows> {
        self.all().into_iter().nth(kind as usize)
    }
    /// The same, to change.
    pub fn of_mut(&mut self, kind: Kind) -> Option<&mut ConstraintRows> {
        self.all_mut().into_iter().nth(kind as usize)
    }

    /// The sum of |C| over the rows of a kind, in order, in f64.
    pub fn residual(&self, kind: Kind, at: Places<'_>) -> f64 {
        struct Residual<'a> {
            sets: &'a Sets,
            at: Places<'a>,
            sum: f64,
        }
        impl Visit for Residual<'_> {
            fn visit<K: Stored<N>, const N: usize>(&mut self) {
                let set = K::set(self.sets);
                let error = |i| {
                    let p = self.at.corners(set.particles(i));
                    f64::from(K::error(&p, set.rest[i]).abs())
                };
                self.sum = (0..set.len()).map(error).sum();
            }
        }
        let mut residual = Residual { sets: self, at, sum: 0.0 };
        kind.visit(&mut residual);
        residual.sum
    }
}

/// The places of particles, without their masses.
fn places<const N: usize>(p: &[Vec4; N]) -> [Vector<f32>; N] {
    p.map(|p| Vector { x: p.x, y: p.y, z: p.z })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_one_kind_each() {
        for (i, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
            assert_eq!(Kind::solved_by(kind.solve()), Some(kind));
            assert_eq!(Kind::held_by(kind.buffer()), Some(kind));
            assert_eq!(kind.solve().name(), format!("solve_{kind}"));
            assert!(kind.edges().iter().flatten().all(|&corner| corner < kind.corners()));
        }
        assert_eq!(Kind::solved_by(Pass::Sleep), None);
        assert_eq!(Kind::held_by(Buffer::Position), None);
        let message = "hinge".parse::<Kind>().unwrap_err().to_string();
        assert!(message.contains("distance, bend, volume or pin"), "{message}");
    }

    #[test]
    fn each_turn_of_a_visit_gets_the_set_of_its_kind() {
        struct Names(Vec<(Kind, usize)>, Sets);
        impl Visit for Names {
            fn visit<K: Stored<N>, const N: usize>(&mut self) {
                self.0.push((K::KIND, N));
                K::set_mut(&mut self.1).add(&crate::world::Constraint::rigid([0; N], 1.0));
                assert_eq!(K::set(&self.1).len(), 1);
            }
        }
        let mut names = Names(Vec::new(), Sets::default());
        for kind in Kind::ALL {
            kind.visit(&mut names);
        }
        assert_eq!(names.0, Kind::SETS.map(|kind| (kind, kind.corners())));
        for (kind, rows) in Kind::SETS.into_iter().zip(names.1.all()) {
            assert_eq!((rows.len(), rows.corners()), (1, kind.corners()));
        }
        assert!(names.1.of(Kind::Pin).is_none() && names.1.of_mut(Kind::Pin).is_none());
    }
}
