//! The passes of fluids. Both backends sum neighbours up in the same order.

use super::materials::is_noticed;
use super::particles::{Random, unnoticed};
use super::{Close, assert_floats, can_assemble, compare, saying, sides};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::world::DensityRule;
use motes::world::collider::{Pose, Shape};
use motes::{Coefficients, Collider, Dispatch, Fluid, FluidRegion, Grains, Material, Pass, World};

const PASSES: [Pass; 7] = [
    Pass::DensityLambda,
    Pass::DensityDelta,
    Pass::FluidCurls,
    Pass::FluidVorticity,
    Pass::FluidNormals,
    Pass::FluidCohesion,
    Pass::FluidViscosity,
];

fn ours(dispatch: &Dispatch) -> bool {
    PASSES.contains(&dispatch.pass)
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
        Pass::FluidCurls => {
            // A root and two quotients in each kernel.
            saying("roots and quotients", || {
                (0..4).for_each(|k| assert_column(outcome, Buffer::Curls, k, 3e-6));
            });
        }
        Pass::FluidNormals => {
            saying("roots and quotients", || {
                (0..3).for_each(|k| assert_column(outcome, Buffer::Normals, k, 3e-6));
            });
        }
        Pass::FluidCohesion => {
            // The same, and two roots of a root; moves are some mm.
            let close = Close::Within { absolute: 2e-8, relative: 2e-6 };
            saying("roots and quotients", || assert_floats(outcome, Buffer::Predicted, close));
        }
        _ => {
            // A quotient or two for each neighbour; speeds are some m/s.
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
    world.params.fluid_vorticity = 40.0;
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
        fluid.coefficients.tension = (density < 1300.0).then_some(0.01 * density);
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
    let grains = world.add_grains(&grains).unwrap();
    ids.extend(grains.iter().copied());
    let coefficients = Coefficients { adhesion: Some(3.0), ..Coefficients::default() };
    let wet = world.add_material(&Material { name: "wet".into(), coefficients }).unwrap();
    world.set_material(grains.object, wet).unwrap();
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
    world.colliders[3].coefficients.adhesion = Some(2.0);
    world.colliders[4].material = wet;
    world
}

#[test]
fn fluids_with_solids_in_a_tank() {
    let Some(mut sides) = sides() else { return };
    for rule in [DensityRule::AtMost, DensityRule::Equal] {
        let count = compare(&mut sides, wet(rule), 2, ours, judge);
        // In each of four substeps: where it begins, twice two lists by two passes, and what acts on
        // velocities.
        assert_eq!(count, 4 * (1 + 2 * 4 + 6));
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
    let mut changed = [0; PASSES.len()];
    compare(&mut sides, wet(DensityRule::AtMost), 1, ours, |outcome| {
        let buffer = match outcome.dispatch.pass {
            Pass::DensityLambda => Buffer::Lambdas,
            Pass::DensityDelta | Pass::FluidCohesion => Buffer::Predicted,
            Pass::FluidCurls => Buffer::Curls,
            Pass::FluidNormals => Buffer::Normals,
            _ => Buffer::Velocity,
        };
        let words = outcome.of(buffer);
        let of = PASSES.iter().position(|&pass| pass == outcome.dispatch.pass).unwrap();
        changed[of] += words.before.iter().zip(&words.cpu).filter(|(a, b)| a != b).count();
    });
    assert!(changed.iter().all(|&count| count > 500), "{changed:?}");
}

/// Of each, the pass, what its shader has, and what it must not have.
const CONTROLS: [(Pass, &str, &str); 9] = [
    (Pass::FluidNormals, "%tension_row %flow_tension", "%tension_row %u0"),
    (Pass::FluidCohesion, "%drawn_row %flow_tension", "%drawn_row %flow_adhesion"),
    (Pass::FluidCohesion, "%drawn_row %flow_adhesion", "%drawn_row %flow_tension"),
    (Pass::FluidCohesion, "%draw_row %flow_adhesion", "%draw_row %flow_tension"),
    (
        Pass::FluidCohesion,
        "%drawn_both %drawn_fluids %drawn_one",
        "%drawn_both %drawn_one %drawn_fluids",
    ),
    (
        Pass::FluidCohesion,
        "%hold_is_far %hold_cubed %hold_inner",
        "%hold_is_far %hold_inner %hold_cubed",
    ),
    (Pass::FluidViscosity, "%flow_row_word = OpIAdd", "%flow_row_word = OpISub"),
    (
        Pass::FluidViscosity,
        "%row_of_pair %flow_row_a %flow_row_b",
        "%row_of_pair %flow_row_a %flow_row_a",
    ),
    (Pass::FluidViscosity, "%faster_row_word %flow_share", "%faster_row_word %u0"),
];

/// Inside a disc that turns, water turns as it does: its curl is twice that, on both backends.
#[test]
fn a_disc_that_turns_has_twice_its_turn_as_curl() {
    let Some(mut sides) = sides() else { return };
    let mut world = World::new();
    let params = &mut world.params;
    (params.substeps, params.iterations, params.gravity) = (1, 0, Vec3::ZERO);
    (params.fluid_vorticity, params.dt) = (1.0, 1.0 / 600.0);
    let (radius, half) = (0.01, Vec3::new(0.15, 0.09, 0.15));
    let region = FluidRegion::Box { low: -half, high: half };
    let disc = world.add_fluid(&Fluid { region, radius, ..Fluid::default() }).unwrap();
    let far = |id| world.position(id).unwrap().with_y(0.0).length() > half.x;
    let outside: Vec<_> = disc.iter().copied().filter(|&id| far(id)).collect();
    world.remove_particles(&outside).unwrap();
    // The disc's axis is along y, its turn is not: a curl has three components.
    let turn = Vec3::new(0.5, 3.0, -1.0);
    for id in world.particles().ids().to_vec() {
        let at = world.position(motes::ParticleId(id)).unwrap();
        world.set_velocity(motes::ParticleId(id), turn.cross(at)).unwrap();
    }
    let places: Vec<Vec3> = world.particles().positions().iter().map(|x| x.truncate()).collect();
    let reach = 4.0 * radius;
    let (mut inside, mut near) = (0, 0);
    compare(
        &mut sides,
        world,
        1,
        |d| d.pass == Pass::FluidCurls,
        |outcome| {
            let words = outcome.of(Buffer::Curls);
            for side in [&words.cpu, &words.device] {
                for (at, row) in places.iter().zip(side.chunks_exact(4)) {
                    let curl = Vec3::from_slice(bytemuck::cast_slice(&row[..3]));
                    let deep =
                        at.y.abs() + reach < half.y && at.with_y(0.0).length() + reach < half.x;
                    if deep {
                        inside += 1;
                        // The step turns the lattice by a third of a degree.
                        assert!(
                            (curl - 2.0 * turn).length() < 0.01 * turn.length(),
                            "{at}: {curl}"
                        );
                    } else {
                        near += 1;
                        assert!(curl.length() < 2.3 * turn.length(), "{at}: {curl}");
                    }
                }
            }
        },
    );
    assert!(inside > 400 && near > 400, "{inside} {near}");
}

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
    for pass in PASSES {
        let (sums, missed) = unnoticed(pass, |sides| {
            for rule in [DensityRule::AtMost, DensityRule::Equal] {
                compare(sides, wet(rule), 1, |d| d.pass == pass, judge);
            }
        });
        assert!(sums >= 5 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}
