//! Projects distance constraints, by the sweep of the chosen solver.
//! C = |p1 - p2| - d, grad C = ±(p1 - p2) / |p1 - p2| (Müller 2007, Macklin 2016).
//! Reads: predicted [m, 1/kg], distance rows (particles, rest m, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: creation (`seidel`, `lockfree`), colour (`colored`), none (`jacobi`); deterministic but
//! for `lockfree`.

use super::solve::{self, Projection, Rule};
use super::{Moment, Scratch, team::Team};
use crate::world::World;
use glam::{Vec3, Vec4};

/// Lengths below this have no direction.
const MIN_LENGTH: f32 = 1e-9;

/// C at the given positions, m.
pub(crate) fn error(p: &[Vec4; 2], rest: f32) -> f32 {
    (p[0] - p[1]).truncate().length() - rest
}

/// The distance constraint.
pub(crate) struct Distance;

impl Projection<2> for Distance {
    #[inline]
    fn project(
        p: &[Vec4; 2],
        rest: f32,
        soft: f32,
        lambda: f32,
        rule: Rule,
    ) -> Option<([Vec3; 2], f32)> {
        let d = (p[0] - p[1]).truncate();
        let length = d.length();
        if length <= MIN_LENGTH {
            return None;
        }
        let change = rule.multiplier(length - rest, p[0].w + p[1].w, soft, lambda)?;
        let push = d * (change / length);
        Some(([push, -push], change))
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::sweep::<Distance, 2>(
        team,
        &mut world.particles.predicted,
        &mut world.distance,
        &mut scratch.distance,
        &world.params,
        at,
    );
}
