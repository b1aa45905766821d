//! The four ways to sweep the constraints of a kind (physics.md 2), one file each. What a single
//! constraint does is a [`Projection`]; it knows nothing of storage, threads or order, nor whether
//! it is one constraint or eight.

mod cache;
mod colored;
mod jacobi;
mod lockfree;
mod seidel;
#[cfg(test)]
mod tests;

pub(crate) use cache::Cache;
pub(crate) use jacobi::gather;
pub(crate) use lockfree::{atomic_words, load, store};

use super::team::Team;
use crate::simd::{Number, Vector};
use crate::step::Part;
use crate::world::constraints::ConstraintSet;
use crate::world::{Method, Params, Solver};
#[cfg(test)]
use glam::Vec3;
use glam::Vec4;

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

    /// Change of the multiplier for error `c`, `sum` = sum of w |grad C|², and where it holds:
    /// nothing can or should move where all is pinned, or where gradients vanish or are not finite.
    /// XPBD: -(C + a λ) / (sum + a), with `soft` = a = compliance / h² (Macklin 2016).
    /// PBD: -k C / sum, with `soft` = k = 1 - (1 - stiffness)^(1/n) (Müller 2007).
    #[inline(always)]
    pub fn multiplier<L: Number>(self, c: L, sum: L, soft: L, lambda: L) -> (L, L::Mask) {
        let change = match self.method {
            Method::Xpbd => -(c + soft * lambda) / (sum + soft),
            Method::Pbd => -soft * c / sum,
        } * L::splat(self.omega);
        let infinite = L::splat(f32::INFINITY);
        let movable = L::both(sum.above(L::splat(MIN_DENOMINATOR)), infinite.above(sum));
        (change, L::both(movable, infinite.above(change.abs())))
    }
}

/// A particle as a constraint sees it.
#[derive(Clone, Copy)]
pub(crate) struct Corner<L> {
    pub at: Vector<L>,
    /// Inverse mass.
    pub w: L,
}

impl<L: Number> Corner<L> {
    /// Where it goes when pushed: inverse mass times `push` further.
    #[inline(always)]
    fn moved(self, push: Vector<L>) -> Vector<L> {
        self.at + push * self.w
    }
}

impl From<Vec4> for Corner<f32> {
    #[inline(always)]
    fn from(row: Vec4) -> Self {
        Corner { at: Vector { x: row.x, y: row.y, z: row.z }, w: row.w }
    }
}

/// What a constraint asks for.
pub(crate) struct Answer<L: Number, const N: usize> {
    /// grad C times the change of the multiplier, for each particle.
    pub push: [Vector<L>; N],
    pub change: L,
    /// Where it may be used.
    pub valid: L::Mask,
}

/// One constraint on `N` particles, or one in each lane. `project` must be `#[inline(always)]`.
pub(crate) trait Projection<const N: usize> {
    fn project<L: Number>(
        p: &[Corner<L>; N],
        rest: L,
        soft: L,
        lambda: L,
        rule: Rule,
    ) -> Answer<L, N>;
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
        (Solver::Seidel, _) => seidel::sweep::<P, N>(positions, set, cache, rule),
        (Solver::Lockfree, _) => lockfree::sweep::<P, N>(team, positions, set, cache, rule),
        (Solver::Colored, Part::Color(c)) => {
            colored::sweep::<P, N>(team, positions, set, cache, rule, c as usize);
        }
        (Solver::Jacobi | Solver::Colored, _) => {
            jacobi::sweep::<P, N>(team, positions, set, cache, rule);
        }
    }
}

#[cfg(test)]
mod conservation {
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
        let answer = P::project(&p.map(Corner::from), rest, 0.5, 0.1, rule);
        if !answer.valid {
            return;
        }
        let push = answer.push.map(|v| Vec3::from(v).as_dvec3());
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
