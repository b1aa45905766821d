//! One colour of graph-coloured Gauss-Seidel, eight rows at a time. No two rows of a colour share a
//! particle, so the result depends neither on who runs which block nor on what a vector holds.

use super::access::{Apart, Beside, Rows, Skipping};
use super::runs::Plan;
use super::{Cache, Law, Projection, seidel};
use crate::cpu::team::{Shared, Team};
use crate::simd::{Kernel, LANES, Simd};
use crate::world::constraints::{ConstraintRows, ConstraintSet, OVERFLOW_COLOR};
use glam::Vec4;
use std::marker::PhantomData;

/// How many particles a block of constraints touches. Blocks are whole vectors and about a
/// microsecond of work; a colour of a cloth of 100 x 100 has about ten of them.
pub(super) const BLOCK: usize = 1024;

pub(super) fn sweep<P: Projection<N>, M: Law, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &Cache,
    omega: f32,
    color: usize,
) {
    let rows = set.color_range(color);
    if color == OVERFLOW_COLOR {
        // Rows of this colour share particles, so they are taken one after the other.
        rows.for_each(|i| seidel::row::<P, M, N>(positions, set, cache, omega, i));
        return;
    }
    cache.assert_within(set, positions.len());
    let positions = Shared::new(positions);
    let ConstraintRows { corner, rest, lambda, .. } = &mut **set;
    let corner: [&[u32]; N] = std::array::from_fn(|k| &corner[k][rows.clone()]);
    let columns =
        (Shared::new(&mut lambda[rows.clone()]), &rest[rows.clone()], &cache.soft[rows.clone()]);
    team.rows(columns, BLOCK / N, |range, (lambda, rest, soft)| {
        let corner = corner.map(|column| &column[range.clone()]);
        let at = rows.start + range.start..rows.start + range.end;
        let base = std::array::from_fn(|k| match k {
            0 => &[][..],
            _ => &cache.base[k - 1][at.clone()],
        });
        let plan = cache.plans.of::<N>(color, &rows, range.start, BLOCK / N);
        let positions = positions.start().cast();
        let numbers = (base, rest, soft, lambda);
        // SAFETY: every corner is a row of the positions (`Cache::assert_within`), those of a
        // colour are all different (checked by `ConstraintSet::is_sound`, kept by its methods), and
        // no two blocks share a row; the plan was made from the same corners.
        let block = unsafe { Block::<P, M, N>::new(positions, corner, plan, numbers, omega) };
        team.simd.run(block);
    });
}

/// Some rows of a colour.
struct Block<'a, P, M, const N: usize> {
    /// Where the first of them lie.
    rows: Rows<N>,
    plan: Plan<'a, N>,
    count: usize,
    omega: f32,
    columns: PhantomData<(&'a mut [f32], P, M)>,
}

/// How the corners of each row lay to the first one, its rest value, softness and multiplier.
type Numbers<'a, const N: usize> = ([&'a [Vec4]; N], &'a [f32], &'a [f32], &'a mut [f32]);

impl<'a, P: Projection<N>, M: Law, const N: usize> Block<'a, P, M, N> {
    /// # Safety
    /// Every corner is a row of `positions`, no two are the same, and nobody else accesses those
    /// rows for 'a. `plan` is theirs.
    unsafe fn new(
        positions: *mut [f32; 4],
        corner: [&'a [u32]; N],
        plan: Plan<'a, N>,
        (base, rest, soft, lambda): Numbers<'a, N>,
        omega: f32,
    ) -> Self {
        let count = lambda.len();
        assert!(corner.iter().all(|column| column.len() == count));
        assert!(base[1..].iter().all(|column| column.len() == count));
        assert!(rest.len() == count && soft.len() == count);
        let corner = corner.map(<[u32]>::as_ptr);
        let base = base.map(|column| column.as_ptr().cast());
        let (rest, soft, lambda) = (rest.as_ptr(), soft.as_ptr(), lambda.as_mut_ptr());
        let rows = Rows { positions, corner, base, rest, soft, lambda };
        Block { rows, plan, count, omega, columns: PhantomData }
    }
}

impl<P: Projection<N>, M: Law, const N: usize> Kernel for Block<'_, P, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Block { rows, plan, count, omega, .. } = self;
        let omega = S::splat(omega);
        // SAFETY: rows up to `count` are there, with all that `new` was promised.
        unsafe {
            P::vectors::<S, M, Beside<N>>(rows, plan.beside, omega);
            P::vectors::<S, M, Skipping<N>>(rows, plan.skipping, omega);
            P::vectors::<S, M, Apart<N>>(rows, plan.apart, omega);
            let few = count % LANES;
            if few > 0 {
                rows.from(count - few).project_few::<S, P, M>(omega, few);
            }
        }
    }
}
