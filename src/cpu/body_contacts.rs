//! Finds where rigid bodies may touch each other (docs/physics.md, section 7).
//! Each particle at the surface of one body is looked up in the field of the other, both as they are
//! where the substep begins: n is the blended gradient, and they are s = phi - r_i apart. Inside parts
//! that are a particle thick there is no gradient: there the particles are balls. Of these contacts a
//! few stand for all, and become rows, which know what they pressed before. What a contact that is not
//! chosen any more pressed goes to the nearest that is. Before any impulse a place of a body moves by
//! e = (c' - c) + D r + shift + T s; rows see (e_a - e_b) / h. Both arms lead to one place from where the
//! centres are as the substep begins, since what impulses change moves the bodies from there.
//! Reads: position [m], materials, links, bodies, body_fields, touches, body_pairs.
//! Writes: body_pairs, pair_rows. Order: pairs, the particles of the first body, then those of the
//! second; deterministic.

use super::body_pairs::{reach, turning};
use super::shape::body_row::BodyRow;
use super::shape::pair::{BodyPair, Candidate, Manifold, ROOM, pressed};
use super::shape::rows::{self, Rows};
use super::shape::{self, BodyState};
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::world::material::MaterialPairs;
use crate::world::{BodyField, MatchedBody, Touch, World};
use glam::Vec3;
use std::sync::Arc;

/// Pairs that a worker takes at a time.
const TAKEN: usize = 2;
/// A gradient shorter than this says nothing.
const FLAT: f32 = 0.5;
/// The cosine to its own gradient beyond which a particle is met from behind.
const BEHIND: f32 = 0.25;
/// What a contact pressed goes to one this near, in radii, whose normal points this much the same way.
const HEIRS: f32 = 4.0;
const ALIKE: f32 = 0.7;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { matched, material_pairs, .. } = scratch;
    let shape::Matched { states, pairs, pair_rows, .. } = matched;
    if pair_rows.len() < pairs.len() * ROOM {
        pair_rows.resize(pairs.len() * ROOM, BodyRow::default());
    }
    let rows = Shared::new(&mut pair_rows[..]);
    let look = Look { world, states, materials: material_pairs, h: at.h };
    team.rows(Shared::new(&mut pairs[..]), TAKEN, |range, pairs| {
        let mut candidates = Vec::new();
        for (number, pair) in range.zip(pairs) {
            // SAFETY: the rows of different pairs do not overlap.
            let rows = unsafe { rows.slice(number * ROOM..(number + 1) * ROOM) };
            pair.rows = look.fill(pair, &mut candidates, rows) as u32;
        }
    });
}

/// What all pairs are looked at with.
struct Look<'a> {
    world: &'a World,
    states: &'a [BodyState],
    materials: &'a MaterialPairs,
    h: f32,
}

/// A body of a pair.
struct One<'a> {
    state: &'a BodyState,
    body: &'a MatchedBody,
    field: &'a Arc<BodyField>,
    /// The slot of its first particle.
    reference: usize,
}

impl Look<'_> {
    fn one(&self, number: u32) -> Option<One<'_>> {
        let body = &self.world.bodies.rows[number as usize];
        let reference = self.world.bodies.links.particle[body.first as usize] as usize;
        let field = body.field.0.as_ref()?;
        Some(One { state: &self.states[number as usize], body, field, reference })
    }

    /// Writes the rows of a pair; returns how many.
    fn fill(&self, pair: &BodyPair, found: &mut Vec<Candidate>, rows: &mut [BodyRow]) -> usize {
        let [Some(a), Some(b)] = pair.bodies.map(|number| self.one(number)) else { return 0 };
        let position = &self.world.particles.position;
        // From the centre of the second body to that of the first.
        let apart = (position[a.reference] - position[b.reference]).truncate();
        let apart = apart + (a.state.from - b.state.from);
        let closing = (a.state.drift - b.state.drift).length();
        let speed = closing + turning(a.state, a.field) + turning(b.state, b.field);
        let radius = if a.field.radius < b.field.radius { a.field.radius } else { b.field.radius };
        let reach = reach(speed, radius, self.h);
        found.clear();
        self.look_up(&a, &b, apart, reach, 0, found);
        self.look_up(&b, &a, -apart, reach, Touch::OF_SECOND, found);
        let before = self.world.bodies.touches.of(pair.bodies);
        let frame = &a.state.from_base;
        let mut manifold = Manifold::new(radius);
        for (number, contact) in found.iter().enumerate() {
            let normal = rows::turned_times(frame, contact.normal);
            let place = rows::turned_times(frame, contact.place);
            let known = pressed(before, contact.key);
            manifold.tell(number as u32, contact.gap, normal, place, known);
        }
        let (chosen, count) = manifold.chosen();
        for (row, &number) in rows.iter_mut().zip(&chosen[..count]) {
            *row = self.row(&a, &b, apart, &found[number as usize], before);
        }
        let kept = &mut rows[..count];
        let distance = HEIRS * radius;
        for touch in before {
            if kept.iter().any(|row| row.slot == touch.key) {
                continue;
            }
            let mut nearest = (distance * distance, None);
            for (k, &number) in chosen[..count].iter().enumerate() {
                let contact = &found[number as usize];
                let off = rows::turned_times(frame, contact.place) - touch.place;
                let off_sq = off.dot(off);
                if off_sq < nearest.0 && contact.normal.dot(touch.normal) > ALIKE {
                    nearest = (off_sq, Some(k));
                }
            }
            if let Some(k) = nearest.1 {
                let row = &mut kept[k];
                row.push += touch.push;
                row.held += touch.held - row.normal * row.normal.dot(touch.held);
            }
        }
        count
    }

    /// Looks up the particles of `one` in the field of `other`; `apart` leads from the centre of
    /// `other` to that of `one`.
    fn look_up(
        &self,
        one: &One,
        other: &One,
        apart: Vec3,
        reach: f32,
        second: u32,
        found: &mut Vec<Candidate>,
    ) {
        let links = &self.world.bodies.links;
        let radius = &self.world.particles.radius;
        let (turn, other_turn) = (&one.state.from_base, &other.state.from_base);
        // From the frame of `one` to that of `other`.
        let across: Rows = rows::product(&rows::turned(other_turn), turn);
        let offset = rows::turned_times(other_turn, apart);
        let field = other.field;
        let half = field.half + Vec3::splat(reach);
        for &number in &one.field.surface {
            let link = one.body.first as usize + number as usize;
            let rest = links.rest[link].truncate();
            let place = rows::times(&across, rest) + offset;
            let slot = links.particle[link] as usize;
            let r = radius[slot];
            let off = (place - field.middle).abs() - Vec3::splat(r);
            if off.x > half.x || off.y > half.y || off.z > half.z {
                continue;
            }
            let Some(probe) = field.at(place) else { continue };
            let (gap, out, partner);
            let steep = probe.gradient.dot(probe.gradient);
            if steep >= FLAT * FLAT {
                gap = probe.distance - r;
                out = probe.gradient / steep.sqrt();
                partner = other.reference;
            } else if probe.owner != BodyField::NOBODY {
                let link = other.body.first as usize + probe.owner as usize;
                let line = place - links.rest[link].truncate();
                let length = line.dot(line).sqrt();
                if length == 0.0 {
                    continue;
                }
                partner = links.particle[link] as usize;
                gap = length - r - radius[partner];
                out = line / length;
            } else {
                continue;
            }
            let is_near = gap < reach;
            if !is_near {
                continue;
            }
            let normal = rows::times(other_turn, out);
            // What is pushed along its own way out is met from behind, by what is inside: that is not
            // its surface that touches.
            let own = one.field.at(rest).map_or(Vec3::ZERO, |own| own.gradient);
            if rows::times(turn, own).dot(normal) > BEHIND {
                continue;
            }
            let at = rows::times(turn, rest) - normal * (r + 0.5 * gap);
            let slots = [slot as u32, partner as u32];
            let (normal, place) = match second {
                0 => (normal, at),
                _ => (-normal, at + apart),
            };
            found.push(Candidate { key: number | second, slots, normal, gap, place });
        }
    }

    /// How a place of a body moves in this substep before any impulse; `place` is seen from the centre
    /// where the substep began.
    fn way(&self, one: &One, place: Vec3) -> Vec3 {
        let state = one.state;
        let s = rows::times(&state.base, rows::turned_times(&state.from_base, place));
        let turned = rows::times(&state.carry, place) * (1.0 / self.h);
        let matched = state.shift + rows::times(&state.goal, s);
        ((state.center - state.from) + turned) + matched
    }

    fn row(&self, a: &One, b: &One, apart: Vec3, at: &Candidate, before: &[Touch]) -> BodyRow {
        let normal = at.normal;
        let (arm, other_arm) = (at.place, at.place + apart);
        let sweep = (self.way(a, arm) - self.way(b, other_arm)) * (1.0 / self.h);
        let (lever, other_lever) = (arm.cross(normal), other_arm.cross(normal));
        let turns = rows::times(&a.state.mobility, lever);
        let other_turns = rows::times(&b.state.mobility, other_lever);
        let per = (a.state.inv_mass + turns.dot(lever))
            + (b.state.inv_mass + other_turns.dot(other_lever));
        let material = |slot: u32| self.world.particles.material[slot as usize];
        let pair = self.materials.pair(material(at.slots[0]), material(at.slots[1]));
        let closing = -normal.dot(sweep);
        let fast = closing > self.world.params.restitution_threshold;
        let known = before.iter().find(|touch| touch.key == at.key);
        let (push, held) = known.map_or((0.0, Vec3::ZERO), |touch| (touch.push, touch.held));
        BodyRow {
            normal,
            arm,
            sweep,
            turns,
            gap: at.gap,
            mass: 1.0 / per,
            bounce: if fast { pair.restitution * closing } else { 0.0 },
            friction: known.map_or(pair.fixed, |touch| touch.friction),
            fixed: pair.fixed,
            kinetic: pair.kinetic,
            push,
            held: held - normal * normal.dot(held),
            slot: at.key,
            nth: 0,
            other_arm,
            other_turns,
        }
    }
}
