//! Removes constraints strained past their threshold and lets others yield.
//! Strain: |p1-p2|/d0 - 1 (distance, stretch only), |θ - θ0| rad (bend), |V/V0 - 1| (volume), judged
//! on the original rest value. Past the yield strain the rest value follows, so that the elastic
//! strain stays at the yield strain [C 6.6.2].
//! Reads: position [m], constraint rows. Writes: constraint rows.
//! Order: rows are judged alone and closed up in order inside each colour; deterministic.

use super::team::{Shared, Team};
use super::{Scratch, solve_bend, solve_distance, solve_volume};
use crate::report::StepReport;
use crate::world::{ConstraintSet, World};
use glam::Vec4;

/// Rows a block holds.
const BLOCK: usize = 4096;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, report: &mut StepReport) {
    let World { particles, distance, bend, volume, .. } = world;
    let (at, gone) = (&particles.position[..], &mut scratch.gone);
    let stretch = |p: &[Vec4; 2], rest: f32| solve_distance::error(p, rest) / rest.max(1e-9);
    judge(team, distance, at, gone, stretch, |p, _, limit| {
        (p[0] - p[1]).truncate().length() / (1.0 + limit)
    });
    let torn = sorted_pairs(distance, gone);
    let mut broken = remove(distance, gone);

    let turn = solve_bend::error;
    judge(
        team,
        bend,
        at,
        gone,
        |p, rest| turn(p, rest).abs(),
        |p, rest, limit| {
            let error = turn(p, rest);
            solve_bend::short_way(rest + error - limit.copysign(error))
        },
    );
    mark_torn(bend, &torn, gone);
    broken += remove(bend, gone);

    let swell =
        |p: &[Vec4; 4], rest: f32| solve_volume::error(p, rest).abs() / rest.abs().max(1e-30);
    judge(team, volume, at, gone, swell, |p, rest, limit| {
        let now = solve_volume::volume(p);
        now / (1.0 + limit.copysign(now / rest - 1.0))
    });
    mark_torn(volume, &torn, gone);
    broken += remove(volume, gone);

    report.broken += broken;
    world.broken += broken as u64;
}

/// Marks the rows that break in `gone`; those that yield get the rest value at which their elastic
/// strain is the yield strain.
fn judge<const N: usize>(
    team: &Team,
    set: &mut ConstraintSet<N>,
    at: &[Vec4],
    gone: &mut Vec<bool>,
    strain: impl Fn(&[Vec4; N], f32) -> f32 + Sync,
    yielded: impl Fn(&[Vec4; N], f32, f32) -> f32 + Sync,
) {
    gone.clear();
    gone.resize(set.len(), false);
    let ConstraintSet { corner, rest, rest_original, break_at, yield_at, .. } = set;
    let corner = &*corner;
    let rows =
        (Shared::new(gone), Shared::new(rest), &rest_original[..], &break_at[..], &yield_at[..]);
    team.rows(rows, BLOCK, |range, (gone, rest, original, break_at, yield_at)| {
        for j in 0..gone.len() {
            let p: [Vec4; N] = std::array::from_fn(|k| at[corner[k][range.start + j] as usize]);
            gone[j] = strain(&p, original[j]) > break_at[j];
            if strain(&p, rest[j]) > yield_at[j] {
                let new = yielded(&p, rest[j], yield_at[j]);
                if new.is_finite() {
                    rest[j] = new;
                }
            }
        }
    });
}

fn remove<const N: usize>(set: &mut ConstraintSet<N>, gone: &[bool]) -> usize {
    if gone.contains(&true) { set.remove_marked(gone) } else { 0 }
}

/// The marked edges as sorted pairs of slots.
fn sorted_pairs(edges: &ConstraintSet<2>, gone: &[bool]) -> Vec<(u32, u32)> {
    let mut pairs: Vec<_> = (0..edges.len())
        .filter(|&i| gone[i])
        .map(|i| {
            let [a, b] = edges.particles(i);
            (a.min(b), a.max(b))
        })
        .collect();
    pairs.sort_unstable();
    pairs
}

/// A hinge or tetrahedron goes with any edge it spans: it would hold the torn parts together.
fn mark_torn(set: &ConstraintSet<4>, edges: &[(u32, u32)], gone: &mut [bool]) {
    if edges.is_empty() {
        return;
    }
    for (i, gone) in gone.iter_mut().enumerate() {
        let p = set.particles(i);
        let spans_torn = (0..4).any(|a| {
            (a + 1..4).any(|b| edges.binary_search(&(p[a].min(p[b]), p[a].max(p[b]))).is_ok())
        });
        *gone |= spans_torn;
    }
}
