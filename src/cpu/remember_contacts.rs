//! Writes what contacts hold to the world, by particle: before neighbour lists are made anew, and at
//! the end of a step, when the world may be saved, sorted or edited.
//! The anchors of contacts with obstacles are told as seen from the particle, which holds wherever the next
//! step counts from.
//! Reads: start [m], neighbour lists or contact rows and what they hold, environment contacts.
//! Writes: contact memory.
//! Order: contacts of a particle in the order of their rows, those with obstacles last;
//! deterministic.

use super::Scratch;
use super::contact::listed::for_each_pressed;
use super::team::{BLOCK, Shared, Team};
use crate::world::{ContactMemory, Held, Kept, Partner, Solver, World};
use glam::Vec4;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    // The world knows already, and the lists may be of other slots.
    if !std::mem::take(&mut scratch.memory_is_behind) {
        return;
    }
    scratch.walls_are_known = false;
    let mut counts = std::mem::take(&mut scratch.counts);
    let mut memory = std::mem::take(&mut world.contact_memory);
    write(team, world, scratch, &mut counts, &mut memory);
    (scratch.counts, world.contact_memory) = (counts, memory);
}

/// Writes what contacts hold to a memory. `counts` is room to work in.
pub(crate) fn write(
    team: &Team,
    world: &World,
    scratch: &Scratch,
    counts: &mut Vec<u32>,
    memory: &mut ContactMemory,
) {
    counts.clear();
    counts.resize(world.particles.len(), 0);
    let (solver, touch) = (world.params.solver, world.may_touch());
    let start = &world.particles.start;
    let colored = solver == Solver::Colored;
    let each = Contacts { team, scratch, start, colored, pairs: touch };
    let shared = Shared::new(counts);
    each.visit(|slot, _| {
        // SAFETY: `visit` calls for different slots at the same time.
        unsafe { *shared.at(slot) += 1 };
    });
    let (next, kept) = memory.lay_out(counts);
    let (next, kept) = (Shared::new(next), Shared::new(kept));
    each.visit(|slot, contact| {
        // SAFETY: as above, and every contact that was counted has a place of its own.
        unsafe {
            let next = next.at(slot);
            *kept.at(*next as usize) = contact;
            *next += 1;
        }
    });
}

/// Everything that presses on something.
struct Contacts<'a> {
    team: &'a Team,
    scratch: &'a Scratch,
    start: &'a [Vec4],
    colored: bool,
    pairs: bool,
}

impl Contacts<'_> {
    /// Calls `visit(slot, contact)` for each of them; at the same time only for different slots.
    fn visit(&self, visit: impl Fn(usize, Kept) + Sync) {
        let Contacts { team, scratch, .. } = self;
        let Scratch { neighbors, held, environment, beside, contact_rows, .. } = scratch;
        let visit = |slot: usize, with: Partner, held: Held| {
            if held.presses() {
                visit(slot, Kept::new(with, held));
            }
        };
        if self.pairs && self.colored {
            contact_rows.for_each_pressed(team, |a, b, held| {
                visit(a as usize, Partner::Particle(b), held);
            });
        } else if self.pairs {
            team.blocks(neighbors.lists.particles(), BLOCK, |_, range| {
                for i in range {
                    for_each_pressed(neighbors, held, i, |j, held| {
                        visit(i, Partner::Particle(j), *held);
                    });
                }
            });
        }
        team.rows(&beside[..], BLOCK, |_, beside| {
            for i in beside.iter().map(|&i| i as usize) {
                for contact in environment.of(i) {
                    let mut held = contact.held;
                    held.anchor -= self.start[i].truncate();
                    visit(i, Partner::Obstacle(contact.collider), held);
                }
            }
        });
    }
}
