//! Projects tetrahedron volumes, by the sweep of the chosen solver.
//! C = (p2-p1)x(p3-p1).(p4-p1)/6 - V0 (Müller 2007; physics.md 3).
//! Reads: predicted [m, 1/kg], volume rows (particles, rest m³, softness, multiplier).
//! Writes: predicted, multipliers; under `jacobi` corrections instead of positions.
//! Order: as `solve_distance`.

use super::solve::{self, Projection, Rule};
use super::{Moment, Scratch, team::Team};
use crate::world::World;
use glam::{Vec3, Vec4};

/// Signed volume of the tetrahedron, m³.
pub(crate) fn volume(p: &[Vec4; 4]) -> f32 {
    let [a, b, c, d] = p.map(Vec4::truncate);
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// C at the given positions, m³.
pub(crate) fn error(p: &[Vec4; 4], rest: f32) -> f32 {
    volume(p) - rest
}

/// The volume constraint.
pub(crate) struct Volume;

impl Projection<4> for Volume {
    #[inline]
    fn project(
        p: &[Vec4; 4],
        rest: f32,
        soft: f32,
        lambda: f32,
        rule: Rule,
    ) -> Option<([Vec3; 4], f32)> {
        let [a, b, c, d] = p.map(Vec4::truncate);
        let (u, v, w) = (b - a, c - a, d - a);
        let gb = v.cross(w) / 6.0;
        let gc = w.cross(u) / 6.0;
        let gd = u.cross(v) / 6.0;
        let ga = -(gb + gc + gd);
        let sum = p[0].w * ga.length_squared()
            + p[1].w * gb.length_squared()
            + p[2].w * gc.length_squared()
            + p[3].w * gd.length_squared();
        let change = rule.multiplier(u.cross(v).dot(w) / 6.0 - rest, sum, soft, lambda)?;
        Some(([ga * change, gb * change, gc * change, gd * change], change))
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    solve::sweep::<Volume, 4>(
        team,
        &mut world.particles.predicted,
        &mut world.volume,
        &mut scratch.volume,
        &world.params,
        at,
    );
}
