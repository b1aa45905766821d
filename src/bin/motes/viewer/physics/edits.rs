//! Edits that can be taken back: the world as it was before each of them, and after those that were
//! taken back. How many are kept depends on how much memory they take. Of parameters and materials
//! only these are kept, so that the scene goes on when they are taken back.

use motes::{Material, MaterialId, Params, World};
use std::time::{Duration, Instant};

/// Edits kept at most.
const MOST: usize = 50;
/// Memory of the worlds that are kept [bytes], as estimated.
const MEMORY: usize = 256 << 20;
/// About what a particle and a constraint take [bytes].
const PARTICLE: usize = 160;
const CONSTRAINT: usize = 64;

/// The words for what takes more than one command: those of one stroke are one edit.
pub const CUT: &str = "cut";
pub const DRAG: &str = "drag";

/// A knob that is turned sends a command a frame. One that rested this long is turned anew.
const PAUSE: Duration = Duration::from_secs(1);

/// One side of an edit.
pub enum Side {
    World {
        world: Box<World>,
        torn: bool,
    },
    /// What knobs turn.
    Knobs {
        params: Box<Params>,
        materials: Vec<(MaterialId, Material)>,
    },
}

/// An edit, and what is on its other side.
pub struct Kept {
    pub what: &'static str,
    pub side: Side,
}

impl Kept {
    fn bytes(&self) -> usize {
        match &self.side {
            Side::World { world, .. } => {
                PARTICLE * world.particles().len() + CONSTRAINT * world.constraint_count()
            }
            Side::Knobs { params, .. } => size_of_val(&**params),
        }
    }
}

/// Commands that follow each other and are one edit.
struct Stroke {
    what: &'static str,
    /// What was there before it, until it changes something.
    before: Option<Side>,
    /// When its last command came.
    at: Instant,
}

/// What can be taken back, and what can be done again; the newest is last.
#[derive(Default)]
pub struct Edits {
    back: Vec<Kept>,
    again: Vec<Kept>,
    stroke: Option<Stroke>,
}

impl Edits {
    /// How many can be taken back, and how many done again.
    pub fn counts(&self) -> [usize; 2] {
        [self.back.len(), self.again.len()]
    }

    /// Whether what is there before this edit has to be kept: not while a stroke of the same goes on.
    pub fn wants(&self, what: &str, turns: bool) -> bool {
        let goes_on =
            |stroke: &Stroke| stroke.what == what && (!turns || stroke.at.elapsed() < PAUSE);
        !self.stroke.as_ref().is_some_and(goes_on)
    }

    pub fn end_stroke(&mut self) {
        self.stroke = None;
    }

    /// Takes note of an edit, if it changed anything. Without a side before it, it belongs to the
    /// stroke that goes on.
    pub fn keep(&mut self, what: &'static str, before: Option<Side>, changed: bool) {
        let at = Instant::now();
        match (before, &mut self.stroke) {
            (None, Some(stroke)) => stroke.at = at,
            (before, stroke) => *stroke = Some(Stroke { what, before, at }),
        }
        let before = self.stroke.as_mut().filter(|_| changed).and_then(|s| s.before.take());
        if let Some(side) = before {
            self.back.push(Kept { what, side });
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

    /// What to go to; what `now` gives for it is kept in its stead. Nothing when there is no such
    /// edit.
    pub fn swap(&mut self, back: bool, now: impl FnOnce(&Side) -> Side) -> Option<Kept> {
        self.stroke = None;
        let (from, to) = match back {
            true => (&mut self.back, &mut self.again),
            false => (&mut self.again, &mut self.back),
        };
        let kept = from.pop()?;
        to.push(Kept { what: kept.what, side: now(&kept.side) });
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use motes::{Grains, Particle, Phase};

    fn side(world: World) -> Side {
        Side::World { world: world.into(), torn: false }
    }

    fn world(particles: usize) -> Side {
        let mut world = World::new();
        let (position, velocity, phase) = (Vec3::ZERO, Vec3::ZERO, Phase::group(1));
        for _ in 0..particles {
            let one = Particle { position, velocity, mass: 1.0, radius: 0.1, phase };
            world.add_particle(&one).unwrap();
        }
        side(world)
    }

    fn len(kept: Option<Kept>) -> Option<usize> {
        kept.map(|kept| match kept.side {
            Side::World { world, .. } => world.particles().len(),
            Side::Knobs { .. } => panic!("a world was kept"),
        })
    }

    /// An edit of one command.
    fn edit(edits: &mut Edits, what: &'static str, before: Side, changed: bool) {
        edits.keep(what, Some(before), changed);
        edits.end_stroke();
    }

    #[test]
    fn edits_are_taken_back_and_done_again_in_order() {
        let mut edits = Edits::default();
        // Three edits, each of which adds a particle; the second one fails.
        for (count, changed) in [(0, true), (1, false), (1, true)] {
            edit(&mut edits, "throw", world(count), changed);
        }
        assert_eq!(edits.counts(), [2, 0]);
        assert_eq!(len(edits.swap(true, |_| world(2))), Some(1));
        assert_eq!(len(edits.swap(true, |_| world(1))), Some(0));
        assert_eq!(len(edits.swap(true, |_| world(0))), None);
        assert_eq!(len(edits.swap(false, |_| world(0))), Some(1));
        assert_eq!(edits.counts(), [1, 1]);
        // A new edit ends what could be done again.
        edit(&mut edits, "throw", world(1), true);
        assert_eq!(edits.counts(), [2, 0]);
    }

    #[test]
    fn a_stroke_is_one_edit() {
        for what in [CUT, DRAG] {
            let mut edits = Edits::default();
            for (count, changed) in [(5, false), (6, true), (7, true)] {
                let before = edits.wants(what, false).then(|| world(count));
                edits.keep(what, before, changed);
            }
            edits.end_stroke();
            assert_eq!(edits.counts(), [1, 0]);
            assert_eq!(len(edits.swap(true, |_| world(0))), Some(5), "before the stroke");
            edit(&mut edits, what, world(3), false);
            assert_eq!(edits.counts(), [0, 1], "nothing was changed");
        }
    }

    #[test]
    fn a_knob_that_is_turned_is_one_edit_until_it_rests() {
        let knobs = |iterations| Side::Knobs {
            params: Params { iterations, ..Params::default() }.into(),
            materials: Vec::new(),
        };
        let mut edits = Edits::default();
        let mut turn = |name: &'static str, iterations: u32| {
            let before = edits.wants(name, true).then(|| knobs(iterations));
            edits.keep(name, before, true);
            edits.counts()[0]
        };
        assert_eq!([turn("dt", 1), turn("dt", 2), turn("dt", 3)], [1; 3]);
        assert_eq!([turn("friction", 4), turn("friction", 5)], [2; 2]);
        assert_eq!(turn("dt", 6), 3);
        edits.stroke.as_mut().unwrap().at -= PAUSE;
        assert!(edits.wants("dt", true), "it has rested");
        let kept: Vec<u32> = std::iter::from_fn(|| edits.swap(true, |_| knobs(0)))
            .map(|kept| match kept.side {
                Side::Knobs { params, .. } => params.iterations,
                Side::World { .. } => panic!("parameters were kept"),
            })
            .collect();
        assert_eq!(kept, [6, 4, 1]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut edits = Edits::default();
        let mut large = World::new();
        large.add_grains(&Grains { counts: [80, 80, 80], ..Grains::default() }).unwrap();
        for _ in 0..6 {
            edit(&mut edits, "place", side(large.clone()), true);
        }
        let [back, _] = edits.counts();
        assert!((1..=3).contains(&back), "{back} worlds of 82 MB are kept");
        let mut edits = Edits::default();
        (0..80).for_each(|_| edit(&mut edits, "throw", side(World::new()), true));
        assert_eq!(edits.counts(), [MOST, 0]);
    }
}
