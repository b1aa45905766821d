//! Sequential Gauss-Seidel in order of creation: the reference.

use super::{Answer, Cache, Corner, Projection, Rule};
use crate::world::constraints::ConstraintSet;
use glam::{Vec3, Vec4};

pub(super) fn sweep<P: Projection<N>, const N: usize>(
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    rule: Rule,
) {
    cache.update_natural(set);
    for &i in &cache.natural {
        row::<P, N>(positions, set, &cache.soft, rule, i as usize);
    }
}

/// Projects one row in place.
#[inline]
pub(super) fn row<P: Projection<N>, const N: usize>(
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    soft: &[f32],
    rule: Rule,
    i: usize,
) {
    let slots = set.particles(i);
    let p = slots.map(|s| Corner::from(positions[s as usize]));
    let Answer { push, change, valid } = P::project(&p, set.rest[i], soft[i], set.lambda[i], rule);
    if !valid {
        return;
    }
    set.lambda[i] += change;
    for k in 0..N {
        positions[slots[k] as usize] = Vec3::from(p[k].moved(push[k])).extend(p[k].w);
    }
}
