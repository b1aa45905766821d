//! Eight lanes at once, on any machine.
//!
//! A kernel is written once over [`Simd`] and entered through [`Level::run`], which picks the
//! instructions when the program starts, not when it is compiled. No lane ever uses a fused
//! multiply-add, so every level gives the same bits.
//!
//! Everything between the entry and the intrinsics must be `#[inline(always)]`: only the entry has
//! the machine's features switched on.

use crate::error::{Error, Result};
use std::ops::{Add, Mul, Sub};

/// Lanes of a vector.
pub(crate) const LANES: usize = 8;

/// Eight `f32`.
pub(crate) trait Simd:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    fn splat(value: f32) -> Self;
    /// # Safety
    /// Eight values can be read at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// Eight values can be written at `to`.
    unsafe fn store(self, to: *mut f32);
    /// The larger of each lane; with NaN in a lane, either or NaN.
    fn max(self, other: Self) -> Self;
    /// Bit k is set when lane k is at most that of `other`; never for NaN.
    fn at_most(self, other: Self) -> u32;
    /// Copies the words of `from` whose bit in `mask` is set to the front of `to`; what follows
    /// them there is undefined.
    /// # Safety
    /// Eight words can be read at `from` and written at `to`; `mask` is below 256.
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32);
}

/// Work that runs at whatever level the machine has. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    type Output;
    fn run<S: Simd>(self) -> Self::Output;
}

/// Which instructions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Scalar,
    Wide,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Level {
    /// The level `MOTES_SIMD` asks for, or the best there is.
    pub fn choose() -> Result<Self> {
        match std::env::var("MOTES_SIMD").as_deref() {
            Err(_) | Ok("") => Ok(Self::all().last().copied().unwrap_or(Level::Wide)),
            Ok(word) => Self::all().into_iter().find(|l| l.word() == word).ok_or_else(|| {
                let known: Vec<&str> = Self::all().iter().map(|l| l.word()).collect();
                Error::value(
                    "MOTES_SIMD",
                    format!(
                        "`{word}` is not known or not on this machine; use {}",
                        known.join(", ")
                    ),
                )
            }),
        }
    }

    /// Every level this machine can run, the best one last.
    pub fn all() -> Vec<Self> {
        let mut levels = vec![Level::Scalar, Level::Wide];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("popcnt")
        {
            levels.push(Level::Avx2);
        }
        levels
    }

    /// Its name in `MOTES_SIMD` and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Level::Scalar => "scalar",
            Level::Wide => "wide",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
        }
    }

    /// Runs a kernel with these instructions.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Level::Scalar => kernel.run::<Scalar>(),
            Level::Wide => kernel.run::<Wide>(),
            // SAFETY: this level is only made after the features were detected.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::enter(kernel) },
        }
    }
}

macro_rules! operators {
    ($name:ident, $($op:ident $method:ident |$a:ident, $b:ident| $value:expr;)+) => {$(
        impl $op for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $value
            }
        }
    )+};
}

/// Plain arrays: the reference.
#[derive(Clone, Copy)]
pub(crate) struct Scalar([f32; LANES]);

operators! { Scalar,
    Add add |a, b| Scalar(std::array::from_fn(|k| a.0[k] + b.0[k]));
    Sub sub |a, b| Scalar(std::array::from_fn(|k| a.0[k] - b.0[k]));
    Mul mul |a, b| Scalar(std::array::from_fn(|k| a.0[k] * b.0[k]));
}

impl Simd for Scalar {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Scalar([value; LANES])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise; an array of f32 needs no more than f32's alignment.
        Scalar(unsafe { *from.cast() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise; likewise.
        unsafe { *to.cast() = self.0 };
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let larger = |k: usize| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] };
        Scalar(std::array::from_fn(larger))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        (0..LANES).fold(0, |mask, k| mask | u32::from(self.0[k] <= other.0[k]) << k)
    }
    #[inline(always)]
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { pick_one_by_one(mask, from, to) }
    }
}

/// # Safety
/// As [`Simd::pick`].
#[inline(always)]
unsafe fn pick_one_by_one(mut mask: u32, from: *const u32, mut to: *mut u32) {
    while mask != 0 {
        // SAFETY: `mask` is below 256, so at most eight words are read and written.
        unsafe {
            *to = *from.add(mask.trailing_zeros() as usize);
            to = to.add(1);
        }
        mask &= mask - 1;
    }
}

/// The `wide` crate: what the compiler's baseline has.
#[derive(Clone, Copy)]
pub(crate) struct Wide(wide::f32x8);

operators! { Wide,
    Add add |a, b| Wide(a.0 + b.0);
    Sub sub |a, b| Wide(a.0 - b.0);
    Mul mul |a, b| Wide(a.0 * b.0);
}

impl Simd for Wide {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Wide(wide::f32x8::splat(value))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Wide(wide::f32x8::from(unsafe { *from.cast::<[f32; LANES]>() }))
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { *to.cast() = self.0.to_array() };
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Wide(self.0.fast_max(other.0))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        self.0.simd_le(other.0).to_bitmask()
    }
    #[inline(always)]
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32) {
        // SAFETY: the caller's promise.
        unsafe { pick_one_by_one(mask, from, to) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Kernel, LANES, Simd};
    use std::arch::x86_64::*;
    use std::ops::{Add, Mul, Sub};

    /// AVX2. Only made inside a kernel that [`enter`] runs, so the instructions are there: that is
    /// the SAFETY of every intrinsic below.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256);

    /// # Safety
    /// The machine has AVX2 and POPCNT.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn enter<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }

    operators! { Avx2,
        // SAFETY: see `Avx2`.
        Add add |a, b| Avx2(unsafe { _mm256_add_ps(a.0, b.0) });
        // SAFETY: see `Avx2`.
        Sub sub |a, b| Avx2(unsafe { _mm256_sub_ps(a.0, b.0) });
        // SAFETY: see `Avx2`.
        Mul mul |a, b| Avx2(unsafe { _mm256_mul_ps(a.0, b.0) });
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
        fn splat(value: f32) -> Self {
            // SAFETY: see `Avx2`.
            Avx2(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: see `Avx2`; the caller promises that eight values can be read.
            Avx2(unsafe { _mm256_loadu_ps(from) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: see `Avx2`; the caller promises that eight values can be written.
            unsafe { _mm256_storeu_ps(to, self.0) };
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: see `Avx2`.
            Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn at_most(self, other: Self) -> u32 {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) as u32 }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on odd values, as bits.
    struct Everything<'a>(&'a [f32; LANES], &'a [f32; LANES]);

    impl Kernel for Everything<'_> {
        type Output = Vec<u32>;
        #[inline(always)]
        fn run<S: Simd>(self) -> Vec<u32> {
            let words: [u32; LANES] = std::array::from_fn(|k| 100 + k as u32);
            // SAFETY: the arrays hold eight values.
            unsafe {
                let (a, b) = (S::load(self.0.as_ptr()), S::load(self.1.as_ptr()));
                let mut out = Vec::new();
                for v in [a + b, a - b, a * b, a * b + S::splat(0.1) - a] {
                    // The bits of a vector are known by what it compares to.
                    out.extend([v.at_most(v), v.at_most(a), a.at_most(v), v.at_most(b)]);
                }
                // NaN is each level's own affair, so compared to what is left without it.
                let most = a.max(b);
                out.extend([a.at_most(most) & b.at_most(most), most.at_most(b) & a.at_most(b)]);
                for mask in 0..256u32 {
                    let mut picked = [0; LANES];
                    S::pick(mask, words.as_ptr(), picked.as_mut_ptr());
                    out.extend(&picked[..mask.count_ones() as usize]);
                }
                out
            }
        }
    }

    #[test]
    fn every_level_gives_the_same() {
        let a = [0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, 1e-40, 3e38, 0.1];
        let b = [-0.0, 0.0, 1.0000001, 1.0, f32::INFINITY, -1e-40, 3e38, 0.7];
        let expected = Level::Scalar.run(Everything(&a, &b));
        assert_eq!(&expected[16..22], &[0xf7, 0xf7 & !0x20, 100, 101, 100, 101]);
        for level in Level::all() {
            assert_eq!(level.run(Everything(&a, &b)), expected, "{level:?}");
        }
    }
}
