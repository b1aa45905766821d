//! Characters: joints with a capsule of skin around each, and the clips that move them.

mod bvh;
mod glb;
mod hand;
mod person;

pub use bvh::text as bvh;
pub use glb::bytes as glb;
pub use hand::hand;
pub use person::person;

use super::{Point, Surface};

/// A joint that is not turned at rest, and the capsule around its bone; metres, in the frame of the
/// character.
pub struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    pub head: Point,
    /// The ends of the axis of the capsule.
    pub ends: [Point; 2],
    pub radius: f64,
}

/// Where the first joint is and how all are turned at one time.
pub struct Stance {
    pub root: Point,
    /// Degrees about z, then x, then y, by joint: the rotation is Rz Rx Ry.
    pub turns: Vec<[f64; 3]>,
}

/// A movement, as stances at even times.
pub struct Motion {
    pub name: &'static str,
    pub seconds: f64,
    pub stances: Vec<Stance>,
}

pub struct Character {
    pub joints: Vec<Joint>,
    pub motions: Vec<Motion>,
}

impl Character {
    fn find(&self, name: &str) -> usize {
        self.joints.iter().position(|joint| joint.name == name).expect(name)
    }

    /// Adds a movement of so many frames and one more. `turn` is asked for the turns of some joints at a
    /// time from 0 to 1, and for where the first joint is.
    fn motion(
        &mut self,
        name: &'static str,
        seconds: f64,
        frames: usize,
        stance: impl Fn(f64) -> (Point, Vec<(String, [f64; 3])>),
    ) {
        let at = |frame: usize| {
            let (root, some) = stance(frame as f64 / frames as f64);
            let mut turns = vec![[0.0; 3]; self.joints.len()];
            for (joint, turn) in some {
                turns[self.find(&joint)] = turn;
            }
            Stance { root, turns }
        };
        let stances = (0..=frames).map(at).collect();
        self.motions.push(Motion { name, seconds, stances });
    }
}

/// Millionths are fine enough, and give the same bytes on every machine.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

/// The same bits on every machine.
pub fn sin_cos(angle: f64) -> (f64, f64) {
    (libm::sin(angle), libm::cos(angle))
}

/// x, y, z, w of the turns of a stance.
pub fn quaternion([z, x, y]: [f64; 3]) -> [f64; 4] {
    let about = |axis: usize, degrees: f64| {
        let (sin, cos) = sin_cos(0.5 * degrees.to_radians());
        let mut q = [0.0, 0.0, 0.0, cos];
        q[axis] = sin;
        q
    };
    let times = |a: [f64; 4], b: [f64; 4]| {
        [
            a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
            a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
            a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
            a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
        ]
    };
    times(times(about(2, z), about(0, x)), about(1, y))
}
