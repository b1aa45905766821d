//! The four ways to sweep the constraints of a kind (physics.md 2). What a single constraint does
//! is a [`Projection`]; it knows nothing of storage, threads or order.

use super::team::{Shared, Team};
use crate::step::Part;
use crate::world::constraints::{ConstraintSet, OVERFLOW_COLOR};
use crate::world::{Method, Params, Solver};
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Constraints a block holds; about 8 blocks a colour on a cloth of 100 x 100.
const BLOCK: usize = 512;
/// Weighted gradient sums below this belong to constraints between pinned or coinciding particles.
const MIN_DENOMINATOR: f32 = 1e-20;

/// How a constraint's error becomes a multiplier.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub method: Method,
    pub omega: f32,
}

impl Rule {
    pub fn of(params: &Params) -> Self {
        Rule { method: params.method, omega: params.omega }
    }

    /// Change of the multiplier for error `c`, `sum` = sum of w |grad C|².
    /// XPBD: -(C + a λ) / (sum + a), with `soft` = a = compliance / h² (Macklin 2016).
    /// PBD: -k C / sum, with `soft` = k = 1 - (1 - stiffness)^(1/n) (Müller 2007).
    /// `None` when nothing can or should move: all pinned, no gradient, or not finite.
    #[inline]
    pub fn multiplier(self, c: f32, sum: f32, soft: f32, lambda: f32) -> Option<f32> {
        if sum <= MIN_DENOMINATOR {
            return None;
        }
        let change = match self.method {
            Method::Xpbd => -(c + soft * lambda) / (sum + soft),
            Method::Pbd => -soft * c / sum,
        } * self.omega;
        change.is_finite().then_some(change)
    }
}

/// One constraint on `N` particles [x, y, z, inverse mass].
pub(crate) trait Projection<const N: usize> {
    /// The change of the multiplier, and grad C times it for each particle: particle k moves by
    /// its inverse mass times row k.
    fn project(
        p: &[Vec4; N],
        rest: f32,
        soft: f32,
        lambda: f32,
        rule: Rule,
    ) -> Option<([Vec3; N], f32)>;
}

/// The caches a kind of constraint needs besides its own arrays.
#[derive(Default)]
pub(crate) struct Cache {
    /// Rows in order of creation.
    natural: Vec<u32>,
    natural_revision: Option<u64>,
    /// [`Rule::multiplier`]'s `soft` per row.
    soft: Vec<f32>,
    soft_key: Option<(u64, Method, f32, u32)>,
    /// Jacobi: corrections, row * N + corner, and who gathers which.
    corrections: Vec<Vec3>,
    incident_start: Vec<u32>,
    incident: Vec<u32>,
    incident_revision: Option<u64>,
}

impl Cache {
    /// Brings `soft` up to date; cheap when nothing changed.
    pub fn update_soft<const N: usize>(&mut self, set: &ConstraintSet<N>, params: &Params, h: f32) {
        let key = (set.revision(), params.method, h, params.iterations);
        if self.soft_key == Some(key) {
            return;
        }
        self.soft_key = Some(key);
        self.soft.clear();
        match params.method {
            Method::Xpbd => {
                let inv_h_sq = 1.0 / (h * h);
                self.soft.extend(set.compliance.iter().map(|c| c * inv_h_sq));
            }
            Method::Pbd => {
                let exponent = 1.0 / params.iterations.max(1) as f32;
                let soft = |k: &f32| 1.0 - libm::powf(1.0 - k, exponent);
                self.soft.extend(set.stiffness.iter().map(soft));
            }
        }
    }

    fn update_natural<const N: usize>(&mut self, set: &ConstraintSet<N>) {
        if self.natural_revision == Some(set.revision()) {
            return;
        }
        self.natural_revision = Some(set.revision());
        self.natural.clear();
        self.natural.extend(0..set.len() as u32);
        self.natural.sort_unstable_by_key(|&i| set.serial[i as usize]);
    }

    /// Who gathers which corrections: a counting sort by particle, stable in the row.
    fn update_incidence<const N: usize>(&mut self, set: &ConstraintSet<N>, particles: usize) {
        let up_to_date = self.incident_revision == Some(set.revision())
            && self.incident_start.len() == particles + 1;
        if up_to_date {
            return;
        }
        self.incident_revision = Some(set.revision());
        let start = &mut self.incident_start;
        start.clear();
        start.resize(particles + 1, 0);
        for k in 0..N {
            for &p in &set.corner[k] {
                start[p as usize + 1] += 1;
            }
        }
        for i in 0..particles {
            start[i + 1] += start[i];
        }
        self.incident.clear();
        self.incident.resize(N * set.len(), 0);
        let mut next = start.clone();
        for i in 0..set.len() {
            for k in 0..N {
                let at = &mut next[set.corner[k][i] as usize];
                self.incident[*at as usize] = (i * N + k) as u32;
                *at += 1;
            }
        }
        self.corrections.clear();
        self.corrections.resize(N * set.len(), Vec3::ZERO);
    }

    fn incident_count(&self, particle: usize) -> u32 {
        self.incident_start[particle + 1] - self.incident_start[particle]
    }
}

/// Sequential Gauss-Seidel in order of creation: the reference.
pub(crate) fn seidel<P: Projection<N>, const N: usize>(
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    rule: Rule,
) {
    cache.update_natural(set);
    for &i in &cache.natural {
        let i = i as usize;
        let slots = set.particles(i);
        let p = slots.map(|s| positions[s as usize]);
        let Some((push, change)) = P::project(&p, set.rest[i], cache.soft[i], set.lambda[i], rule)
        else {
            continue;
        };
        set.lambda[i] += change;
        for k in 0..N {
            positions[slots[k] as usize] += (push[k] * p[k].w).extend(0.0);
        }
    }
}

/// One colour of graph-coloured Gauss-Seidel. No two rows of a colour share a particle, so the
/// result does not depend on who runs which block.
pub(crate) fn color<P: Projection<N>, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &Cache,
    rule: Rule,
    color: usize,
) {
    let rows = set.color_range(color);
    // Rows of the overflow colour do share particles: one block, in order.
    let block = if color == OVERFLOW_COLOR { rows.len().max(1) } else { BLOCK };
    let count = positions.len();
    let positions = Shared::new(positions);
    let ConstraintSet { corner, rest, lambda, .. } = set;
    let lambda = &mut lambda[rows.clone()];
    let corner: [&[u32]; N] = std::array::from_fn(|k| &corner[k][rows.clone()]);
    let (rest, soft) = (&rest[rows.clone()], &cache.soft[rows]);
    team.rows((Shared::new(lambda), rest, soft), block, |range, (lambda, rest, soft)| {
        for j in 0..lambda.len() {
            let slots: [usize; N] = std::array::from_fn(|k| corner[k][range.start + j] as usize);
            assert!(slots.iter().all(|&s| s < count));
            // SAFETY: in bounds as asserted; rows of a colour share no particle (checked by
            // `ConstraintSet::is_sound`, kept by its methods), and the overflow colour is one block.
            let p = slots.map(|s| unsafe { *positions.at(s) });
            let Some((push, change)) = P::project(&p, rest[j], soft[j], lambda[j], rule) else {
                continue;
            };
            lambda[j] += change;
            for k in 0..N {
                // SAFETY: as above.
                unsafe { *positions.at(slots[k]) = p[k] + (push[k] * p[k].w).extend(0.0) };
            }
        }
    });
}

/// Parallel Gauss-Seidel without locks or colours [C 4.11.1]: positions are read and written word
/// by word with relaxed atomics. Two workers that meet on a particle may overwrite each other; the
/// lost correction is found again by the next iteration. Not deterministic with several workers.
/// Measured with two of them on the stretched cloth of 100 x 100 (`motes converge`): 952 iterations
/// to 10 % of the residual against 949 in sequence.
pub(crate) fn lockfree<P: Projection<N>, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    rule: Rule,
) {
    cache.update_natural(set);
    let positions = atomic_words(positions);
    let ConstraintSet { corner, rest, lambda, .. } = set;
    let (corner, rest, soft) = (&*corner, &*rest, &cache.soft);
    let lambda = Shared::new(lambda);
    // One contiguous run a worker: neighbours in the mesh meet only where runs do.
    let run = cache.natural.len().div_ceil(team.threads()).max(1);
    team.rows(&cache.natural[..], run, |_, rows| {
        for &i in rows {
            let i = i as usize;
            let slots: [usize; N] = std::array::from_fn(|k| corner[k][i] as usize);
            let p = slots.map(|s| load(&positions[s]));
            // SAFETY: `natural` holds each row once, so each multiplier has one writer.
            let lambda = unsafe { lambda.at(i) };
            let Some((push, change)) = P::project(&p, rest[i], soft[i], *lambda, rule) else {
                continue;
            };
            *lambda += change;
            for k in 0..N {
                store(&positions[slots[k]], p[k].truncate() + push[k] * p[k].w);
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

/// First half of an averaged Jacobi sweep: every correction from the same positions.
/// With XPBD one factor a constraint, from its busiest particle, keeps multiplier and momentum
/// consistent; with PBD each particle takes the mean of its own [J 3.1.4].
pub(crate) fn jacobi<P: Projection<N>, const N: usize>(
    team: &Team,
    positions: &[Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    rule: Rule,
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
            let p = slots.map(|s| positions[s]);
            let mut rule = rule;
            if rule.method == Method::Xpbd {
                let busiest = slots.map(|s| cache_ref.incident_count(s)).into_iter().max();
                rule.omega /= busiest.unwrap_or(1) as f32;
            }
            let push = match P::project(&p, rest[j], soft[j], lambda[j], rule) {
                Some((push, change)) => {
                    lambda[j] += change;
                    push
                }
                None => [Vec3::ZERO; N],
            };
            out[j * N..(j + 1) * N].copy_from_slice(&push);
        }
    });
    cache.corrections = corrections;
}

/// Second half of a Jacobi sweep: each particle gathers its corrections, in order of row.
pub(crate) fn gather(team: &Team, positions: &mut [Vec4], cache: &Cache, method: Method) {
    team.rows(Shared::new(positions), super::team::BLOCK, |range, positions| {
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

/// Sweeps a kind once with the world's solver.
pub(crate) fn sweep<P: Projection<N>, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    params: &Params,
    at: &super::Moment,
) {
    let rule = Rule::of(params);
    match (params.solver, at.part) {
        (Solver::Seidel, _) => seidel::<P, N>(positions, set, cache, rule),
        (Solver::Lockfree, _) => lockfree::<P, N>(team, positions, set, cache, rule),
        (Solver::Colored, Part::Color(c)) => {
            color::<P, N>(team, positions, set, cache, rule, c as usize);
        }
        (Solver::Jacobi | Solver::Colored, _) => jacobi::<P, N>(team, positions, set, cache, rule),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{solve_bend::Bend, solve_distance::Distance, solve_volume::Volume};
    use proptest::prelude::*;

    fn rows<const N: usize>() -> impl Strategy<Value = [Vec4; N]> {
        let row = (-2.0f32..2.0, -2.0f32..2.0, -2.0f32..2.0, 0.1f32..10.0);
        proptest::collection::vec(row, N)
            .prop_map(|rows| std::array::from_fn(|k| Vec4::from(rows[k])))
    }

    /// A projection moves particle k by w_k push_k, so what it adds to the momentum is the sum of
    /// push_k, and to the angular momentum the sum of p_k x push_k: both must vanish.
    fn conserves<P: Projection<N>, const N: usize>(p: &[Vec4; N], rest: f32, method: Method) {
        let rule = Rule { method, omega: 1.0 };
        let Some((push, _)) = P::project(p, rest, 0.5, 0.1, rule) else { return };
        let push = push.map(Vec3::as_dvec3);
        let at = p.map(|p| p.truncate().as_dvec3());
        let size: f64 = push.iter().map(|v| v.length()).sum::<f64>() + 1e-12;
        let arm = at.iter().fold(0.0f64, |a, p| a.max(p.length())) + 1e-12;
        let linear = push.iter().sum::<glam::DVec3>().length() / size;
        let angular = (0..N).map(|k| at[k].cross(push[k])).sum::<glam::DVec3>().length();
        assert!(linear < 1e-6, "momentum {linear}");
        assert!(angular / (size * arm) < 1e-6, "angular momentum {}", angular / (size * arm));
    }

    proptest! {
        #[test]
        fn each_projection_conserves_momentum_and_angular_momentum(
            two in rows::<2>(), four in rows::<4>(), rest in 0.1f32..2.0,
        ) {
            for method in [Method::Pbd, Method::Xpbd] {
                conserves::<Distance, 2>(&two, rest, method);
                conserves::<Volume, 4>(&four, rest, method);
                // Needle triangles have gradients so large that rounding alone exceeds 1e-6.
                let [a, b, c, d] = four.map(Vec4::truncate);
                let thin = |n: Vec3, e: Vec3| n.length() < 0.2 * e.length_squared().max(1.0);
                if !thin((c - a).cross(d - a), d - c) && !thin((d - b).cross(c - b), d - c) {
                    conserves::<Bend, 4>(&four, rest, method);
                }
            }
        }
    }
}
