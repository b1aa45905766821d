//! Lets the triangles of cloth catch the wind (docs/physics.md, section 6).
//! u = air - v, mean of the corners; n the unit normal, turned so that u.n >= 0; A the area;
//! F = rho / 2 A (u.n) (Cd u + Cl (|u| n - (u.n) u / |u|)), a third of it for each corner.
//! v += h w F / max(1, h w R), R the sum of rho / 6 A |u| (Cd + Cl): so no push ever turns the
//! relative wind of a triangle around, however long the substep. Torn triangles catch nothing.
//! Reads: position [m, 1/kg], start [m], velocity [m/s], rest [m], surfaces, winds and the time. Writes: delta:
//! the wind that each particle feels [m/s, 1 inside the region]; velocity.
//! Part: one wind. Order: each particle alone, over its triangles in their order; deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{Particles, Places, SurfaceWind, World};
use glam::{Vec3, Vec4};

/// A triangle with more than four times its rest area is torn. As the square of that.
const TORN_SQ: f32 = 16.0;
/// Triangles whose sides span less, squared, m⁴, have no normal.
const LEAST_SIZE_SQ: f32 = 1e-24;
/// Wind slower than this, squared, m²/s², has no direction.
const LEAST_SPEED_SQ: f32 = 1e-18;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let Part::Wind(number) = at.part else { return };
    let Some((&wind, region)) = world.surface_winds().nth(number as usize) else { return };
    scratch.fans.update(world);
    let Scratch { delta, fans, .. } = scratch;
    let particles = &mut world.particles;
    let air = wind.at(at.time);
    let [low, high] = region.unwrap_or([Vec3::NEG_INFINITY, Vec3::INFINITY]);
    let cloth_at = particles.now();
    let rows = (Shared::new(delta), &particles.velocity[..]);
    team.rows(rows, BLOCK, |range, (felt, velocity)| {
        for (k, i) in range.enumerate() {
            // Whoever has no triangle is asked by none.
            if fans.around(i).is_empty() {
                felt[k] = Vec4::ZERO;
                continue;
            }
            let x = cloth_at.of(i);
            let outside = x.cmplt(low).any() || x.cmpgt(high).any();
            let inside = if outside { 0.0 } else { 1.0 };
            felt[k] = (air.velocity_at(x) - velocity[k].truncate()).extend(inside);
        }
    });
    let Particles { position, start, velocity, rest, .. } = particles;
    let cloth = Blown { wind, felt: delta, at: Places { position, moved: start }, rest };
    let (h, factor) = (at.h, wind.force_factor());
    let strength = wind.drag_coefficient + wind.lift_coefficient;
    team.rows(Shared::new(velocity), BLOCK, |range, velocity| {
        for (i, velocity) in range.zip(velocity) {
            let w = cloth.at.position[i].w;
            if w == 0.0 {
                continue;
            }
            let fan = fans.around(i);
            let sum =
                fan.iter().fold(Vec4::ZERO, |sum, &[b, c]| sum + cloth.caught([i as u32, b, c]));
            let moved = h * w;
            let resisted = moved * (sum.w * factor * strength);
            let most = if resisted > 1.0 { resisted } else { 1.0 };
            let change = sum.truncate() * (moved * factor / most);
            // Wind beyond all numbers moves nothing.
            if change.is_finite() {
                *velocity = (velocity.truncate() + change).extend(0.0);
            }
        }
    });
}

/// Triangles in a wind.
struct Blown<'a> {
    wind: SurfaceWind,
    felt: &'a [Vec4],
    at: Places<'a>,
    rest: &'a [Vec4],
}

impl Blown<'_> {
    /// What a triangle catches, seen from its first corner: the sum over its corners of the force
    /// [x, y, z], and how fast that resists being moved, both over the density / 12.
    #[inline]
    fn caught(&self, corners: [u32; 3]) -> Vec4 {
        let [a, b, c] = corners.map(|slot| self.felt[slot as usize]);
        let felt = a + b + c;
        let size = across(self.at.corners(corners));
        let rest = across(corners.map(|slot| self.rest[slot as usize]));
        let size_sq = size.dot(size);
        let u = felt.truncate() * (1.0 / 3.0);
        let speed_sq = u.dot(u);
        let is_inside = felt.w > 2.5;
        let is_whole = size_sq <= rest.dot(rest) * TORN_SQ;
        if !(is_inside && is_whole && size_sq > LEAST_SIZE_SQ && speed_sq > LEAST_SPEED_SQ) {
            return Vec4::ZERO;
        }
        let (twice_area, speed) = (size_sq.sqrt(), speed_sq.sqrt());
        let normal = size * (1.0 / twice_area);
        let met = u.dot(normal);
        let (along, normal) = if met < 0.0 { (-met, -normal) } else { (met, normal) };
        let lift = normal * speed - u * (along / speed);
        let force = u * self.wind.drag_coefficient + lift * self.wind.lift_coefficient;
        (force * (along * twice_area)).extend(twice_area * speed)
    }
}

/// The cross product of two sides of a triangle: twice its area, along its normal.
fn across(corners: [Vec4; 3]) -> Vec3 {
    let [a, b, c] = corners.map(Vec4::truncate);
    (b - a).cross(c - a)
}
