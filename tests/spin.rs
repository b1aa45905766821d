//! What is left of the spin of a free soft body that turns once a second: figures that the page on
//! limits names. Corrections go along the edges as they are predicted, not as they were when the
//! substep began, and that takes away spin.

use glam::{DVec3, Vec3};
use motes::{Backend, Bond, Engine, Kind, Particle, Phase, World};
use std::f32::consts::TAU;

/// A cube of 4³ particles with edges to all neighbours.
fn spinning(substeps: u32, iterations: u32) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    (world.params.substeps, world.params.iterations) = (substeps, iterations);
    let mut ids = Vec::new();
    for k in 0..64 {
        let at = Vec3::new((k / 16) as f32, (k / 4 % 4) as f32, (k % 4) as f32);
        let position = (at - 1.5) * 0.1;
        let velocity = Vec3::new(position.z, 0.0, -position.x) * TAU;
        let (mass, radius, phase) = (0.1, 0.03, Phase::group(1));
        let particle = Particle { position, velocity, mass, radius, phase };
        ids.push((world.add_particle(&particle).unwrap(), position));
    }
    let bond = Bond { compliance: 1e-6, ..Bond::default() };
    for (k, &(a, at)) in ids.iter().enumerate() {
        // Along the axes and both sorts of diagonals.
        for &(b, _) in ids[k + 1..].iter().filter(|(_, other)| at.distance(*other) < 0.18) {
            world.add_constraint(Kind::Distance, &[a, b], None, &bond).unwrap();
        }
    }
    world
}

fn spin(world: &World) -> f64 {
    let p = world.particles();
    let of = |(x, v): (&glam::Vec4, &glam::Vec4)| {
        0.1 * x.truncate().as_dvec3().cross(v.truncate().as_dvec3())
    };
    p.positions().iter().zip(p.velocities()).map(of).sum::<DVec3>().length()
}

/// A body that turns by theta in a substep loses theta² of its spin in it, and so
/// L / L0 = 1 / sqrt(1 + 2 omega0² h t).
#[test]
fn a_substep_takes_the_square_of_its_turn_from_a_spin() {
    for (substeps, iterations) in [(4, 6), (8, 6), (32, 2)] {
        let world = spinning(substeps, iterations);
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        let before = spin(engine.world());
        for _ in 0..600 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let left = spin(engine.world()) / before;
        let h = 1.0 / (60.0 * f64::from(substeps));
        let expected = 1.0 / (1.0 + 2.0 * f64::from(TAU * TAU) * h * 10.0).sqrt();
        println!("{substeps} x {iterations}: {left:.4} after 10 s, expected {expected:.4}");
        assert!((left / expected - 1.0).abs() < 0.01, "{left} instead of {expected}");
    }
}
