//! The wind on triangles: `catch_wind`.

use super::particles::{Random, unnoticed};
use super::{Close, assert_floats, compare, saying, scene, sides};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::{Cloth, Dispatch, Force, ForceKind, Grains, Pass, SurfaceWind, World};

pub fn ours(dispatch: &Dispatch) -> bool {
    dispatch.pass == Pass::CatchWind
}

pub fn judge(outcome: &Outcome) {
    let why = "cells, hashes, sums and products alone";
    saying(why, || assert_floats(outcome, Buffer::Delta, Close::Bits));
    // Each triangle takes two roots and two quotients, of which a device may round each its own way
    // (3 and 2.5 units in the last place), and a particle sums over six; speeds are some m/s.
    let close = Close::Within { absolute: 4e-6, relative: 2e-6 };
    saying("roots and quotients", || assert_floats(outcome, Buffer::Velocity, close));
}

/// A crumpled cloth that moves, torn in places, with held and very light particles, among grains that
/// have no triangles; in two winds, one of which blows in a box.
pub fn blown(columns: u32) -> World {
    let mut world = World::new();
    world.params.substeps = 3;
    let mut random = Random(7);
    for mass in [0.01, 1e-7] {
        let cloth = Cloth { columns, rows: 9, mass, ..Cloth::default() };
        let cloth = world.add_cloth(&cloth).unwrap();
        for (k, &id) in cloth.iter().enumerate() {
            let at = world.position(id).unwrap();
            let far = if k % 19 == 5 { 0.4 } else { 0.02 };
            world.set_position(id, at + random.vector(far)).unwrap();
            world.set_velocity(id, random.vector(3.0)).unwrap();
            if k % 11 == 3 {
                world.pin(id).unwrap();
            }
        }
        world.remove_particles(&[cloth[2], cloth[columns as usize + 1]]).unwrap();
    }
    world.add_grains(&Grains { counts: [3; 3], ..Grains::default() }).unwrap();
    let gusts = SurfaceWind {
        velocity: Vec3::new(4.0, -1.0, 2.0),
        gust: 0.7,
        gust_length: 0.13,
        gust_time: 0.02,
        ..SurfaceWind::default()
    };
    let steady = SurfaceWind {
        velocity: Vec3::new(-3.0, 2.5, 0.5),
        density: 1.0,
        drag_coefficient: 0.7,
        lift_coefficient: 1.1,
        ..SurfaceWind::default()
    };
    let region = Some([Vec3::new(0.1, -1.0, -1.0), Vec3::new(0.6, 1.0, 0.25)]);
    world.forces = [(gusts, None), (steady, region)]
        .map(|(wind, region)| Force { kind: ForceKind::SurfaceWind(wind), region })
        .to_vec();
    world
}

#[test]
fn crumpled_cloth_in_two_winds() {
    let Some(mut sides) = sides() else { return };
    let count = compare(&mut sides, blown(13), 3, ours, judge);
    assert_eq!(count, 18, "three steps of three substeps in two winds");
}

/// The pass does something: velocities change, also of those whose pushes are limited.
#[test]
fn the_case_is_not_empty() {
    let Some(mut sides) = sides() else { return };
    let mut changed = 0;
    compare(&mut sides, blown(13), 1, ours, |outcome| {
        let words = outcome.of(Buffer::Velocity);
        changed += words.before.iter().zip(&words.cpu).filter(|(a, b)| a != b).count();
    });
    assert!(changed > 500, "{changed}");
}

#[test]
fn a_scene_and_any_workgroup() {
    if sides().is_none() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    for workgroup in [1, 48, 64, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        assert!(compare(&mut sides, scene("flag"), 2, ours, judge) >= 2);
        for columns in [3, 8] {
            assert_eq!(compare(&mut sides, blown(columns), 1, ours, judge), 6);
        }
    }
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() {
        return;
    }
    let (sums, missed) = unnoticed(Pass::CatchWind, |sides| {
        compare(sides, blown(13), 2, ours, judge);
    });
    assert!(sums >= 10 && missed.is_empty(), "of {sums} sums {missed:?}");
}
