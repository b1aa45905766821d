//! Two rigid bodies that are near each other, and the few contacts that stand for all of them.

use crate::world::Touch;
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// Contacts of a pair: so many for each of six directions.
pub(crate) const ROOM: usize = 6 * KEPT;
/// The deepest, and the outermost in eight directions.
const KEPT: usize = 9;

/// Two bodies that are near each other. On a device it is a row of `body_pairs`, word by word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BodyPair {
    pub bodies: [u32; 2],
    /// How many contacts it has, from [`ROOM`] times its number on.
    pub rows: u32,
    /// Its colour: pairs of one share no body. From [`super::super::color_bodies::COLORS`] on, each
    /// pair has a turn of its own.
    pub color: u32,
}

/// Where two bodies may touch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Candidate {
    /// As in [`Touch`].
    pub key: u32,
    /// The slot of the particle that touches, and one of the other body.
    pub slots: [u32; 2],
    /// From the second body into the first.
    pub normal: Vec3,
    /// How far apart they are, m.
    pub gap: f32,
    /// The place, from the centre of the first body.
    pub place: Vec3,
}

/// How much deeper counts than farther out.
const DEPTH: f32 = 10.0;
/// What those that pressed before are ahead by, in radii: a stack whose contacts were chosen anew again
/// and again would wander.
const KNOWN: f32 = 1.0;
/// The half of a root of two.
const DIAGONAL: f32 = std::f32::consts::FRAC_1_SQRT_2;
/// Eight directions in a plane.
const DIRECTIONS: [[f32; 2]; 8] = [
    [1.0, 0.0],
    [DIAGONAL, DIAGONAL],
    [0.0, 1.0],
    [-DIAGONAL, DIAGONAL],
    [-1.0, 0.0],
    [-DIAGONAL, -DIAGONAL],
    [0.0, -1.0],
    [DIAGONAL, -DIAGONAL],
];

/// Chooses among candidates those that carry as much as all of them would: for each of six directions
/// of the normal in the frame of the first body, the deepest and the outermost in eight directions
///. They are told one by one, in the order of their keys; of equals the first stays.
pub(crate) struct Manifold {
    best: [(f32, u32); ROOM],
    radius: f32,
}

impl Manifold {
    pub fn new(radius: f32) -> Self {
        Manifold { best: [(f32::NEG_INFINITY, u32::MAX); ROOM], radius }
    }

    /// `number` names a candidate; its normal and its place are given in the frame of the first body.
    pub fn tell(&mut self, number: u32, gap: f32, normal: Vec3, place: Vec3, known: bool) {
        let size = normal.abs();
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let side = 2 * axis + usize::from(normal[axis] < 0.0);
        let (u, v) = (place[(axis + 1) % 3], place[(axis + 2) % 3]);
        let ahead = if known { KNOWN * self.radius } else { 0.0 } - DEPTH * gap;
        let best = &mut self.best[side * KEPT..][..KEPT];
        if ahead > best[0].0 {
            best[0] = (ahead, number);
        }
        for (best, [x, y]) in best[1..].iter_mut().zip(DIRECTIONS) {
            let score = (x * u + y * v) + ahead;
            if score > best.0 {
                *best = (score, number);
            }
        }
    }

    /// The chosen ones, each once, in order; and how many.
    pub fn chosen(&self) -> ([u32; ROOM], usize) {
        let mut numbers = self.best.map(|(_, number)| number);
        numbers.sort_unstable();
        let mut count = 0;
        for k in 0..ROOM {
            if numbers[k] != u32::MAX && (count == 0 || numbers[count - 1] != numbers[k]) {
                numbers[count] = numbers[k];
                count += 1;
            }
        }
        (numbers, count)
    }
}

/// Whether a contact pressed when the substep before ended.
pub(crate) fn pressed(before: &[Touch], key: u32) -> bool {
    before.iter().any(|touch| touch.key == key)
}
