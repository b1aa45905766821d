//! Turns the counts of the grid's buckets into the first index of each: a prefix sum.
//! start[k] = count[0] + ... + count[k - 1].
//! Reads: counts in the grid starts. Writes: grid starts.
//! Order: serial; integers.

use super::Scratch;

pub(crate) fn run(scratch: &mut Scratch) {
    let mut sum = 0;
    for start in &mut scratch.grid.start {
        sum += *start;
        *start = sum;
    }
}
