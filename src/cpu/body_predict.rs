//! Turns bodies as their particles turn about the centre (docs/physics.md, section 7).
//! `predict` moved each particle along its velocity, which is off the circle. Its velocity is split:
//! v = v_c + w x r + rest, w = I^-1 L, r seen from the centre. With E = 1 + D the turn by h w', where w'
//! is w half-way (I turned by h w / 2), it goes from r to E r, and the rest is turned along:
//! p += (D - h [w]) r + h D rest. What turning adds to the velocity in the end is left for
//! `body_velocity`. All is computed as what it differs from going straight on, so a body that turns
//! slowly loses nothing to rounding. Where the body comes to lie is its base in this substep. Links
//! forget what they were pushed.
//! Reads: position [m], start [m], velocity [m/s], links, bodies. Writes: body_sums, bodies,
//! predicted, body_pushes. Order: sums by chunks of 64 links, then each body, then each particle
//! over its links; deterministic.

use super::shape::rows::{self, Rows};
use super::shape::{self, BodyState, SUMS};
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Places, World};
use glam::{Vec3, Vec4};

/// Chunks, and bodies, that a worker takes at a time.
const TAKEN: usize = 16;
/// What is added to the inertia, as a share of its trace: what lies in a line can turn about it.
const REGULAR: f32 = 1e-5;
/// Determinants of inertia below this are of what does not turn.
const LEAST: f32 = 1e-30;
/// The largest turn of a substep, rad. Beyond it the rest goes straight on.
const LARGEST: f32 = 2.0;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    scratch.matched.update(world);
    // What is not asked for in this substep has no rows in it.
    scratch.matched.states.iter_mut().for_each(|state| state.rows = 0);
    scratch.matched.pairs.clear();
    let shape::Matched { around, states, chunks, sums, pushes, .. } = &mut scratch.matched;
    let World { bodies, particles, .. } = world;
    let links = &bodies.links;
    let places = Places { position: &particles.position, moved: &particles.start };
    let velocity = &particles.velocity[..];
    let first = |body: &BodyState| links.particle[body.first as usize] as usize;
    team.rows((Shared::new(sums), &chunks[..]), TAKEN, |_, (sums, chunks)| {
        for (sum, &chunk) in sums.iter_mut().zip(chunks) {
            let reference = first(&states[chunk.body as usize]);
            let numbers = shape::summed(chunk, |link| {
                let (slot, m) = (links.particle[link] as usize, links.rest[link].w);
                let r = shape::seen(places, slot, reference);
                let v = velocity[slot].truncate();
                let (mr, mv) = (r * m, v * m);
                let across = Vec3::new(mr.x * r.y, mr.x * r.z, mr.y * r.z);
                let [[a, b, c], [d, e, f], [g, h, i], [j, k, l], [m, n, o]] =
                    [mr, mv, r.cross(mv), mr * r, across].map(|row| row.to_array());
                [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o]
            });
            sum[..numbers.len()].copy_from_slice(&numbers);
        }
    });
    let rows = (Shared::new(states), Shared::new(&mut bodies.rows));
    team.rows(rows, TAKEN, |_, (states, bodies)| {
        for (state, body) in states.iter_mut().zip(bodies) {
            turn(state, &shape::of_body(state, sums), at.h);
            body.turn = Vec4::from(state.turn);
        }
    });
    let links = &bodies.links;
    let first = |body: &BodyState| links.particle[body.first as usize] as usize;
    let pushes = Shared::new(pushes);
    team.rows(Shared::new(&mut particles.predicted), BLOCK, |range, predicted| {
        for (k, i) in range.enumerate() {
            let entries = around.range(i);
            let u = predicted[k];
            if entries.is_empty() {
                continue;
            }
            // SAFETY: the entries of different particles do not overlap, and this worker has this one.
            unsafe { pushes.slice(entries.clone()) }.fill(Vec4::ZERO);
            if u.w == 0.0 {
                continue;
            }
            let mut sum = Vec3::ZERO;
            for entry in entries {
                let (link, body) = around.entry(entry);
                let state = &states[body];
                let r = shape::seen(places, i, first(state)) - state.from;
                let v = velocity[i].truncate() - state.drift;
                let added = rows::times(&state.swing, r) + rows::times(&state.carry, v);
                sum += added * links.share[link];
            }
            predicted[k] = (u.truncate() + sum).extend(u.w);
        }
    });
}

/// How a body turns in a substep.
fn turn(state: &mut BodyState, sums: &[f32; SUMS], h: f32) {
    let [center, drift, spun, along, across] = [0, 3, 6, 9, 12].map(|at| shape::vector(sums, at));
    let mut spun = spun - center.cross(drift);
    let along = along - center * center;
    let across = across - Vec3::new(center.x * center.y, center.x * center.z, center.y * center.z);
    let trace = along.x + along.y + along.z;
    let regular = Vec3::splat(trace + trace * REGULAR);
    // A single particle, or all of them in one place, do not turn.
    let inverse = inverted(regular - along, across);
    let mut w = rows::times(&inverse, spun);
    let angle_sq = w.dot(w) * h * h;
    if angle_sq > LARGEST * LARGEST {
        let less = LARGEST / angle_sq.sqrt();
        (w, spun) = (w * less, spun * less);
    }
    // By how much the angular velocity of this spin is another one, once the body is turned by 1 + D.
    let changed = |d: &Rows| {
        let by_spin = rows::times(&inverse, rows::turned_times(d, spun));
        by_spin + rows::times(d, w + by_spin)
    };
    let half_way = changed(&rows::turn_less_one(rows::turn_by(w * (0.5 * h))));
    let mean = w + half_way;
    let half = mean * (0.5 * h);
    let [sine, cosine] = rows::half_angle(half.dot(half));
    // D / h = [mean] (1 + e) + 2 [v]^2 / h, v the vector part of the quaternion.
    let e = sine + cosine + sine * cosine;
    let v = half * (sine + 1.0);
    let v_sq = v.dot(v);
    let twice = 2.0 / h;
    let squared = [
        v * (v.x * twice) - Vec3::new(v_sq * twice, 0.0, 0.0),
        v * (v.y * twice) - Vec3::new(0.0, v_sq * twice, 0.0),
        v * (v.z * twice) - Vec3::new(0.0, 0.0, v_sq * twice),
    ];
    // D / h less [w].
    let off = rows::sum(&rows::crossing(mean * e + half_way), &squared);
    let spinning = rows::crossing(w);
    let d = rows::scaled(&rows::sum(&off, &spinning), h);
    let end = changed(&d);
    state.carry = rows::scaled(&d, h);
    state.swing = rows::difference(&rows::scaled(&off, h), &rows::product(&state.carry, &spinning));
    let ending = rows::product(&rows::crossing(w + end), &d);
    state.spin = rows::difference(&rows::sum(&ending, &rows::crossing(end)), &off);
    // Particles are balls, not points: so even a line of them answers to a push on its side.
    let whole = inverted(Vec3::splat(trace + state.own) - along, across);
    let turned = rows::sum(&d, &rows::ONE);
    let whole = rows::product_turned(&rows::product(&turned, &whole), &turned);
    state.mobility = rows::scaled(&whole, state.inv_mass);
    state.omega = mean;
    (state.after, state.after_by_place) = (Vec3::ZERO, [Vec3::ZERO; 3]);
    (state.from, state.drift) = (center, drift);
    state.center = center + drift * h;
    state.from_base = rows::of_turn(rows::unit(Vec4::from(state.turn)));
    let q = v.extend(cosine + 1.0);
    let turn = rows::unit(rows::after(q, Vec4::from(state.turn)));
    (state.turn, state.base_turn) = (turn.to_array(), turn.to_array());
    state.base = rows::of_turn(turn);
}

/// The inverse of moments of inertia, given along and across the axes; 0 where there are none.
fn inverted(along: Vec3, across: Vec3) -> Rows {
    let (adjugate, determinant) = rows::adjugate(&rows::symmetric(along, Vec3::ZERO - across));
    let per = if determinant > LEAST { 1.0 / determinant } else { 0.0 };
    rows::scaled(&adjugate, per)
}
