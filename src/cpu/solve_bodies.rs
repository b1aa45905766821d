//! Finds the impulses of obstacles and of each other on rigid bodies, with friction and bounces
//! (docs/physics.md, section 7): soft contacts, solved from the impulses of the substep before [Catto 2024].
//! A row pushes by P >= 0 along its normal n: P' = max(P - a m (v + beta) - b P, 0) with v = n.u, u the
//! velocity of the place, and m the mass that it feels. Apart by s > 0: beta = s / h, a = 1, b = 0.
//! Overlapping: beta = max(s omega / (2 z + h omega), -push_out), a = k / (1 + k), b = 1 / (1 + k),
//! k = h omega (2 z + h omega). Friction holds u across n, up to mu P.
//! Rounds of four sweeps along the normals and one of friction decide how the body moves. The same
//! without beta takes back what was only to undo old overlap, and what closed fast parts at the speed `bounce`.
//! Reads: environment contacts, bodies, impulse_rows, body_pairs, pair_rows. Writes: bodies, impulse_rows,
//! pair_rows, touches, and what the contacts hold. Order: first each body with its obstacles, then pairs,
//! colour by colour; rows in turn from both ends; deterministic.

use super::collide_environment::EnvironmentContact;
use super::search::lists::Lists;
use super::shape::body_row::BodyRow;
use super::shape::pair::{BodyPair, ROOM};
use super::shape::rows::Rows;
use super::shape::{self, BodyState, rows};
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Params, Pressing, Touch, Touches, World};
use glam::{Vec3, Vec4};
use std::f32::consts::TAU;
use std::ops::Range;

/// Bodies that a worker takes at a time.
const TAKEN: usize = 4;
/// Sweeps along the normals in a round.
const SWEEPS: usize = 4;
/// Rounds of sweeps along the normals and one of friction.
pub(crate) const ROUNDS: usize = 3;
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Change {
    v: Vec3,
    w: Vec3,
}

/// A body with its obstacles, or two bodies: whose rows are swept together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The second is [`Item::OBSTACLE`] where it is not a body.
    bodies: [u32; 2],
    first: u32,
    count: u32,
}

impl Item {
    const OBSTACLE: u32 = u32::MAX;
}

/// How easily impulses move a body, and turn it; an obstacle not at all.
#[derive(Clone, Copy, Default)]
struct Ease {
    inv_mass: f32,
    mobility: Rows,
}

impl Ease {
    fn of(state: &BodyState) -> Self {
        Ease { inv_mass: state.inv_mass, mobility: state.mobility }
    }
}

/// What the rows of an item act on.
struct Solve<'a> {
    bodies: [Ease; 2],
    rows: &'a mut [BodyRow],
    changes: [Change; 2],
}

impl Solve<'_> {
    /// An impulse at both arms of a row, on the second body the other way.
    fn push(&mut self, row: &BodyRow, impulse: Vec3) {
        let [a, b] = &mut self.changes;
        a.v += impulse * self.bodies[0].inv_mass;
        a.w += rows::times(&self.bodies[0].mobility, row.arm.cross(impulse));
        b.v -= impulse * self.bodies[1].inv_mass;
        b.w -= rows::times(&self.bodies[1].mobility, row.other_arm.cross(impulse));
    }

    /// How fast the place of a row moves on the obstacle or on the other body.
    fn velocity(&self, row: &BodyRow) -> Vec3 {
        let [a, b] = &self.changes;
        row.sweep + ((a.v + a.w.cross(row.arm)) - (b.v + b.w.cross(row.other_arm)))
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
            self.push(&row, row.normal * row.push + row.held);
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
                let [a, b] = &mut self.changes;
                a.v += row.normal * (more * self.bodies[0].inv_mass);
                a.w += row.turns * more;
                b.v -= row.normal * (more * self.bodies[1].inv_mass);
                b.w -= row.other_turns * more;
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
            let per = |body: &Ease, arm: Vec3| {
                let lever = arm.cross(slip);
                body.inv_mass * slip_sq + lever.dot(rows::times(&body.mobility, lever))
            };
            let per = per(&self.bodies[0], row.arm) + per(&self.bodies[1], row.other_arm);
            let stop = if per > 0.0 { slip_sq / per } else { 0.0 };
            let wanted = row.held - slip * stop;
            let size = wanted.length();
            let most = row.friction * row.push;
            let held = if size > most { wanted * (most / size) } else { wanted };
            self.push(&row, held - row.held);
            self.rows[k].held = held;
        }
    }
}

/// Every item, colour by colour.
struct Items<'a> {
    items: &'a [Item],
    colors: &'a [Range<usize>],
    states: &'a [BodyState],
    changes: Shared<'a, Change>,
    /// Rows with obstacles, and those of pairs.
    walls: Shared<'a, BodyRow>,
    pairs: Shared<'a, BodyRow>,
}

impl Items<'_> {
    /// Does something with all of them.
    fn each(&self, team: &Team, act: impl Fn(&mut Solve) + Sync) {
        for range in self.colors {
            team.rows(&self.items[range.clone()], TAKEN, |_, items| {
                for item in items {
                    self.with(item, &act);
                }
            });
        }
    }

    fn with(&self, item: &Item, act: &impl Fn(&mut Solve)) {
        let [a, b] = item.bodies.map(|number| number as usize);
        let range = item.first as usize..(item.first + item.count) as usize;
        let alone = item.bodies[1] == Item::OBSTACLE;
        // SAFETY: items of one colour share neither bodies nor rows.
        let (rows, first) = unsafe {
            let rows = if alone { self.walls.slice(range) } else { self.pairs.slice(range) };
            (rows, self.changes.at(a))
        };
        // SAFETY: as above, and `a` is another body.
        let second = (!alone).then(|| unsafe { self.changes.at(b) });
        let other = if alone { Ease::default() } else { Ease::of(&self.states[b]) };
        let changes = [*first, second.as_deref().copied().unwrap_or_default()];
        let mut solve = Solve { bodies: [Ease::of(&self.states[a]), other], rows, changes };
        act(&mut solve);
        *first = solve.changes[0];
        if let Some(second) = second {
            *second = solve.changes[1];
        }
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { matched, environment, .. } = scratch;
    list(matched);
    let shape::Matched { states, rows, pairs, pair_rows, items, colors, changes, moves, .. } =
        matched;
    let softness = Softness::of(&world.params, at.h);
    let threshold = world.params.restitution_threshold;
    let inv_h = 1.0 / at.h;
    changes.clear();
    changes.resize(states.len(), Change::default());
    let all = Items {
        items,
        colors,
        states,
        changes: Shared::new(&mut changes[..]),
        walls: Shared::new(&mut rows[..]),
        pairs: Shared::new(&mut pair_rows[..]),
    };
    all.each(team, |solve| solve.begin());
    for _ in 0..ROUNDS {
        all.each(team, |solve| {
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
        });
    }
    all.each(team, |solve| {
        for k in 0..solve.rows.len() {
            let row = solve.rows[k];
            let end = row.gap + row.normal.dot(solve.velocity(&row)) * at.h;
            solve.rows[k].gap = if row.gap > 0.0 && end > 0.0 { end } else { 0.0 };
        }
    });
    moves.clear();
    // SAFETY: nobody else is at work now.
    moves.extend_from_slice(unsafe { all.changes.slice(0..states.len()) });
    for _ in 0..ROUNDS {
        all.each(team, |solve| {
            solve.press(|row| [row.gap * inv_h, 1.0, 0.0]);
            solve.rub();
        });
    }
    all.each(team, |solve| {
        for k in 0..solve.rows.len() {
            let row = solve.rows[k];
            let slides = solve.slip(&row).length() > SLIDES;
            solve.rows[k].friction = if slides { row.kinetic } else { row.fixed };
        }
    });
    for _ in 0..ROUNDS {
        // What does not bounce, or never touched, is left as it is: all of it was given.
        all.each(team, |solve| {
            solve.press(|row| match row.bounce > 0.0 && row.push > 0.0 {
                true => [-row.bounce, 1.0, 0.0],
                false => [0.0, 0.0, 0.0],
            });
        });
    }
    remember_walls(rows, environment, threshold);
    remember_pairs(&mut world.bodies.touches, states, pairs, pair_rows, threshold);
    let bodies = (Shared::new(&mut states[..]), Shared::new(&mut world.bodies.rows));
    let ways = (&moves[..], &changes[..]);
    team.rows((bodies, ways), TAKEN, |_, ((states, bodies), (moves, changes))| {
        let ways = moves.iter().zip(changes);
        for ((state, body), (moves, ends)) in states.iter_mut().zip(bodies).zip(ways) {
            if state.inv_mass > 0.0 {
                place(state, *moves, *ends, at.h);
                body.turn = Vec4::from(state.turn);
            }
        }
    });
}

/// Lists the items: each body with its obstacles first, then pairs, colour by colour.
fn list(matched: &mut shape::Matched) {
    let shape::Matched { states, pairs, items, colors, .. } = matched;
    items.clear();
    colors.clear();
    for (number, state) in states.iter().enumerate().filter(|(_, state)| state.rows > 0) {
        let bodies = [number as u32, Item::OBSTACLE];
        items.push(Item { bodies, first: state.first_row, count: state.rows });
    }
    colors.push(0..items.len());
    let last = pairs.iter().filter(|pair| pair.rows > 0).map(|pair| pair.color + 1).max();
    for color in 0..last.unwrap_or(0) {
        let first = items.len();
        for (number, pair) in pairs.iter().enumerate() {
            if pair.rows > 0 && pair.color == color {
                let first = (number * ROOM) as u32;
                items.push(Item { bodies: pair.bodies, first, count: pair.rows });
            }
        }
        colors.push(first..items.len());
    }
}

/// An impact is over: what follows does not begin with its impulse.
fn goes_on(row: &BodyRow, threshold: f32) -> bool {
    -row.normal.dot(row.sweep) <= threshold
}

/// Contacts with obstacles are told what they hold.
fn remember_walls(rows: &[BodyRow], contacts: &mut Lists<EnvironmentContact>, threshold: f32) {
    let (places, contacts) = contacts.parts_mut();
    for row in rows {
        let at = places.range(row.slot as usize).start + row.nth as usize;
        let held = &mut contacts[at].held;
        let kept = if goes_on(row, threshold) { (row.push, row.held) } else { (0.0, Vec3::ZERO) };
        (held.pressed, held.given) = kept;
        held.limit = row.friction;
    }
}

/// The world is told where bodies press on each other.
fn remember_pairs(
    touches: &mut Touches,
    states: &[BodyState],
    pairs: &[BodyPair],
    rows: &[BodyRow],
    threshold: f32,
) {
    touches.clear();
    for (number, pair) in pairs.iter().enumerate() {
        let first = touches.rows.len();
        let base = &states[pair.bodies[0] as usize].base;
        for row in &rows[number * ROOM..][..pair.rows as usize] {
            if row.push > 0.0
                && row.push.is_finite()
                && row.held.is_finite()
                && goes_on(row, threshold)
            {
                touches.rows.push(Touch {
                    key: row.slot,
                    push: row.push,
                    held: row.held,
                    friction: row.friction,
                    normal: row.normal,
                    place: rows::turned_times(base, row.arm),
                });
            }
        }
        let count = (touches.rows.len() - first) as u32;
        if count > 0 {
            touches.pairs.push(Pressing { bodies: pair.bodies, first: first as u32, count });
        }
    }
}

/// Where the impulses move the particles, and what they add to their velocities beyond that.
fn place(state: &mut BodyState, moves: Change, ends: Change, h: f32) {
    (state.goal, state.shift) = ([Vec3::ZERO; 3], Vec3::ZERO);
    if (moves, ends) == (Change::default(), Change::default()) {
        return;
    }
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
