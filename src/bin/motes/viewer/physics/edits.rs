//! Edits that can be taken back: the world as it was before each of them, and after those that were
//! taken back. How many are kept depends on how much memory they take.

use motes::World;

/// Edits kept at most.
const MOST: usize = 50;
/// Memory of the worlds that are kept [bytes], as estimated.
const MEMORY: usize = 256 << 20;
/// About what a particle and a constraint take [bytes].
const PARTICLE: usize = 160;
const CONSTRAINT: usize = 64;

/// The word for cuts: those of one stroke are one edit.
pub const CUT: &str = "cut";

/// A world on one side of an edit.
pub struct Kept {
    pub what: &'static str,
    pub world: World,
    pub torn: bool,
}

impl Kept {
    fn bytes(&self) -> usize {
        let world = &self.world;
        PARTICLE * world.particles().len() + CONSTRAINT * world.constraint_count()
    }
}

/// What can be taken back, and what can be done again; the newest is last.
#[derive(Default)]
pub struct Edits {
    back: Vec<Kept>,
    again: Vec<Kept>,
    /// A stroke that cuts goes on; the world before it, until it cuts something.
    stroke: Option<Option<(World, bool)>>,
}

impl Edits {
    /// How many can be taken back, and how many done again.
    pub fn counts(&self) -> [usize; 2] {
        [self.back.len(), self.again.len()]
    }

    /// Whether the world before this edit has to be copied.
    pub fn wants(&self, what: &str) -> bool {
        what != CUT || self.stroke.is_none()
    }

    pub fn end_stroke(&mut self) {
        self.stroke = None;
    }

    /// Takes note of an edit, if it changed anything.
    pub fn keep(&mut self, what: &'static str, before: Option<World>, torn: bool, changed: bool) {
        let before = match what {
            CUT => {
                let first = before.map(|world| (world, torn));
                let stroke = self.stroke.get_or_insert(first);
                if changed { stroke.take() } else { None }
            }
            _ if changed => before.map(|world| (world, torn)),
            _ => None,
        };
        if let Some((world, torn)) = before {
            self.back.push(Kept { what, world, torn });
            self.again.clear();
            self.forget();
        }
    }

    /// Drops the oldest while there are too many; the last one stays, however large.
    fn forget(&mut self) {
        while self.back.len() > 1
            && (self.back.len() > MOST
                || self.back.iter().chain(&self.again).map(Kept::bytes).sum::<usize>() > MEMORY)
        {
            self.back.remove(0);
        }
    }

    /// The world to go to; `now` is kept in its stead. Nothing when there is no such edit.
    pub fn swap(&mut self, back: bool, now: impl FnOnce() -> (World, bool)) -> Option<Kept> {
        self.stroke = None;
        let (from, to) = match back {
            true => (&mut self.back, &mut self.again),
            false => (&mut self.again, &mut self.back),
        };
        let kept = from.pop()?;
        let (world, torn) = now();
        to.push(Kept { what: kept.what, world, torn });
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use motes::{Grains, Particle, Phase};

    fn world(particles: usize) -> World {
        let mut world = World::new();
        let (position, velocity, phase) = (Vec3::ZERO, Vec3::ZERO, Phase::group(1));
        for _ in 0..particles {
            let one = Particle { position, velocity, mass: 1.0, radius: 0.1, phase };
            world.add_particle(&one).unwrap();
        }
        world
    }

    fn len(kept: Option<Kept>) -> Option<usize> {
        kept.map(|kept| kept.world.particles().len())
    }

    #[test]
    fn edits_are_taken_back_and_done_again_in_order() {
        let mut edits = Edits::default();
        // Three edits, each of which adds a particle; the second one fails.
        for (count, changed) in [(0, true), (1, false), (1, true)] {
            edits.keep("throw", Some(world(count)), false, changed);
        }
        assert_eq!(edits.counts(), [2, 0]);
        assert_eq!(len(edits.swap(true, || (world(2), false))), Some(1));
        assert_eq!(len(edits.swap(true, || (world(1), false))), Some(0));
        assert_eq!(len(edits.swap(true, || (world(0), false))), None);
        assert_eq!(len(edits.swap(false, || (world(0), false))), Some(1));
        assert_eq!(edits.counts(), [1, 1]);
        // A new edit ends what could be done again.
        edits.keep("throw", Some(world(1)), false, true);
        assert_eq!(edits.counts(), [2, 0]);
    }

    #[test]
    fn a_stroke_is_one_edit() {
        let mut edits = Edits::default();
        for (count, changed) in [(5, false), (6, true), (7, true)] {
            let before = edits.wants(CUT).then(|| world(count));
            edits.keep(CUT, before, false, changed);
        }
        edits.end_stroke();
        assert_eq!(edits.counts(), [1, 0]);
        assert_eq!(len(edits.swap(true, || (world(0), true))), Some(5), "before the stroke");
        edits.keep(CUT, Some(world(3)), false, false);
        edits.end_stroke();
        assert_eq!(edits.counts(), [0, 1], "nothing was cut");
    }

    #[test]
    fn memory_is_bounded() {
        let mut edits = Edits::default();
        let mut large = World::new();
        large.add_grains(&Grains { counts: [80, 80, 80], ..Grains::default() }).unwrap();
        for _ in 0..6 {
            edits.keep("place", Some(large.clone()), false, true);
        }
        let [back, _] = edits.counts();
        assert!((1..=3).contains(&back), "{back} worlds of 82 MB are kept");
        let mut edits = Edits::default();
        (0..80).for_each(|_| edits.keep("throw", Some(World::new()), false, true));
        assert_eq!(edits.counts(), [MOST, 0]);
    }
}
