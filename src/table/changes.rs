//! Which rows of which buffer were edited since a device last took them.

use super::Buffer;
use std::ops::Range;

/// For each buffer that is indexed by slot, the span of slots that edits touched. Worlds that differ
/// in this alone are equal.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "vulkan"), allow(dead_code))] // a device alone reads it
pub(crate) struct Changes {
    spans: [Range<u32>; Buffer::COUNT],
    /// Particles came or went: every row may be another one.
    everything: bool,
}

impl Default for Changes {
    fn default() -> Self {
        Changes { spans: std::array::from_fn(|_| 0..0), everything: false }
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
    }
    fn mark_span(&mut self, buffer: Buffer, more: Range<u32>) {
        let span = &mut self.spans[buffer as usize];
        let hull = span.start.min(more.start)..span.end.max(more.end);
        *span = if *span == (0..0) { more } else { hull };
    }
}

#[cfg(feature = "vulkan")]
impl Changes {
    /// All rows of a buffer are to be taken.
    pub fn mark_whole(&mut self, buffer: Buffer) {
        self.spans[buffer as usize] = 0..u32::MAX;
    }
    /// Adds what another has, which is then empty.
    pub fn take(&mut self, other: &mut Changes) {
        let other = std::mem::take(other);
        self.everything |= other.everything;
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
        self.everything || !self.spans[buffer as usize].is_empty()
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
        all.mark_everything();
        assert_eq!(all.rows(Buffer::Radius, 9), 0..9);
    }
}
