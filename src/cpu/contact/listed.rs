//! What contacts hold where pairs are solved in the order of the neighbour lists, one at a time.

use super::lift::Lift;
use super::{Began, Friction, Grip, Meeting};
use crate::cpu::search::neighbors::Neighbors;
use crate::world::Held;
use crate::world::material::MaterialPairs;
use glam::{Vec3, Vec4};

/// What pairs are solved with.
pub(crate) struct Pairs<'a> {
    /// Where the step began, m.
    pub position: &'a [Vec4],
    /// How far from there the substep began: [x, y, z, inverse mass].
    pub start: &'a [Vec4],
    pub materials: &'a [u32],
    pub material_pairs: &'a MaterialPairs,
    /// How far old overlap may be pushed out in this substep, m.
    pub push_out: f32,
    pub lift: Lift<'a>,
}

impl Pairs<'_> {
    fn began(&self, [i, j]: [usize; 2], contact: f32) -> Began<f32> {
        let [a, b] = [self.start[i], self.start[j]];
        let at = self.apart([i, j], a, b).into();
        Began { at, weights: [a.w, b.w], contact, push_out: self.push_out }
    }

    /// From j to i, where they have moved by these.
    pub fn apart(&self, [i, j]: [usize; 2], moved_i: Vec4, moved_j: Vec4) -> Vec3 {
        ((self.position[i] - self.position[j]) + (moved_i - moved_j)).truncate()
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
        let normal = began.normal(lower(pair));
        grip.begin(normal, began.at, self.friction(pair));
        let takes = if held.share > 0.0 { self.lift.takes(pair[0], pair[1]) } else { 0.0 };
        let lift = self.lift.along(normal, takes);
        *held = grip.held(floor, began.lifted_share(lift));
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
        if held.pressed < 0.0 {
            let began = self.began(pair, contact);
            let (anchor, floor, share) = (began.at.into(), began.floor(), -began.share());
            *held = Held { pressed: 0.0, anchor, floor, share, ..Held::NOTHING };
        }
        let (mut grip, floor, share) = (Grip::from(*held), held.floor, held.share);
        let meeting = Meeting { at: at.into(), contact, floor, lower: lower(pair) };
        let push = meeting.solve(&mut grip, self.friction(pair), omega);
        *held = grip.held(floor, share);
        (push.into(), share.abs())
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
