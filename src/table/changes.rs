//! Which rows of which buffer were edited since a device last took them.

use super::Buffer;
#[cfg(feature = "vulkan")]
use super::Domain;
use std::ops::Range;

/// More slots than this got other particles: then every row is as good as another one.
const MANY: usize = 4096;

/// For each buffer that is indexed by slot, the span of slots that edits touched, and the slots that
/// other particles are in now. Worlds that differ in this alone are equal.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "vulkan"), allow(dead_code))] // a device alone reads it
pub(crate) struct Changes {
    spans: [Range<u32>; Buffer::COUNT],
    /// Other particles are in these slots.
    slots: Vec<u32>,
    /// Particles came or went: every row may be another one.
    everything: bool,
}

impl Default for Changes {
    fn default() -> Self {
        Changes { spans: std::array::from_fn(|_| 0..0), slots: Vec::new(), everything: false }
    }
}

impl PartialEq for Changes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Changes {
    /// A row was edited.
    pub fn mark(&mut self, buffer: Buffer, slot: usize) {
        self.mark_span(buffer, slot as u32..slot as u32 + 1);
    }
    /// Particles came or went.
    pub fn mark_everything(&mut self) {
        self.everything = true;
        self.slots.clear();
    }
    /// Another particle is in this slot: every row of it is another one.
    pub fn mark_slot(&mut self, slot: usize) {
        if self.everything {
            return;
        }
        if self.slots.len() == MANY {
            return self.mark_everything();
        }
        // All at once, so that a steady step does not allocate.
        self.slots.reserve_exact(MANY - self.slots.len());
        self.slots.push(slot as u32);
    }
    /// All rows of a buffer are to be taken.
    pub fn mark_whole(&mut self, buffer: Buffer) {
        self.spans[buffer as usize] = 0..u32::MAX;
    }
    fn mark_span(&mut self, buffer: Buffer, more: Range<u32>) {
        let span = &mut self.spans[buffer as usize];
        let hull = span.start.min(more.start)..span.end.max(more.end);
        *span = if *span == (0..0) { more } else { hull };
    }
}

#[cfg(feature = "vulkan")]
impl Changes {
    /// Adds what another has, which is then empty.
    pub fn take(&mut self, other: &mut Changes) {
        let other = std::mem::take(other);
        if other.everything {
            self.mark_everything();
        }
        other.slots.iter().for_each(|&slot| self.mark_slot(slot as usize));
        for (&buffer, span) in Buffer::ALL.iter().zip(other.spans) {
            if !span.is_empty() {
                self.mark_span(buffer, span);
            }
        }
    }
    /// Whether every row of every buffer is to be taken.
    pub fn is_everything(&self) -> bool {
        self.everything
    }
    /// Whether something of a buffer is to be taken.
    pub fn has(&self, buffer: Buffer) -> bool {
        let comes = buffer.domain() == Domain::Particle && self.has_slots();
        self.everything || comes || !self.spans[buffer as usize].is_empty()
    }
    /// Whether other particles are in some slots.
    pub fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }
    /// Runs of slots that other particles are in, of `count` there are.
    pub fn runs_of_slots(&self, count: usize) -> Vec<Range<usize>> {
        let mut slots: Vec<usize> = self.slots.iter().map(|&slot| slot as usize).collect();
        slots.sort_unstable();
        slots.dedup();
        let mut runs: Vec<Range<usize>> = Vec::new();
        for slot in slots.into_iter().take_while(|&slot| slot < count) {
            match runs.last_mut() {
                Some(run) if run.end == slot => run.end += 1,
                _ => runs.push(slot..slot + 1),
            }
        }
        runs
    }
    /// The rows of a buffer that are to be taken, of `count` there are.
    pub fn rows(&self, buffer: Buffer, count: usize) -> Range<usize> {
        if self.everything {
            return 0..count;
        }
        let Range { start, end } = self.spans[buffer as usize];
        (start as usize).min(count)..(end as usize).min(count)
    }
}

#[cfg(all(test, feature = "vulkan"))]
mod tests {
    use super::*;

    #[test]
    fn a_span_holds_what_was_marked_and_no_more() {
        let (mut all, mut world) = (Changes::default(), Changes::default());
        assert!(!world.has(Buffer::Position) && world.rows(Buffer::Position, 9).is_empty());
        world.mark(Buffer::Position, 5);
        world.mark(Buffer::Position, 3);
        all.mark(Buffer::Position, 7);
        all.take(&mut world);
        assert!(!world.has(Buffer::Position), "it was taken");
        assert_eq!(all.rows(Buffer::Position, 9), 3..8);
        assert_eq!(all.rows(Buffer::Position, 4), 3..4);
        assert!(!all.has(Buffer::Velocity));
        all.mark_whole(Buffer::Velocity);
        assert_eq!(all.rows(Buffer::Velocity, 9), 0..9);
        [8, 3, 2, 3, 9].into_iter().for_each(|slot| world.mark_slot(slot));
        all.take(&mut world);
        assert_eq!(all.runs_of_slots(9), [2..4, 8..9]);
        assert!(world.runs_of_slots(9).is_empty() && !all.is_everything());
        (0..MANY).for_each(|slot| all.mark_slot(slot));
        assert!(all.is_everything() && all.runs_of_slots(9).is_empty());
        assert_eq!(all.rows(Buffer::Radius, 9), 0..9);
    }
}
