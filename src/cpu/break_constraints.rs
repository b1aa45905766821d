//! Removes constraints strained past their threshold and lets others yield.
//! `src/kind` says what the strain of each kind is. Breaking is judged on the original rest value;
//! past the yield strain the rest value follows, so that the elastic strain stays at the yield
//! strain [C 6.6.2].
//! Reads: position and start [m], constraint rows. Writes: constraint rows.
//! Order: rows are judged alone and closed up in order inside each colour; deterministic.

use super::Scratch;
use super::team::{Shared, Team};
use crate::kind::{Kind, Sets, Stored, Visit};
use crate::report::StepReport;
use crate::world::{ConstraintRows, ConstraintSet, Places, World};

/// Rows a block holds.
const BLOCK: usize = 4096;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, report: &mut StepReport) {
    let at = world.particles.now();
    let (sets, gone) = (&mut world.sets, &mut scratch.gone);
    let mut judge = Judge { team, at, sets, gone, torn: Vec::new(), broken: 0 };
    // Distance constraints come first: the edges that tear are known to all that follow.
    Kind::SETS.into_iter().for_each(|kind| kind.visit(&mut judge));
    let broken = judge.broken;
    report.broken += broken;
    world.broken += broken as u64;
}

/// Judges one kind after the other.
struct Judge<'a> {
    team: &'a Team,
    at: Places<'a>,
    sets: &'a mut Sets,
    /// Which rows of the kind break.
    gone: &'a mut Vec<bool>,
    /// The edges that tore, as sorted pairs of slots.
    torn: Vec<(u32, u32)>,
    broken: usize,
}

impl Visit for Judge<'_> {
    fn visit<K: Stored<N>, const N: usize>(&mut self) {
        let Judge { team, at, sets, gone, torn, broken } = self;
        let set = K::set_mut(sets);
        judge::<K, N>(team, set, *at, gone);
        match K::KIND {
            Kind::Distance => *torn = sorted_pairs(set, gone),
            _ => mark_torn(set, torn, gone),
        }
        if gone.contains(&true) {
            *broken += set.remove_marked(gone);
        }
    }
}

/// Marks the rows that break in `gone`; those that yield get the rest value at which their elastic
/// strain is the yield strain.
fn judge<K: Stored<N>, const N: usize>(
    team: &Team,
    set: &mut ConstraintSet<N>,
    at: Places<'_>,
    gone: &mut Vec<bool>,
) {
    gone.clear();
    gone.resize(set.len(), false);
    let ConstraintRows { corner, rest, rest_original, break_at, yield_at, .. } = &mut **set;
    let corner = &*corner;
    let rows =
        (Shared::new(gone), Shared::new(rest), &rest_original[..], &break_at[..], &yield_at[..]);
    team.rows(rows, BLOCK, |range, (gone, rest, original, break_at, yield_at)| {
        for j in 0..gone.len() {
            let p = at.corners(std::array::from_fn(|k| corner[k][range.start + j]));
            gone[j] = K::strain(&p, original[j]) > break_at[j];
            if K::strain(&p, rest[j]) > yield_at[j] {
                let new = K::yielded(&p, rest[j], yield_at[j]);
                if new.is_finite() {
                    rest[j] = new;
                }
            }
        }
    });
}

/// The marked edges as sorted pairs of slots.
fn sorted_pairs(edges: &ConstraintRows, gone: &[bool]) -> Vec<(u32, u32)> {
    let (a, b) = (&edges.corner[0], &edges.corner[1]);
    let marked = (0..edges.len()).filter(|&i| gone[i]);
    let mut pairs: Vec<_> = marked.map(|i| (a[i].min(b[i]), a[i].max(b[i]))).collect();
    pairs.sort_unstable();
    pairs
}

/// A hinge or tetrahedron goes with any edge it spans: it would hold the torn parts together.
fn mark_torn<const N: usize>(set: &ConstraintSet<N>, edges: &[(u32, u32)], gone: &mut [bool]) {
    if edges.is_empty() {
        return;
    }
    for (i, gone) in gone.iter_mut().enumerate() {
        let p = set.particles(i);
        let spans_torn = (0..N).any(|a| {
            (a + 1..N).any(|b| edges.binary_search(&(p[a].min(p[b]), p[a].max(p[b]))).is_ok())
        });
        *gone |= spans_torn;
    }
}
