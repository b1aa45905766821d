//! Lets contacts go on from what they held when the last substep ended, so that friction remembers.
//! The slip since the anchor, s = (x1 - x2) - a less its part along the normal, stays as it is where
//! friction held, and is cut to mu_k times the last push where it slid; a = (x1 - x2) - s. Contacts
//! that gave all the friction they could slide on with mu_k, the others hold with mu_s. What was
//! pushed and held is counted from 0 again, and pairs that do not press on each other are forgotten.
//! Where the lists are new, what contacts held comes from the world.
//! In the first substep of a step, and where the lists are new, rows are told how their particles lie to
//! each other. Of two grains that lie on each other the upper takes more of what they are moved, see
//! `contact/lift.rs`.
//! Reads: position [m], start [m, 1/kg], phase, materials, neighbour lists or contact rows, contact memory.
//! Writes: what contacts hold, in the order of the rows.
//! Order: each pair alone; deterministic.

use super::contact::block::Work;
use super::contact::lift::Lift;
use super::solve_contacts::{pairs, push_out, rubs};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{ContactMemory, Held, Particles, Partner, Solver, World};

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let push_out = push_out(world, at);
    let new = !std::mem::replace(&mut scratch.rows_are_known, true);
    scratch.memory_is_behind = true;
    let memory = &world.contact_memory;
    if world.params.solver == Solver::Colored {
        let Scratch { contact_rows: rows, material_pairs, .. } = scratch;
        let up = world.lift();
        let Particles { position, start, predicted, phase, material, .. } = &mut world.particles;
        if new {
            rows.recall(team, |a, b| recall(memory, a as usize, b as usize));
        }
        if new || !scratch.contact_bases_are_known {
            rows.take_bases(team, position);
            scratch.contact_bases_are_known = true;
        }
        let rubs = rubs(material, material_pairs);
        let lift = Lift { up, phases: phase };
        return rows.work(team, predicted, start, rubs, Work::Begin { push_out, lift });
    }
    let mut held = std::mem::take(&mut scratch.held);
    let neighbors = &scratch.neighbors;
    if new {
        held.clear();
    }
    held.resize(neighbors.lists.len(), Held::NOTHING);
    let (all, pairs) = (Shared::new(&mut held), pairs(world, scratch, push_out));
    team.blocks(world.particles.len(), BLOCK, |_, range| {
        for i in range {
            // SAFETY: each particle has a list of its own.
            let held = unsafe { all.slice(neighbors.lists.range(i)) };
            for (n, held) in neighbors.of(i).iter().zip(held) {
                let j = n.slot as usize;
                if new && let Some(known) = recall(memory, i, j) {
                    *held = known;
                }
                pairs.begin([i, j], n.contact, held);
            }
        }
    });
    scratch.held = held;
}

/// What the contact of i and j held, seen from j.
fn recall(memory: &ContactMemory, i: usize, j: usize) -> Option<Held> {
    let (low, high) = (i.min(j), Partner::Particle(i.max(j) as u32));
    let kept = memory.of(low).iter().find(|kept| kept.with() == high)?;
    Some(if i == low { kept.held } else { kept.held.turned() })
}
