//! The `wide` crate: what the compiler's baseline has.

use super::{BY_PAIRS, LANES, NO_FRACTION, Number, Simd, operators, pick_one_by_one};
use bytemuck::cast;
use wide::{f32x4, f32x8, i32x8};

#[derive(Clone, Copy)]
pub(crate) struct Wide(f32x8);

operators! { Wide,
    Add add |a, b| Wide(a.0 + b.0);
    Sub sub |a, b| Wide(a.0 - b.0);
    Mul mul |a, b| Wide(a.0 * b.0);
    Div div |a, b| Wide(a.0 / b.0);
}

impl std::ops::Neg for Wide {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Wide(-self.0)
    }
}

impl Number for Wide {
    /// All bits of a lane set, or none.
    type Mask = f32x8;
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Wide(f32x8::splat(value))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Wide(self.0.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Wide(self.0.abs())
    }
    #[inline(always)]
    fn above(self, other: Self) -> f32x8 {
        self.0.simd_gt(other.0)
    }
    #[inline(always)]
    fn both(a: f32x8, b: f32x8) -> f32x8 {
        a & b
    }
    #[inline(always)]
    fn either(a: f32x8, b: f32x8) -> f32x8 {
        a | b
    }
    #[inline(always)]
    fn any(mask: f32x8) -> bool {
        mask.to_bitmask() != 0
    }
    #[inline(always)]
    fn select(mask: f32x8, yes: Self, no: Self) -> Self {
        Wide(mask.select(yes.0, no.0))
    }
}

/// Set in the last lane of each half.
const LAST: f32x8 = {
    let set = f32::from_bits(u32::MAX);
    f32x8::new([0.0, 0.0, 0.0, set, 0.0, 0.0, 0.0, set])
};

/// # Safety
/// The row that the index at lane `k` names can be read.
#[inline(always)]
unsafe fn row(rows: *const [f32; 4], index: *const u32, k: usize) -> f32x4 {
    // SAFETY: the caller's promise.
    f32x4::new(unsafe { *rows.add(*index.add(k) as usize) })
}

impl Simd for Wide {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Wide(f32x8::new(unsafe { *from.cast::<[f32; LANES]>() }))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { *to.cast::<[f32; LANES]>() = self.0.to_array() }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const [f32; 4], index: *const u32) -> [Self; 4] {
        // SAFETY: the caller's promise.
        let [low, high] = unsafe {
            [
                [
                    row(rows, index, 0),
                    row(rows, index, 1),
                    row(rows, index, 2),
                    row(rows, index, 3),
                ],
                [
                    row(rows, index, 4),
                    row(rows, index, 5),
                    row(rows, index, 6),
                    row(rows, index, 7),
                ],
            ]
        };
        let (low, high) = (f32x4::transpose(low), f32x4::transpose(high));
        [
            Wide(cast([low[0], high[0]])),
            Wide(cast([low[1], high[1]])),
            Wide(cast([low[2], high[2]])),
            Wide(cast([low[3], high[3]])),
        ]
    }
    #[inline(always)]
    unsafe fn scatter(columns: [Self; 4], rows: *mut [f32; 4], index: *const u32) {
        let [x, y, z, w]: [[f32x4; 2]; 4] =
            [cast(columns[0].0), cast(columns[1].0), cast(columns[2].0), cast(columns[3].0)];
        let low = f32x4::transpose([x[0], y[0], z[0], w[0]]);
        let high = f32x4::transpose([x[1], y[1], z[1], w[1]]);
        for (k, row) in low.iter().chain(&high).enumerate() {
            // SAFETY: the caller's promise.
            unsafe { *rows.add(*index.add(k) as usize) = row.to_array() };
        }
    }
    #[inline(always)]
    unsafe fn load_pair(low: *const [f32; 4], high: *const [f32; 4]) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Wide(cast([f32x4::new(*low), f32x4::new(*high)])) }
    }
    #[inline(always)]
    unsafe fn store_pair(self, low: *mut [f32; 4], high: *mut [f32; 4]) {
        let halves: [f32x4; 2] = cast(self.0);
        // SAFETY: the caller's promise.
        unsafe {
            *low = halves[0].to_array();
            *high = halves[1].to_array();
        }
    }
    #[inline(always)]
    fn transpose(pairs: [Self; 4]) -> [Self; 4] {
        let [a, b, c, d]: [[f32x4; 2]; 4] =
            [cast(pairs[0].0), cast(pairs[1].0), cast(pairs[2].0), cast(pairs[3].0)];
        let low = f32x4::transpose([a[0], b[0], c[0], d[0]]);
        let high = f32x4::transpose([a[1], b[1], c[1], d[1]]);
        [
            Wide(cast([low[0], high[0]])),
            Wide(cast([low[1], high[1]])),
            Wide(cast([low[2], high[2]])),
            Wide(cast([low[3], high[3]])),
        ]
    }
    #[inline(always)]
    unsafe fn load_by_pairs(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Wide(f32x8::new(BY_PAIRS.map(|row| unsafe { *from.add(row) })))
    }
    #[inline(always)]
    unsafe fn store_by_pairs(self, to: *mut f32) {
        for (value, row) in self.0.to_array().into_iter().zip(BY_PAIRS) {
            // SAFETY: the caller's promise.
            unsafe { *to.add(row) = value };
        }
    }
    #[inline(always)]
    fn spread<const K: usize>(self) -> Self {
        let v = self.0.to_array();
        Wide(cast([f32x4::splat(v[K]), f32x4::splat(v[4 + K])]))
    }
    #[inline(always)]
    fn with_w_of(self, other: Self) -> Self {
        Wide(LAST.select(other.0, self.0))
    }
    #[inline(always)]
    fn flip_w(self) -> Self {
        self.with_w_of(-self)
    }
    #[inline(always)]
    fn all(mask: f32x8) -> bool {
        mask.to_bitmask() == 0xff
    }
    #[inline(always)]
    fn reaches(self, other: Self) -> f32x8 {
        self.0.simd_ge(other.0)
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
        // The sum has its whole part in the lowest bits.
        let bits = (self + NO_FRACTION).0.to_array().map(f32::to_bits);
        bits.map(|bits| (bits as i32).wrapping_sub(NO_FRACTION.to_bits() as i32))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        self.0.simd_le(other.0).to_bitmask()
    }
    #[inline(always)]
    unsafe fn words_above(words: *const u32, floor: i32) -> u32 {
        // SAFETY: the caller's promise.
        let words = i32x8::new(unsafe { *words.cast::<[i32; LANES]>() });
        words.simd_gt(i32x8::splat(floor)).to_bitmask()
    }
    #[inline(always)]
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { pick_one_by_one(mask, from, to) }
    }
}
