//! What contacts hold where pairs are solved in the order of the neighbour lists, one at a time.

use super::{APART, Began, Friction, Grip, Meeting};
use crate::cpu::search::neighbors::Neighbors;
use crate::world::material::MaterialPairs;
use glam::{Vec3, Vec4};

/// What one contact holds, see [`Grip`] and [`Began::reach`].
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub pressed: f32,
    pub given: Vec3,
    pub anchor: Vec3,
    pub reach: f32,
}

impl Held {
    /// Of a pair that has not touched.
    pub const NOTHING: Held =
        Held { pressed: APART, given: Vec3::ZERO, anchor: Vec3::ZERO, reach: 0.0 };
    fn grip(&self) -> Grip<f32> {
        Grip { pressed: self.pressed, given: self.given.into(), anchor: self.anchor.into() }
    }
    fn keep(&mut self, grip: Grip<f32>) {
        self.pressed = grip.pressed;
        (self.given, self.anchor) = (grip.given.into(), grip.anchor.into());
    }
}

/// What pairs are solved with.
pub(crate) struct Pairs<'a> {
    /// [x, y, z, inverse mass, scaled] where the substep began.
    pub start: &'a [Vec4],
    pub materials: &'a [u32],
    pub material_pairs: &'a MaterialPairs,
    /// How far old overlap may be pushed out in this substep, m.
    pub push_out: f32,
}

impl Pairs<'_> {
    fn began(&self, [i, j]: [usize; 2], contact: f32) -> Began<f32> {
        let [a, b] = [self.start[i], self.start[j]];
        let at = (a - b).truncate().into();
        Began { at, weights: [a.w, b.w], contact, push_out: self.push_out }
    }

    fn friction(&self, [i, j]: [usize; 2]) -> Friction<f32> {
        let (a, b) = (self.materials[i], self.materials[j]);
        Friction::between(self.material_pairs.pair(a, b))
    }

    /// A substep begins.
    pub fn begin(&self, pair: [usize; 2], contact: f32, held: &mut Held) {
        let began = self.began(pair, contact);
        let reach = began.reach();
        if !(held.pressed > 0.0 && reach > 0.0) {
            held.pressed = APART;
            return;
        }
        let mut grip = held.grip();
        let kinetic = self.friction(pair).kinetic;
        grip.begin(began.normal(lower(pair)), began.at, kinetic);
        held.keep(grip);
        held.reach = reach;
    }

    /// Whether the pair acts at all, `at` from each other: it touches, or presses.
    pub fn acts(&self, contact: f32, at: Vec3, held: &Held) -> bool {
        at.length_squared() < contact * contact || held.pressed > 0.0
    }

    /// One more solve of a pair that acts: how far its relative position must be corrected, and
    /// the share that i takes of it.
    pub fn solve(
        &self,
        pair: [usize; 2],
        contact: f32,
        at: Vec3,
        held: &mut Held,
        omega: f32,
    ) -> (Vec3, f32) {
        let began = self.began(pair, contact);
        if held.pressed < 0.0 {
            (held.pressed, held.given) = (0.0, Vec3::ZERO);
            (held.anchor, held.reach) = (began.at.into(), began.reach());
        }
        let mut grip = held.grip();
        let meeting = Meeting { at: at.into(), contact, reach: held.reach, lower: lower(pair) };
        let push = meeting.solve(&mut grip, self.friction(pair), omega);
        held.keep(grip);
        (push.into(), began.share())
    }
}

/// 1 when i has the lower slot, else -1.
fn lower([i, j]: [usize; 2]) -> f32 {
    if i < j { 1.0 } else { -1.0 }
}

/// Calls `visit(i, j, what the contact holds)` for the pairs of particle i in slots above it that
/// press on each other.
pub(crate) fn for_each_pressed(
    neighbors: &Neighbors,
    held: &[Held],
    i: usize,
    mut visit: impl FnMut(u32, &Held),
) {
    let held = &held[neighbors.lists.range(i)];
    for (n, held) in neighbors.of(i).iter().zip(held) {
        if n.slot as usize > i && held.pressed > 0.0 {
            visit(n.slot, held);
        }
    }
}
