//! AVX2, through `std::arch`.

use super::{Kernel, LANES, Lanes, operators};
use std::arch::x86_64::*;

/// Only made inside a kernel that [`enter`] runs, so the instructions are there: that is the SAFETY
/// of every intrinsic below.
#[derive(Clone, Copy)]
pub struct Avx2(__m256);

/// Only for machines with AVX2.
#[target_feature(enable = "avx2")]
pub fn enter<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx2>()
}

operators! { Avx2,
    // SAFETY: see `Avx2`.
    Add add |a, b| Avx2(unsafe { _mm256_add_ps(a.0, b.0) });
    // SAFETY: see `Avx2`.
    Sub sub |a, b| Avx2(unsafe { _mm256_sub_ps(a.0, b.0) });
    // SAFETY: see `Avx2`.
    Mul mul |a, b| Avx2(unsafe { _mm256_mul_ps(a.0, b.0) });
    // SAFETY: see `Avx2`.
    Div div |a, b| Avx2(unsafe { _mm256_div_ps(a.0, b.0) });
}

impl std::ops::Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    fn load(from: &[f32; LANES]) -> Self {
        // SAFETY: see `Avx2`; eight values are there.
        Avx2(unsafe { _mm256_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        // SAFETY: see `Avx2`; there is room for eight values.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn load_words(from: &[u32; LANES]) -> Self {
        // SAFETY: see `Avx2`; eight words are there.
        Avx2(unsafe { _mm256_loadu_ps(from.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store_words(self, to: &mut [u32; LANES]) {
        // SAFETY: see `Avx2`; there is room for eight words.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn at_least(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn above(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn reaches(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_cmp_ps::<_CMP_GE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn both(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_and_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_blendv_ps(no.0, yes.0, self.0) })
    }
    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_movemask_ps(self.0) != 0 }
    }
    #[inline(always)]
    fn nearest(self) -> [i32; LANES] {
        let mut integers = [0; LANES];
        // SAFETY: see `Avx2`; there is room for eight integers.
        unsafe {
            _mm256_storeu_si256(integers.as_mut_ptr().cast(), _mm256_cvtps_epi32(self.0));
        }
        integers
    }
}
