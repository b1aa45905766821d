//! What fluids look like from afar: how round a drop is, how much room it takes, how far two fluids mix.

use super::measure::slots;
use crate::world::{ObjectId, World};
use glam::{DMat3, DVec3};

/// Directions in which extents are taken, evenly over half a sphere.
const DIRECTIONS: u32 = 200;
/// Of two fluids that lie on each other, this part of each may be anywhere: single drops are no layer.
const STRAY: f64 = 0.05;

fn places(world: &World, object: Option<ObjectId>) -> Vec<DVec3> {
    let at = world.particles.positions();
    slots(world, object).map(|s| at[s].truncate().as_dvec3()).collect()
}

/// The largest over the smallest extent of the centres; 1 for a sphere.
pub(super) fn out_of_round(world: &World, object: Option<ObjectId>) -> f64 {
    let places = places(world, object);
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for k in 0..DIRECTIONS {
        // The golden angle, from the pole to the equator.
        let (z, turn) =
            (1.0 - (f64::from(k) + 0.5) / f64::from(DIRECTIONS), 2.399_963_23 * f64::from(k));
        let across = (1.0 - z * z).sqrt();
        let direction = DVec3::new(across * turn.cos(), across * turn.sin(), z);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for place in &places {
            let along = place.dot(direction);
            if along.is_nan() {
                return along;
            }
            (low, high) = (low.min(along), high.max(along));
        }
        (least, most) = (least.min(high - low), most.max(high - low));
    }
    most / least
}

/// How much larger or smaller the drop is than its particles are at rest, as a share: the volume of the
/// ellipsoid with the same moments, against the cells that the particles fill.
pub(super) fn volume_error(world: &World, object: Option<ObjectId>) -> f64 {
    let places = places(world, object);
    let count = places.len() as f64;
    let mean = places.iter().sum::<DVec3>() / count;
    let mut moments = DMat3::ZERO;
    for place in &places {
        let away = *place - mean;
        moments += DMat3::from_cols(away * away.x, away * away.y, away * away.z);
    }
    // A cell has moments of its own.
    let radii = world.particles.radii();
    let cells = slots(world, object).map(|s| 2.0 * f64::from(radii[s]));
    let (mut filled, mut own) = (0.0, 0.0);
    for side in cells {
        filled += side * side * side;
        own += side * side / 12.0;
    }
    moments += DMat3::from_diagonal(DVec3::splat(own));
    let axes = (moments * (5.0 / count)).determinant().sqrt();
    (4.0 / 3.0 * std::f64::consts::PI * axes / filled - 1.0).abs()
}

/// How far a fluid reaches down into the one below it, m: from the height over which all of the upper one
/// lies to that under which all of the lower one does, but for what strays. Where the upper one lies below,
/// that is all of it.
pub(super) fn mixing_layer(world: &World, upper: Option<ObjectId>, lower: ObjectId) -> f64 {
    let up = world.up().as_dvec3();
    let heights = |object: Option<ObjectId>| {
        let mut heights: Vec<f64> = places(world, object).iter().map(|x| x.dot(up)).collect();
        heights.sort_by(f64::total_cmp);
        heights
    };
    let at = |heights: &[f64], part: f64| {
        let last = heights.len().saturating_sub(1) as f64;
        heights.get((part * last) as usize).copied().unwrap_or(f64::NAN)
    };
    let bottom = at(&heights(upper), STRAY);
    let top = at(&heights(Some(lower)), 1.0 - STRAY);
    let layer = top - bottom;
    if layer < 0.0 { 0.0 } else { layer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fluid, FluidRegion};
    use glam::Vec3;

    fn block(world: &mut World, low: Vec3, high: Vec3, radius: f32) -> ObjectId {
        let region = FluidRegion::Box { low, high };
        world.add_fluid(&Fluid { region, radius, ..Fluid::default() }).unwrap().object
    }

    /// A cube is as much wider across its corners, and its moments are those of a larger ball.
    #[test]
    fn a_cube_is_no_ball_and_a_ball_is_one() {
        let mut world = World::new();
        let cube = block(&mut world, Vec3::splat(-0.1), Vec3::splat(0.1), 0.005);
        let ratio = out_of_round(&world, Some(cube));
        assert!((ratio - 3f64.sqrt()).abs() < 0.1, "{ratio}");
        let larger = 4.0 / 3.0 * std::f64::consts::PI * (5.0f64 / 12.0).powf(1.5) - 1.0;
        let error = volume_error(&world, Some(cube));
        assert!((error - larger).abs() < 1e-4, "{error} {larger}");
        let far: Vec<_> = world.object(cube).unwrap().particles().collect();
        let far = far.into_iter().filter(|&id| world.position(id).unwrap().length() > 0.1);
        let far: Vec<_> = far.collect();
        world.remove_particles(&far).unwrap();
        let (ratio, error) = (out_of_round(&world, Some(cube)), volume_error(&world, Some(cube)));
        assert!(ratio < 1.06 && error < 0.02, "{ratio} {error}");
    }

    #[test]
    fn fluids_that_lie_apart_do_not_mix() {
        let mut world = World::new();
        let lower = block(&mut world, Vec3::ZERO, Vec3::new(0.1, 0.2, 0.1), 0.01);
        let (low, high) = (Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.1, 0.4, 0.1));
        let upper = block(&mut world, low, high, 0.01);
        assert_eq!(mixing_layer(&world, Some(upper), lower), 0.0);
        let all = mixing_layer(&world, Some(lower), upper);
        assert!((all - 0.36).abs() < 0.03, "the wrong way round: {all}");
    }
}
