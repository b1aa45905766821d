//! What contacts hold where pairs are solved in the order of the neighbour lists, one at a time.

use super::{Began, Friction, Grip, Meeting};
use crate::cpu::search::neighbors::Neighbors;
use crate::world::Held;
use crate::world::material::MaterialPairs;
use glam::{Vec3, Vec4};

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
        let floor = began.floor();
        if !(held.pressed > 0.0 && floor > 0.0) {
            held.pressed = Held::APART;
            return;
        }
        let mut grip = Grip::from(*held);
        grip.begin(began.normal(lower(pair)), began.at, self.friction(pair));
        *held = grip.held(floor);
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
            let (anchor, floor) = (began.at.into(), began.floor());
            *held = Held { pressed: 0.0, anchor, floor, ..Held::NOTHING };
        }
        let (mut grip, floor) = (Grip::from(*held), held.floor);
        let meeting = Meeting { at: at.into(), contact, floor, lower: lower(pair) };
        let push = meeting.solve(&mut grip, self.friction(pair), omega);
        *held = grip.held(floor);
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
