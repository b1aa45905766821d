//! How eight rows of a colour come to their particles and back.
//!
//! Particles are read two at a time, as pairs, and pairs are turned into columns: lane k of a
//! column's low half is row 2k, of its high half row 2k + 1. Numbers of the rows are loaded in the
//! same order.

use super::{Answer, Law, Moved, Projection, corners};
use crate::simd::{LANES, Simd, Vector};

/// Where rows lie in memory: a pointer to the first entry of each of their columns.
#[derive(Clone, Copy)]
pub(crate) struct Rows<const N: usize> {
    pub positions: *mut [f32; 4],
    pub corner: [*const u32; N],
    /// How each corner but the first lay to the first one where the step began.
    pub base: [*const [f32; 4]; N],
    pub rest: *const f32,
    pub soft: *const f32,
    pub lambda: *mut f32,
}

/// How the particles of a vector lie. Its functions are safe to call wherever
/// [`Projection::vectors`] is.
pub(crate) trait Access<const N: usize>: Copy {
    /// # Safety
    /// `slot` is the first of each corner of those rows.
    unsafe fn new(rows: &Rows<N>, slot: [u32; N]) -> Self;
    /// The particles that rows `2 k` and `2 k + 1` have at a corner, side by side.
    /// # Safety
    /// Both particles exist, and `k` is below 4.
    unsafe fn pair<S: Simd>(&self, corner: usize, k: usize) -> S;
    /// Puts them back.
    /// # Safety
    /// As `pair`.
    unsafe fn put<S: Simd>(&self, corner: usize, k: usize, pair: S);
}

/// The particles of each corner lie one after the other.
#[derive(Clone, Copy)]
pub(super) struct Beside<const N: usize>([*mut [f32; 4]; N]);

impl<const N: usize> Access<N> for Beside<N> {
    #[inline(always)]
    unsafe fn new(rows: &Rows<N>, slot: [u32; N]) -> Self {
        // SAFETY: the caller's promise.
        Beside(slot.map(|slot| unsafe { rows.positions.add(slot as usize) }))
    }
    #[inline(always)]
    unsafe fn pair<S: Simd>(&self, corner: usize, k: usize) -> S {
        // SAFETY: the caller's promise.
        unsafe { S::load(self.0[corner].add(2 * k).cast()) }
    }
    #[inline(always)]
    unsafe fn put<S: Simd>(&self, corner: usize, k: usize, pair: S) {
        // SAFETY: the caller's promise.
        unsafe { pair.store(self.0[corner].add(2 * k).cast()) }
    }
}

/// The particles of each corner are every other one, from the first on.
#[derive(Clone, Copy)]
pub(super) struct Skipping<const N: usize>([*mut [f32; 4]; N]);

impl<const N: usize> Access<N> for Skipping<N> {
    #[inline(always)]
    unsafe fn new(rows: &Rows<N>, slot: [u32; N]) -> Self {
        // SAFETY: the caller's promise.
        Skipping(slot.map(|slot| unsafe { rows.positions.add(slot as usize) }))
    }
    #[inline(always)]
    unsafe fn pair<S: Simd>(&self, corner: usize, k: usize) -> S {
        // SAFETY: the caller's promise.
        unsafe { S::load_pair(self.0[corner].add(4 * k), self.0[corner].add(4 * k + 2)) }
    }
    #[inline(always)]
    unsafe fn put<S: Simd>(&self, corner: usize, k: usize, pair: S) {
        // SAFETY: the caller's promise.
        unsafe { pair.store_pair(self.0[corner].add(4 * k), self.0[corner].add(4 * k + 2)) }
    }
}

/// The particles lie anywhere, and are found through the indices of the rows.
#[derive(Clone, Copy)]
pub(super) struct Apart<const N: usize> {
    positions: *mut [f32; 4],
    corner: [*const u32; N],
}

impl<const N: usize> Apart<N> {
    /// # Safety
    /// As [`Access::pair`].
    #[inline(always)]
    unsafe fn both(&self, corner: usize, k: usize) -> [*mut [f32; 4]; 2] {
        // SAFETY: the caller's promise.
        let at = |row: usize| unsafe { self.positions.add(*self.corner[corner].add(row) as usize) };
        [at(2 * k), at(2 * k + 1)]
    }
}

impl<const N: usize> Access<N> for Apart<N> {
    #[inline(always)]
    unsafe fn new(rows: &Rows<N>, _: [u32; N]) -> Self {
        Apart { positions: rows.positions, corner: rows.corner }
    }
    #[inline(always)]
    unsafe fn pair<S: Simd>(&self, corner: usize, k: usize) -> S {
        // SAFETY: the caller's promise.
        unsafe {
            let [low, high] = self.both(corner, k);
            S::load_pair(low, high)
        }
    }
    #[inline(always)]
    unsafe fn put<S: Simd>(&self, corner: usize, k: usize, pair: S) {
        // SAFETY: the caller's promise.
        unsafe {
            let [low, high] = self.both(corner, k);
            pair.store_pair(low, high);
        }
    }
}

#[allow(clippy::needless_range_loop)] // the numbers of corner and lane index several arrays
impl<const N: usize> Rows<N> {
    /// The rows from number `first` on.
    /// # Safety
    /// There are at least that many.
    #[inline(always)]
    pub unsafe fn from(mut self, first: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            for corner in &mut self.corner {
                *corner = corner.add(first);
            }
            for base in &mut self.base[1..] {
                *base = base.add(first);
            }
            self.rest = self.rest.add(first);
            self.soft = self.soft.add(first);
            self.lambda = self.lambda.add(first);
        }
        self
    }

    /// Rest value, softness and multiplier of eight rows; 0 for what the law has no use for.
    /// # Safety
    /// Eight rows exist.
    #[inline(always)]
    pub unsafe fn numbers<S: Simd, M: Law>(&self) -> [S; 3] {
        let zero = S::splat(0.0);
        // SAFETY: the caller's promise.
        unsafe {
            [
                S::load_by_pairs(self.rest),
                if M::READS_SOFT { S::load_by_pairs(self.soft) } else { zero },
                if M::KEEPS_LAMBDA { S::load_by_pairs(self.lambda) } else { zero },
            ]
        }
    }

    /// How the corner of rows `2 i` and `2 i + 1` lay to the first, side by side.
    /// # Safety
    /// Both rows exist, `i` is below 4, and the corner is not the first.
    #[inline(always)]
    pub unsafe fn base<S: Simd>(&self, corner: usize, i: usize) -> S {
        // SAFETY: the caller's promise.
        unsafe { S::load(self.base[corner].add(2 * i).cast()) }
    }

    /// Projects eight rows.
    /// # Safety
    /// As [`Projection::vectors`]; `slot` is the first of each corner.
    #[inline(always)]
    pub unsafe fn project<S: Simd, P: Projection<N>, M: Law, A: Access<N>>(
        self,
        slot: [u32; N],
        omega: S,
    ) {
        let zero = S::splat(0.0);
        let zeros = Vector { x: zero, y: zero, z: zero };
        let mut moved = [Moved { by: zeros, w: zero }; N];
        // SAFETY: the caller's promise.
        unsafe {
            let access = A::new(&self, slot);
            for k in 0..N {
                let pair = |i| access.pair::<S>(k, i);
                let [x, y, z, w] = S::transpose([pair(0), pair(1), pair(2), pair(3)]);
                moved[k] = Moved { by: Vector { x, y, z }, w };
            }
            let p = corners(&moved, |k| {
                let pair = |i| self.base::<S>(k, i);
                let [x, y, z, _] = S::transpose([pair(0), pair(1), pair(2), pair(3)]);
                Vector { x, y, z }
            });
            let [rest, soft, lambda] = self.numbers::<S, M>();
            let Answer { push, change, valid } = P::project::<S, M>(&p, rest, soft, lambda, omega);
            if M::KEEPS_LAMBDA {
                S::select(valid, lambda + change, lambda).store_by_pairs(self.lambda);
            }
            for k in 0..N {
                let pushed = moved[k].pushed(push[k]);
                let Vector { x, y, z } = Vector::select(valid, pushed, moved[k].by);
                let pairs = S::transpose([x, y, z, p[k].w]);
                for i in 0..4 {
                    access.put(k, i, pairs[i]);
                }
            }
        }
    }

    /// Projects fewer rows than a vector has, in a copy that is filled up with pinned particles.
    /// # Safety
    /// As `project`, for `count` rows.
    #[inline(always)]
    pub unsafe fn project_few<S: Simd, P: Projection<N>, M: Law>(self, omega: S, count: usize) {
        let mut positions = [[[0.0; 4]; LANES]; N];
        let mut base = [[[0.0; 4]; LANES]; N];
        let [mut rest, mut soft, mut lambda] = [[0.0; LANES]; 3];
        // SAFETY: the caller's promise; the copy has eight rows, which share no particle.
        unsafe {
            for lane in 0..count {
                rest[lane] = *self.rest.add(lane);
                soft[lane] = *self.soft.add(lane);
                lambda[lane] = *self.lambda.add(lane);
                for k in 0..N {
                    let slot = *self.corner[k].add(lane) as usize;
                    positions[k][lane] = *self.positions.add(slot);
                    if k > 0 {
                        base[k][lane] = *self.base[k].add(lane);
                    }
                }
            }
            let copy = Rows {
                positions: positions.as_mut_ptr().cast(),
                corner: [std::ptr::null(); N],
                base: std::array::from_fn(|k| base[k].as_ptr()),
                rest: rest.as_ptr(),
                soft: soft.as_ptr(),
                lambda: lambda.as_mut_ptr(),
            };
            let slot = std::array::from_fn(|k| (k * LANES) as u32);
            copy.project::<S, P, M, Beside<N>>(slot, omega);
            for lane in 0..count {
                *self.lambda.add(lane) = lambda[lane];
                for k in 0..N {
                    let slot = *self.corner[k].add(lane) as usize;
                    *self.positions.add(slot) = positions[k][lane];
                }
            }
        }
    }
}
