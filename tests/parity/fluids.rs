//! The passes of fluids: `density_lambda`, `density_delta` and `fluid_viscosity`. Both backends sum
//! neighbours up in the same order.

use super::materials::is_noticed;
use super::particles::{Random, unnoticed};
use super::{Close, assert_floats, can_assemble, compare, saying, sides};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::world::DensityRule;
use motes::world::collider::{Pose, Shape};
use motes::{Collider, Dispatch, Fluid, FluidRegion, Grains, Pass, World};

fn ours(dispatch: &Dispatch) -> bool {
    matches!(dispatch.pass, Pass::DensityLambda | Pass::DensityDelta | Pass::FluidViscosity)
}

/// Compares one column in four of a buffer, by the largest value there.
fn assert_column(outcome: &Outcome, buffer: Buffer, column: usize, part: f32) {
    let words = outcome.of(buffer);
    let [cpu, device] = [&words.cpu, &words.device].map(|words| {
        let column = words.iter().skip(column).step_by(4);
        column.map(|&word| f32::from_bits(word)).collect::<Vec<f32>>()
    });
    let most = cpu.iter().fold(0.0f32, |most, value| most.max(value.abs()));
    for (slot, (a, b)) in cpu.iter().zip(&device).enumerate() {
        let near = (a - b).abs() <= part * most || a.to_bits() == b.to_bits();
        assert!(near, "{}: {buffer:?} column {column} of {slot}: {a}, {b}", outcome.dispatch);
    }
}

fn judge(outcome: &Outcome) {
    match outcome.dispatch.pass {
        Pass::DensityLambda => {
            // A root and two quotients in each kernel, and a quotient at the end, of which a device may
            // round each its own way; a sum over some thirty.
            saying("roots and quotients", || {
                (0..3).for_each(|k| assert_column(outcome, Buffer::Shores, k, 3e-6));
                assert_column(outcome, Buffer::Shores, 3, 3e-6);
                assert_column(outcome, Buffer::Lambdas, 3, 3e-6);
            });
            let words = outcome.of(Buffer::Lambdas);
            for (k, (a, b)) in words.cpu.iter().zip(&words.device).enumerate() {
                assert!(k % 4 == 3 || a == b, "predictions are copied");
            }
        }
        Pass::DensityDelta => {
            // A root and two quotients in each kernel; moves are at most some mm.
            let close = Close::Within { absolute: 3e-8, relative: 2e-7 };
            saying("roots and quotients", || assert_floats(outcome, Buffer::Predicted, close));
        }
        _ => {
            // Two quotients for each neighbour; speeds are some m/s.
            let close = Close::Within { absolute: 2e-6, relative: 2e-6 };
            saying("quotients", || assert_floats(outcome, Buffer::Velocity, close));
        }
    }
}

/// Fluids of different density, size and viscosity that were shaken into each other, beside each other and apart,
/// with grains in them, some of all held, in a tank with a ball, whose floor is there twice.
pub fn wet(rule: DensityRule) -> World {
    let mut world = World::new();
    world.params.substeps = 2;
    world.params.iterations = 2;
    world.params.density_rule = rule;
    world.params.push_out = 0.3;
    world.params.fluid_viscosity = 30.0;
    let mut random = Random(5);
    let mut ids = Vec::new();
    for (low, size, radius, density) in [
        (Vec3::ZERO, 0.13, 0.01, 1000.0),
        (Vec3::new(0.1, 0.0, 0.02), 0.1, 0.012, 700.0),
        (Vec3::new(0.0, 0.2, 0.0), 0.06, 0.01, 1300.0),
    ] {
        let region = FluidRegion::Box { low, high: low + size };
        let mut fluid = Fluid { region, radius, density, ..Fluid::default() };
        fluid.coefficients.viscosity = (density != 1000.0).then_some(density);
        ids.extend(world.add_fluid(&fluid).unwrap().iter().copied());
    }
    let grains = Grains {
        origin: Vec3::new(0.03, 0.05, 0.03),
        counts: [3, 2, 3],
        spacing: 0.03,
        radius: 0.008,
        mass: 0.004,
        ..Grains::default()
    };
    ids.extend(world.add_grains(&grains).unwrap().iter().copied());
    for (k, &id) in ids.iter().enumerate() {
        let at = world.position(id).unwrap();
        world.set_position(id, at + random.vector(0.006)).unwrap();
        world.set_velocity(id, random.vector(2.0)).unwrap();
        if k % 17 == 3 {
            world.pin(id).unwrap();
        }
    }
    let plane = |normal: Vec3, away: f32| {
        let pose = Pose { translation: -normal * away, ..Pose::IDENTITY };
        Collider::fixed(Shape::Plane { normal }, pose)
    };
    world.colliders.extend([
        plane(Vec3::Y, 0.0),
        plane(Vec3::Y, 0.004),
        plane(Vec3::X, 0.0),
        plane(Vec3::new(-0.8, 0.6, 0.0), 0.15),
    ]);
    let pose = Pose { translation: Vec3::new(0.1, 0.02, 0.08), ..Pose::IDENTITY };
    world.colliders.push(Collider::fixed(Shape::Sphere { radius: 0.03 }, pose));
    world
}

#[test]
fn fluids_with_solids_in_a_tank() {
    let Some(mut sides) = sides() else { return };
    for rule in [DensityRule::AtMost, DensityRule::Equal] {
        let count = compare(&mut sides, wet(rule), 2, ours, judge);
        // In each of four substeps: where it begins, twice two lists by two passes, viscosity.
        assert_eq!(count, 4 * (1 + 2 * 4 + 1));
    }
}

/// Fluid alone and free, and workgroups of any size.
#[test]
fn fluid_alone_and_any_workgroup() {
    if sides().is_none() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    for workgroup in [1, 48, 64, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        let mut world = World::new();
        world.params.substeps = 1;
        world.params.iterations = 1;
        let region = FluidRegion::Box { low: Vec3::ZERO, high: Vec3::splat(0.1) };
        world.add_fluid(&Fluid { region, radius: 0.007, ..Fluid::default() }).unwrap();
        assert_eq!(compare(&mut sides, world, 2, ours, judge), 2 * 4);
        assert!(compare(&mut sides, wet(DensityRule::AtMost), 1, ours, judge) > 0);
    }
}

/// The case does something: particles are moved and velocities change, by each pass.
#[test]
fn the_case_is_not_empty() {
    let Some(mut sides) = sides() else { return };
    let mut changed = [0; 3];
    compare(&mut sides, wet(DensityRule::AtMost), 1, ours, |outcome| {
        let (buffer, of) = match outcome.dispatch.pass {
            Pass::DensityLambda => (Buffer::Lambdas, 0),
            Pass::DensityDelta => (Buffer::Predicted, 1),
            _ => (Buffer::Velocity, 2),
        };
        let words = outcome.of(buffer);
        changed[of] += words.before.iter().zip(&words.cpu).filter(|(a, b)| a != b).count();
    });
    assert!(changed.iter().all(|&count| count > 500), "{changed:?}");
}

/// Of each, the pass, what its shader has, and what it must not have.
const CONTROLS: [(Pass, &str, &str); 3] = [
    (Pass::FluidViscosity, "%flow_row_word = OpIAdd", "%flow_row_word = OpISub"),
    (
        Pass::FluidViscosity,
        "%row_of_pair %flow_row_a %flow_row_b",
        "%row_of_pair %flow_row_a %flow_row_a",
    ),
    (Pass::FluidViscosity, "%faster_row_word %flow_share", "%faster_row_word %u0"),
];

/// The control: rows of materials that are looked up wrongly fail it, too.
#[test]
fn a_wrong_row_is_noticed() {
    if sides().is_none() || !can_assemble() {
        return;
    }
    for (pass, right, wrong) in CONTROLS {
        let noticed = is_noticed(pass, right, wrong, |sides| {
            compare(sides, wet(DensityRule::AtMost), 1, |d| d.pass == pass, judge);
        });
        assert!(noticed, "{}: {wrong} was not noticed", pass.name());
    }
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() {
        return;
    }
    for pass in [Pass::DensityLambda, Pass::DensityDelta, Pass::FluidViscosity] {
        let (sums, missed) = unnoticed(pass, |sides| {
            for rule in [DensityRule::AtMost, DensityRule::Equal] {
                compare(sides, wet(rule), 1, |d| d.pass == pass, judge);
            }
        });
        assert!(sums >= 5 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}
