//! Turns the counts of a digit's values into places: a prefix sum.
//! next[block, value] = all smaller values, and this value in the blocks before.
//! Reads: counts by block and value. Writes: the same as places.
//! Order: serial; integers.

use super::radix_count::VALUES;
use super::search::broad::Broad;

pub(crate) fn run(broad: &mut Broad) {
    let next = &mut broad.radix.next;
    let mut sum = 0;
    for value in 0..VALUES {
        for next in next.iter_mut().skip(value).step_by(VALUES) {
            let count = std::mem::replace(next, sum);
            sum += count;
        }
    }
}
