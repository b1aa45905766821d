//! AVX2, through `std::arch`.

use super::{LANES, Number, Simd, operators};
use std::arch::x86_64::*;

/// Only made inside a kernel that `Kernel::enter_avx2` runs, so the instructions are there: that is the SAFETY
/// of every intrinsic below.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256);

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

impl Number for Avx2 {
    /// All bits of a lane set, or none.
    type Mask = __m256;
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_set1_ps(value) })
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
    fn above(self, other: Self) -> __m256 {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn both(a: __m256, b: __m256) -> __m256 {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_and_ps(a, b) }
    }
    #[inline(always)]
    fn either(a: __m256, b: __m256) -> __m256 {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_or_ps(a, b) }
    }
    #[inline(always)]
    fn any(mask: __m256) -> bool {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_movemask_ps(mask) != 0 }
    }
    #[inline(always)]
    fn select(mask: __m256, yes: Self, no: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_blendv_ps(no.0, yes.0, mask) })
    }
}

/// The rows of lanes `k` and `k + 4`, side by side.
/// # Safety
/// See [`Avx2`]; the rows that both indices name can be read.
#[inline(always)]
unsafe fn two_rows(rows: *const [f32; 4], index: *const u32, k: usize) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe {
        let low = _mm_loadu_ps(rows.add(*index.add(k) as usize).cast());
        let high = _mm_loadu_ps(rows.add(*index.add(k + 4) as usize).cast());
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}

/// Transposes the 4 x 4 of each half: rows to columns, and columns to rows.
/// # Safety
/// See [`Avx2`].
#[inline(always)]
unsafe fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: see `Avx2`.
    unsafe {
        let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
            _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
        ]
    }
}

/// For each mask, the lanes whose bit is set, front first.
const PICKED: [[u8; LANES]; 256] = {
    let mut table = [[0; LANES]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut next) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                table[mask][next] = lane as u8;
                next += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

impl Simd for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: see `Avx2`; the caller promises that eight values can be read.
        Avx2(unsafe { _mm256_loadu_ps(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: see `Avx2`; the caller promises that eight values can be written.
        unsafe { _mm256_storeu_ps(to, self.0) }
    }
    /// Four loads of two rows and a transpose: less than half the time of four `vgatherdps`.
    #[inline(always)]
    unsafe fn gather(rows: *const [f32; 4], index: *const u32) -> [Self; 4] {
        // SAFETY: see `Avx2`; the caller promises the rows.
        unsafe {
            let [x, y, z, w] = transpose([
                two_rows(rows, index, 0),
                two_rows(rows, index, 1),
                two_rows(rows, index, 2),
                two_rows(rows, index, 3),
            ]);
            [Avx2(x), Avx2(y), Avx2(z), Avx2(w)]
        }
    }
    #[inline(always)]
    unsafe fn scatter([x, y, z, w]: [Self; 4], rows: *mut [f32; 4], index: *const u32) {
        // SAFETY: see `Avx2`; the caller promises the rows.
        unsafe {
            let pairs = transpose([x.0, y.0, z.0, w.0]);
            for (k, &pair) in pairs.iter().enumerate() {
                let low = _mm256_castps256_ps128(pair);
                _mm_storeu_ps(rows.add(*index.add(k) as usize).cast(), low);
            }
            for (k, &pair) in pairs.iter().enumerate() {
                let high = _mm256_extractf128_ps::<1>(pair);
                _mm_storeu_ps(rows.add(*index.add(k + 4) as usize).cast(), high);
            }
        }
    }
    #[inline(always)]
    unsafe fn load_pair(low: *const [f32; 4], high: *const [f32; 4]) -> Self {
        // SAFETY: see `Avx2`; the caller promises the rows.
        unsafe {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(low.cast()));
            Avx2(_mm256_insertf128_ps::<1>(low, _mm_loadu_ps(high.cast())))
        }
    }
    #[inline(always)]
    unsafe fn store_pair(self, low: *mut [f32; 4], high: *mut [f32; 4]) {
        // SAFETY: see `Avx2`; the caller promises the rows.
        unsafe {
            _mm_storeu_ps(low.cast(), _mm256_castps256_ps128(self.0));
            _mm_storeu_ps(high.cast(), _mm256_extractf128_ps::<1>(self.0));
        }
    }
    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: see `Avx2`.
        let [x, y, z, w] = unsafe { transpose([a.0, b.0, c.0, d.0]) };
        [Avx2(x), Avx2(y), Avx2(z), Avx2(w)]
    }
    #[inline(always)]
    unsafe fn load_by_pairs(from: *const f32) -> Self {
        // SAFETY: see `Avx2`; the caller promises that eight values can be read.
        unsafe {
            let rows = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
            Avx2(_mm256_permutevar8x32_ps(_mm256_loadu_ps(from), rows))
        }
    }
    #[inline(always)]
    unsafe fn store_by_pairs(self, to: *mut f32) {
        // SAFETY: see `Avx2`; the caller promises that eight values can be written.
        unsafe {
            let lanes = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(self.0, lanes));
        }
    }
    #[inline(always)]
    fn spread<const K: usize>(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe {
            match K {
                0 => _mm256_permute_ps::<0x00>(self.0),
                1 => _mm256_permute_ps::<0x55>(self.0),
                2 => _mm256_permute_ps::<0xaa>(self.0),
                _ => _mm256_permute_ps::<0xff>(self.0),
            }
        })
    }
    #[inline(always)]
    fn with_w_of(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_blend_ps::<0x88>(self.0, other.0) })
    }
    #[inline(always)]
    fn flip_w(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe {
            let last = _mm256_setr_ps(0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, -0.0);
            _mm256_xor_ps(self.0, last)
        })
    }
    #[inline(always)]
    fn all(mask: __m256) -> bool {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_movemask_ps(mask) == 0xff }
    }
    #[inline(always)]
    fn reaches(self, other: Self) -> __m256 {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_cmp_ps::<_CMP_GE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_min_ps(self.0, other.0) })
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
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) as u32 }
    }
    #[inline(always)]
    unsafe fn words_above(words: *const u32, floor: i32) -> u32 {
        // SAFETY: see `Avx2`; the caller promises the words.
        unsafe {
            let words = _mm256_loadu_si256(words.cast());
            let above = _mm256_cmpgt_epi32(words, _mm256_set1_epi32(floor));
            _mm256_movemask_ps(_mm256_castsi256_ps(above)) as u32
        }
    }
    #[inline(always)]
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32) {
        // SAFETY: see `Avx2`; the caller promises the words, and that `mask` is in the table.
        unsafe {
            let lanes = PICKED.get_unchecked(mask as usize);
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().cast()));
            let words = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), lanes);
            _mm256_storeu_si256(to.cast(), words);
        }
    }
}
