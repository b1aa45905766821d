//! The largest overlap of two particles, found apart from the engine's own broad phase so that a
//! fault in that cannot hide itself.

use super::measure;
use crate::world::{ObjectId, Phase, World};
use std::collections::{HashMap, HashSet};

/// Grids of doubling cell size, so that a boulder among grains does not put all into one cell.
type Cells = HashMap<(i32, [i64; 3]), Vec<u32>>;

/// The largest overlap relative to the smaller radius of the pair, over pairs that may collide and
/// of which one belongs to `object`. 0 when none overlap.
pub(super) fn largest(world: &World, object: Option<ObjectId>) -> f64 {
    let p = &world.particles;
    let inside = measure::membership(world, object);
    let edges = world.distance();
    let joined: HashSet<[u32; 2]> = (0..edges.len()).map(|i| sorted(edges.particles(i))).collect();
    // The grid whose cell, of size 2^level, spans the particle.
    let level = |i: usize| libm::ceil(libm::log2(2.0 * f64::from(p.radius[i]))) as i32;
    let cell = |i: usize, level: i32| {
        let size = libm::exp2(f64::from(level));
        p.position[i].truncate().as_dvec3().to_array().map(|x| (x / size).floor() as i64)
    };
    let mut cells = Cells::new();
    for i in 0..p.len() {
        cells.entry((level(i), cell(i, level(i)))).or_default().push(i as u32);
    }
    let mut levels: Vec<i32> = cells.keys().map(|(level, _)| *level).collect();
    levels.sort_unstable();
    levels.dedup();

    let mut worst = 0.0f64;
    for i in 0..p.len() {
        // Each pair is met from its smaller particle: in a grid of the larger one, the two are
        // in neighbouring cells when they touch.
        for &level in levels.iter().filter(|&&l| l >= level(i)) {
            for key in around(cell(i, level)) {
                for &j in cells.get(&(level, key)).map_or(&[][..], Vec::as_slice) {
                    let j = j as usize;
                    if i != j
                        && (inside[i] || inside[j])
                        && let Some(contact) = contact(world, &joined, i, j)
                    {
                        let [a, b] = [i, j].map(|k| p.position[k].truncate().as_dvec3());
                        let smaller = f64::from(p.radius[i].min(p.radius[j]));
                        worst = worst.max((contact - a.distance(b)) / smaller);
                    }
                }
            }
        }
    }
    worst
}

/// The distance at which two particles touch, or `None` when they never do (as in the engine).
fn contact(world: &World, joined: &HashSet<[u32; 2]>, i: usize, j: usize) -> Option<f64> {
    let p = &world.particles;
    let (a, b) = (Phase(p.phase[i]), Phase(p.phase[j]));
    if !a.collides(b) || (p.position[i].w == 0.0 && p.position[j].w == 0.0) {
        return None;
    }
    let touch = f64::from(p.radius[i]) + f64::from(p.radius[j]);
    if a.group_number() != b.group_number() {
        return Some(touch);
    }
    if joined.contains(&sorted([i as u32, j as u32])) {
        return None;
    }
    if a.0 & b.0 & Phase::SHAPED == 0 {
        return Some(touch);
    }
    let [rest_i, rest_j] = [i, j].map(|k| p.rest[k].truncate().as_dvec3());
    Some(touch.min(rest_i.distance(rest_j)))
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

fn around([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..27).map(move |k| {
        [x.saturating_add(k % 3 - 1), y.saturating_add(k / 3 % 3 - 1), z.saturating_add(k / 9 - 1)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Particle, ParticleId};
    use glam::Vec3;

    fn ball(world: &mut World, x: f32, radius: f32, group: u32) -> ParticleId {
        let phase = Phase::group(group).self_colliding();
        let position = Vec3::new(x, 0.0, 0.0);
        let particle = Particle { position, velocity: Vec3::ZERO, mass: 1.0, radius, phase };
        world.add_particle(&particle).unwrap()
    }

    #[test]
    fn small_and_large_particles_are_found_and_joined_ones_are_not() {
        let mut world = World::new();
        let a = ball(&mut world, 0.0, 1.0, 0);
        assert_eq!(largest(&world, None), 0.0);
        let b = ball(&mut world, -1.05, 0.1, 0);
        assert!((largest(&world, None) - 0.5).abs() < 1e-5);
        ball(&mut world, 2.0, 1.0, 1);
        assert!((largest(&world, None) - 0.5).abs() < 1e-5, "touching is no overlap");
        world.add_distance(a, b, None, &Default::default()).unwrap();
        assert_eq!(largest(&world, None), 0.0);
    }
}
