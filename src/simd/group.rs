//! Rows of numbers in groups of as many as there are lanes.

use super::LANES;
use std::ops::Range;

/// The groups that hold a range of places in a row.
#[inline(always)]
pub fn groups(places: &Range<usize>) -> Range<usize> {
    places.start / LANES..places.end.div_ceil(LANES)
}

/// One group of a row.
#[inline(always)]
pub fn group<T>(row: &[T], group: usize) -> &[T; LANES] {
    &row.as_chunks().0[group]
}

/// One group of a row, to write.
#[inline(always)]
pub fn group_mut<T>(row: &mut [T], group: usize) -> &mut [T; LANES] {
    &mut row.as_chunks_mut().0[group]
}
