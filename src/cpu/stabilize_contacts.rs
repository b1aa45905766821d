//! Resolves overlap left from earlier steps: contacts only, evaluated and applied where the substep
//! began; prediction and position follow by `apply_deltas`, so it gives no velocity [J 3.1.5].
//! C = |x1 - x2| - (r1 + r2) >= 0. (At p a resting particle would gain g h every step.)
//! Reads: start [m, 1/kg scaled], neighbour lists or contact rows. Writes: start in place, by tile
//! (`colored`) or slot (`seidel`, `lockfree`); delta under `jacobi`.
//! Order: tile, or slot and list; deterministic for every solver.

use super::Scratch;
use super::contact::block::Solve;
use super::contact::{Meeting, Party};
use super::team::{BLOCK, Shared, Team};
use crate::world::{Solver, World};
use glam::{Vec3, Vec4};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let Scratch { delta, start, neighbors, contact_rows: rows, .. } = scratch;
    let omega = world.params.contact_omega;
    match world.params.solver {
        Solver::Colored => {
            rows.solve(team, &mut world.particles.predicted, start, Solve::Overlap, omega);
        }
        Solver::Seidel | Solver::Lockfree => {
            for i in 0..start.len() {
                for n in neighbors.above(i) {
                    let j = n.slot as usize;
                    let meeting = meeting([i, j], n.contact, start);
                    let (push, touching) = meeting.without_friction();
                    let (to_i, to_j, movable) = meeting.share(push, omega);
                    if touching && movable {
                        start[i] += Vec3::from(to_i).extend(0.0);
                        start[j] += Vec3::from(to_j).extend(0.0);
                    }
                }
            }
        }
        Solver::Jacobi => team.rows(Shared::new(delta), BLOCK, |range, delta| {
            for (i, delta) in range.zip(delta) {
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                for n in if start[i].w > 0.0 { neighbors.of(i) } else { &[] } {
                    let meeting = meeting([i, n.slot as usize], n.contact, start);
                    let (push, touching) = meeting.without_friction();
                    if touching {
                        // Relaxed when it is applied.
                        sum += Vec3::from(meeting.share(push, 1.0).0);
                        count += 1.0;
                    }
                }
                *delta = sum.extend(count);
            }
        }),
    }
}

/// A pair where the substep began.
#[inline]
fn meeting([i, j]: [usize; 2], contact: f32, start: &[Vec4]) -> Meeting<f32> {
    let party = |slot: usize| {
        let at = start[slot].truncate().into();
        Party { at, start: at, weight: start[slot].w }
    };
    let lower = if i < j { 1.0 } else { -1.0 };
    Meeting { a: party(i), b: party(j), contact, lower }
}
