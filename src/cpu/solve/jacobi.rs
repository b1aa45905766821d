//! Averaged Jacobi: every correction from the same positions, then each particle gathers its own.

use super::{Answer, Cache, Corner, Law, Projection};
use crate::cpu::team::{self, Shared, Team};
use crate::world::Method;
use crate::world::constraints::ConstraintSet;
use glam::{Vec3, Vec4};

/// Constraints a block holds.
const BLOCK: usize = 512;

/// First half of a sweep: the corrections.
/// With XPBD one factor a constraint, from its busiest particle, keeps multiplier and momentum
/// consistent; with PBD each particle takes the mean of its own [J 3.1.4].
pub(super) fn sweep<P: Projection<N>, M: Law, const N: usize>(
    team: &Team,
    positions: &[Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    omega: f32,
) {
    cache.update_incidence(set, positions.len());
    let mut corrections = std::mem::take(&mut cache.corrections);
    let ConstraintSet { corner, rest, lambda, .. } = set;
    let corner = &*corner;
    let (out, cache_ref) = (Shared::new(&mut corrections), &*cache);
    let rows = (Shared::new(lambda), &rest[..], &cache.soft[..]);
    team.rows(rows, BLOCK, |range, (lambda, rest, soft)| {
        // SAFETY: row i owns corrections i*N..(i+1)*N, and blocks share no row.
        let out = unsafe { out.slice(range.start * N..range.end * N) };
        for j in 0..lambda.len() {
            let slots: [usize; N] = std::array::from_fn(|k| corner[k][range.start + j] as usize);
            let p = slots.map(|s| Corner::from(positions[s]));
            let mut omega = omega;
            if M::SHARES {
                let busiest = slots.map(|s| cache_ref.incident_count(s)).into_iter().max();
                omega /= busiest.unwrap_or(1) as f32;
            }
            let Answer { push, change, valid } =
                P::project::<f32, M>(&p, rest[j], soft[j], lambda[j], omega);
            let push = if valid { push.map(Vec3::from) } else { [Vec3::ZERO; N] };
            if valid && M::KEEPS_LAMBDA {
                lambda[j] += change;
            }
            out[j * N..(j + 1) * N].copy_from_slice(&push);
        }
    });
    cache.corrections = corrections;
}

/// Second half of a sweep: each particle gathers its corrections, in order of row.
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
                .fold(Vec3::ZERO, |sum, &k| sum + cache.corrections[k as usize]);
            *p += (sum * (p.w * mean)).extend(0.0);
        }
    });
}
