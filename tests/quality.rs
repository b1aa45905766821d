//! What the engine says of how well its last step was solved.

use glam::Vec3;
use motes::{Backend, Bond, Cloth, Engine, Kind, Particle, Phase, World};

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

/// A soft cloth that hangs by a row.
fn hanging(iterations: u32, substeps: u32) -> World {
    let mut world = World::new();
    world.params.iterations = iterations;
    world.params.substeps = substeps;
    world.params.damping = 2.0;
    let soft = Bond { compliance: 1e-3, ..Bond::default() };
    let cloth = Cloth { columns: 12, rows: 12, stretch: soft, shear: soft, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    for &id in &ids[..12] {
        world.pin(id).unwrap();
    }
    world
}

fn settled(world: World) -> Engine {
    let mut engine = engine(world);
    for _ in 0..240 {
        engine.step(1.0 / 60.0).unwrap();
    }
    engine
}

/// At an equilibrium of soft constraints C is not 0, so |C| says nothing; |C + α λ| does.
#[test]
fn the_residual_vanishes_as_iterations_converge_and_the_strain_does_not() {
    let mean = |iterations: u32| {
        let mut engine = settled(hanging(iterations, 2));
        let quality = engine.quality().unwrap();
        assert_eq!(quality.residuals.len(), 1);
        assert_eq!(quality.residuals[0].kind, Kind::Distance);
        assert!(quality.residuals[0].largest >= quality.residuals[0].mean);
        assert!(quality.strain > 0.005, "{quality:?}");
        quality.residuals[0].mean
    };
    let [few, more, many] = [1, 20, 400].map(mean);
    assert!(few > 10.0 * more && more > 3.0 * many, "{few} {more} {many}");
    assert!(many < 1e-5, "{many}");
}

#[test]
fn a_rigid_cloth_that_is_badly_solved_gets_advice_and_a_well_solved_one_none() {
    let advice = |substeps: u32| {
        let mut world = World::new();
        world.params.iterations = 2;
        world.params.substeps = substeps;
        world.params.damping = 2.0;
        let ids = world.add_cloth(&Cloth { columns: 30, rows: 30, ..Cloth::default() }).unwrap();
        world.pin(ids[0]).unwrap();
        world.pin(ids[29]).unwrap();
        let mut engine = settled(world);
        let quality = engine.quality().unwrap();
        quality.advice(&engine.world().params)
    };
    let words = advice(1);
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("distance") && words[0].contains("`substeps`, now 1"), "{words:?}");
    assert_eq!(advice(20), Vec::<String>::new());
}

#[test]
fn the_deepest_overlap_is_a_share_of_the_smaller_radius() {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.iterations = 0;
    world.params.mass_scale = 0.0;
    for (x, radius, group) in [(0.0, 0.1, 1), (0.25, 0.2, 2), (5.0, 0.1, 3)] {
        let (position, velocity, phase) = (Vec3::X * x, Vec3::ZERO, Phase::group(group));
        world.add_particle(&Particle { position, velocity, mass: 1.0, radius, phase }).unwrap();
    }
    let mut engine = engine(world);
    assert!(engine.quality().is_err(), "before the first step there is nothing to judge");
    engine.step(1.0 / 60.0).unwrap();
    let quality = engine.quality().unwrap();
    assert!((quality.overlap - 0.5).abs() < 1e-5, "{quality:?}");
    let words = quality.advice(&engine.world().params);
    assert!(words.len() == 1 && words[0].contains("50 % of a radius"), "{words:?}");
    assert!(words[0].contains("`mass_scale`"), "{words:?}");
}

/// A device keeps its multipliers and lists to itself until they are asked for.
#[cfg(all(feature = "vulkan", feature = "harness"))]
#[test]
fn a_device_is_judged_as_the_cpu_is() {
    if motes::vulkan::harness::trial::usable().is_none() {
        return;
    }
    let judge = |backend: Backend| {
        let mut world = hanging(8, 2);
        // A ball squeezed between two that are held.
        for (k, x) in [5.0, 5.06, 5.12].into_iter().enumerate() {
            let mass = if k == 1 { 0.02 } else { f32::INFINITY };
            let (position, phase) = (Vec3::X * x, Phase::group(1000 + k as u32));
            let ball = Particle { position, velocity: Vec3::ZERO, mass, radius: 0.04, phase };
            world.add_particle(&ball).unwrap();
        }
        let mut engine = Engine::new(world, backend).unwrap();
        engine.keep_on_device(true);
        for _ in 0..6 {
            engine.step(1.0 / 60.0).unwrap();
        }
        engine.quality().unwrap()
    };
    let here = judge(Backend::Cpu { threads: 2 });
    let there = judge(Backend::Vulkan { device: None, from: None });
    let close = |a: f32, b: f32| a > 0.0 && (a / b - 1.0).abs() < 0.02;
    let residual = |q: &motes::Quality| (q.residuals[0].mean, q.residuals[0].largest);
    let ((mean, largest), (mean_there, largest_there)) = (residual(&here), residual(&there));
    assert!(close(mean, mean_there) && close(largest, largest_there), "{here:?} {there:?}");
    assert!(close(here.strain, there.strain), "{here:?} {there:?}");
    assert!(close(here.overlap, there.overlap), "{here:?} {there:?}");
}
