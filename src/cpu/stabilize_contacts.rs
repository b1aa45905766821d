//! Resolves overlap left from earlier steps: contacts only, evaluated where the substep began and
//! applied to start and prediction alike, so it gives no velocity [J 3.1.5].
//! C = |x1 - x2| - (r1 + r2) >= 0. (At p a resting particle would gain g h every step.)
//! Reads: position [m], contact weight [1/kg], neighbour lists or contact rows. Writes: position and
//! predicted in place, by colour (`colored`) or slot (`seidel`, `lockfree`); delta under `jacobi`.
//! Order: colour, or slot and list; deterministic for every solver.

use super::Scratch;
use super::color_contacts::Pair;
use super::contact::overlap;
use super::team::{BLOCK, Shared, Team};
use crate::world::{Solver, World};
use glam::{Vec3, Vec4};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let Scratch { delta, contact_weight: weight, neighbors, contact_rows: rows, .. } = scratch;
    let omega = world.params.contact_omega;
    let (x, p) = (&mut world.particles.position, &mut world.particles.predicted);
    match world.params.solver {
        Solver::Colored => rows.sweep(team, [x, p], |Pair { i, j, contact }, a, b| {
            push_apart([a, b], contact, [weight[i], weight[j]], omega);
        }),
        Solver::Seidel | Solver::Lockfree => {
            for i in 0..x.len() {
                for n in neighbors.above(i) {
                    let j = n.slot as usize;
                    let ([xi, xj], [pi, pj]) = (two(x, i, j), two(p, i, j));
                    push_apart([[xi, pi], [xj, pj]], n.contact, [weight[i], weight[j]], omega);
                }
            }
        }
        Solver::Jacobi => team.rows(Shared::new(delta), BLOCK, |range, delta| {
            for (i, delta) in range.zip(delta) {
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                for n in if weight[i] > 0.0 { neighbors.of(i) } else { &[] } {
                    let j = n.slot as usize;
                    let touching = overlap(x[i].truncate(), x[j].truncate(), n.contact, i < j);
                    let Some((normal, depth)) = touching else { continue };
                    sum += normal * (depth * weight[i] / (weight[i] + weight[j]));
                    count += 1.0;
                }
                *delta = sum.extend(count);
            }
        }),
    }
}

/// Two different rows at once; i < j.
fn two(rows: &mut [Vec4], i: usize, j: usize) -> [&mut Vec4; 2] {
    let (low, high) = rows.split_at_mut(j);
    [&mut low[i], &mut high[0]]
}

/// Resolves the overlap of a pair, each given as [position, predicted].
#[inline]
fn push_apart([a, b]: [[&mut Vec4; 2]; 2], contact: f32, weight: [f32; 2], omega: f32) {
    let touching = overlap(a[0].truncate(), b[0].truncate(), contact, true);
    let Some((normal, depth)) = touching else { return };
    let sum = weight[0] + weight[1];
    if sum == 0.0 {
        return; // both quarantined since the lists were made
    }
    let push = normal * (depth * omega / sum);
    for row in a {
        *row += (push * weight[0]).extend(0.0);
    }
    for row in b {
        *row -= (push * weight[1]).extend(0.0);
    }
}
