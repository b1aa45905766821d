//! Moves the codes to their places by one digit; with the last digit the particles follow.
//! Reads: (code, slot) pairs, places by block and value, points [x, y, z, reach] m. Writes: the
//! pairs in order of this digit, and the sorted particles.
//! Order: stable, so equal codes stay in order of slot; the same for any number of threads.

use super::radix_count::{COUNTED, DIGITS, Radix, VALUES};
use super::search::broad::Broad;
use super::team::{Shared, Team};

pub(crate) fn run(team: &Team, broad: &mut Broad, digit: u8) {
    let Broad { points, radix: Radix { pairs, next, .. }, sorted, .. } = broad;
    let [a, b] = pairs;
    let (from, to) = if digit.is_multiple_of(2) { (a, b) } else { (b, a) };
    to.resize(from.len(), [0; 2]);
    let (next, moved) = (Shared::new(next), Shared::new(to));
    team.rows(&from[..], COUNTED, |range, pairs| {
        let first = range.start / COUNTED * VALUES;
        // SAFETY: each block has its own row of places.
        let next = unsafe { next.slice(first..first + VALUES) };
        for &[code, slot] in pairs {
            let place = &mut next[Radix::digit(code, digit)];
            // SAFETY: the scan gave every pair of every block a place of its own.
            unsafe { *moved.at(*place as usize) = [code, slot] };
            *place += 1;
        }
    });
    if digit + 1 == DIGITS {
        let rows = sorted.rows(points.len());
        team.rows(&to[..], COUNTED, |range, pairs| {
            for (k, &[_, slot]) in range.zip(pairs) {
                // SAFETY: blocks have different places.
                unsafe { rows.put(k, slot, points[slot as usize]) };
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{radix_count, radix_scan};
    use super::*;

    #[test]
    fn codes_come_out_sorted_and_equal_ones_in_order_of_slot() {
        for count in [0, 1, 2, 8191, 8192, 20_000] {
            for threads in [1, 3] {
                let team = Team::new(threads).unwrap();
                let mut broad = Broad::default();
                broad.load(&team, count, |_| glam::Vec4::ZERO);
                let mix = |i: u32| i.wrapping_mul(2_654_435_761) >> 2 & (0x3fff_ffff >> (i % 20));
                broad.radix.pairs[0] = (0..count as u32).map(|i| [mix(i), i]).collect();
                let mut expected = broad.radix.pairs[0].clone();
                expected.sort();
                for digit in 0..DIGITS {
                    radix_count::run(&team, &mut broad, digit);
                    radix_scan::run(&mut broad);
                    run(&team, &mut broad, digit);
                }
                assert_eq!(broad.radix.sorted(), expected);
                let slots: Vec<u32> = (0..count).map(|k| broad.sorted.slot(k)).collect();
                assert!(slots.iter().eq(expected.iter().map(|[_, slot]| slot)));
            }
        }
    }
}
