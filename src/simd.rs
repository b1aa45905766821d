//! Eight lanes at once, on any machine.
//!
//! A formula is written once over [`Number`], which is one `f32` or eight of them; a kernel that
//! loads, stores and gathers is written once over [`Simd`] and entered through `Level::run`,
//! which picks the instructions when the program starts, not when it is compiled. Lanes add,
//! subtract, multiply, divide, take roots, compare and select, all of it exact in IEEE, and none
//! ever uses a fused multiply-add: so every level, and one `f32` alone, give the same bits.
//!
//! Everything between the entry and the intrinsics must be `#[inline(always)]`, and no closure may
//! stand between them: only the entry has the machine's features switched on.
//!
//! The passes of the engine and the software painter of the program share this module. The painter
//! works on safe groups of eight pixels (module `group`), the engine on pointers.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod group;
mod one;
mod scalar;
mod vector;
mod wide;

pub(crate) mod angle;
pub use group::{group, group_mut, groups};
pub(crate) use scalar::Scalar as Plain;
pub use vector::Vector;

use crate::error::{Error, Result};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Lanes of a vector.
pub const LANES: usize = 8;
/// Eight rows one after the other, to gather and scatter.
pub(crate) const EIGHT: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Which row of four pairs is in which lane of a column.
const BY_PAIRS: [usize; LANES] = [0, 2, 4, 6, 1, 3, 5, 7];

/// Added to a number below 2^22 in size, leaves no bits for a fraction.
const NO_FRACTION: f32 = 12_582_912.0;

/// A number, or one in each lane: what formulas are written over.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The answer to a comparison, in each lane.
    type Mask: Copy;
    fn splat(value: f32) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    /// Whether it is greater than `other`; not for NaN.
    fn above(self, other: Self) -> Self::Mask;
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn either(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Whether a mask is set in any lane.
    fn any(mask: Self::Mask) -> bool;
    /// `yes` where the mask is set, `no` elsewhere, bit for bit.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Eight `f32`. A plain `f32` on the right of an operator stands for itself in every lane.
pub trait Simd:
    Number + Add<f32, Output = Self> + Sub<f32, Output = Self> + Mul<f32, Output = Self>
{
    /// # Safety
    /// Eight values can be read at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// Eight values can be written at `to`.
    unsafe fn store(self, to: *mut f32);
    /// The four columns of the eight rows that `index` names.
    /// # Safety
    /// Eight indices can be read at `index`, and each row can be read at `rows`.
    unsafe fn gather(rows: *const [f32; 4], index: *const u32) -> [Self; 4];
    /// Writes four columns back to the eight rows that `index` names; where two are the same, the
    /// higher lane wins.
    /// # Safety
    /// Eight indices can be read at `index`, and each row can be written at `rows`.
    unsafe fn scatter(columns: [Self; 4], rows: *mut [f32; 4], index: *const u32);
    /// Two rows, side by side: a pair.
    /// # Safety
    /// Both can be read.
    unsafe fn load_pair(low: *const [f32; 4], high: *const [f32; 4]) -> Self;
    /// Writes a pair back.
    /// # Safety
    /// Both can be written.
    unsafe fn store_pair(self, low: *mut [f32; 4], high: *mut [f32; 4]);
    /// Four pairs to the columns of their eight rows, and back. Lane k of a column's low half is the
    /// low row of pair k, of its high half the high row.
    fn transpose(pairs: [Self; 4]) -> [Self; 4];
    /// Eight values, in the order of the rows of four pairs that lie one after the other.
    /// # Safety
    /// Eight values can be read at `from`.
    unsafe fn load_by_pairs(from: *const f32) -> Self;
    /// Writes what `load_by_pairs` reads.
    /// # Safety
    /// Eight values can be written at `to`.
    unsafe fn store_by_pairs(self, to: *mut f32);
    /// Lane `K` of each half, in all lanes of that half: of a column the rows of pair `K`, of a pair
    /// the columns `K`.
    fn spread<const K: usize>(self) -> Self;
    /// A pair with the last column of another.
    fn with_w_of(self, other: Self) -> Self;
    /// A pair with its last column negated.
    fn flip_w(self) -> Self;
    /// Whether a mask is set in all lanes.
    fn all(mask: Self::Mask) -> bool;
    /// Whether it is greater than `other` or equal to it; not for NaN.
    fn reaches(self, other: Self) -> Self::Mask;
    /// The larger of two; `other` where one of them is NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller of two; `other` where one of them is NaN.
    fn min(self, other: Self) -> Self;
    /// The nearest integers, for numbers below 2^22 in size; others give some integer.
    fn nearest(self) -> [i32; LANES];
    /// Bit k is set when lane k is at most that of `other`; never for NaN.
    fn at_most(self, other: Self) -> u32;
    /// Bit k is set when word k, taken for signed, is greater than `floor`.
    /// # Safety
    /// Eight words can be read at `words`.
    unsafe fn words_above(words: *const u32, floor: i32) -> u32;
    /// Copies the words of `from` whose bit in `mask` is set to the front of `to`; what follows
    /// them there is undefined.
    /// # Safety
    /// Eight words can be read at `from` and written at `to`; `mask` is below 256.
    unsafe fn pick(mask: u32, from: *const u32, to: *mut u32);

    /// The lanes of a group.
    #[inline(always)]
    fn read(from: &[f32; LANES]) -> Self {
        // SAFETY: the group has eight values.
        unsafe { Self::load(from.as_ptr()) }
    }
    /// Writes the lanes into a group.
    #[inline(always)]
    fn write(self, to: &mut [f32; LANES]) {
        // SAFETY: the group has room for eight values.
        unsafe { self.store(to.as_mut_ptr()) }
    }
    /// Words whose bits the lanes carry as they are: good for `select` and `write_words` alone.
    #[inline(always)]
    fn read_words(from: &[u32; LANES]) -> Self {
        // SAFETY: the group has eight words, and any word is the bits of an `f32`.
        unsafe { Self::load(from.as_ptr().cast()) }
    }
    /// Writes the bits of the lanes into a group of words.
    #[inline(always)]
    fn write_words(self, to: &mut [u32; LANES]) {
        // SAFETY: the group has room for eight words, which have the size of an `f32`.
        unsafe { self.store(to.as_mut_ptr().cast()) }
    }
    /// The nearest whole numbers, for numbers below 2^22 in size.
    #[inline(always)]
    fn rounded(self) -> Self {
        (self + NO_FRACTION) - NO_FRACTION
    }
    /// Cut to 0 to 1; NaN gives 0.
    #[inline(always)]
    fn within_one(self) -> Self {
        self.max(Self::splat(0.0)).min(Self::splat(1.0))
    }
}

/// Work that runs at whatever level the machine has. `run` must be `#[inline(always)]`.
///
/// The entries are methods and not functions so that the compiler puts each kernel beside its own
/// type: then changing one kernel does not build all of them again.
pub trait Kernel: Sized {
    type Output;
    fn run<S: Simd>(self) -> Self::Output;

    #[doc(hidden)]
    #[inline(never)]
    fn enter_scalar(self) -> Self::Output {
        self.run::<scalar::Scalar>()
    }
    #[doc(hidden)]
    #[inline(never)]
    fn enter_wide(self) -> Self::Output {
        self.run::<wide::Wide>()
    }
    /// # Safety
    /// The machine has AVX2 and POPCNT.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn enter_avx2(self) -> Self::Output {
        self.run::<avx2::Avx2>()
    }
}

/// Runs a kernel with the best instructions of this machine, whatever `MOTES_SIMD` says.
#[inline]
pub fn fastest<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the features were just detected.
        return unsafe { kernel.enter_avx2() };
    }
    kernel.enter_wide()
}

/// Whether this machine has what [`Level::Avx2`] needs; the answer is kept by the standard library.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
}

/// Asks for a value that will be read soon, where the machine has an instruction for it.
#[inline(always)]
pub(crate) fn prefetch<T>(value: *const T) {
    // SAFETY: a hint; it reads nothing that the program could see, and SSE is always there.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(value.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
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
        if has_avx2() {
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
            Level::Scalar => kernel.enter_scalar(),
            Level::Wide => kernel.enter_wide(),
            // SAFETY: this level is only made after the features were detected.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { kernel.enter_avx2() },
        }
    }
}

/// The operators of a lane type, also with one number for all lanes.
macro_rules! operators {
    ($name:ident, $($op:ident $method:ident |$a:ident, $b:ident| $value:expr;)+) => {$(
        impl std::ops::$op for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $value
            }
        }
        impl std::ops::$op<f32> for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f32) -> Self {
                std::ops::$op::$method(self, <$name as Number>::splat(other))
            }
        }
    )+};
}
use operators;

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
                let mut out = vec![a.at_most(b), b.at_most(a), a.at_most(a)];
                let mut see = |v: S| {
                    let mut bits = [0.0; LANES];
                    v.store(bits.as_mut_ptr());
                    out.extend(bits.map(canonical));
                };
                for v in [a + b, a - b, a * b, a / b, -a, a.sqrt(), b.abs()] {
                    see(v);
                }
                see(a * b + S::splat(0.1) - a);
                for v in [a.spread::<0>(), a.spread::<1>(), a.spread::<2>(), a.spread::<3>()] {
                    see(v);
                }
                for v in [a.with_w_of(b), a.flip_w(), S::load_by_pairs(self.0.as_ptr())] {
                    see(v);
                }
                S::transpose([a, b, a + b, -a]).into_iter().for_each(&mut see);
                let mut back = [0.0; LANES];
                S::load_by_pairs(self.0.as_ptr()).store_by_pairs(back.as_mut_ptr());
                see(S::load(back.as_ptr()));
                let mut pair = [[0.0; 4]; 2];
                let [low, high] = [pair.as_mut_ptr(), pair.as_mut_ptr().add(1)];
                a.store_pair(high, low);
                see(S::load_pair(low, high));
                let above = a.above(b);
                see(S::select(above, a, b));
                see(S::select(a.reaches(b), a, b));
                for v in [a.max(b), a.min(b), a.within_one(), a + 2.0, a - 2.0, a * 2.0] {
                    see(v);
                }
                let small = a.max(S::splat(-7.25)).min(S::splat(1e6)) * 0.5;
                see(small.rounded());
                let nearest = small.nearest();
                let any = [S::any(above), S::any(a.above(a))];
                let all = [S::all(above), S::all(S::splat(1.0).above(S::splat(0.5)))];
                see(S::select(S::both(above, S::splat(0.5).above(a)), a, b));
                for mask in 0..256u32 {
                    let mut picked = [0; LANES];
                    S::pick(mask, words.as_ptr(), picked.as_mut_ptr());
                    out.extend(&picked[..mask.count_ones() as usize]);
                }
                out.extend(all.map(u32::from));
                out.extend(any.map(u32::from));
                out.extend(nearest.map(|integer| integer as u32));
                for floor in [-1, 0, 99, 103, 107, i32::MAX] {
                    out.push(S::words_above(words.as_ptr(), floor));
                }
                out
            }
        }
    }

    /// Which NaN comes out of an operation is the one thing IEEE leaves open.
    fn canonical(value: f32) -> u32 {
        if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }
    }

    const ODD: [[f32; LANES]; 2] = [
        [0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, 1e-40, 3e38, 0.1],
        [-0.0, 0.0, 1.0000001, 1.0, f32::INFINITY, -1e-40, 3e38, 0.7],
    ];

    #[test]
    fn every_level_gives_the_same() {
        for [a, b] in [ODD, [ODD[1], ODD[0]]] {
            let expected = Level::Scalar.run(Everything(&a, &b));
            assert_eq!(expected.len(), 3 + 31 * LANES + 1024 + 4 + LANES + 6);
            assert_eq!(expected[expected.len() - 3], 0xf0);
            for level in Level::all() {
                assert_eq!(level.run(Everything(&a, &b)), expected, "{level:?}");
            }
        }
    }

    /// What the page of [`Simd`] promises of single lanes, on values that a picture may have.
    struct Promises<'a>(&'a [f32; LANES], &'a [f32; LANES]);

    impl Kernel for Promises<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self) {
            let (a, b) = (S::read(self.0), S::read(self.1));
            let check = |lanes: S, plain: &dyn Fn(f32, f32) -> f32| {
                let mut values = [0.0; LANES];
                lanes.write(&mut values);
                for (value, (&a, &b)) in values.into_iter().zip(self.0.iter().zip(self.1)) {
                    let expected = plain(a, b);
                    assert!(value == expected || value.is_nan() && expected.is_nan());
                }
            };
            check(a.max(b), &|a, b| if a > b { a } else { b });
            check(a.min(b), &|a, b| if a < b { a } else { b });
            check(S::select(a.reaches(b), b, a), &|a, b| if a >= b { b } else { a });
            check(a.rounded(), &|a, _| a.round_ties_even());
            check(b.within_one(), &|_, b| if b.is_nan() { 0.0 } else { b.clamp(0.0, 1.0) });
            assert_eq!(a.nearest(), self.0.map(|a| a.round_ties_even() as i32));
            // Words go through as they are, also those that are no numbers.
            let words: [u32; LANES] = std::array::from_fn(|k| 0x7f80_0001 + k as u32);
            let mut back = [0; LANES];
            S::read_words(&words).write_words(&mut back);
            assert_eq!(back, words);
        }
    }

    #[test]
    fn lanes_are_eight_numbers() {
        let a = [0.0, -0.4, 1.5, -7.25, 1e6, 0.3, -0.7, 4e6];
        let b = [1.0, 0.0, 1.5, 3.0, -2.0, f32::NAN, f32::INFINITY, 0.1];
        Level::all().into_iter().for_each(|level| level.run(Promises(&a, &b)));
        fastest(Promises(&a, &b));
    }

    /// Gathers rows in one order and scatters them in another.
    struct Shuffle<'a>(&'a [[f32; 4]], &'a mut [[f32; 4]], [[u32; LANES]; 2]);

    impl Kernel for Shuffle<'_> {
        type Output = [[u32; LANES]; 4];
        #[inline(always)]
        fn run<S: Simd>(self) -> [[u32; LANES]; 4] {
            let Shuffle(from, to, [read, write]) = self;
            let mut seen = [[0.0; LANES]; 4];
            // SAFETY: the indices below are within the rows.
            unsafe {
                let columns = S::gather(from.as_ptr(), read.as_ptr());
                S::scatter(columns, to.as_mut_ptr(), write.as_ptr());
                for (column, seen) in columns.iter().zip(&mut seen) {
                    column.store(seen.as_mut_ptr());
                }
            }
            seen.map(|column| column.map(f32::to_bits))
        }
    }

    #[test]
    fn rows_are_gathered_as_columns_and_scattered_back_bit_for_bit() {
        // Signalling NaNs among them: rows that are only carried must not change.
        let from: Vec<[f32; 4]> = (0..20u32)
            .map(|i| [0, 1, 2, 3].map(|k| f32::from_bits(0x7f80_0001 + 4 * i + k)))
            .collect();
        let (read, write) = ([3, 19, 0, 7, 7, 12, 1, 4], [8, 1, 2, 19, 4, 0, 6, 3]);
        for level in Level::all() {
            let mut to = vec![[0.0; 4]; 20];
            let columns = level.run(Shuffle(&from, &mut to, [read, write]));
            for lane in 0..LANES {
                for k in 0..4 {
                    let bits = from[read[lane] as usize][k].to_bits();
                    assert_eq!(columns[k][lane], bits, "{level:?} gather {lane} {k}");
                    let there = to[write[lane] as usize][k].to_bits();
                    assert_eq!(there, bits, "{level:?} scatter {lane} {k}");
                }
            }
            assert_eq!(to.iter().filter(|row| row[0].to_bits() != 0).count(), LANES);
        }
    }
}
