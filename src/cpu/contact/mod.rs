//! What one contact does to two particles: shared by the passes that solve contacts. Formulas are
//! written over one number or eight.

pub(crate) mod block;
pub(crate) mod tiles;

use super::Scratch;
use super::team::Team;
use crate::simd::{Number, Vector};
use crate::world::material::PairRow;
use crate::world::{Solver, World};
use glam::Vec4;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Centres closer than this have no direction; the lower slot goes up, the other down.
const MIN_DISTANCE: f32 = 1e-9;

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
    /// What to take off the tangential displacement `t` under an overlap of `depth` [J 3.39]: all of
    /// it below what static friction holds, else what kinetic friction takes.
    #[inline(always)]
    pub fn of(self, t: Vector<L>, depth: L) -> Vector<L> {
        let (slip, one) = (t.length(), L::splat(1.0));
        let kinetic = self.kinetic * depth;
        let share = L::select(slip.above(kinetic), kinetic / slip, one);
        t * L::select((self.fixed * depth).above(slip), one, share)
    }
}

/// A particle as a contact sees it.
#[derive(Clone, Copy)]
pub(crate) struct Party<L> {
    /// Where it is, and where the substep began.
    pub at: Vector<L>,
    pub start: Vector<L>,
    /// Inverse mass, scaled.
    pub weight: L,
}

/// Two particles whose centres touch at a distance of `contact`.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<L> {
    pub a: Party<L>,
    pub b: Party<L>,
    pub contact: L,
    /// 1 when a has the lower slot, else -1.
    pub lower: L,
}

/// From one centre to the other.
struct Line<L: Number> {
    along: Vector<L>,
    /// Its length squared, one over its length, and that squared.
    length_sq: L,
    inv: L,
    inv_sq: L,
    /// The overlap, and whether there is any.
    depth: L,
    touching: L::Mask,
}

impl<L: Number> Meeting<L> {
    /// The line from b to a along which they are pushed apart.
    #[inline(always)]
    fn line(&self) -> Line<L> {
        let d = self.a.at - self.b.at;
        let distance_sq = d.length_sq();
        // Not for NaN either.
        let touching = (self.contact * self.contact).above(distance_sq);
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let up = Vector { x: zero, y: self.lower, z: zero };
        let apart = distance_sq.above(L::splat(MIN_DISTANCE * MIN_DISTANCE));
        let along = Vector::select(apart, d, up);
        let length_sq = L::select(apart, distance_sq, one);
        let inv_sq = one / length_sq;
        // The root and the quotient are computed side by side, so nothing waits for both in turn.
        let distance = distance_sq.sqrt();
        let depth = self.contact - distance;
        let inv = L::select(apart, distance * inv_sq, one);
        Line { along, length_sq, inv, inv_sq, depth, touching }
    }

    /// The line along which a pair is pushed apart that began the substep at `began` from each
    /// other. Where it turned by more than 30 degrees on its way, the two may have passed each other,
    /// and a push along the line between them now would drive them on. They are then pushed back
    /// along the line on which they first touched, or on which they began if they overlapped already:
    /// that never gives them more speed than they had. (After a smaller turn the plain push adds at
    /// most 7 % to the energy of their relative motion.)
    #[inline(always)]
    fn line_from(&self, began: Vector<L>) -> Line<L> {
        let line = self.line();
        let (zero, began_sq) = (L::splat(0.0), began.length_sq());
        let along = line.along.dot(began);
        // cos² 30° = 3/4
        let turned = (L::splat(0.75) * (line.length_sq * began_sq)).above(along * along.abs());
        if !L::any(L::both(turned, line.touching)) {
            return line;
        }
        let now = self.a.at - self.b.at;
        let way = now - began;
        let (a, b, c) = (way.length_sq(), began.dot(way), began_sq - self.contact * self.contact);
        let under = b * b - a * c;
        let root = L::select(under.above(zero), under, zero).sqrt();
        let time = L::select(c.above(zero), (-b - root) / a, zero);
        let first = began + way * time;
        let length_sq = first.length_sq();
        let swept = L::both(turned, length_sq.above(L::splat(MIN_DISTANCE * MIN_DISTANCE)));
        let inv_sq = L::splat(1.0) / length_sq;
        let inv = length_sq.sqrt() * inv_sq;
        let depth = self.contact - first.dot(now) * inv;
        Line {
            along: Vector::select(swept, first, line.along),
            length_sq: L::select(swept, length_sq, line.length_sq),
            inv: L::select(swept, inv, line.inv),
            inv_sq: L::select(swept, inv_sq, line.inv_sq),
            depth: L::select(swept, depth, line.depth),
            touching: line.touching,
        }
    }

    /// How far the pair's relative move must be corrected, to be shared by the inverse masses: the
    /// overlap along the normal, less friction against the tangential slip of this substep.
    #[inline(always)]
    pub fn with_friction(&self, friction: Friction<L>) -> (Vector<L>, L::Mask) {
        let line = self.line_from(self.a.start - self.b.start);
        let Line { along, inv, inv_sq, depth, touching, .. } = line;
        let slip = (self.a.at - self.a.start) - (self.b.at - self.b.start);
        let tangential = slip - along * (along.dot(slip) * inv_sq);
        (along * (depth * inv) - friction.of(tangential, depth), touching)
    }

    /// The overlap alone.
    #[inline(always)]
    pub fn without_friction(&self) -> (Vector<L>, L::Mask) {
        let Line { along, inv, depth, touching, .. } = self.line();
        (along * (depth * inv), touching)
    }

    /// What a and b move by for a correction of the pair; nothing where both are held (quarantined
    /// since the lists were made).
    #[inline(always)]
    pub fn share(&self, push: Vector<L>, omega: L) -> (Vector<L>, Vector<L>, L::Mask) {
        let sum = self.a.weight + self.b.weight;
        let share = self.a.weight / sum;
        let rest = share - L::splat(1.0);
        (push * (share * omega), push * (rest * omega), sum.above(L::splat(0.0)))
    }
}

/// Pairs that touch at the end of the step.
pub(crate) fn count_touching(team: &Team, world: &World, scratch: &Scratch) -> usize {
    let at: &[Vec4] = &world.particles.position;
    if world.params.solver == Solver::Colored {
        return scratch.contact_rows.count_touching(team, at);
    }
    let total = AtomicUsize::new(0);
    team.blocks(at.len(), super::team::BLOCK, |_, range| {
        let count: usize = range
            .map(|i| {
                let touches = |n: &&super::search::neighbors::Neighbor| {
                    let d = (at[i] - at[n.slot as usize]).truncate();
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
            let x = p.position[i].truncate();
            let touches = |c: &&super::EnvironmentContact| c.plane.dot(x.extend(1.0)) < reach;
            scratch.environment.of(i).iter().filter(touches).count()
        })
        .sum()
}
