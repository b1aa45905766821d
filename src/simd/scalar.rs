//! Plain arrays: the reference.

use super::{BY_PAIRS, LANES, Number, Simd, operators, pick_one_by_one};
use std::array::from_fn;

#[derive(Clone, Copy)]
pub(crate) struct Scalar([f32; LANES]);

operators! { Scalar,
    Add add |a, b| Scalar(from_fn(|k| a.0[k] + b.0[k]));
    Sub sub |a, b| Scalar(from_fn(|k| a.0[k] - b.0[k]));
    Mul mul |a, b| Scalar(from_fn(|k| a.0[k] * b.0[k]));
    Div div |a, b| Scalar(from_fn(|k| a.0[k] / b.0[k]));
}

impl std::ops::Neg for Scalar {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Scalar(self.0.map(|v| -v))
    }
}

impl Number for Scalar {
    type Mask = [bool; LANES];
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Scalar([value; LANES])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Scalar(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Scalar(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn above(self, other: Self) -> Self::Mask {
        from_fn(|k| self.0[k] > other.0[k])
    }
    #[inline(always)]
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        from_fn(|k| a[k] & b[k])
    }
    #[inline(always)]
    fn either(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        from_fn(|k| a[k] | b[k])
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        mask.iter().any(|&set| set)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Scalar(from_fn(|k| if mask[k] { yes.0[k] } else { no.0[k] }))
    }
}

impl Simd for Scalar {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise; an array of f32 needs no more than f32's alignment.
        Scalar(unsafe { *from.cast() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise; alignment as above.
        unsafe { *to.cast() = self.0 }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const [f32; 4], index: *const u32) -> [Self; 4] {
        // SAFETY: the caller's promise.
        let rows: [[f32; 4]; LANES] = from_fn(|k| unsafe { *rows.add(*index.add(k) as usize) });
        from_fn(|column| Scalar(rows.map(|row| row[column])))
    }
    #[inline(always)]
    unsafe fn scatter(columns: [Self; 4], rows: *mut [f32; 4], index: *const u32) {
        for k in 0..LANES {
            // SAFETY: the caller's promise.
            unsafe { *rows.add(*index.add(k) as usize) = columns.map(|column| column.0[k]) };
        }
    }
    #[inline(always)]
    unsafe fn load_pair(low: *const [f32; 4], high: *const [f32; 4]) -> Self {
        // SAFETY: the caller's promise.
        let (low, high) = unsafe { (*low, *high) };
        Scalar(from_fn(|k| if k < 4 { low[k] } else { high[k - 4] }))
    }
    #[inline(always)]
    unsafe fn store_pair(self, low: *mut [f32; 4], high: *mut [f32; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            *low = from_fn(|k| self.0[k]);
            *high = from_fn(|k| self.0[k + 4]);
        }
    }
    #[inline(always)]
    fn transpose(pairs: [Self; 4]) -> [Self; 4] {
        from_fn(|k| Scalar(from_fn(|lane| pairs[lane % 4].0[lane / 4 * 4 + k])))
    }
    #[inline(always)]
    unsafe fn load_by_pairs(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Scalar(BY_PAIRS.map(|row| unsafe { *from.add(row) }))
    }
    #[inline(always)]
    unsafe fn store_by_pairs(self, to: *mut f32) {
        for (value, row) in self.0.into_iter().zip(BY_PAIRS) {
            // SAFETY: the caller's promise.
            unsafe { *to.add(row) = value };
        }
    }
    #[inline(always)]
    fn spread<const K: usize>(self) -> Self {
        Scalar(from_fn(|lane| self.0[lane / 4 * 4 + K]))
    }
    #[inline(always)]
    fn with_w_of(self, other: Self) -> Self {
        Scalar(from_fn(|lane| if lane % 4 == 3 { other.0[lane] } else { self.0[lane] }))
    }
    #[inline(always)]
    fn flip_w(self) -> Self {
        Scalar(from_fn(|lane| if lane % 4 == 3 { -self.0[lane] } else { self.0[lane] }))
    }
    #[inline(always)]
    fn all(mask: Self::Mask) -> bool {
        mask.iter().all(|&set| set)
    }
    #[inline(always)]
    fn reaches(self, other: Self) -> Self::Mask {
        from_fn(|k| self.0[k] >= other.0[k])
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(self.above(other), self, other)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(other.above(self), self, other)
    }
    #[inline(always)]
    fn nearest(self) -> [i32; LANES] {
        self.0.map(|value| value.round_ties_even() as i32)
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        (0..LANES).fold(0, |mask, k| mask | u32::from(self.0[k] <= other.0[k]) << k)
    }
    #[inline(always)]
    unsafe fn words_above(words: *const u32, floor: i32) -> u32 {
        // SAFETY: the caller's promise.
        let words: [i32; LANES] = unsafe { *words.cast() };
        (0..LANES).fold(0, |mask, k| mask | u32::from(words[k] > floor) << k)
    }
    #[inline(always)]
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { pick_one_by_one(mask, from, to) }
    }
}
