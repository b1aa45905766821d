//! Eight pixels at once, on any machine. A kernel is written once over [`Lanes`] and compiled twice:
//! for every machine, and for those with AVX2; which one runs is found out when the program runs.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(test)]
mod tests;
mod vector;

pub use vector::V3;

use std::ops::{Add, Div, Mul, Neg, Range, Sub};

/// Pixels of a group.
pub const LANES: usize = 8;

/// Eight numbers; comparisons answer with a mask that is all ones or all zeros in each lane.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f32, Output = Self>
    + Sub<f32, Output = Self>
    + Mul<f32, Output = Self>
{
    fn splat(value: f32) -> Self;
    fn load(from: &[f32; LANES]) -> Self;
    fn store(self, to: &mut [f32; LANES]);
    /// Words whose bits the lanes take as they are, and back: only for `select`.
    fn load_words(from: &[u32; LANES]) -> Self;
    fn store_words(self, to: &mut [u32; LANES]);
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    /// The larger; `other` where this is not a number.
    fn at_least(self, other: Self) -> Self;
    /// The smaller; `other` where this is not a number.
    fn at_most(self, other: Self) -> Self;
    /// Where this is greater; never for not-a-number.
    fn above(self, other: Self) -> Self;
    /// Where this is greater or equal; never for not-a-number.
    fn reaches(self, other: Self) -> Self;
    fn both(self, other: Self) -> Self;
    /// `yes` where this mask is set, `no` elsewhere, bit for bit.
    fn select(self, yes: Self, no: Self) -> Self;
    /// Whether this mask is set anywhere.
    fn any(self) -> bool;
    /// The nearest integers, for numbers below 2^22 in size; others give some integer.
    fn nearest(self) -> [i32; LANES];

    /// As `nearest`, as numbers.
    #[inline(always)]
    fn rounded(self) -> Self {
        (self + NO_FRACTION) - NO_FRACTION
    }

    /// Cut to 0 to 1; not-a-number is 0.
    #[inline(always)]
    fn within_one(self) -> Self {
        self.at_least(Self::splat(0.0)).at_most(Self::splat(1.0))
    }
}

/// Added to a number below 2^22 in size, leaves no bits for a fraction.
const NO_FRACTION: f32 = 12_582_912.0;

/// Work on lanes. `run`, and all it calls that has lanes, must be `#[inline(always)]`, and no closure
/// may have lanes: only what is inlined is compiled for AVX2.
pub trait Kernel {
    type Output;
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Runs a kernel with the best instructions of this machine.
#[inline]
pub fn fastest<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, as just asked.
        return unsafe { avx2::enter(kernel) };
    }
    kernel.run::<portable::Portable>()
}

/// The groups that hold a range of pixels.
#[inline(always)]
pub fn groups(pixels: &Range<usize>) -> Range<usize> {
    pixels.start / LANES..pixels.end.div_ceil(LANES)
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

/// Operators between two kinds of lanes, and with a number for all lanes.
macro_rules! operators {
    ($lanes:ident, $($trait:ident $method:ident |$a:ident, $b:ident| $result:expr;)*) => {$(
        impl std::ops::$trait for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $result
            }
        }
        impl std::ops::$trait<f32> for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f32) -> Self {
                std::ops::$trait::$method(self, <$lanes as super::Lanes>::splat(other))
            }
        }
    )*};
}
use operators;
