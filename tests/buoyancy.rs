//! Solids in water: what is lighter floats, what is heavier sinks, as Archimedes and added mass say.

use glam::{DVec3, Vec3};
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Body, BodyShape, Built, Collider, Engine, Fluid, FluidRegion, ParticleId, World,
};

/// Of every particle, m.
const RADIUS: f32 = 0.02;
const DT: f32 = 1.0 / 60.0;

/// A ball of particles on a lattice, so many across, and its radius by its volume.
fn ball(across: i32, density: f32) -> (BodyShape, f64) {
    let cell = 2.0 * RADIUS;
    let mass = density * cell.powi(3);
    let middle = 0.5 * (across - 1) as f32;
    let mut balls = Vec::new();
    for k in 0..across.pow(3) {
        let at = [k % across, k / across % across, k / (across * across)];
        let at = Vec3::from(at.map(|c| c as f32 - middle)) * cell;
        if at.length() <= (across as f32 - 0.35) * RADIUS {
            balls.push((at, RADIUS, mass));
        }
    }
    let volume = balls.len() as f64 * f64::from(cell).powi(3);
    let radius = (volume * 3.0 / (4.0 * std::f64::consts::PI)).cbrt();
    (BodyShape::balls(&balls).unwrap(), radius)
}

/// A tank of planes that is so many particles wide, with water so many deep, around a body.
fn tank(wide: u32, deep: u32, shape: &BodyShape, at: Vec3) -> (World, Built) {
    let mut world = World::new();
    (world.params.substeps, world.params.iterations) = (6, 4);
    let body = world.add_body(shape, &Body::rigid(at)).unwrap();
    let [wide, deep] = [wide, deep].map(|count| count as f32 * 2.0 * RADIUS);
    let region = FluidRegion::Box { low: Vec3::ZERO, high: Vec3::new(wide, deep, wide) };
    world.add_fluid(&Fluid { region, radius: RADIUS, ..Fluid::default() }).unwrap();
    let walls =
        [(Vec3::Y, 0.0), (Vec3::X, 0.0), (-Vec3::X, wide), (Vec3::Z, 0.0), (-Vec3::Z, wide)];
    for (normal, away) in walls {
        let pose = Pose { translation: -normal * away, ..Pose::IDENTITY };
        world.colliders.push(Collider::fixed(Shape::Plane { normal }, pose));
    }
    (world, body)
}

fn centre(world: &World, body: &[ParticleId]) -> DVec3 {
    let places = body.iter().map(|&id| world.position(id).unwrap().as_dvec3());
    places.sum::<DVec3>() / body.len() as f64
}

/// The top of the water, m: a radius above the highest particles but for some drops.
fn surface(world: &World, body: &[ParticleId]) -> f64 {
    let p = world.particles();
    let of_body: std::collections::HashSet<u64> = body.iter().map(|id| id.0).collect();
    let water = p.positions().iter().zip(p.ids()).filter(|(_, id)| !of_body.contains(id));
    let mut heights: Vec<f32> = water.map(|(x, _)| x.y).collect();
    heights.sort_by(f32::total_cmp);
    f64::from(heights[heights.len() * 98 / 100] + RADIUS)
}

/// The part of a body that is below a level.
fn submerged(world: &World, body: &[ParticleId], level: f64) -> f64 {
    let below = |&id: &ParticleId| {
        let low = f64::from(world.position(id).unwrap().y - RADIUS);
        ((level - low) / f64::from(2.0 * RADIUS)).clamp(0.0, 1.0)
    };
    body.iter().map(below).sum::<f64>() / body.len() as f64
}

/// The part under water of a ball that was let go in the middle of it, over the second after `seconds`,
/// and how high its centre was at the beginning and at the end of that.
fn float(density: f32, seconds: f32) -> (f64, [f64; 2]) {
    let (shape, _) = ball(6, density);
    let (world, body) = tank(14, 11, &shape, Vec3::new(0.28, 0.24, 0.28));
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    let steps = |seconds: f32| (seconds / DT) as u32;
    for _ in 0..steps(seconds) {
        engine.step(DT).unwrap();
    }
    let before = centre(engine.world(), &body).y;
    let mut sum = 0.0;
    for _ in 0..steps(1.0) {
        engine.step(DT).unwrap();
        let world = engine.world();
        sum += submerged(world, &body, surface(world, &body));
    }
    (sum / f64::from(steps(1.0)), [before, centre(engine.world(), &body).y])
}

#[test]
fn a_light_ball_floats_with_its_share_under_water() {
    let (part, _) = float(300.0, 1.5);
    println!("a density of 0.3: {part:.3} under water");
    assert!((part - 0.3).abs() < 0.08, "{part}");
}

/// What weighs as much as the water it takes the place of neither rises nor sinks: it stays within a particle
/// of where it was, for a second and a half, in which a heavier body falls by more than that. (Water that was never stirred lies in its lattice and holds what
/// pulls little: a ball a tenth heavier sinks by 9 mm only.)
#[test]
fn a_ball_as_heavy_as_water_stays() {
    let (part, heights) = float(1000.0, 0.5);
    let rise = heights[1] - 0.24;
    println!("a density of 1: {part:.3} under water, {rise:+.4} m in 1.5 s");
    assert!(part > 0.99, "{part}");
    assert!(rise.abs() < f64::from(2.0 * RADIUS), "{rise}");
    let (_, heights) = float(1500.0, 0.5);
    let fall = 0.24 - heights[1];
    println!("a density of 1.5: {fall:.4} m in 1.5 s");
    assert!(fall > f64::from(2.0 * RADIUS), "{fall}");
}
