//! Pushes touching particles apart, with static and kinetic friction.
//! C = |p1 - p2| - (r1 + r2) >= 0. The push n and friction f are sums over the substep: n = max(0, n -
//! C), f takes back the slip since the anchor, up to mu n; mu is mu_s while the contact holds and mu_k
//! while it slides [J 3.39].
//! Reads: position [m], start [m, 1/kg], predicted [m], materials, neighbour lists or contact rows.
//! Writes: what contacts hold; predicted in place, by tile (`colored`), slot (`seidel`) or anyhow
//! (`lockfree`); delta [m, count] under `jacobi`, where each particle gathers over its own list.
//! Order: tile, or slot and list; deterministic but `lockfree`.

use super::contact::Friction;
use super::contact::block::{Mixed, Rubs, Work};
use super::contact::lift::Lift;
use super::contact::listed::Pairs;
use super::search::neighbors::Neighbors;
use super::solve::{atomic_words, load, store};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::material::MaterialPairs;
use crate::world::{Held, Particles, Solver, World};
use glam::{Vec3, Vec4};

/// How far overlap from before a substep may be pushed out in it, m.
pub(super) fn push_out(world: &World, at: &Moment) -> f32 {
    world.params.push_out * at.h
}

/// Where the friction of pairs is found.
pub(super) fn rubs<'a>(materials: &'a [u32], pairs: &'a MaterialPairs) -> Rubs<'a> {
    match pairs.common() {
        Some(row) => Rubs::Alike(Friction::between(&row)),
        None => Rubs::Mixed(Mixed { pairs, materials }),
    }
}

/// What pairs are solved with one at a time.
pub(super) fn pairs<'a>(world: &'a World, scratch: &'a Scratch, push_out: f32) -> Pairs<'a> {
    let Particles { position, start, material: materials, .. } = &world.particles;
    let (material_pairs, lift) = (&scratch.material_pairs, Lift::of(world));
    Pairs { position, start, materials, material_pairs, push_out, lift }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let push_out = push_out(world, at);
    let omega = world.params.contact_omega;
    if world.params.solver == Solver::Colored {
        let Scratch { contact_rows: rows, material_pairs, .. } = scratch;
        let Particles { start, predicted, material, .. } = &mut world.particles;
        let rubs = rubs(material, material_pairs);
        return rows.work(team, predicted, start, rubs, Work::Solve { omega, push_out });
    }
    let mut p = std::mem::take(&mut world.particles.predicted);
    let mut held = std::mem::take(&mut scratch.held);
    let mut delta = std::mem::take(&mut scratch.delta);
    let mut counts = std::mem::take(&mut scratch.counts);
    let (pairs, neighbors) = (pairs(world, scratch, push_out), &scratch.neighbors);
    match world.params.solver {
        Solver::Colored => unreachable!("solved by tile"),
        Solver::Jacobi => {
            counts.resize(p.len(), 0);
            count(team, &pairs, neighbors, &p, &held, &mut counts);
            gather(team, &pairs, neighbors, &p, &mut held, (&counts, &mut delta), omega);
        }
        Solver::Seidel => {
            for i in 0..p.len() {
                let held = &mut held[neighbors.lists.range(i)];
                for (n, held) in neighbors.of(i).iter().zip(held) {
                    let j = n.slot as usize;
                    let at = pairs.apart([i, j], p[i], p[j]);
                    if pairs.acts(n.contact, at, held) {
                        let (push, share) = pairs.solve([i, j], n.contact, at, held, omega);
                        p[i] += (push * share).extend(0.0);
                        p[j] += (push * (share - 1.0)).extend(0.0);
                    }
                }
            }
        }
        Solver::Lockfree => {
            let (p, held) = (atomic_words(&mut p), Shared::new(&mut held));
            let run = p.len().div_ceil(team.threads()).max(1);
            team.blocks(p.len(), run, |_, range| {
                for i in range {
                    // SAFETY: each particle has a list of its own.
                    let held = unsafe { held.slice(neighbors.lists.range(i)) };
                    for (n, held) in neighbors.of(i).iter().zip(held) {
                        let j = n.slot as usize;
                        let (pi, pj, pair) = (load(&p[i]), load(&p[j]), [i, j]);
                        let at = pairs.apart(pair, pi, pj);
                        if pairs.acts(n.contact, at, held) {
                            let (push, share) = pairs.solve(pair, n.contact, at, held, omega);
                            store(&p[i], pi.truncate() + push * share);
                            store(&p[j], pj.truncate() + push * (share - 1.0));
                        }
                    }
                }
            });
        }
    }
    (world.particles.predicted, scratch.held, scratch.delta) = (p, held, delta);
    scratch.counts = counts;
}

/// How many pairs act on each particle.
fn count(
    team: &Team,
    pairs: &Pairs,
    neighbors: &Neighbors,
    p: &[Vec4],
    held: &[Held],
    counts: &mut [u32],
) {
    team.rows(Shared::new(counts), BLOCK, |range, counts| {
        for (i, count) in range.zip(counts) {
            let held = &held[neighbors.lists.range(i)];
            let acting = neighbors.of(i).iter().zip(held).filter(|(n, held)| {
                let j = n.slot as usize;
                pairs.acts(n.contact, pairs.apart([i, j], p[i], p[j]), held)
            });
            *count = acting.count() as u32;
        }
    });
}

/// Sums the corrections of each particle over its own list. A pair is relaxed by how many pairs act
/// on the one of the two that has more of them; both see the same factor, so momentum is kept.
fn gather(
    team: &Team,
    pairs: &Pairs,
    neighbors: &Neighbors,
    p: &[Vec4],
    held: &mut [Held],
    (counts, delta): (&[u32], &mut [Vec4]),
    omega: f32,
) {
    let held = Shared::new(held);
    team.rows(Shared::new(delta), BLOCK, |range, delta| {
        for (i, delta) in range.zip(delta) {
            // SAFETY: each particle has a list of its own.
            let held = unsafe { held.slice(neighbors.lists.range(i)) };
            let mut sum = Vec3::ZERO;
            for (n, held) in neighbors.of(i).iter().zip(held) {
                let j = n.slot as usize;
                let at = pairs.apart([i, j], p[i], p[j]);
                if pairs.acts(n.contact, at, held) {
                    let omega = omega / counts[i].max(counts[j]) as f32;
                    let (push, share) = pairs.solve([i, j], n.contact, at, held, omega);
                    sum += push * share;
                }
            }
            *delta = sum.extend(counts[i] as f32);
        }
    });
}
