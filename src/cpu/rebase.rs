//! Counts moves from where the particles are now, at the end of a step.
//! x' = x + s as far as f32 can tell, and s' = what rounding left over of it, so that x' + s' = x + s
//! exactly (Knuth's sum of two numbers). A particle that creeps by less than the rounding of its place
//! still arrives.
//! Who would leave the range of numbers stays where it was.
//! Reads: position [m], start [m]. Writes: position, start, predicted.
//! Order: each particle alone; deterministic.

use super::team::{BLOCK, Shared, Team};
use crate::world::World;
use glam::Vec4;

pub(crate) fn run(team: &Team, world: &mut World) {
    let particles = &mut world.particles;
    let rows = (
        Shared::new(&mut particles.position),
        Shared::new(&mut particles.start),
        Shared::new(&mut particles.predicted),
    );
    team.rows(rows, BLOCK, |_, (position, start, predicted)| {
        for ((x, s), p) in position.iter_mut().zip(start).zip(predicted) {
            let (sum, rest) = match sum_of_two(*x, *s) {
                (sum, rest) if sum.is_finite() => (sum, rest),
                // It would leave the range of numbers: it stays.
                _ => (*x, Vec4::ZERO),
            };
            *x = sum.truncate().extend(x.w);
            *s = rest.truncate().extend(s.w);
            *p = rest.truncate().extend(x.w);
        }
    });
}

/// The sum of two numbers as f32 has it, and what it is off by, which is exact.
fn sum_of_two(a: Vec4, b: Vec4) -> (Vec4, Vec4) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}
