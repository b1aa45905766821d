//! Contacts of several materials: which coefficients a pair, and a particle on an obstacle, have.

use super::contacts::{all_move, heap, judge};
use super::{assembler, can_assemble, compare, sides};
use motes::vulkan::harness::parity::{SideBySide, shaders_with};
use motes::{Coefficients, Dispatch, Material, MaterialId, ParticleId, Pass, Solver, World};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Neighbours of four materials that differ in everything, on a floor and a wall of two of them; a
/// pair has numbers of its own, and so has the wall.
fn mixed() -> World {
    let mut world = heap([9, 8, 7], &[]);
    world.params.restitution = 0.0;
    let coefficients = |fixed: f32, kinetic: f32, restitution: f32| Coefficients {
        friction_static: Some(fixed),
        friction_kinetic: Some(kinetic),
        restitution: Some(restitution),
        ..Coefficients::default()
    };
    let given = [(0.02, 0.01, 0.9), (1.5, 1.2, 0.0), (0.4, 0.1, 0.5)];
    for (k, (fixed, kinetic, restitution)) in given.into_iter().enumerate() {
        let coefficients = coefficients(fixed, kinetic, restitution);
        let id = world.add_material(&Material { name: String::new(), coefficients }).unwrap();
        let grains = world.particles().ids().iter().skip(k).step_by(4);
        let grains: Vec<ParticleId> = grains.copied().map(ParticleId).collect();
        let object = world.add_object("some", &grains).unwrap();
        world.set_material(object, id).unwrap();
    }
    let ids: Vec<MaterialId> = world.materials().map(|(id, _)| id).collect();
    world.set_material_pair(ids[0], ids[1], coefficients(0.8, 0.3, 0.7)).unwrap();
    world.colliders[0].material = ids[0];
    world.colliders[1].material = ids[2];
    world.colliders[1].coefficients.friction_static = None;
    world.colliders[1].coefficients.restitution = None;
    world
}

#[test]
fn every_solver_that_is_deterministic() {
    let Some(mut sides) = sides() else { return };
    for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
        let mut world = mixed();
        world.params.solver = solver;
        all_move(&mut sides, world, 3);
    }
}

/// Of each, the passes, the instruction that is changed and what it becomes.
const CONTROLS: &[(&[Pass], &str, &str)] = &[
    (CONTACTS, "%row_on_first = OpIMul", "%row_on_first = OpISub"),
    (CONTACTS, "%row_on_number = OpIAdd %uint %row_on_first", "%row_on_number = OpIAdd %uint %u0"),
    (CONTACTS, "%row_on_word = OpIMul", "%row_on_word = OpIAdd"),
    (
        &[Pass::SolveContacts, Pass::Restitution],
        "%row_on %row_of_pair_b %row_of_pair_material",
        "%row_on %row_of_pair_a %row_of_pair_material",
    ),
    (
        &[Pass::SolveEnvironment, Pass::Restitution],
        "%row_of_wall_place = OpIAdd %uint %row_of_wall_count",
        "%row_of_wall_place = OpIAdd %uint %u1",
    ),
    (
        &[Pass::SolveContacts, Pass::SolveEnvironment],
        "%number_of_row %row %pair_static_friction",
        "%number_of_row %row %pair_friction",
    ),
    (
        &[Pass::SolveContacts, Pass::SolveEnvironment],
        "%kinetic = OpFunctionCall %float %number_of_row %row %pair_friction",
        "%kinetic = OpFunctionCall %float %number_of_row %row %pair_static_friction",
    ),
    (
        &[Pass::Restitution],
        "%impact_is_alive = OpFOrdGreaterThan",
        "%impact_is_alive = OpFOrdGreaterThanEqual",
    ),
];
const CONTACTS: &[Pass] = &[Pass::SolveContacts, Pass::SolveEnvironment, Pass::Restitution];

/// Whether a pass is noticed whose shader has `wrong` in place of `right`, which it has once.
pub fn is_noticed(pass: Pass, right: &str, wrong: &str, run: impl FnOnce(&mut SideBySide)) -> bool {
    let (shader, scratch) = (pass.name(), tempfile::tempdir().unwrap());
    let source = assembler::expanded(&assembler::folder(), shader).unwrap().text;
    assert_eq!(source.matches(right).count(), 1, "{shader}: {right}");
    let text = source.replace(right, wrong);
    let module = assembler::module_of(shader, &text, scratch.path()).expect(wrong);
    let mut sides = SideBySide::with(shaders_with(pass, module), 64).unwrap();
    catch_unwind(AssertUnwindSafe(|| run(&mut sides))).is_err()
}

/// The control: a shader that takes the coefficients of other materials fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() || !can_assemble() {
        return;
    }
    for (passes, right, wrong) in CONTROLS {
        for &pass in *passes {
            let ours = |dispatch: &Dispatch| dispatch.pass == pass;
            let noticed = is_noticed(pass, right, wrong, |sides| {
                compare(sides, mixed(), 3, ours, |outcome| _ = judge(outcome));
            });
            assert!(noticed, "{}: {wrong} was not noticed", pass.name());
        }
    }
}
