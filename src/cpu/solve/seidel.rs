//! Sequential Gauss-Seidel in order of creation: the reference.

use super::{Answer, Cache, Corner, Law, Projection};
use crate::world::constraints::ConstraintSet;
use glam::{Vec3, Vec4};

pub(super) fn sweep<P: Projection<N>, M: Law, const N: usize>(
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    omega: f32,
) {
    cache.update_natural(set);
    for &i in &cache.natural {
        row::<P, M, N>(positions, set, &cache.soft, omega, i as usize);
    }
}

/// Projects one row in place.
#[inline]
pub(super) fn row<P: Projection<N>, M: Law, const N: usize>(
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    soft: &[f32],
    omega: f32,
    i: usize,
) {
    let slots = set.particles(i);
    let p = slots.map(|s| Corner::from(positions[s as usize]));
    let Answer { push, change, valid } =
        P::project::<f32, M>(&p, set.rest[i], soft[i], set.lambda[i], omega);
    if !valid {
        return;
    }
    if M::KEEPS_LAMBDA {
        set.lambda[i] += change;
    }
    for k in 0..N {
        positions[slots[k] as usize] = Vec3::from(p[k].moved(push[k])).extend(p[k].w);
    }
}
