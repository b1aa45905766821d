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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Partner {
    /// A particle, by slot.
    Particle(u32),
    /// An obstacle, by number. A particle may touch one at several planes, in their order.
    Obstacle(u32),
}

/// A contact in which the two press on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    with: u32,
    /// How far they have pushed each other apart in the last substep, m.
    pub pressed: f32,
    /// Where the particle would be, seen from the other, had it not slipped, m. Of an obstacle: where
    /// it would be in space.
    pub anchor: Vec3,
}

impl Kept {
    pub fn new(with: Partner, pressed: f32, anchor: Vec3) -> Self {
        let with = match with {
            Partner::Particle(slot) => slot,
            Partner::Obstacle(number) => number | OBSTACLE,
        };
        Kept { with, pressed, anchor }
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

impl ContactMemory {
    /// The contacts of the particle in a slot.
    #[inline]
    pub fn of(&self, slot: usize) -> &[Kept] {
        match self.first.get(slot..slot + 2) {
            Some(&[first, end]) => &self.kept[first as usize..end as usize],
            _ => &[],
        }
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
        if self.kept.is_empty() {
            return self.clear();
        }
        let mut moved = Vec::with_capacity(self.kept.len());
        for slot in 0..self.first.len().saturating_sub(1) {
            let to = map[slot];
            for kept in self.of(slot).iter().filter(|_| to != GONE) {
                match kept.with() {
                    Partner::Obstacle(_) => moved.push((to, *kept)),
                    Partner::Particle(other) => match map[other as usize] {
                        GONE => {}
                        other if other > to => moved.push((to, Kept { with: other, ..*kept })),
                        other => {
                            moved.push((other, Kept { with: to, anchor: -kept.anchor, ..*kept }));
                        }
                    },
                }
            }
        }
        // Memory that is no longer needed is given back.
        *self = ContactMemory::default();
        let mut counts = vec![0; count];
        moved.iter().for_each(|(slot, _)| counts[*slot as usize] += 1);
        let (next, all) = self.lay_out(&mut counts);
        for (slot, kept) in moved {
            let next = &mut next[slot as usize];
            all[*next as usize] = kept;
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
            && self
                .kept
                .iter()
                .all(|k| k.pressed > 0.0 && k.pressed.is_finite() && k.anchor.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> ContactMemory {
        let with = |partner, number: f32| Kept::new(partner, number, Vec3::splat(number));
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
        assert_eq!(memory.of(3), [Kept::new(Partner::Obstacle(7), 2.0, Vec3::splat(2.0))]);
        let seen =
            |slot, number: f32| Kept::new(Partner::Particle(slot), number, Vec3::splat(-number));
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
            |m| m.kept[1].pressed = 0.0,
            |m| m.kept[1].anchor.y = f32::NAN,
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
