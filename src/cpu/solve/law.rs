//! How a constraint's error becomes a multiplier. The law is chosen for a whole set, before its
//! rows are swept: no row asks again, and none moves numbers that its law has no use for.

use crate::simd::Number;
use crate::world::{Method, Params};

/// A constraint whose weighted gradients sum up to less than this joins pinned or coinciding
/// particles.
const MIN_DENOMINATOR: f32 = 1e-20;

pub(crate) trait Law {
    /// Whether the law reads `soft`.
    const READS_SOFT: bool;
    /// Whether the law reads the multiplier so far; nobody else does.
    const KEEPS_LAMBDA: bool;
    /// Whether all particles of a constraint take the same share of its Jacobi correction.
    const SHARES: bool;

    fn change<L: Number>(c: L, sum: L, soft: L, lambda: L) -> L;

    /// The change of the multiplier for error `c`, with `sum` = sum of w |grad C|², and where it
    /// holds: nothing can or should move where all particles are pinned, or where gradients vanish
    /// or are not finite.
    #[inline(always)]
    fn multiplier<L: Number>(c: L, sum: L, soft: L, lambda: L, omega: L) -> (L, L::Mask) {
        let change = Self::change(c, sum, soft, lambda) * omega;
        let infinite = L::splat(f32::INFINITY);
        let movable = L::both(sum.above(L::splat(MIN_DENOMINATOR)), infinite.above(sum));
        (change, L::both(movable, infinite.above(change.abs())))
    }
}

/// PBD: -k C / sum, with `soft` = k = 1 - (1 - stiffness)^(1/n) (Müller 2007).
pub(crate) struct Stiff;

impl Law for Stiff {
    const READS_SOFT: bool = true;
    const KEEPS_LAMBDA: bool = false;
    const SHARES: bool = false;
    #[inline(always)]
    fn change<L: Number>(c: L, sum: L, soft: L, _: L) -> L {
        -soft * c / sum
    }
}

/// XPBD: -(C + a λ) / (sum + a), with `soft` = a = compliance / h² (Macklin 2016).
pub(crate) struct Compliant;

impl Law for Compliant {
    const READS_SOFT: bool = true;
    const KEEPS_LAMBDA: bool = true;
    const SHARES: bool = true;
    #[inline(always)]
    fn change<L: Number>(c: L, sum: L, soft: L, lambda: L) -> L {
        -(c + soft * lambda) / (sum + soft)
    }
}

/// XPBD where no constraint of the set has a compliance.
pub(crate) struct Rigid;

impl Law for Rigid {
    const READS_SOFT: bool = false;
    const KEEPS_LAMBDA: bool = false;
    const SHARES: bool = true;
    #[inline(always)]
    fn change<L: Number>(c: L, sum: L, _: L, _: L) -> L {
        -c / sum
    }
}

/// The law that a set follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Choice {
    Stiff,
    Compliant,
    #[default]
    Rigid,
}

impl Choice {
    pub fn of(params: &Params, soft: &[f32]) -> Self {
        match params.method {
            Method::Pbd => Choice::Stiff,
            Method::Xpbd if soft.iter().any(|&a| a > 0.0) => Choice::Compliant,
            Method::Xpbd => Choice::Rigid,
        }
    }
}
