//! Sequential Gauss-Seidel in order of creation: the reference.

use super::{Answer, Cache, Law, Moved, Projection, corners};
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
        row::<P, M, N>(positions, set, cache, omega, i as usize);
    }
}

/// Projects one row in place.
#[inline]
pub(super) fn row<P: Projection<N>, M: Law, const N: usize>(
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &Cache,
    omega: f32,
    i: usize,
) {
    let slots = set.particles(i);
    let moved = slots.map(|s| Moved::from(positions[s as usize]));
    let p = corners(&moved, cache.base(i));
    let Answer { push, change, valid } =
        P::project::<f32, M>(&p, set.rest[i], cache.soft[i], set.lambda[i], omega);
    if !valid {
        return;
    }
    if M::KEEPS_LAMBDA {
        set.lambda[i] += change;
    }
    for k in 0..N {
        positions[slots[k] as usize] = Vec3::from(moved[k].pushed(push[k])).extend(p[k].w);
    }
}
