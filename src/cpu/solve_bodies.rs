//! Finds the impulses of obstacles on rigid bodies, with friction and bounces (docs/physics.md, section
//! 7): soft contacts, solved from the impulses of the substep before [Catto 2024].
//! A row pushes by P >= 0 along its normal n: P' = max(P - a m (v + beta) - b P, 0) with v = n.u, u the
//! velocity of the place, and m the mass that it feels. Apart by s > 0: beta = s / h, a = 1, b = 0.
//! Overlapping: beta = max(s omega / (2 z + h omega), -push_out), a = k / (1 + k), b = 1 / (1 + k),
//! k = h omega (2 z + h omega). Friction holds u across n, up to mu P.
//! Rounds of four sweeps along the normals and one of friction decide how the body moves. The same
//! without beta takes back what was only to undo old overlap, and what closed fast parts at the speed `bounce`.
//! Reads: environment contacts, bodies, impulse_rows. Writes: bodies, impulse_rows, and what the contacts
//! hold. Order: each body alone, its rows in turn from both ends; deterministic.

use super::collide_environment::EnvironmentContact;
use super::shape::body_row::BodyRow;
use super::shape::{self, BodyState, rows};
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Params, World};
use glam::{Vec3, Vec4};
use std::f32::consts::TAU;

/// Bodies that a worker takes at a time.
const TAKEN: usize = 4;
/// Sweeps along the normals in a round.
const SWEEPS: usize = 4;
/// Rounds of sweeps along the normals and one of friction.
const ROUNDS: usize = 3;
/// The stiffness of overlap as a frequency, Hz, and as a share of the frequency of substeps.
const HERTZ: f32 = 30.0;
const SHARE: f32 = 0.25;
/// How much its swinging is damped, 1 for critically.
const DAMPING: f32 = 10.0;
/// What moves faster than this on an obstacle slides, m/s.
const SLIDES: f32 = 1e-3;
/// The largest turn that an impulse gives in a substep, rad.
const LARGEST: f32 = 2.0;

/// How rows answer to overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softness {
    /// The speed for each metre, 1/s, and the largest, m/s.
    pub rate: f32,
    pub push_out: f32,
    /// The factors of what is asked for, and of what was given.
    pub take: f32,
    pub ease: f32,
}

impl Softness {
    pub fn of(params: &Params, h: f32) -> Self {
        let omega = TAU * HERTZ.min(SHARE / h);
        let stiff = 2.0 * DAMPING + h * omega;
        let k = h * omega * stiff;
        let ease = 1.0 / (1.0 + k);
        Softness { rate: omega / stiff, push_out: params.push_out, take: k * ease, ease }
    }
}

/// What impulses change of the velocity of a body, and of its angular velocity.
#[derive(Clone, Copy, Default)]
struct Change {
    v: Vec3,
    w: Vec3,
}

/// What the rows of a body act on.
struct Solve<'a> {
    state: &'a BodyState,
    rows: &'a mut [BodyRow],
    change: Change,
}

impl Solve<'_> {
    /// An impulse at an arm.
    fn push(&mut self, arm: Vec3, impulse: Vec3) {
        self.change.v += impulse * self.state.inv_mass;
        self.change.w += rows::times(&self.state.mobility, arm.cross(impulse));
    }

    /// How fast the place of a row moves on the obstacle.
    fn velocity(&self, row: &BodyRow) -> Vec3 {
        row.sweep + (self.change.v + self.change.w.cross(row.arm))
    }

    /// The same across the normal.
    fn slip(&self, row: &BodyRow) -> Vec3 {
        let u = self.velocity(row);
        u - row.normal * row.normal.dot(u)
    }

    /// What the substep before ended with.
    fn begin(&mut self) {
        for k in 0..self.rows.len() {
            let row = self.rows[k];
            self.push(row.arm, row.normal * row.push + row.held);
        }
    }

    /// Sweeps over the normals; `law` gives beta, a and b of a row.
    fn press(&mut self, law: impl Fn(&BodyRow) -> [f32; 3]) {
        let count = self.rows.len();
        for _ in 0..SWEEPS {
            for k in 0..count {
                // From both ends: rows that follow each other lie far from each other.
                let k = if k % 2 == 0 { k / 2 } else { count - 1 - k / 2 };
                let row = self.rows[k];
                let [beta, take, ease] = law(&row);
                let speed = row.normal.dot(self.velocity(&row));
                let sum = (row.push - (speed + beta) * (row.mass * take)) - row.push * ease;
                let push = if sum > 0.0 { sum } else { 0.0 };
                let more = push - row.push;
                self.change.v += row.normal * (more * self.state.inv_mass);
                self.change.w += row.turns * more;
                self.rows[k].push = push;
            }
        }
    }

    /// A sweep of friction.
    fn rub(&mut self) {
        let count = self.rows.len();
        for k in 0..count {
            let k = if k % 2 == 0 { k / 2 } else { count - 1 - k / 2 };
            let row = self.rows[k];
            let slip = self.slip(&row);
            let slip_sq = slip.dot(slip);
            let lever = row.arm.cross(slip);
            let per =
                self.state.inv_mass * slip_sq + lever.dot(rows::times(&self.state.mobility, lever));
            let stop = if per > 0.0 { slip_sq / per } else { 0.0 };
            let wanted = row.held - slip * stop;
            let size = wanted.length();
            let most = row.friction * row.push;
            let held = if size > most { wanted * (most / size) } else { wanted };
            self.push(row.arm, held - row.held);
            self.rows[k].held = held;
        }
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { matched, environment, .. } = scratch;
    let shape::Matched { states, rows, .. } = matched;
    let softness = Softness::of(&world.params, at.h);
    let threshold = world.params.restitution_threshold;
    let (places, contacts) = environment.parts_mut();
    let (contacts, rows) = (Shared::new(contacts), Shared::new(&mut rows[..]));
    let bodies = (Shared::new(&mut states[..]), Shared::new(&mut world.bodies.rows));
    team.rows(bodies, TAKEN, |_, (states, bodies)| {
        for (state, body) in states.iter_mut().zip(bodies) {
            if state.inv_mass == 0.0 {
                continue;
            }
            let first = state.first_row as usize;
            // SAFETY: the rows of different bodies do not overlap.
            let rows = unsafe { rows.slice(first..first + state.rows as usize) };
            solve(state, rows, softness, at.h);
            body.turn = Vec4::from(state.turn);
            for row in rows {
                let at = places.range(row.slot as usize).start + row.nth as usize;
                // SAFETY: each contact is that of one row, and in bounds: the row was made from it.
                let contact: &mut EnvironmentContact = unsafe { contacts.at(at) };
                // An impact is over: what follows does not begin with its impulse.
                let goes_on = -row.normal.dot(row.sweep) <= threshold;
                let kept = if goes_on { (row.push, row.held) } else { (0.0, Vec3::ZERO) };
                (contact.held.pressed, contact.held.given) = kept;
                contact.held.limit = row.friction;
            }
        }
    });
}

/// The impulses on a body, and what follows from them.
fn solve(state: &mut BodyState, rows: &mut [BodyRow], softness: Softness, h: f32) {
    (state.goal, state.shift) = ([Vec3::ZERO; 3], Vec3::ZERO);
    if rows.is_empty() {
        return;
    }
    let inv_h = 1.0 / h;
    let mut solve = Solve { state, rows, change: Change::default() };
    solve.begin();
    for _ in 0..ROUNDS {
        solve.press(|row| match row.gap > 0.0 {
            true => [row.gap * inv_h, 1.0, 0.0],
            false => {
                let speed = row.gap * softness.rate;
                let least = -softness.push_out;
                let beta = if speed > least { speed } else { least };
                [beta, softness.take, softness.ease]
            }
        });
        solve.rub();
    }
    let moves = solve.change;
    for k in 0..solve.rows.len() {
        let row = solve.rows[k];
        let end = row.gap + row.normal.dot(solve.velocity(&row)) * h;
        solve.rows[k].gap = if row.gap > 0.0 && end > 0.0 { end } else { 0.0 };
    }
    for _ in 0..ROUNDS {
        solve.press(|row| [row.gap * inv_h, 1.0, 0.0]);
        solve.rub();
    }
    for k in 0..solve.rows.len() {
        let row = solve.rows[k];
        let slides = solve.slip(&row).length() > SLIDES;
        solve.rows[k].friction = if slides { row.kinetic } else { row.fixed };
    }
    for _ in 0..ROUNDS {
        // What does not bounce, or never touched, is left as it is: all of it was given.
        solve.press(|row| match row.bounce > 0.0 && row.push > 0.0 {
            true => [-row.bounce, 1.0, 0.0],
            false => [0.0, 0.0, 0.0],
        });
    }
    place(state, moves, solve.change, h);
}

/// Where the impulses move the particles, and what they add to their velocities beyond that.
fn place(state: &mut BodyState, moves: Change, ends: Change, h: f32) {
    let finite = [moves.v, moves.w, ends.v, ends.w].iter().all(|v| v.is_finite());
    let (mut moves, ends) = if finite { (moves, ends) } else { Default::default() };
    let angle_sq = moves.w.dot(moves.w) * h * h;
    if angle_sq > LARGEST * LARGEST {
        moves.w *= LARGEST / angle_sq.sqrt();
    }
    let by = rows::turn_by(moves.w * h);
    let turned = rows::turn_less_one(by);
    (state.goal, state.shift) = (turned, moves.v * h);
    let whole = rows::sum(&turned, &rows::ONE);
    let spinning = rows::product(&rows::crossing(ends.w), &whole);
    state.after = ends.v - moves.v;
    state.after_by_place = rows::difference(&spinning, &rows::scaled(&turned, 1.0 / h));
    state.turn = rows::unit(rows::after(by, Vec4::from(state.turn))).to_array();
}
