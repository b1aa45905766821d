//! Lists where rigid bodies meet obstacles, with what they pressed before (docs/physics.md, section 7).
//! A contact of a particle becomes a row of its body: it acts at the arm r = x - c - n r_i. Before any
//! impulse the place moves at u = ((p - s) - motion) / h - w x n r_i on the obstacle, which holds all
//! that particles and forces did to the body in this substep. What closes faster than the threshold is
//! to part with e times that speed.
//! Reads: position [m], start, predicted [m], radius [m], materials, environment contacts and what
//! they hold, links, bodies. Writes: bodies (which rows are theirs), impulse_rows.
//! Order: bodies, their links, the contacts of a particle as they are listed; deterministic.

use super::shape::body_row::BodyRow;
use super::shape::{self, BodyState, rows};
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Places, World};
use glam::Vec3;

/// Bodies that a worker takes at a time.
const TAKEN: usize = 4;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { matched, environment, material_pairs, .. } = scratch;
    let shape::Matched { states, rows: all, .. } = matched;
    let (links, particles) = (&world.bodies.links, &world.particles);
    let slots = |state: &BodyState| {
        let range = state.first as usize..(state.first + state.count) as usize;
        links.particle[range].iter().map(|&slot| slot as usize)
    };
    team.rows(Shared::new(&mut states[..]), TAKEN, |_, states| {
        for state in states.iter_mut() {
            let count = slots(state).map(|slot| environment.range(slot).len()).sum::<usize>();
            state.rows = if state.inv_mass > 0.0 { count as u32 } else { 0 };
        }
    });
    let mut next = 0;
    for state in states.iter_mut() {
        state.first_row = next;
        next += state.rows;
    }
    all.clear();
    all.resize(next as usize, BodyRow::default());
    let all = Shared::new(&mut all[..]);
    let inv_h = 1.0 / at.h;
    let predictions = particles.predictions();
    let starts = Places { position: &particles.position, moved: &particles.start };
    team.rows(&states[..], TAKEN, |_, states| {
        for state in states.iter().filter(|state| state.rows > 0) {
            let first = state.first_row as usize;
            // SAFETY: the rows of different bodies do not overlap.
            let rows = unsafe { all.slice(first..first + state.rows as usize) };
            let reference = links.particle[state.first as usize] as usize;
            let contacts = slots(state).flat_map(|slot| {
                environment.of(slot).iter().zip(0..).map(move |(contact, nth)| (slot, nth, contact))
            });
            for (row, (slot, nth, contact)) in rows.iter_mut().zip(contacts) {
                let normal = contact.plane.truncate();
                let radius = particles.radius[slot];
                let began = starts.moved[slot].truncate();
                let gap = contact.plane.dot((contact.motion + began).extend(1.0)) - radius;
                let out = normal * radius;
                let arm = (shape::seen(predictions, slot, reference) - state.center) - out;
                let moved = (predictions.moved[slot].truncate() - began) - contact.motion;
                let sweep = moved * inv_h - state.omega.cross(out);
                let lever = arm.cross(normal);
                let turns = rows::times(&state.mobility, lever);
                let pair = material_pairs.wall(contact.collider, particles.material[slot]);
                let closing = -normal.dot(sweep);
                let fast = closing > world.params.restitution_threshold;
                let (push, held) = match contact.held.pressed > 0.0 {
                    true => (contact.held.pressed, contact.held.given),
                    false => (0.0, Vec3::ZERO),
                };
                *row = BodyRow {
                    normal,
                    arm,
                    sweep,
                    turns,
                    gap,
                    mass: 1.0 / (state.inv_mass + turns.dot(lever)),
                    bounce: if fast { pair.restitution * closing } else { 0.0 },
                    friction: if contact.held.limit < 0.0 {
                        pair.fixed
                    } else {
                        contact.held.limit
                    },
                    fixed: pair.fixed,
                    kinetic: pair.kinetic,
                    push,
                    held: held - normal * normal.dot(held),
                    slot: slot as u32,
                    nth,
                    other_arm: Vec3::ZERO,
                    other_turns: Vec3::ZERO,
                };
            }
        }
    });
}
