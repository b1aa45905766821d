//! Where in a nozzle particles come out.

use super::Emitter;
use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

/// How far a particle may stick out of the nozzle, in radii: what fits but for this fits.
const SLACK: f32 = 0.01;

/// The opening of an emitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Nozzle {
    /// A disc.
    Disc {
        /// m.
        radius: f32,
    },
    /// A rectangle.
    Rectangle {
        /// Half its size along its first and its second axis, m.
        half: [f32; 2],
    },
}

impl Nozzle {
    /// How many particles fit along each half axis of the lattice: on a disc one is in the middle, in
    /// a rectangle they fill it from edge to edge.
    fn extent(&self, radius: f32) -> [f64; 2] {
        let r = f64::from(radius);
        let fits = |half: f32| (f64::from(half) / r + f64::from(SLACK)).floor();
        match *self {
            Nozzle::Disc { radius: whole } => [((fits(whole) - 1.0) / 2.0).floor(); 2],
            Nozzle::Rectangle { half } => half.map(fits),
        }
    }

    /// At least as many particles as a layer has, counted from the sizes alone.
    pub(super) fn count_at_most(&self, radius: f32) -> f64 {
        let [a, b] = self.extent(radius);
        match self {
            Nozzle::Disc { .. } => (2.0 * a + 1.0).max(0.0) * (2.0 * b + 1.0).max(0.0),
            Nozzle::Rectangle { .. } => a * b,
        }
    }

    /// Where the particles of a layer are in the opening, m.
    pub(super) fn points(&self, radius: f32) -> impl Iterator<Item = Vec2> {
        let extent = self.extent(radius).map(|count| count as i64);
        // Twice where the first is, in spacings, and how many there are on each axis.
        let (twice, count) = match *self {
            Nozzle::Disc { .. } => (extent.map(|e| -2 * e), extent.map(|e| 2 * e + 1)),
            Nozzle::Rectangle { .. } => (extent.map(|e| 1 - e), extent),
        };
        let room = match *self {
            Nozzle::Disc { radius: whole } => whole - (1.0 - SLACK) * radius,
            Nozzle::Rectangle { .. } => f32::INFINITY,
        };
        let at = move |a: i64, b: i64| {
            Vec2::new((twice[0] + 2 * a) as f32, (twice[1] + 2 * b) as f32) * radius
        };
        let all = (0..count[1]).flat_map(move |b| (0..count[0]).map(move |a| at(a, b)));
        all.filter(move |point| point.length() <= room)
    }
}

impl Emitter {
    /// The direction, of unit length, and the two axes of the opening.
    pub(super) fn axes(&self) -> [Vec3; 3] {
        let ahead = self.direction.normalize_or(Vec3::NEG_Y);
        let across = |side: Vec3| (side - ahead * side.dot(ahead)).try_normalize();
        let side = self.side.and_then(across).unwrap_or_else(|| ahead.any_orthonormal_vector());
        [ahead, side, ahead.cross(side)]
    }

    /// Where particles come out, m.
    pub(super) fn outlets(&self) -> Vec<Vec3> {
        let [_, a, b] = self.axes();
        let place = |point: Vec2| self.position + (a * point.x + b * point.y);
        self.nozzle.points(self.radius).map(place).collect()
    }
}
