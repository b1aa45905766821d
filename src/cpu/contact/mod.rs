//! What one contact does to two particles: shared by the passes that solve contacts. Formulas are
//! written over one number or eight.

pub(crate) mod block;
pub(crate) mod lift;
pub(crate) mod listed;
pub(crate) mod palette;
pub(crate) mod tiles;

use super::Scratch;
use super::team::Team;
use crate::simd::{Number, Vector};
use crate::world::material::PairRow;
use crate::world::{Held, Solver, World};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Centres closer than this have no direction; the lower slot goes up, the other down.
const MIN_DISTANCE: f32 = 1e-9;
/// The share of its limit from which on friction has given all it can: the contact slides.
const SLIDES: f32 = 0.999;

/// Static and kinetic friction coefficients.
#[derive(Clone, Copy)]
pub(crate) struct Friction<L> {
    pub fixed: L,
    pub kinetic: L,
}

impl Friction<f32> {
    /// As two materials, or a material and an obstacle, have it.
    #[inline(always)]
    pub fn between(row: &PairRow) -> Self {
        Friction { fixed: row.fixed, kinetic: row.kinetic }
    }
    /// The same in every lane.
    #[inline(always)]
    pub fn splat<L: Number>(self) -> Friction<L> {
        Friction { fixed: L::splat(self.fixed), kinetic: L::splat(self.kinetic) }
    }
}

impl<L: Number> Friction<L> {
    /// The coefficient in force when friction first acts: that of sliding where what it must hold,
    /// `size`, is more than static friction can under a push of `pressed` [J 3.39].
    #[inline(always)]
    fn limit(self, size: L, pressed: L) -> L {
        L::select(size.above(self.fixed * pressed), self.kinetic, self.fixed)
    }
    /// What friction holds of what it `wants` to hold under a push of `pressed`, of a contact that is
    /// solved once.
    #[inline(always)]
    pub fn hold(self, wants: Vector<L>, pressed: L) -> Vector<L> {
        let limit = self.limit(wants.length(), pressed);
        at_most(wants, limit * pressed)
    }
}

/// A vector, cut to a length.
#[inline(always)]
fn at_most<L: Number>(v: Vector<L>, most: L) -> Vector<L> {
    let size = v.length();
    v * L::select(size.above(most), most / size, L::splat(1.0))
}

/// What a contact holds while it is solved: see [`Held`].
#[derive(Clone, Copy)]
pub(crate) struct Grip<L> {
    pub pressed: L,
    pub given: Vector<L>,
    pub anchor: Vector<L>,
    pub limit: L,
}

impl From<Held> for Grip<f32> {
    fn from(held: Held) -> Self {
        let Held { pressed, given, anchor, limit, .. } = held;
        Grip { pressed, given: given.into(), anchor: anchor.into(), limit }
    }
}

impl Grip<f32> {
    /// As it is held, at a `floor`, where the first takes a `share` of what is moved.
    pub fn held(self, floor: f32, share: f32) -> Held {
        let Grip { pressed, given, anchor, limit } = self;
        Held { pressed, given: given.into(), anchor: anchor.into(), floor, limit, share }
    }
}

impl<L: Number> Grip<L> {
    /// One more solve along a unit normal, `depth` below the floor and `slip` from the anchor:
    /// changes what is held, and tells the change of the relative position that it asks for.
    ///
    /// What is given is a sum over the substep: a push that was too much is taken back, and the cone
    /// of friction is that of the whole push [J 3.39]. It is kept as a vector, so that it is taken back
    /// the way it was given though the normal has turned: else deep overlap would make energy.
    #[inline(always)]
    pub fn solve(
        &mut self,
        normal: Vector<L>,
        depth: L,
        slip: Vector<L>,
        friction: Friction<L>,
        omega: L,
    ) -> Vector<L> {
        let zero = L::splat(0.0);
        let along = normal.dot(self.given);
        let sum = along + depth * omega;
        let pressed = L::select(sum.above(zero), sum, zero);
        // What was given and what slipped, across the normal.
        let across = self.given - normal * along;
        let slipped = slip - normal * normal.dot(slip);
        let first = friction.limit(slipped.length(), depth);
        let limit = L::select(zero.above(self.limit), first, self.limit);
        let given = normal * pressed + at_most(across - slipped * omega, limit * pressed);
        let push = given - self.given;
        (self.pressed, self.given, self.limit) = (pressed, given, limit);
        push
    }

    /// A substep begins `at` from each other: the contact goes on with the slip that the last one
    /// left over. What slid does not draw the two back all the way: no further than kinetic
    /// friction could move them.
    ///
    /// Whether it slides is settled here, for the whole substep. Were it looked at in every
    /// iteration, a contact whose push is still growing would let go and take hold by turns.
    #[inline(always)]
    pub fn begin(&mut self, normal: Vector<L>, at: Vector<L>, friction: Friction<L>) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        // What was given is the push and, across it, friction: so both squares add up.
        let most = self.limit * L::splat(SLIDES);
        let held_sq = self.pressed * self.pressed * (one + most * most);
        let slides = self.given.length_sq().above(held_sq);
        self.limit = L::select(slides, friction.kinetic, friction.fixed);
        let slip = at - self.anchor;
        let slip = slip - normal * normal.dot(slip);
        self.anchor = at - at_most(slip, friction.kinetic * self.pressed);
        self.pressed = zero;
        self.given = Vector { x: zero, y: zero, z: zero };
    }
}

/// A pair when the substep begins.
#[derive(Clone, Copy)]
pub(crate) struct Began<L> {
    /// From b to a, m.
    pub at: Vector<L>,
    /// Inverse masses.
    pub weights: [L; 2],
    /// The distance of the centres at which they touch, and how far old overlap may be pushed out
    /// in this substep, m.
    pub contact: L,
    pub push_out: L,
}

impl<L: Number> Began<L> {
    /// How much of a correction of the pair a takes; b takes the rest, the other way.
    #[inline(always)]
    pub fn share(&self) -> L {
        self.lifted_share(L::splat(0.0))
    }
    /// The same where a counts as lighter and b as heavier, see [`lift::Lift`].
    #[inline(always)]
    pub fn lifted_share(&self, lift: L) -> L {
        let ([a, b], one) = (self.weights, L::splat(1.0));
        let (a, b) = (a * (one + lift), b * (one - lift));
        let sum = a + b;
        L::select(sum.above(L::splat(0.0)), a / sum, L::splat(0.0))
    }
    /// The distance that is kept in this substep: that of the contact, unless the two were closer
    /// when it began than can be pushed out. Below 0 where both are held (quarantined since the
    /// lists were made): they never touch.
    #[inline(always)]
    pub fn floor(&self) -> L {
        let far = self.at.length() + self.push_out;
        let floor = L::select(self.contact.above(far), far, self.contact);
        let movable = (self.weights[0] + self.weights[1]).above(L::splat(0.0));
        L::select(movable, floor, L::splat(-1.0))
    }
    /// The unit vector from b to a; up where there is none.
    #[inline(always)]
    pub fn normal(&self, lower: L) -> Vector<L> {
        let Line { along, inv, .. } = Line::between(self.at, self.contact, lower);
        along * inv
    }
}

/// Two particles whose centres touch at a distance of `contact`.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<L> {
    /// From b to a, m.
    pub at: Vector<L>,
    pub contact: L,
    /// The distance that is kept in this substep, see [`Began::floor`].
    pub floor: L,
    /// 1 when a has the lower slot, else -1.
    pub lower: L,
}

/// From one centre to the other.
struct Line<L: Number> {
    along: Vector<L>,
    /// One over its length.
    inv: L,
    /// The overlap.
    depth: L,
}

impl<L: Number> Line<L> {
    /// The line between two that are `d` from each other.
    #[inline(always)]
    fn between(d: Vector<L>, contact: L, lower: L) -> Line<L> {
        let distance_sq = d.length_sq();
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let up = Vector { x: zero, y: lower, z: zero };
        let apart = distance_sq.above(L::splat(MIN_DISTANCE * MIN_DISTANCE));
        let along = Vector::select(apart, d, up);
        let length_sq = L::select(apart, distance_sq, one);
        // The root and the quotient are computed side by side, so nothing waits for both in turn.
        let distance = distance_sq.sqrt();
        let inv = L::select(apart, distance * (one / length_sq), one);
        Line { along, inv, depth: contact - distance }
    }
}

impl<L: Number> Meeting<L> {
    /// The line along which a pair is pushed apart that began the substep at `began` from each
    /// other, and that this contact has moved by `given` so far. Where it turned by more than 30
    /// degrees on its way, but for this contact, the two may have passed each other, and a push along
    /// the line between them now would drive them on. They are then pushed back along the line on
    /// which they first touched, or on which they began if they overlapped already: that never gives
    /// them more speed than they had. (After a smaller turn the plain push adds at most 7 % to the
    /// energy of their relative motion.)
    #[inline(always)]
    fn line_from(&self, began: Vector<L>, given: Vector<L>) -> Line<L> {
        let line = Line::between(self.at, self.contact, self.lower);
        let (zero, began_sq) = (L::splat(0.0), began.length_sq());
        let free = self.at - given;
        let (free_sq, least) = (free.length_sq(), L::splat(MIN_DISTANCE * MIN_DISTANCE));
        let meet = (self.contact * self.contact).above(free_sq);
        let free_sq = L::select(free_sq.above(least), free_sq, least);
        let along = free.dot(began);
        // cos² 30° = 3/4
        let turned = (L::splat(0.75) * (free_sq * began_sq)).above(along * along.abs());
        if !L::any(L::both(turned, meet)) {
            return line;
        }
        let way = free - began;
        let (a, b, c) = (way.length_sq(), began.dot(way), began_sq - self.contact * self.contact);
        let under = b * b - a * c;
        let root = L::select(under.above(zero), under, zero).sqrt();
        let time = L::select(c.above(zero), (-b - root) / a, zero);
        let first = began + way * time;
        let length_sq = first.length_sq();
        let swept = L::both(turned, meet);
        let swept = L::both(swept, length_sq.above(L::splat(MIN_DISTANCE * MIN_DISTANCE)));
        let inv = length_sq.sqrt() * (L::splat(1.0) / length_sq);
        let depth = self.contact - first.dot(self.at) * inv;
        Line {
            along: Vector::select(swept, first, line.along),
            inv: L::select(swept, inv, line.inv),
            depth: L::select(swept, depth, line.depth),
        }
    }

    /// One more solve of a pair: how far its relative position must be corrected, to be shared by
    /// the inverse masses. Nothing where the two neither touch nor press on each other, or where one
    /// is nowhere.
    #[inline(always)]
    pub fn solve(&self, grip: &mut Grip<L>, friction: Friction<L>, omega: L) -> Vector<L> {
        let zero = L::splat(0.0);
        let line = self.line_from(grip.anchor, grip.given);
        let depth = line.depth - (self.contact - self.floor);
        let acts = L::either(depth.above(zero), grip.pressed.above(zero));
        // Not for NaN either, nor where the two have not touched: nothing is known of them.
        let acts = L::both(acts, L::splat(f32::MAX).above(depth.abs()));
        let acts = L::both(acts, grip.pressed.above(L::splat(Held::APART / 2.0)));
        let mut next = *grip;
        let push = next.solve(line.along * line.inv, depth, self.at - grip.anchor, friction, omega);
        grip.pressed = L::select(acts, next.pressed, grip.pressed);
        grip.given = Vector::select(acts, next.given, grip.given);
        grip.limit = L::select(acts, next.limit, grip.limit);
        Vector::select(acts, push, Vector { x: zero, y: zero, z: zero })
    }
}

/// Pairs that touch at the end of the step.
pub(crate) fn count_touching(team: &Team, world: &World, scratch: &Scratch) -> usize {
    if world.params.solver == Solver::Colored {
        return scratch.contact_rows.count_touching(team, &world.particles.start);
    }
    let at = world.particles.now();
    let total = AtomicUsize::new(0);
    team.blocks(at.len(), super::team::BLOCK, |_, range| {
        let count: usize = range
            .map(|i| {
                let touches = |n: &&super::search::neighbors::Neighbor| {
                    let d = at.between(i, n.slot as usize);
                    n.slot as usize > i && d.length_squared() < n.contact * n.contact
                };
                scratch.neighbors.of(i).iter().filter(touches).count()
            })
            .sum();
        total.fetch_add(count, Relaxed);
    });
    total.into_inner()
}

/// Environment planes that are touched at the end of the step.
pub(crate) fn count_environment(world: &World, scratch: &Scratch) -> usize {
    let p = &world.particles;
    let beside = scratch.beside.iter();
    beside
        .map(|&i| {
            let i = i as usize;
            // Touching exactly is the rule after a solve, so allow for rounding.
            let reach = p.radius[i] * 1.001;
            let at = p.start[i].truncate();
            let touches = |c: &&super::EnvironmentContact| c.plane.dot(at.extend(1.0)) < reach;
            scratch.environment.of(i).iter().filter(touches).count()
        })
        .sum()
}
