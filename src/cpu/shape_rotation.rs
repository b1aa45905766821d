//! Finds how each body is turned, and the goals that follow (docs/physics.md, section 7).
//! With B = sum m f s^T, s = R q, and S = sum m s s^T the body is turned since the base by the
//! rotation D that comes nearest to S + B. The goal of a particle is, from where the base has it,
//! (D - 1) s + mean f, or with a stretch b the same with b A' + (1 - b) D for D, where
//! A' = (S + B) S^-1 less its change of volume.
//! Reads: body_sums, bodies. Writes: bodies. Order: each body alone; deterministic.

use super::Scratch;
use super::shape::rows::{self, Rows};
use super::shape::{self, BodyState, SUMS, rotation::rotation};
use super::team::{Shared, Team};
use crate::world::{RotationMethod, World};
use glam::{Vec3, Vec4};

/// Bodies that a worker takes at a time.
const TAKEN: usize = 8;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let shape::Matched { states, sums, .. } = &mut scratch.matched;
    let method = world.params.rotation;
    let rows = (Shared::new(states), Shared::new(&mut world.bodies.rows));
    team.rows(rows, TAKEN, |_, (states, bodies)| {
        for (state, body) in states.iter_mut().zip(bodies) {
            turn(state, &shape::of_body(state, sums), method);
            body.turn = Vec4::from(state.turn);
        }
    });
}

/// The turn of a body, and the goals.
fn turn(state: &mut BodyState, sums: &[f32; SUMS], method: RotationMethod) {
    let base = state.base;
    let based = |m: &[Vec3; 2]| {
        let rest = rows::symmetric(m[0], m[1]);
        rows::product_turned(&rows::product(&base, &rest), &base)
    };
    let by_place = [3, 6, 9].map(|at| shape::vector(sums, at) * state.scale);
    let b = rows::product_turned(&by_place, &base);
    let s = based(&state.moments);
    // The base is near.
    let (since, _) = rotation(method, &s, &b, Vec4::W);
    state.turn = rows::unit(rows::after(since, Vec4::from(state.base_turn))).to_array();
    let less_one = rows::turn_less_one(since);
    state.shift = shape::vector(sums, 0);
    state.goal = match state.stretch > 0.0 {
        true => {
            // Across what is thin there is no stretch: it turns along.
            let inverse = based(&state.inverse);
            let thin = rows::difference(&rows::ONE, &rows::product(&s, &inverse));
            let turned = rows::product(&less_one, &thin);
            let kept = kept_volume(&rows::sum(&rows::product(&b, &inverse), &turned));
            let rigid = rows::scaled(&less_one, 1.0 - state.stretch);
            rows::sum(&rows::scaled(&kept, state.stretch), &rigid)
        }
        false => less_one,
    };
}

/// (1 + g) / k - 1, where k is the cube root of the determinant of 1 + g, at most two. What is pressed
/// flat or turned inside out has no volume to keep: k is 1 then.
fn kept_volume(g: &Rows) -> Rows {
    let m = rows::sum(g, &rows::ONE);
    let determinant = m[0].dot(m[1].cross(m[2]));
    let clamped = if determinant > 8.0 {
        8.0
    } else if determinant > 0.125 {
        determinant
    } else {
        1.0
    };
    // Newton's method; from 1 six rounds are enough between a half and two.
    let mut k = 1.0f32;
    for _ in 0..6 {
        k = (k + k + clamped / (k * k)) * (1.0 / 3.0);
    }
    let inverse = 1.0 / k;
    let less = inverse - 1.0;
    let scaled = rows::scaled(g, inverse);
    [
        scaled[0] + Vec3::new(less, 0.0, 0.0),
        scaled[1] + Vec3::new(0.0, less, 0.0),
        scaled[2] + Vec3::new(0.0, 0.0, less),
    ]
}
