//! A shorter way to sweep distance constraints: both particles move along their difference, by one
//! factor, so particles need not be turned into columns and back to be moved.
//!
//! A root and two divisions, one after the other, take some 40 cycles, and a processor looks about
//! 150 results ahead: two vectors of columns, which then wait together. So there are two rounds:
//! the first turns differences into columns and finds the number of each row, with little else in
//! flight; the second moves pairs of particles as they lie, and waits for nothing.

use super::{Access, Law, Rows, Runs};
use crate::kind::Distance;
use crate::simd::{LANES, Simd, Vector};
use std::mem::MaybeUninit;

/// How many vectors a round takes: few enough for their particles to stay in the first cache.
const ROUND: usize = 32;

/// # Safety
/// As [`super::Projection::vectors`].
#[inline(always)]
pub(crate) unsafe fn vectors<S: Simd, M: Law, A: Access<2>>(
    rows: Rows<2>,
    runs: Runs<2>,
    omega: S,
) {
    let mut scales = [const { MaybeUninit::<[f32; LANES]>::uninit() }; ROUND];
    // Numbers of vectors: those that move as a whole from the front, the others from the back.
    let mut sorted = [0u8; ROUND];
    for (first, slots) in runs.row.chunks(ROUND).zip(runs.slot.chunks(ROUND)) {
        let (mut whole, mut odd) = (0, ROUND);
        // SAFETY: the caller's promise; a round has at most `ROUND` vectors, and scales up to
        // `whole` have been written.
        unsafe {
            for (v, (&row, &slot)) in first.iter().zip(slots).enumerate() {
                let rows = rows.from(row as usize);
                let scale = scales.get_unchecked_mut(whole).as_mut_ptr();
                if find::<S, M, A>(&rows, &A::new(&rows, slot), omega, scale.cast()) {
                    *sorted.get_unchecked_mut(whole) = v as u8;
                    whole += 1;
                } else {
                    odd -= 1;
                    *sorted.get_unchecked_mut(odd) = v as u8;
                }
            }
            for (&v, scale) in sorted.get_unchecked(..whole).iter().zip(&scales) {
                let v = usize::from(v);
                let rows = rows.from(*first.get_unchecked(v) as usize);
                let access = A::new(&rows, *slots.get_unchecked(v));
                apply::<S, A>(&rows, &access, scale.as_ptr().cast());
            }
            // These wait until now: keeping what the first round found for them would be in the way
            // of all others.
            for &v in sorted.get_unchecked(odd..) {
                let v = usize::from(v);
                let rows = rows.from(*first.get_unchecked(v) as usize);
                rows.project::<S, Distance, M, A>(*slots.get_unchecked(v), omega);
            }
        }
    }
}

/// Finds the factor for the difference of each row. Returns false, and changes no multiplier, where
/// the factor does not hold for all of them.
/// # Safety
/// As [`vectors`]; eight numbers can be written at `scale`.
#[inline(always)]
unsafe fn find<S: Simd, M: Law, A: Access<2>>(
    rows: &Rows<2>,
    access: &A,
    omega: S,
    scale: *mut f32,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        // Differences of places, and sums of inverse masses.
        let difference =
            |k| access.pair::<S>(0, k) - access.pair::<S>(1, k).flip_w() - rows.base::<S>(1, k);
        let [x, y, z, sum] =
            S::transpose([difference(0), difference(1), difference(2), difference(3)]);
        let [rest, soft, lambda] = rows.numbers::<S, M>();
        let length = Vector { x, y, z }.length();
        let (change, by, valid) = Distance::scale::<S, M>(length, sum, rest, soft, lambda, omega);
        by.store(scale);
        let all = S::all(valid);
        if M::KEEPS_LAMBDA && all {
            (lambda + change).store_by_pairs(rows.lambda);
        }
        all
    }
}

/// Moves both particles of each row along their difference.
/// # Safety
/// As [`vectors`]; eight numbers can be read at `scale`.
#[inline(always)]
unsafe fn apply<S: Simd, A: Access<2>>(rows: &Rows<2>, access: &A, scale: *const f32) {
    // SAFETY: the caller's promise.
    unsafe {
        let scale = S::load(scale);
        let scales =
            [scale.spread::<0>(), scale.spread::<1>(), scale.spread::<2>(), scale.spread::<3>()];
        for (k, &scale) in scales.iter().enumerate() {
            let (a, b) = (access.pair::<S>(0, k), access.pair::<S>(1, k));
            let push = (a - b - rows.base::<S>(1, k)) * scale;
            access.put(0, k, (a + push * a.spread::<3>()).with_w_of(a));
            access.put(1, k, (b - push * b.spread::<3>()).with_w_of(b));
        }
    }
}
