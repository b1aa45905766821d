//! Finds which rigid bodies are near each other (docs/physics.md, section 7): boxes around them, as
//! they are where the substep begins, and as far beyond as they may come in it.
//! Reads: position [m], links, bodies, body_fields. Writes: body_pairs.
//! Order: pairs in the order of their bodies, whatever finds them; deterministic.

use super::shape::pair::BodyPair;
use super::shape::{self, BodyState};
use super::{Moment, Scratch};
use crate::world::{BodyField, World};
use glam::Vec3;

/// How near bodies are looked at, as a share of a radius, however slow they are; and how far at most.
pub(crate) const NEAR: f32 = 0.4;
pub(crate) const FAR: f32 = 4.0;

/// How fast any place of a body may move from its centre of mass, m/s.
pub(crate) fn turning(state: &BodyState, field: &BodyField) -> f32 {
    state.omega.dot(state.omega).sqrt() * field.extent
}

/// How far apart two that close at a speed are looked at, m.
pub(crate) fn reach(speed: f32, radius: f32, h: f32) -> f32 {
    let (way, near, far) = (2.0 * speed * h, NEAR * radius, FAR * radius);
    let way = if way < far { way } else { far };
    if way > near { way } else { near }
}

/// The box around a body.
fn around(state: &BodyState, field: &BodyField, origin: Vec3, h: f32) -> [Vec3; 2] {
    let middle = (origin + state.from) + shape::rows::times(&state.from_base, field.middle);
    let half = state.from_base.map(|row| row.abs().dot(field.half));
    let speed = state.drift.dot(state.drift).sqrt() + turning(state, field);
    let half = Vec3::from_array(half) + Vec3::splat(reach(speed, field.radius, h));
    [middle - half, middle + half]
}

pub(crate) fn run(world: &World, scratch: &mut Scratch, at: &Moment) {
    let shape::Matched { states, pairs, boxes, .. } = &mut scratch.matched;
    let (links, position) = (&world.bodies.links, &world.particles.position);
    boxes.clear();
    for (number, (state, body)) in states.iter().zip(&world.bodies.rows).enumerate() {
        if let Some(field) = body.field.0.as_ref().filter(|_| state.inv_mass > 0.0) {
            let origin = position[links.particle[body.first as usize] as usize].truncate();
            boxes.push((number as u32, around(state, field, origin, at.h)));
        }
    }
    // From left to right: who begins beyond the end of a body meets it no more.
    boxes.sort_unstable_by(|(a, [p, _]), (b, [q, _])| p.x.total_cmp(&q.x).then(a.cmp(b)));
    pairs.clear();
    for (k, (a, [low, high])) in boxes.iter().enumerate() {
        for (b, [other_low, other_high]) in &boxes[k + 1..] {
            if other_low.x > high.x {
                break;
            }
            let apart = other_low.cmpgt(*high) | low.cmpgt(*other_high);
            if !apart.any() {
                let bodies = if a < b { [*a, *b] } else { [*b, *a] };
                pairs.push(BodyPair { bodies, ..BodyPair::default() });
            }
        }
    }
    pairs.sort_unstable_by_key(|pair| pair.bodies);
}
