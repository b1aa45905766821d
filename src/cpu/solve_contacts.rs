//! Pushes touching particles apart, with static and kinetic friction.
//! C = |p1 - p2| - (r1 + r2) >= 0; friction takes all of a slip below mu_s depth, else mu_k depth
//! of it [J 3.39]; depth is the overlap before its own resolution.
//! Reads: start [m, 1/kg scaled], predicted [m], materials, neighbour lists or contact rows.
//! Writes: predicted in place, by tile (`colored`), slot (`seidel`) or anyhow (`lockfree`); delta
//! [m, count] under `jacobi`, where each particle gathers over its own list.
//! Order: tile, or slot and list; deterministic but `lockfree`.

use super::Scratch;
use super::contact::block::{Mixed, Solve};
use super::contact::{Friction, Meeting, Party};
use super::search::neighbors::Neighbors;
use super::solve::{atomic_words, load, store};
use super::team::{BLOCK, Shared, Team};
use crate::world::material::MaterialPairs;
use crate::world::{Solver, World};
use glam::{Vec3, Vec4};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let params = &world.params;
    let omega = params.contact_omega;
    let Scratch { delta, start, neighbors, contact_rows: rows, material_pairs, .. } = scratch;
    let materials = &world.particles.material[..];
    let friction = match material_pairs.common() {
        Some(row) => Solve::Contact(Friction::between(&row)),
        None => Solve::Mixed(Mixed { pairs: material_pairs, materials }),
    };
    let p = &mut world.particles.predicted;
    let solver = params.solver;
    if solver == Solver::Colored {
        return rows.solve(team, p, start, friction, omega);
    }
    let pairs = Pairs { start, materials, material_pairs, omega };
    match solver {
        Solver::Colored => unreachable!("solved by tile"),
        Solver::Jacobi => {
            team.rows(Shared::new(delta), BLOCK, |range, delta| {
                for (i, delta) in range.zip(delta) {
                    *delta = pairs.gather(i, p, neighbors);
                }
            });
        }
        Solver::Seidel => {
            for i in 0..p.len() {
                for n in neighbors.above(i) {
                    let j = n.slot as usize;
                    let at = [p[i].truncate(), p[j].truncate()];
                    if let Some((to_i, to_j)) = pairs.moves([i, j], n.contact, at) {
                        p[i] += to_i.extend(0.0);
                        p[j] += to_j.extend(0.0);
                    }
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
                        if let Some((to_i, to_j)) = pairs.moves([i, j], n.contact, [pi, pj]) {
                            store(&p[i], pi + to_i);
                            store(&p[j], pj + to_j);
                        }
                    }
                }
            });
        }
    }
}

/// What pairs are solved with, one at a time.
struct Pairs<'a> {
    start: &'a [Vec4],
    materials: &'a [u32],
    material_pairs: &'a MaterialPairs,
    omega: f32,
}

impl Pairs<'_> {
    #[inline]
    fn meeting(&self, [i, j]: [usize; 2], contact: f32, [pi, pj]: [Vec3; 2]) -> Meeting<f32> {
        let party = |slot: usize, at: Vec3| Party {
            at: at.into(),
            start: self.start[slot].truncate().into(),
            weight: self.start[slot].w,
        };
        let lower = if i < j { 1.0 } else { -1.0 };
        Meeting { a: party(i, pi), b: party(j, pj), contact, lower }
    }

    #[inline]
    fn friction(&self, [i, j]: [usize; 2]) -> Friction<f32> {
        let (a, b) = (self.materials[i], self.materials[j]);
        Friction::between(self.material_pairs.pair(a, b))
    }

    /// What both particles of a pair move by, or `None` when they do not touch.
    #[inline]
    fn moves(&self, pair: [usize; 2], contact: f32, at: [Vec3; 2]) -> Option<(Vec3, Vec3)> {
        let meeting = self.meeting(pair, contact, at);
        let (push, touching) = meeting.with_friction(self.friction(pair));
        let (to_i, to_j, movable) = meeting.share(push, self.omega);
        (touching && movable).then(|| (to_i.into(), to_j.into()))
    }

    /// Sum of the corrections of particle i over its touching neighbours, and how many there are.
    fn gather(&self, i: usize, p: &[Vec4], neighbors: &Neighbors) -> Vec4 {
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for n in if self.start[i].w > 0.0 { neighbors.of(i) } else { &[] } {
            let j = n.slot as usize;
            let meeting = self.meeting([i, j], n.contact, [p[i].truncate(), p[j].truncate()]);
            let (push, touching) = meeting.with_friction(self.friction([i, j]));
            if touching {
                // Relaxed when it is applied.
                sum += Vec3::from(meeting.share(push, 1.0).0);
                count += 1.0;
            }
        }
        sum.extend(count)
    }
}
