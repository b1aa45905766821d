//! The four ways to sweep the constraints of a kind, one file each. What a single constraint does
//! is a [`Projection`]; it knows nothing of storage, threads or order, nor whether it is one
//! constraint or eight.

mod access;
mod cache;
mod colored;
mod jacobi;
mod law;
mod lockfree;
mod runs;
mod seidel;
pub(crate) mod stretch;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use access::{Access, Rows};
pub(crate) use cache::Cache;
pub(crate) use jacobi::gather;
#[cfg(feature = "vulkan")]
pub(crate) use law::Choice;
pub(crate) use law::{Compliant, Law, Stiff};
pub(crate) use lockfree::{atomic_words, load, store};
pub(crate) use runs::Runs;

use super::{Moment, Scratch, team::Team};
use crate::kind::{Kind, Stored, Visit};
use crate::simd::{Number, Simd, Vector};
use crate::step::Part;
use crate::world::constraints::ConstraintSet;
use crate::world::{Params, Solver, World};
#[cfg(test)]
use glam::Vec3;
use glam::Vec4;

/// A particle as a constraint sees it, from the first of its corners.
#[derive(Clone, Copy)]
pub(crate) struct Corner<L> {
    pub at: Vector<L>,
    /// Inverse mass.
    pub w: L,
}

/// How far from its `position` a particle is.
#[derive(Clone, Copy)]
struct Moved<L> {
    by: Vector<L>,
    /// Inverse mass.
    w: L,
}

impl<L: Number> Moved<L> {
    /// How far it is when pushed: inverse mass times `push` further.
    #[inline(always)]
    fn pushed(self, push: Vector<L>) -> Vector<L> {
        self.by + push * self.w
    }
}

impl From<Vec4> for Moved<f32> {
    #[inline(always)]
    fn from(row: Vec4) -> Self {
        Moved { by: Vector { x: row.x, y: row.y, z: row.z }, w: row.w }
    }
}

/// The corners of a constraint as they lie to each other. `base(k)` is how corner k lay to the first
/// when the step began. Differences come first: so the distance from the origin costs no precision.
#[inline(always)]
fn corners<L: Number, const N: usize>(
    moved: &[Moved<L>; N],
    base: impl Fn(usize) -> Vector<L>,
) -> [Corner<L>; N] {
    let zero = L::splat(0.0);
    let mut corners = [Corner { at: Vector { x: zero, y: zero, z: zero }, w: moved[0].w }; N];
    for k in 1..N {
        corners[k] = Corner { at: base(k) + (moved[k].by - moved[0].by), w: moved[k].w };
    }
    corners
}

/// What a constraint asks for.
pub(crate) struct Answer<L: Number, const N: usize> {
    /// grad C times the change of the multiplier, for each particle.
    pub push: [Vector<L>; N],
    pub change: L,
    /// In which lanes the answer may be used.
    pub valid: L::Mask,
}

#[allow(clippy::needless_range_loop)] // the number of the corner indexes several arrays
impl<L: Number, const N: usize> Answer<L, N> {
    /// Moves each particle along its gradient of C, by its inverse mass: the projection of PBD and
    /// XPBD for any C.
    #[inline(always)]
    pub fn along<M: Law>(
        gradients: [Vector<L>; N],
        p: &[Corner<L>; N],
        error: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> Self {
        let mut sum = p[0].w * gradients[0].length_sq();
        for k in 1..N {
            sum = sum + p[k].w * gradients[k].length_sq();
        }
        let (change, valid) = M::multiplier(error, sum, soft, lambda, omega);
        let mut push = gradients;
        for k in 0..N {
            push[k] = push[k] * change;
        }
        Answer { push, change, valid }
    }
}

/// How one constraint on `N` particles, or one in each lane, moves them. Both functions must be
/// `#[inline(always)]`.
pub(crate) trait Projection<const N: usize>: Stored<N> + Sized {
    /// What a constraint asks for where its particles are now.
    fn project<L: Number, M: Law>(
        p: &[Corner<L>; N],
        rest: L,
        soft: L,
        lambda: L,
        omega: L,
    ) -> Answer<L, N>;

    /// Projects the rows of vectors in place. A kind that knows a shorter way has its own.
    /// # Safety
    /// The rows exist, their corners are rows of the positions and all different, nobody else
    /// accesses those, and they lie as `A` says.
    #[inline(always)]
    unsafe fn vectors<S: Simd, M: Law, A: Access<N>>(rows: Rows<N>, runs: Runs<N>, omega: S) {
        for (&row, &slot) in runs.row.iter().zip(runs.slot) {
            // SAFETY: the caller's promise.
            unsafe { rows.from(row as usize).project::<S, Self, M, A>(slot, omega) }
        }
    }
}

/// What the sweeps keep for each stored kind, in the order of [`Kind::SETS`].
pub(crate) type Caches = [Cache; Kind::SETS.len()];

/// Brings the caches of all kinds up to date with the world's constraints and parameters.
pub(crate) fn update(caches: &mut Caches, world: &World, h: f32) {
    struct Update<'a>(&'a mut Caches, &'a World, f32);
    impl Visit for Update<'_> {
        fn visit<K: Stored<N>, const N: usize>(&mut self) {
            let Update(caches, world, h) = self;
            caches[K::KIND as usize].update(K::set(&world.sets), &world.params, *h);
        }
    }
    let mut update = Update(caches, world, h);
    Kind::SETS.into_iter().for_each(|kind| kind.visit(&mut update));
}

/// Tells the rows of all kinds how their particles lie to each other where the step begins.
pub(crate) fn take_bases(team: &Team, caches: &mut Caches, world: &World) {
    struct Take<'a>(&'a Team, &'a mut Caches, &'a World);
    impl Visit for Take<'_> {
        fn visit<K: Stored<N>, const N: usize>(&mut self) {
            let Take(team, caches, world) = self;
            let set = K::set(&world.sets);
            caches[K::KIND as usize].take_bases(team, set, &world.particles.position);
        }
    }
    let mut take = Take(team, caches, world);
    Kind::SETS.into_iter().for_each(|kind| kind.visit(&mut take));
}

/// Sweeps a kind once with the world's solver.
pub(crate) fn run<P: Projection<N>, const N: usize>(
    team: &Team,
    world: &mut World,
    scratch: &mut Scratch,
    at: &Moment,
) {
    let World { particles, sets, params, .. } = world;
    let (set, cache) = (P::set_mut(sets), &mut scratch.kinds[P::KIND as usize]);
    let positions = &mut particles.predicted;
    match cache.law {
        law::Choice::Stiff => by::<P, law::Stiff, N>(team, positions, set, cache, params, at),
        law::Choice::Compliant => {
            by::<P, law::Compliant, N>(team, positions, set, cache, params, at);
        }
        law::Choice::Rigid => by::<P, law::Rigid, N>(team, positions, set, cache, params, at),
    }
}

fn by<P: Projection<N>, M: Law, const N: usize>(
    team: &Team,
    positions: &mut [Vec4],
    set: &mut ConstraintSet<N>,
    cache: &mut Cache,
    params: &Params,
    at: &Moment,
) {
    let omega = params.omega;
    match (params.solver, at.part) {
        (Solver::Seidel, _) => seidel::sweep::<P, M, N>(positions, set, cache, omega),
        (Solver::Lockfree, _) => lockfree::sweep::<P, M, N>(team, positions, set, cache, omega),
        (Solver::Colored, Part::Color(c)) => {
            colored::sweep::<P, M, N>(team, positions, set, cache, omega, c as usize);
        }
        (Solver::Jacobi | Solver::Colored, _) => {
            jacobi::sweep::<P, M, N>(team, positions, set, cache, omega);
        }
    }
}

#[cfg(test)]
mod conservation {
    use super::*;
    use crate::kind::{Bend, Distance, Volume};
    use proptest::prelude::*;

    fn rows<const N: usize>() -> impl Strategy<Value = [Vec4; N]> {
        let row = (-2.0f32..2.0, -2.0f32..2.0, -2.0f32..2.0, 0.1f32..10.0);
        proptest::collection::vec(row, N)
            .prop_map(|rows| std::array::from_fn(|k| Vec4::from(rows[k])))
    }

    /// A projection moves particle k by w_k push_k, so what it adds to the momentum is the sum of
    /// push_k, and to the angular momentum the sum of p_k x push_k: both must vanish.
    fn conserves<P: Projection<N>, M: Law, const N: usize>(p: &[Vec4; N], rest: f32) {
        let corners = p.map(|p| Corner { at: Vector { x: p.x, y: p.y, z: p.z }, w: p.w });
        let answer = P::project::<f32, M>(&corners, rest, 0.5, 0.1, 1.0);
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

    fn all_conserve<M: Law>(two: &[Vec4; 2], four: &[Vec4; 4], rest: f32) {
        conserves::<Distance, M, 2>(two, rest);
        conserves::<Volume, M, 4>(four, rest);
        // Needle triangles have gradients so large that rounding alone exceeds 1e-6.
        let [a, b, c, d] = four.map(Vec4::truncate);
        let thin = |n: Vec3, e: Vec3| n.length() < 0.2 * e.length_squared().max(1.0);
        if !thin((c - a).cross(d - a), d - c) && !thin((d - b).cross(c - b), d - c) {
            conserves::<Bend, M, 4>(four, rest);
        }
    }

    proptest! {
        #[test]
        fn each_projection_conserves_momentum_and_angular_momentum(
            two in rows::<2>(), four in rows::<4>(), rest in 0.1f32..2.0,
        ) {
            all_conserve::<law::Stiff>(&two, &four, rest);
            all_conserve::<law::Compliant>(&two, &four, rest);
            all_conserve::<law::Rigid>(&two, &four, rest);
        }
    }
}
