//! What contacts remember from one substep to the next, so that friction holds for as long as two
//! touch.
//!
//! Backends keep it with their own lists while they step. Here it is by particle, whatever the lists
//! were: so it outlives them, goes with the particles when they are sorted or removed, and is saved.

use super::GONE;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Marks what a contact is with as an obstacle.
const OBSTACLE: u32 = 1 << 31;

/// With whom a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Partner {
    /// A particle, by slot.
    Particle(u32),
    /// An obstacle, by number. A particle may touch one at several planes, in their order.
    Obstacle(u32),
}

/// What a contact holds: all of it in metres of the relative position of the two. (A multiplier in
/// these units is the impulse times the substep and the sum of the inverse masses.)
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// How far the contact has pushed the two apart in this substep; above 0 they press on each
    /// other. [`Held::APART`] where they have not touched.
    pub pressed: f32,
    /// How far the contact has moved them in this substep, push and friction.
    pub given: Vec3,
    /// Where the one would be, seen from the other, had they not slipped: friction pulls back
    /// there for as long as they touch. Of an obstacle: where the particle would be, counted from
    /// where its step began; in the memory of the world, from where it is.
    pub anchor: Vec3,
    /// The distance that is kept in this substep. Of an obstacle: the height over its plane, 0 or
    /// less where the particle was deeper in it than can be pushed out.
    pub floor: f32,
    /// The coefficient of friction in force in this substep: static or kinetic. Below 0 until
    /// friction acts for the first time.
    pub limit: f32,
    /// How much of what the contact moves in this substep the one takes; the other takes the rest.
    /// Minus that in the substep in which the two meet. Of an obstacle: 1.
    pub share: f32,
}

impl Held {
    /// What `pressed` is of a pair that has not touched in this substep.
    pub const APART: f32 = -1.0;
    /// What `limit` is until friction acts for the first time.
    pub const OPEN: f32 = -1.0;
    /// Of a pair that has not touched.
    pub const NOTHING: Held = Held {
        pressed: Held::APART,
        given: Vec3::ZERO,
        anchor: Vec3::ZERO,
        floor: 0.0,
        limit: Held::OPEN,
        share: 1.0,
    };
    /// How many numbers it has.
    pub const NUMBERS: usize = 10;

    /// The same, seen from the other of two particles.
    pub fn turned(self) -> Self {
        let rest = (1.0 - self.share.abs()).copysign(self.share);
        Held { given: -self.given, anchor: -self.anchor, share: rest, ..self }
    }
    /// Its numbers in order.
    pub fn numbers(&self) -> [f32; Held::NUMBERS] {
        let ([a, b, c], [d, e, f]) = (self.given.to_array(), self.anchor.to_array());
        [self.pressed, a, b, c, d, e, f, self.floor, self.limit, self.share]
    }
    /// From its numbers in order.
    #[cfg(feature = "vulkan")]
    pub fn from_numbers(numbers: [f32; Held::NUMBERS]) -> Self {
        let [pressed, a, b, c, d, e, f, floor, limit, share] = numbers;
        Held { pressed, given: Vec3::new(a, b, c), anchor: Vec3::new(d, e, f), floor, limit, share }
    }
    /// Whether the two press on each other, by numbers that make sense.
    pub fn presses(&self) -> bool {
        self.pressed > 0.0 && self.numbers().into_iter().all(f32::is_finite)
    }
}

impl Default for Held {
    fn default() -> Self {
        Held::NOTHING
    }
}

/// A contact in which the two press on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    with: u32,
    pub held: Held,
}

impl Kept {
    pub fn new(with: Partner, held: Held) -> Self {
        let with = match with {
            Partner::Particle(slot) => slot,
            Partner::Obstacle(number) => number | OBSTACLE,
        };
        Kept { with, held }
    }
    pub fn with(&self) -> Partner {
        match self.with & OBSTACLE {
            0 => Partner::Particle(self.with),
            _ => Partner::Obstacle(self.with & !OBSTACLE),
        }
    }
}

/// The contacts of each particle: with particles in slots above it, and with obstacles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContactMemory {
    /// Where the contacts of each particle begin, and the end; empty when there are none.
    first: Vec<u32>,
    kept: Vec<Kept>,
}

/// Room to work in where contacts follow their particles.
#[derive(Debug, Default)]
pub(crate) struct MemoryRoom {
    moved: Vec<(u32, Kept)>,
    counts: Vec<u32>,
}

impl ContactMemory {
    /// The contacts of the particle in a slot.
    #[inline]
    pub fn of(&self, slot: usize) -> &[Kept] {
        match self.first.get(slot..slot + 2) {
            Some(&[first, end]) => &self.kept[first as usize..end as usize],
            _ => &[],
        }
    }
    /// How many are between two particles.
    #[cfg(feature = "vulkan")]
    pub fn pairs(&self) -> usize {
        self.kept.iter().filter(|kept| kept.with & OBSTACLE == 0).count()
    }
    /// How many are with obstacles.
    #[cfg(feature = "vulkan")]
    pub fn obstacles(&self) -> usize {
        self.kept.len() - self.pairs()
    }
    /// Nothing is remembered.
    pub fn clear(&mut self) {
        self.first.clear();
        self.kept.clear();
    }

    /// Makes room for so many contacts of each particle. Returns where the next contact of each
    /// particle goes, for whoever fills it, and all contacts.
    pub fn lay_out<'a>(&mut self, counts: &'a mut [u32]) -> (&'a mut [u32], &mut [Kept]) {
        let mut sum = 0;
        self.first.clear();
        self.first.extend(counts.iter_mut().map(|count| {
            let first = sum;
            sum += std::mem::replace(count, sum);
            first
        }));
        self.first.push(sum);
        self.kept.clear();
        self.kept.resize(sum as usize, Kept::default());
        (counts, &mut self.kept)
    }

    /// Particles get new slots: the one in slot k goes to `map[k]`, or is gone. A contact stands at
    /// the lower slot, so it may have to be seen from the other side.
    pub fn remap(&mut self, map: &[u32], count: usize) {
        self.remap_in(map, count, &mut MemoryRoom::default());
    }

    /// The same, with room to work in that is used again.
    pub fn remap_in(&mut self, map: &[u32], count: usize, room: &mut MemoryRoom) {
        if self.kept.is_empty() {
            return self.clear();
        }
        let MemoryRoom { moved, counts } = room;
        moved.clear();
        for slot in 0..self.first.len().saturating_sub(1) {
            let to = map[slot];
            for kept in self.of(slot).iter().filter(|_| to != GONE) {
                match kept.with() {
                    Partner::Obstacle(_) => moved.push((to, *kept)),
                    Partner::Particle(other) => match map[other as usize] {
                        GONE => {}
                        other if other > to => moved.push((to, Kept { with: other, ..*kept })),
                        other => {
                            moved.push((other, Kept { with: to, held: kept.held.turned() }));
                        }
                    },
                }
            }
        }
        counts.clear();
        counts.resize(count, 0);
        self.fill(moved, counts);
    }

    /// Of contacts with the slots at which they stand.
    #[cfg(feature = "vulkan")]
    pub fn gather(count: usize, contacts: Vec<(u32, Kept)>) -> Self {
        let mut memory = ContactMemory::default();
        memory.fill(&contacts, &mut vec![0; count]);
        memory
    }

    /// Holds these contacts and no others; `counts` are zeros, one for each particle.
    fn fill(&mut self, contacts: &[(u32, Kept)], counts: &mut [u32]) {
        contacts.iter().for_each(|(slot, _)| counts[*slot as usize] += 1);
        let (next, all) = self.lay_out(counts);
        for (slot, kept) in contacts {
            let next = &mut next[*slot as usize];
            all[*next as usize] = *kept;
            *next += 1;
        }
    }

    /// Whether it is of so many particles, and makes sense.
    pub fn is_sound(&self, count: usize) -> bool {
        let Some((&end, _)) = self.first.split_last() else { return self.kept.is_empty() };
        let known = |slot: usize, kept: &Kept| match kept.with() {
            Partner::Particle(other) => (slot + 1..count).contains(&(other as usize)),
            Partner::Obstacle(_) => true,
        };
        self.first.len() <= count + 1
            && self.first[0] == 0
            && end as usize == self.kept.len()
            && self.first.is_sorted()
            && (0..count).all(|slot| self.of(slot).iter().all(|kept| known(slot, kept)))
            && self.kept.iter().all(|kept| kept.held.presses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contact whose numbers can be told apart.
    fn with(partner: Partner, number: f32) -> Kept {
        let anchor = Vec3::splat(number);
        let share = 0.5 + 0.125 * number;
        let held = Held { pressed: number.abs(), given: anchor, anchor, share, ..Held::NOTHING };
        Kept::new(partner, held)
    }

    fn memory() -> ContactMemory {
        let mut counts = [2, 0, 1, 0];
        let mut memory = ContactMemory::default();
        let (_, kept) = memory.lay_out(&mut counts);
        kept.copy_from_slice(&[
            with(Partner::Particle(3), 1.0),
            with(Partner::Obstacle(7), 2.0),
            with(Partner::Particle(3), 3.0),
        ]);
        memory
    }

    #[test]
    fn contacts_go_with_their_particles() {
        let mut memory = memory();
        assert!(memory.is_sound(4));
        // 3 goes to the front: its contacts now stand at it, seen from the other side.
        memory.remap(&[3, 2, 1, 0], 4);
        assert!(memory.is_sound(4));
        assert_eq!(memory.of(3), [with(Partner::Obstacle(7), 2.0)]);
        let seen = |slot, number: f32| with(Partner::Particle(slot), -number);
        assert_eq!(memory.of(0), [seen(3, 1.0), seen(1, 3.0)]);
        // The one that was in slot 0 at first is removed, with all it touched.
        memory.remap(&[0, 1, 2, GONE], 3);
        assert!(memory.is_sound(3));
        assert_eq!(memory.of(0), [seen(1, 3.0)]);
        assert_eq!(memory.kept.len(), 1);
    }

    #[test]
    fn what_makes_no_sense_is_found() {
        let broken: [fn(&mut ContactMemory); 6] = [
            |m| m.first[1] = 9,
            |m| m.first[0] = 1,
            |m| m.kept[0].with = 0,
            |m| m.kept[2].with = 4,
            |m| m.kept[1].held.pressed = 0.0,
            |m| m.kept[1].held.anchor.y = f32::NAN,
        ];
        for (number, break_it) in broken.into_iter().enumerate() {
            let mut memory = memory();
            break_it(&mut memory);
            // `of` is only asked where the places are in order.
            assert!(!memory.is_sound(4), "{number}");
        }
        assert!(!memory().is_sound(3));
        assert!(memory().is_sound(5), "a particle that was added has touched nothing yet");
        assert!(ContactMemory::default().is_sound(5));
    }
}
