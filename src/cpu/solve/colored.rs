//! One colour of graph-coloured Gauss-Seidel, eight rows at a time. No two rows of a colour share a
//! particle, so the result depends neither on who runs which block nor on what a vector holds.

use super::{Answer, Cache, Corner, Projection, Rule, seidel};
use crate::cpu::team::{Shared, Team};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::world::constraints::{ConstraintSet, OVERFLOW_COLOR};
use glam::Vec4;
use std::marker::PhantomData;

/// Constraints a block holds, whole vectors of them; about 10 blocks a colour on a cloth of
/// 100 x 100.
const BLOCK: usize = 512;

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
    team.rows(columns, BLOCK, |range, (lambda, rest, soft)| {
        let corner = corner.map(|column| &column[range.clone()]);
        team.simd.run(Block::<P, N> {
            positions: &positions,
            corner,
            rest,
            soft,
            lambda,
            rule,
            projection: PhantomData,
        });
    });
}

/// Rows that share no particle, as columns of equal length; every corner is a row of `positions`,
/// and nobody else touches those meanwhile.
struct Block<'a, P, const N: usize> {
    positions: &'a Shared<'a, Vec4>,
    corner: [&'a [u32]; N],
    rest: &'a [f32],
    soft: &'a [f32],
    lambda: &'a mut [f32],
    rule: Rule,
    projection: PhantomData<P>,
}

impl<P: Projection<N>, const N: usize> Kernel for Block<'_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let len = self.lambda.len();
        let positions: *mut [f32; 4] = self.positions.start().cast();
        let mut corner = [std::ptr::null(); N];
        for k in 0..N {
            assert!(self.corner[k].len() == len);
            corner[k] = self.corner[k].as_ptr();
        }
        assert!(self.rest.len() == len && self.soft.len() == len);
        let mut at = Eight {
            positions,
            corner,
            rest: self.rest.as_ptr(),
            soft: self.soft.as_ptr(),
            lambda: self.lambda.as_mut_ptr(),
        };
        for _ in 0..len / LANES {
            // SAFETY: this many whole vectors are in the columns. Corners are rows of `positions`
            // (`Cache::assert_within`), those of a colour are all different (checked by
            // `ConstraintSet::is_sound`, kept by its methods), and blocks share no row.
            unsafe {
                at.project::<S, P>(self.rule);
                at = at.next();
            }
        }
        let rest = len % LANES;
        if rest > 0 {
            // SAFETY: as above; `rest` rows are left in the columns.
            unsafe { at.project_some::<S, P>(self.rule, rest) };
        }
    }
}

/// Where eight rows are.
#[derive(Clone, Copy)]
struct Eight<const N: usize> {
    positions: *mut [f32; 4],
    corner: [*const u32; N],
    rest: *const f32,
    soft: *const f32,
    lambda: *mut f32,
}

impl<const N: usize> Eight<N> {
    /// # Safety
    /// There are eight rows, their corners are rows of `positions` and all different, and no one
    /// else accesses them.
    #[inline(always)]
    unsafe fn project<S: Simd, P: Projection<N>>(self, rule: Rule) {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = S::splat(0.0);
            let mut p = [Corner { at: Vector { x: zero, y: zero, z: zero }, w: zero }; N];
            for k in 0..N {
                let [x, y, z, w] = S::gather(self.positions, self.corner[k]);
                p[k] = Corner { at: Vector { x, y, z }, w };
            }
            let lambda = S::load(self.lambda);
            let Answer { push, change, valid } =
                P::project(&p, S::load(self.rest), S::load(self.soft), lambda, rule);
            S::select(valid, lambda + change, lambda).store(self.lambda);
            for k in 0..N {
                let Vector { x, y, z } = Vector::select(valid, p[k].moved(push[k]), p[k].at);
                S::scatter([x, y, z, p[k].w], self.positions, self.corner[k]);
            }
        }
    }

    /// The next eight rows.
    /// # Safety
    /// These eight are in the columns.
    #[inline(always)]
    unsafe fn next(mut self) -> Self {
        // SAFETY: the caller's promise: at most one past the end.
        unsafe {
            for k in 0..N {
                self.corner[k] = self.corner[k].add(LANES);
            }
            self.rest = self.rest.add(LANES);
            self.soft = self.soft.add(LANES);
            self.lambda = self.lambda.add(LANES);
        }
        self
    }

    /// Projects fewer than eight rows, in a copy that is filled up with pinned particles.
    /// # Safety
    /// As `project`, for `count` rows.
    #[inline(always)]
    unsafe fn project_some<S: Simd, P: Projection<N>>(self, rule: Rule, count: usize) {
        let mut positions = [[[0.0; 4]; LANES]; N];
        let mut corner = [[0; LANES]; N];
        let [mut rest, mut soft, mut lambda] = [[0.0; LANES]; 3];
        // SAFETY: the caller's promise; the copies hold eight rows, which share no particle.
        unsafe {
            for k in 0..N {
                for lane in 0..LANES {
                    corner[k][lane] = (k * LANES + lane) as u32;
                }
                for lane in 0..count {
                    positions[k][lane] = *self.positions.add(*self.corner[k].add(lane) as usize);
                }
            }
            for lane in 0..count {
                rest[lane] = *self.rest.add(lane);
                soft[lane] = *self.soft.add(lane);
                lambda[lane] = *self.lambda.add(lane);
            }
            let mut pointers = [std::ptr::null(); N];
            for k in 0..N {
                pointers[k] = corner[k].as_ptr();
            }
            let copy = Eight {
                positions: positions.as_mut_ptr().cast(),
                corner: pointers,
                rest: rest.as_ptr(),
                soft: soft.as_ptr(),
                lambda: lambda.as_mut_ptr(),
            };
            copy.project::<S, P>(rule);
            for lane in 0..count {
                *self.lambda.add(lane) = lambda[lane];
                for k in 0..N {
                    *self.positions.add(*self.corner[k].add(lane) as usize) = positions[k][lane];
                }
            }
        }
    }
}
