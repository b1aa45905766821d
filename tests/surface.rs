//! Surfaces of fluids: closed, of the right volume, and the same for any number of threads.
#![cfg(feature = "surface")]

use glam::Vec3;
use motes::export::{FluidSurface, Format, write_surfaces};
use motes::{Fluid, FluidRegion, World};
use std::collections::HashMap;

const RADIUS: f32 = 0.02;

/// Water at rest that fills a region, and its particles.
fn water(region: FluidRegion) -> (World, usize) {
    let mut world = World::new();
    let velocity = Vec3::new(1.0, 2.0, 3.0);
    let fluid = Fluid { region, radius: RADIUS, velocity, ..Fluid::default() };
    let count = world.add_fluid(&fluid).unwrap().len();
    (world, count)
}

fn cube(side: f32) -> FluidRegion {
    FluidRegion::Box { low: Vec3::splat(-0.5 * side), high: Vec3::splat(0.5 * side) }
}

fn surface(world: &World, smoothing: u32) -> FluidSurface {
    world.fluid_surfaces(smoothing).unwrap().swap_remove(0).1
}

/// The volume inside: tetrahedra from the origin.
fn volume(surface: &FluidSurface) -> f64 {
    let at = |corner: u32| surface.positions[corner as usize].as_dvec3();
    let six = surface.triangles.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c))));
    six.sum::<f64>() / 6.0
}

/// Edges, from corner to corner, that do not have one that runs against them.
fn open_edges(surface: &FluidSurface) -> usize {
    let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
    for &[a, b, c] in &surface.triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            *edges.entry([from, to]).or_default() += 1;
        }
    }
    edges.iter().filter(|&(&[a, b], &n)| n != 1 || edges.get(&[b, a]) != Some(&1)).count()
}

#[test]
fn water_at_rest_keeps_its_volume_inside_a_closed_surface() {
    for (side, smoothing) in [(0.4, 0), (0.4, 10), (0.8, 10), (0.8, 30)] {
        let (world, count) = water(cube(side));
        let surface = surface(&world, smoothing);
        assert_eq!(open_edges(&surface), 0, "{count} particles");
        let rest = count as f64 * (2.0 * f64::from(RADIUS)).powi(3);
        let share = volume(&surface) / rest;
        // Edges and corners are rounded off. Set after seeing the values of docs/water.md.
        assert!((0.97..1.01).contains(&share), "{count} particles, {smoothing}: {share}");
    }
    // The control: a surface with a hole is not closed.
    let mut torn = surface(&water(cube(0.2)).0, 0);
    torn.triangles.pop();
    assert_eq!(open_edges(&torn), 3);
}

#[test]
fn one_particle_has_a_surface_and_what_is_no_fluid_has_none() {
    let (world, count) = water(cube(2.0 * RADIUS));
    assert_eq!(count, 1);
    let drop = surface(&world, 2);
    assert_eq!(open_edges(&drop), 0);
    assert!(drop.positions.iter().all(|p| p.length() < 2.0 * RADIUS));
    let mut world = World::new();
    world.add_grains(&motes::Grains::default()).unwrap();
    assert!(world.fluid_surfaces(10).unwrap().is_empty());
    let folder = tempfile::tempdir().unwrap();
    assert!(!write_surfaces(folder.path(), Format::Ply, &world, 10).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_surface_moves_with_the_fluid() {
    let (world, _) = water(cube(0.2));
    let off = |v: &Vec3| v.distance(Vec3::new(1.0, 2.0, 3.0));
    let surface = surface(&world, 0);
    assert!(surface.velocities.iter().map(off).fold(0.0, f32::max) < 1e-4);
}

/// More cells than one piece of the grid has, so that threads share the work.
#[test]
fn a_surface_does_not_depend_on_threads() {
    let low = Vec3::splat(-0.5);
    let (mut world, count) = water(FluidRegion::Box { low, high: Vec3::new(1.5, 0.3, 0.3) });
    assert!(count > 10_000);
    let (_, object) = world.objects().next().unwrap();
    let ids: Vec<_> = object.particles().collect();
    // No two particles at the same distance from others.
    for (k, id) in ids.into_iter().enumerate() {
        let shake = Vec3::new((k as f32 * 0.7).sin(), (k as f32 * 1.3).sin(), 0.0);
        let at = world.position(id).unwrap();
        world.set_position(id, at + shake * (0.3 * RADIUS)).unwrap();
    }
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| surface(&world, 3))
    };
    let one = with(1);
    assert_eq!(open_edges(&one), 0);
    for threads in [1, 2, 3, 8] {
        assert!(with(threads) == one, "{threads} threads");
    }
}
