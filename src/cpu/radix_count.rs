//! Counts how often each value of a digit of the Morton codes occurs, by block of particles.
//! Reads: (code, slot) pairs. Writes: counts by block and value.
//! Order: integers, each block its own counts; deterministic.

use super::search::broad::Broad;
use super::team::{Shared, Team};
use glam::{DVec3, Vec3};

/// Bits of a digit, and how many digits a code of 30 bits has.
const BITS: u32 = 10;
pub(crate) const DIGITS: u8 = 3;
/// Values of a digit.
pub(crate) const VALUES: usize = 1 << BITS;
/// Particles whose digits are counted together.
pub(crate) const COUNTED: usize = 8192;

/// A stable radix sort of codes, lowest digit first.
#[derive(Default)]
pub(crate) struct Radix {
    /// (code, slot), from and to where the next digit is sorted.
    pub pairs: [Vec<[u32; 2]>; 2],
    /// By block: how many have each value; after the scan where they go.
    pub next: Vec<u32>,
    /// Low corner of the box the codes are of, and its cells per metre.
    pub frame: (Vec3, f32),
    /// Partial sums of `morton_codes`.
    pub sums: Vec<(DVec3, f64)>,
}

impl Radix {
    /// The digit of a code.
    #[inline]
    pub fn digit(code: u32, digit: u8) -> usize {
        (code >> (BITS * u32::from(digit))) as usize & (VALUES - 1)
    }
    /// The codes in order.
    pub fn sorted(&self) -> &[[u32; 2]] {
        &self.pairs[usize::from(DIGITS) % 2]
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        16 * self.pairs[0].capacity() + 4 * self.next.capacity()
    }
}

pub(crate) fn run(team: &Team, broad: &mut Broad, digit: u8) {
    let Radix { pairs, next, .. } = &mut broad.radix;
    let pairs = &pairs[usize::from(digit) % 2][..];
    next.clear();
    next.resize(pairs.len().div_ceil(COUNTED) * VALUES, 0);
    let counts = Shared::new(next);
    team.rows(pairs, COUNTED, |range, pairs| {
        let first = range.start / COUNTED * VALUES;
        // SAFETY: each block has its own counts.
        let counts = unsafe { counts.slice(first..first + VALUES) };
        for &[code, _] in pairs {
            counts[Radix::digit(code, digit)] += 1;
        }
    });
}
