//! Turns the counts of the grid's buckets into the first index of each: a prefix sum.
//! Reads and writes: grid starts. Order: serial.

use super::Scratch;

pub(crate) fn run(scratch: &mut Scratch) {
    let mut sum = 0;
    for start in &mut scratch.grid.start {
        sum += *start;
        *start = sum;
    }
}
