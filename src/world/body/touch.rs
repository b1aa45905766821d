//! What rigid bodies that touch press on each other: kept from substep to substep, so that stacks stand
//! and friction holds, and saved with the world.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A place where two bodies press on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Touch {
    /// The particle that touches, as a number within its body; [`Touch::OF_SECOND`] where that is the
    /// second body of the two.
    pub key: u32,
    /// The impulse along the normal, N s, and that of friction on the first body.
    pub push: f32,
    pub held: Vec3,
    /// The coefficient of friction in force.
    pub friction: f32,
    /// The normal, from the second body into the first.
    pub normal: Vec3,
    /// Where they touch, in the frame of the first body, m.
    pub place: Vec3,
}

impl Touch {
    /// Set in `key` where the particle is of the second body.
    pub const OF_SECOND: u32 = 1 << 31;
}

/// Two bodies that press on each other, by their numbers, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pressing {
    pub bodies: [u32; 2],
    /// The first of their touches, and how many.
    pub first: u32,
    pub count: u32,
}

/// All of them, in the order of the bodies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Touches {
    pub pairs: Vec<Pressing>,
    pub rows: Vec<Touch>,
}

impl Touches {
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.rows.clear();
    }

    /// What two bodies pressed on each other.
    pub fn of(&self, bodies: [u32; 2]) -> &[Touch] {
        let found = self.pairs.binary_search_by_key(&bodies, |pair| pair.bodies);
        found.map_or(&[], |at| {
            let pair = self.pairs[at];
            &self.rows[pair.first as usize..(pair.first + pair.count) as usize]
        })
    }

    /// What a snapshot may have broken.
    pub fn are_sound(&self, bodies: usize) -> bool {
        let mut next = 0u64;
        let in_order = self.pairs.iter().all(|pair| {
            let follows = u64::from(pair.first) == next;
            next += u64::from(pair.count);
            follows && pair.bodies[0] < pair.bodies[1] && (pair.bodies[1] as usize) < bodies
        });
        let finite = |touch: &Touch| {
            [touch.push, touch.friction].iter().all(|v| v.is_finite() && *v >= 0.0)
                && [touch.held, touch.normal, touch.place].iter().all(|v| v.is_finite())
        };
        in_order
            && next == self.rows.len() as u64
            && self.rows.iter().all(finite)
            && self.pairs.windows(2).all(|two| two[0].bodies < two[1].bodies)
    }
}
