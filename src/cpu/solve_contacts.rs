//! Pushes touching particles apart, with static and kinetic friction.
//! C = |p1 - p2| - (r1 + r2) >= 0; friction takes all of a slip below mu_s depth, else mu_k depth
//! of it [J 3.39]; depth is the overlap before its own resolution.
//! Reads: position [m], predicted [m], contact weight [1/kg], neighbour lists or contact rows.
//! Writes: predicted in place, by colour (`colored`), slot (`seidel`) or anyhow (`lockfree`); delta
//! [m, count] under `jacobi`, where each particle gathers over its own list.
//! Order: colour, or slot and list; deterministic but `lockfree`.

use super::Scratch;
use super::color_contacts::Pair;
use super::contact::{Friction, correction, overlap};
use super::neighbors::Neighbors;
use super::solve::{atomic_words, load, store};
use super::team::{BLOCK, Shared, Team};
use crate::world::{Solver, World};
use glam::{Vec3, Vec4};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let params = &world.params;
    let friction = Friction { fixed: params.static_friction_used(), kinetic: params.friction };
    let omega = params.contact_omega;
    let Scratch { delta, contact_weight, neighbors, contact_rows: rows, .. } = scratch;
    let (x, p) = (&world.particles.position, &mut world.particles.predicted);
    match params.solver {
        Solver::Colored => {
            rows.sweep(team, [p], |Pair { i, j, contact }, [pi], [pj]| {
                let at = [pi.truncate(), pj.truncate()];
                let moves = pair([i, j], contact, at, x, contact_weight, friction);
                if let Some((to_i, to_j)) = moves {
                    *pi += (to_i * omega).extend(0.0);
                    *pj += (to_j * omega).extend(0.0);
                }
            });
        }
        Solver::Jacobi => {
            team.rows(Shared::new(delta), BLOCK, |range, delta| {
                for (i, delta) in range.zip(delta) {
                    *delta = gather(i, x, p, contact_weight, neighbors, friction);
                }
            });
        }
        Solver::Seidel => {
            for i in 0..p.len() {
                for n in neighbors.above(i) {
                    let j = n.slot as usize;
                    let (pi, pj) = (p[i].truncate(), p[j].truncate());
                    let Some((to_i, to_j)) =
                        pair([i, j], n.contact, [pi, pj], x, contact_weight, friction)
                    else {
                        continue;
                    };
                    p[i] += (to_i * omega).extend(0.0);
                    p[j] += (to_j * omega).extend(0.0);
                }
            }
        }
        Solver::Lockfree => {
            let p = atomic_words(p);
            let run = p.len().div_ceil(team.threads()).max(1);
            team.blocks(p.len(), run, |_, range| {
                for i in range {
                    for n in neighbors.above(i) {
                        let j = n.slot as usize;
                        let (pi, pj) = (load(&p[i]).truncate(), load(&p[j]).truncate());
                        let Some((to_i, to_j)) =
                            pair([i, j], n.contact, [pi, pj], x, contact_weight, friction)
                        else {
                            continue;
                        };
                        store(&p[i], pi + to_i * omega);
                        store(&p[j], pj + to_j * omega);
                    }
                }
            });
        }
    }
}

/// Sum of the corrections of particle i over its touching neighbours, and how many there are.
fn gather(
    i: usize,
    x: &[Vec4],
    p: &[Vec4],
    weight: &[f32],
    neighbors: &Neighbors,
    friction: Friction,
) -> Vec4 {
    let wi = weight[i];
    if wi == 0.0 {
        return Vec4::ZERO;
    }
    let (xi, pi) = (x[i].truncate(), p[i].truncate());
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for n in neighbors.of(i) {
        let j = n.slot as usize;
        let pj = p[j].truncate();
        let Some((normal, depth)) = overlap(pi, pj, n.contact, i < j) else { continue };
        let push = correction(normal, depth, pi - xi, pj - x[j].truncate(), friction);
        sum += push * (wi / (wi + weight[j]));
        count += 1.0;
    }
    sum.extend(count)
}

/// What both particles of a pair move by, or `None` when they do not touch.
#[inline]
fn pair(
    [i, j]: [usize; 2],
    contact: f32,
    [pi, pj]: [Vec3; 2],
    x: &[Vec4],
    weight: &[f32],
    friction: Friction,
) -> Option<(Vec3, Vec3)> {
    let (normal, depth) = overlap(pi, pj, contact, i < j)?;
    let push = correction(normal, depth, pi - x[i].truncate(), pj - x[j].truncate(), friction);
    let sum = weight[i] + weight[j];
    if sum == 0.0 {
        return None; // both quarantined since the lists were made
    }
    let share = weight[i] / sum;
    Some((push * share, push * (share - 1.0)))
}
