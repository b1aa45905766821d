//! One colour of graph-coloured Gauss-Seidel, eight rows at a time. No two rows of a colour share a
//! particle, so the result depends neither on who runs which block nor on what a vector holds.

use super::{Answer, Cache, Corner, Projection, Rule, seidel};
use crate::cpu::team::{Shared, Team};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::world::constraints::{ConstraintSet, OVERFLOW_COLOR};
use glam::Vec4;
use std::marker::PhantomData;

/// Particles a block of constraints touches: whole vectors, some 1.5 us of work, and about 10
/// blocks a colour on a cloth of 100 x 100.
const BLOCK: usize = 1024;
/// Vectors in flight where registers allow: a root and two divisions, one after the other, leave
/// room for a second. Distance on a cloth of 100 x 100: 3.9, 2.9, 3.2, 3.3 ns with 1, 2, 3, 4.
const FLIGHT: usize = 2;

pub(super) fn sweep<P: Projection<N>, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &Cache,
    rule: Rule,
    color: usize,
) {
    let rows = set.color_range(color);
    if color == OVERFLOW_COLOR {
        // These do share particles: one after the other.
        rows.for_each(|i| seidel::row::<P, N>(positions, set, &cache.soft, rule, i));
        return;
    }
    cache.assert_within(set, positions.len());
    let positions = Shared::new(positions);
    let ConstraintSet { corner, rest, lambda, .. } = set;
    let corner: [&[u32]; N] = std::array::from_fn(|k| &corner[k][rows.clone()]);
    let columns = (Shared::new(&mut lambda[rows.clone()]), &rest[rows.clone()], &cache.soft[rows]);
    team.rows(columns, BLOCK / N, |range, (lambda, rest, soft)| {
        let corner = corner.map(|column| &column[range.clone()]);
        let positions = positions.start().cast();
        // SAFETY: every corner is a row of the positions (`Cache::assert_within`), those of a
        // colour are all different (checked by `ConstraintSet::is_sound`, kept by its methods), and
        // no two blocks share a row.
        let block = unsafe { Block::<P, N>::new(positions, corner, rest, soft, lambda, rule) };
        team.simd.run(block);
    });
}

/// Some rows of a colour.
struct Block<'a, P, const N: usize> {
    /// Where the first of them are.
    rows: Rows<N>,
    count: usize,
    rule: Rule,
    columns: PhantomData<(&'a mut [f32], P)>,
}

impl<'a, P: Projection<N>, const N: usize> Block<'a, P, N> {
    /// # Safety
    /// Every corner is a row of `positions`, no two are the same, and nobody else accesses those
    /// rows for 'a.
    unsafe fn new(
        positions: *mut [f32; 4],
        corner: [&'a [u32]; N],
        rest: &'a [f32],
        soft: &'a [f32],
        lambda: &'a mut [f32],
        rule: Rule,
    ) -> Self {
        let count = lambda.len();
        assert!(corner.iter().all(|column| column.len() == count));
        assert!(rest.len() == count && soft.len() == count);
        let corner = corner.map(<[u32]>::as_ptr);
        let (rest, soft, lambda) = (rest.as_ptr(), soft.as_ptr(), lambda.as_mut_ptr());
        let rows = Rows { positions, corner, rest, soft, lambda };
        Block { rows, count, rule, columns: PhantomData }
    }
}

impl<P: Projection<N>, const N: usize> Kernel for Block<'_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Block { rows, count, rule, .. } = self;
        let mut next = 0;
        // SAFETY: rows up to `count` are there, with all that `new` was promised.
        unsafe {
            while N == 2 && next + FLIGHT * LANES <= count {
                rows.from(next).project::<S, P, FLIGHT>(rule);
                next += FLIGHT * LANES;
            }
            while next + LANES <= count {
                rows.from(next).project::<S, P, 1>(rule);
                next += LANES;
            }
            if next < count {
                rows.from(next).project_few::<S, P>(rule, count - next);
            }
        }
    }
}

/// Where rows are: each column from its first on.
#[derive(Clone, Copy)]
struct Rows<const N: usize> {
    positions: *mut [f32; 4],
    corner: [*const u32; N],
    rest: *const f32,
    soft: *const f32,
    lambda: *mut f32,
}

#[allow(clippy::needless_range_loop)] // the numbers of vector, corner and lane index several arrays
impl<const N: usize> Rows<N> {
    /// The rows from number `first` on.
    /// # Safety
    /// There are at least that many.
    #[inline(always)]
    unsafe fn from(mut self, first: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            for corner in &mut self.corner {
                *corner = corner.add(first);
            }
            self.rest = self.rest.add(first);
            self.soft = self.soft.add(first);
            self.lambda = self.lambda.add(first);
        }
        self
    }

    /// Projects the rows of `M` vectors.
    /// # Safety
    /// They are there, their corners are rows of `positions` and all different, and no one else
    /// accesses those.
    #[inline(always)]
    unsafe fn project<S: Simd, P: Projection<N>, const M: usize>(self, rule: Rule) {
        let zero = S::splat(0.0);
        let zeros = Vector { x: zero, y: zero, z: zero };
        let mut p = [[Corner { at: zeros, w: zero }; N]; M];
        // SAFETY: the caller's promise.
        unsafe {
            for m in 0..M {
                for k in 0..N {
                    let [x, y, z, w] = S::gather(self.positions, self.corner[k].add(m * LANES));
                    p[m][k] = Corner { at: Vector { x, y, z }, w };
                }
            }
            for m in 0..M {
                let at = self.from(m * LANES);
                let (rest, soft, lambda) = (S::load(at.rest), S::load(at.soft), S::load(at.lambda));
                let Answer { push, change, valid } = P::project(&p[m], rest, soft, lambda, rule);
                S::select(valid, lambda + change, lambda).store(at.lambda);
                for k in 0..N {
                    p[m][k].at = Vector::select(valid, p[m][k].moved(push[k]), p[m][k].at);
                }
            }
            for m in 0..M {
                for k in 0..N {
                    let Corner { at: Vector { x, y, z }, w } = p[m][k];
                    S::scatter([x, y, z, w], self.positions, self.corner[k].add(m * LANES));
                }
            }
        }
    }

    /// Projects fewer rows than a vector has, in a copy that is filled up with pinned particles.
    /// # Safety
    /// As `project`, for `count` rows.
    #[inline(always)]
    unsafe fn project_few<S: Simd, P: Projection<N>>(self, rule: Rule, count: usize) {
        let mut positions = [[[0.0; 4]; LANES]; N];
        let mut corner = [[0; LANES]; N];
        let [mut rest, mut soft, mut lambda] = [[0.0; LANES]; 3];
        // SAFETY: the caller's promise; the copy has eight rows, which share no particle.
        unsafe {
            for lane in 0..count {
                rest[lane] = *self.rest.add(lane);
                soft[lane] = *self.soft.add(lane);
                lambda[lane] = *self.lambda.add(lane);
            }
            let mut copy = Rows {
                positions: positions.as_mut_ptr().cast(),
                corner: [std::ptr::null(); N],
                rest: rest.as_ptr(),
                soft: soft.as_ptr(),
                lambda: lambda.as_mut_ptr(),
            };
            for k in 0..N {
                for lane in 0..LANES {
                    corner[k][lane] = (k * LANES + lane) as u32;
                }
                copy.corner[k] = corner[k].as_ptr();
                for lane in 0..count {
                    let slot = *self.corner[k].add(lane) as usize;
                    *copy.positions.add(k * LANES + lane) = *self.positions.add(slot);
                }
            }
            copy.project::<S, P, 1>(rule);
            for lane in 0..count {
                *self.lambda.add(lane) = *copy.lambda.add(lane);
                for k in 0..N {
                    let slot = *self.corner[k].add(lane) as usize;
                    *self.positions.add(slot) = *copy.positions.add(k * LANES + lane);
                }
            }
        }
    }
}
