//! The `wide` crate: what every machine of the target has.

use super::{LANES, Lanes, NO_FRACTION, operators};
use wide::f32x8;

#[derive(Clone, Copy)]
pub struct Portable(f32x8);

operators! { Portable,
    Add add |a, b| Portable(a.0 + b.0);
    Sub sub |a, b| Portable(a.0 - b.0);
    Mul mul |a, b| Portable(a.0 * b.0);
    Div div |a, b| Portable(a.0 / b.0);
}

impl std::ops::Neg for Portable {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Portable(-self.0)
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Portable(f32x8::splat(value))
    }
    #[inline(always)]
    fn load(from: &[f32; LANES]) -> Self {
        Portable(f32x8::new(*from))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        *to = self.0.to_array();
    }
    #[inline(always)]
    fn load_words(from: &[u32; LANES]) -> Self {
        Portable(f32x8::new(from.map(f32::from_bits)))
    }
    #[inline(always)]
    fn store_words(self, to: &mut [u32; LANES]) {
        *to = self.0.to_array().map(f32::to_bits);
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Portable(self.0.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Portable(self.0.abs())
    }
    #[inline(always)]
    fn at_least(self, other: Self) -> Self {
        self.above(other).select(self, other)
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> Self {
        other.above(self).select(self, other)
    }
    #[inline(always)]
    fn above(self, other: Self) -> Self {
        Portable(self.0.simd_gt(other.0))
    }
    #[inline(always)]
    fn reaches(self, other: Self) -> Self {
        Portable(self.0.simd_ge(other.0))
    }
    #[inline(always)]
    fn both(self, other: Self) -> Self {
        Portable(self.0 & other.0)
    }
    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        Portable(self.0.bitselect(yes.0, no.0))
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.to_bitmask() != 0
    }
    #[inline(always)]
    fn nearest(self) -> [i32; LANES] {
        let bits = (self + NO_FRACTION).0.to_array().map(f32::to_bits);
        bits.map(|bits| (bits as i32).wrapping_sub(NO_FRACTION.to_bits() as i32))
    }
}
