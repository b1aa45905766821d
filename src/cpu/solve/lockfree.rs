//! Parallel Gauss-Seidel without locks or colours [C 4.11.1]: positions are read and written word
//! by word with relaxed atomics. Two workers that meet on a particle may overwrite each other; the
//! lost correction is found again by the next iteration. Not deterministic with several workers.
//! Measured with two of them on the stretched cloth of 100 x 100 (`motes converge`): 731 iterations
//! to 10 % of the residual, as many as in sequence.

use super::{Answer, Cache, Law, Moved, Projection, corners};
use crate::cpu::team::{Shared, Team};
use crate::world::constraints::{ConstraintRows, ConstraintSet};
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) fn sweep<P: Projection<N>, M: Law, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    omega: f32,
) {
    cache.update_natural(set);
    let positions = atomic_words(positions);
    let ConstraintRows { corner, rest, lambda, .. } = &mut **set;
    let (corner, rest, soft) = (&*corner, &*rest, &cache.soft);
    let lambda = Shared::new(lambda);
    // One contiguous run a worker: neighbours in the mesh meet only where runs do.
    let run = cache.natural.len().div_ceil(team.threads()).max(1);
    team.rows(&cache.natural[..], run, |_, rows| {
        for &i in rows {
            let i = i as usize;
            let slots: [usize; N] = std::array::from_fn(|k| corner[k][i] as usize);
            let moved = slots.map(|s| Moved::from(load(&positions[s])));
            let p = corners(&moved, cache.base(i));
            // SAFETY: `natural` holds each row once, so each multiplier has one writer.
            let lambda = unsafe { lambda.at(i) };
            let Answer { push, change, valid } =
                P::project::<f32, M>(&p, rest[i], soft[i], *lambda, omega);
            if !valid {
                continue;
            }
            if M::KEEPS_LAMBDA {
                *lambda += change;
            }
            for k in 0..N {
                store(&positions[slots[k]], moved[k].pushed(push[k]).into());
            }
        }
    });
}

/// The positions as atomic words, for the time of the exclusive borrow.
pub(crate) fn atomic_words(positions: &mut [Vec4]) -> &[[AtomicU32; 4]] {
    // SAFETY: a Vec4 is four f32 (16 bytes, no padding) and AtomicU32 has the size and bit
    // validity of u32 with no stricter alignment than Vec4; the borrow stays exclusive to us.
    unsafe {
        std::slice::from_raw_parts(positions.as_mut_ptr().cast::<[AtomicU32; 4]>(), positions.len())
    }
}

#[inline]
pub(crate) fn load(row: &[AtomicU32; 4]) -> Vec4 {
    Vec4::from_array(std::array::from_fn(|k| f32::from_bits(row[k].load(Relaxed))))
}

#[inline]
pub(crate) fn store(row: &[AtomicU32; 4], value: Vec3) {
    for (word, v) in row.iter().zip(value.to_array()) {
        word.store(v.to_bits(), Relaxed);
    }
}
