//! The four keys that say how stiff and how strong constraints are.

use super::value::{AtLeastZero, Positive, Share};
use crate::world::Bond;

/// A bond with what is given; what is left out is rigid and lasts.
pub(super) fn bond(
    compliance: Option<AtLeastZero>,
    stiffness: Option<Share>,
    break_at: Option<Positive>,
    yield_at: Option<Positive>,
) -> Bond {
    Bond {
        stiffness: stiffness.map_or(1.0, |s| s.0),
        compliance: compliance.map_or(0.0, |c| c.0),
        break_at: break_at.map_or(f32::INFINITY, |s| s.0),
        yield_at: yield_at.map_or(f32::INFINITY, |s| s.0),
    }
}
