//! Averaged Jacobi: every correction from the same positions, eight rows at a time, then each
//! particle gathers its own.

use super::{Answer, Cache, Law, Moved, Projection, corners};
use crate::cpu::team::{self, Shared, Team};
use crate::simd::{EIGHT, Kernel, LANES, Simd, Vector};
use crate::world::Method;
use crate::world::constraints::{ConstraintRows, ConstraintSet};
use glam::Vec4;
use std::marker::PhantomData;

/// Constraints a block holds.
const BLOCK: usize = 512;

/// The first half of a sweep finds the corrections.
/// With XPBD all particles of a constraint take the same share, one over the number of constraints
/// on its busiest particle, which keeps multiplier and momentum consistent. With PBD each particle
/// takes the mean of its own corrections [J 3.1.4].
pub(super) fn sweep<P: Projection<N>, M: Law, const N: usize>(
    team: &Team,
    positions: &[Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    omega: f32,
) {
    cache.update_incidence(set, positions.len());
    cache.assert_within(set, positions.len());
    let Cache { corrections, soft, busiest, base, .. } = cache;
    let ConstraintRows { corner, rest, lambda, .. } = &mut **set;
    let out = Shared::new(corrections);
    let columns = (Shared::new(lambda), &rest[..], &soft[..], &busiest[..]);
    team.rows(columns, BLOCK, |range, (lambda, rest, soft, busiest)| {
        // SAFETY: row i owns corrections i*N..(i+1)*N, and blocks share no row.
        let out = unsafe { out.slice(range.start * N..range.end * N) };
        let corner: [&[u32]; N] = std::array::from_fn(|k| &corner[k][range.clone()]);
        let base: [&[Vec4]; N] = std::array::from_fn(|k| match k {
            0 => &[][..],
            _ => &base[k - 1][range.clone()],
        });
        let kind = PhantomData::<(P, M)>;
        team.simd.run(Block {
            positions,
            corner,
            base,
            rest,
            soft,
            busiest,
            lambda,
            out,
            omega,
            kind,
        });
    });
}

/// Some rows.
struct Block<'a, P, M, const N: usize> {
    /// Holds every particle of the rows (`Cache::assert_within`).
    positions: &'a [Vec4],
    corner: [&'a [u32]; N],
    /// How each corner but the first lay to the first one where the step began.
    base: [&'a [Vec4]; N],
    rest: &'a [f32],
    soft: &'a [f32],
    busiest: &'a [f32],
    lambda: &'a mut [f32],
    out: &'a mut [Vec4],
    omega: f32,
    kind: PhantomData<(P, M)>,
}

impl<P: Projection<N>, M: Law, const N: usize> Kernel for Block<'_, P, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        let count = self.lambda.len();
        assert!(self.corner.iter().all(|column| column.len() == count));
        assert!(self.base[1..].iter().all(|column| column.len() == count));
        assert!(self.rest.len() == count && self.soft.len() == count);
        assert!(self.busiest.len() == count && self.out.len() == N * count);
        let whole = count - count % LANES;
        for first in (0..whole).step_by(LANES) {
            // SAFETY: eight rows are there from `first` on, and their particles.
            unsafe { self.eight::<S>(first) }
        }
        for row in whole..count {
            self.one(row);
        }
    }
}

#[allow(clippy::needless_range_loop)] // the number of the corner indexes several arrays
impl<P: Projection<N>, M: Law, const N: usize> Block<'_, P, M, N> {
    /// # Safety
    /// Eight rows are there from `first` on in every column, and their particles.
    #[inline(always)]
    unsafe fn eight<S: Simd>(&mut self, first: usize) {
        let zero = S::splat(0.0);
        let zeros = Vector { x: zero, y: zero, z: zero };
        let mut moved = [Moved { by: zeros, w: zero }; N];
        let positions = self.positions.as_ptr().cast();
        // SAFETY: the caller's promise.
        unsafe {
            for k in 0..N {
                let [x, y, z, w] = S::gather(positions, self.corner[k].as_ptr().add(first));
                moved[k] = Moved { by: Vector { x, y, z }, w };
            }
            let p = corners(&moved, |k| {
                let base = self.base[k].as_ptr().add(first).cast();
                let [x, y, z, _] = S::gather(base, EIGHT.as_ptr());
                Vector { x, y, z }
            });
            let omega = S::splat(self.omega);
            let omega =
                if M::SHARES { omega / S::load(self.busiest.as_ptr().add(first)) } else { omega };
            let rest = S::load(self.rest.as_ptr().add(first));
            let soft = S::load(self.soft.as_ptr().add(first));
            let at = self.lambda.as_mut_ptr().add(first);
            let lambda = S::load(at);
            let Answer { push, change, valid } = P::project::<S, M>(&p, rest, soft, lambda, omega);
            if M::KEEPS_LAMBDA {
                S::select(valid, lambda + change, lambda).store(at);
            }
            let out = self.out.as_mut_ptr().add(first * N).cast();
            for k in 0..N {
                let Vector { x, y, z } = Vector::select(valid, push[k], zeros);
                let mut rows = [0; LANES];
                for lane in 0..LANES {
                    rows[lane] = (lane * N + k) as u32;
                }
                S::scatter([x, y, z, zero], out, rows.as_ptr());
            }
        }
    }

    /// One of the rows that are left, fewer than a vector has.
    #[inline(always)]
    fn one(&mut self, row: usize) {
        let moved = self.corner.map(|column| Moved::from(self.positions[column[row] as usize]));
        let p = corners(&moved, |k| {
            let [x, y, z, _] = self.base[k][row].to_array();
            Vector { x, y, z }
        });
        let omega = if M::SHARES { self.omega / self.busiest[row] } else { self.omega };
        let Answer { push, change, valid } =
            P::project::<f32, M>(&p, self.rest[row], self.soft[row], self.lambda[row], omega);
        if valid && M::KEEPS_LAMBDA {
            self.lambda[row] += change;
        }
        for k in 0..N {
            let Vector { x, y, z } = push[k];
            self.out[row * N + k] = if valid { Vec4::new(x, y, z, 0.0) } else { Vec4::ZERO };
        }
    }
}

/// In the second half of a sweep each particle gathers its corrections, in order of row.
pub(crate) fn gather(team: &Team, positions: &mut [Vec4], cache: &Cache, method: Method) {
    team.rows(Shared::new(positions), team::BLOCK, |range, positions| {
        for (i, p) in range.zip(positions) {
            let entries = cache.incident_start[i] as usize..cache.incident_start[i + 1] as usize;
            if entries.is_empty() || p.w == 0.0 {
                continue;
            }
            let mean = match method {
                Method::Pbd => 1.0 / entries.len() as f32,
                Method::Xpbd => 1.0,
            };
            let sum = cache.incident[entries]
                .iter()
                .fold(Vec4::ZERO, |sum, &k| sum + cache.corrections[k as usize]);
            *p += sum * (p.w * mean);
        }
    });
}
