//! Far from the origin, where a place is rounded by more than a substep moves a particle. Both backends
//! count moves from where the step began and take differences of two particles first: so they are as
//! near to each other there as anywhere.

use super::contacts::{all_move, heap};
use super::environment::{self, Dice};
use super::{Close, assembler, can_assemble, compare, points, sides, wind};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_with};
use motes::vulkan::layout;
use motes::{ParticleId, Pass, Solver, World};

/// Here a place is rounded to a quarter of a millimetre.
const AWAY: Vec3 = Vec3::new(4000.0, -2500.0, 3000.0);

/// The same world, elsewhere.
fn away(mut world: World) -> World {
    for id in (0..10_000).map(ParticleId) {
        if let Some(at) = world.position(id) {
            world.set_position(id, at + AWAY).unwrap();
        }
    }
    for key in world.colliders.iter_mut().flat_map(|collider| &mut collider.path) {
        key.pose.translation += AWAY;
    }
    for force in &mut world.forces {
        force.region = force.region.map(|corners| corners.map(|corner| corner + AWAY));
    }
    world
}

fn shaken(solver: Solver) -> World {
    let mut world = heap([6, 5, 4], &[4.0]);
    world.params.solver = solver;
    away(world)
}

#[test]
fn a_heap() {
    let Some(mut sides) = sides() else { return };
    for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
        all_move(&mut sides, shaken(solver), 2);
    }
}

/// Compares what the contacts of each particle with obstacles go on from, in the order of its list.
/// Returns how many go on from what they held before.
fn judge_walls(outcome: &Outcome) -> usize {
    let [lists, grips] = [Buffer::EnvironmentContacts, Buffer::WallGrips].map(|b| outcome.of(b));
    let words = layout::word("held_words").unwrap();
    let of = |lists: &[u32], grips: &[u32], i: usize| -> Vec<f32> {
        let (first, count) = (lists[2 * i] as usize, lists[2 * i + 1] as usize);
        let rows = &grips[words * first..words * (first + count)];
        rows.iter().map(|&word| f32::from_bits(word)).collect()
    };
    // The cut of the slip divides and takes a root.
    let close = Close::Within { absolute: 2e-6, relative: 2e-6 };
    let mut known = 0;
    for i in 0..outcome.particles {
        let (a, b) = (of(&lists.cpu, &grips.cpu, i), of(&lists.device, &grips.device, i));
        let alike = a.len() == b.len() && a.iter().zip(&b).all(|(&a, &b)| close.holds(a, b));
        assert!(alike, "{}, {i}: {a:?} on the CPU, {b:?}", outcome.dispatch);
        // The last word is the friction in force, which a contact has that goes on.
        known += a.chunks_exact(words).filter(|grip| grip[words - 1] >= 0.0).count();
    }
    known
}

/// Steps the heap; how many contacts with obstacles went on.
fn rubbed(sides: &mut SideBySide) -> usize {
    let mut known = 0;
    let wanted = |d: &motes::Dispatch| d.pass == Pass::CollideEnvironment;
    compare(sides, shaken(Solver::Colored), 4, wanted, |o| known += judge_walls(o));
    known
}

#[test]
fn contacts_with_obstacles_go_on() {
    let Some(mut sides) = sides() else { return };
    let known = rubbed(&mut sides);
    assert!(known > 20, "{known}");
}

#[test]
fn obstacles() {
    let Some(mut sides) = sides() else { return };
    let mut dice = Dice(5);
    for shape in environment::convex() {
        let collider = environment::moving(shape, &mut dice);
        let grains = environment::not_dust(environment::throws(&mut dice, 300, 0.3));
        let world = away(environment::world(vec![collider], &grains));
        let count = environment::run(&mut sides, world).unwrap_or_else(|why| panic!("{why}"));
        assert!(count > 10, "{count}");
    }
}

#[test]
fn cloth_on_spikes_and_in_the_wind() {
    let Some(mut sides) = sides() else { return };
    let [contacts, _, changed] =
        points::run(&mut sides, away(points::world(9, Solver::Colored)), 2);
    assert!(contacts > 0 && changed > 0, "{contacts} {changed}");
    let blown = compare(&mut sides, away(wind::blown(9)), 2, wind::ours, wind::judge);
    assert_eq!(blown, 12, "two steps of three substeps in two winds");
}

/// Whether a run fails with a shader in which some words are replaced.
fn fails(pass: Pass, changes: &[(&str, &str)], run: impl FnOnce(&mut SideBySide)) -> bool {
    let mut text = assembler::expanded(&assembler::folder(), pass.name()).unwrap().text;
    for (right, wrong) in changes {
        assert_eq!(text.matches(right).count(), 1, "{right}");
        text = text.replace(right, wrong);
    }
    let scratch = tempfile::tempdir().unwrap();
    let module = assembler::module_of(pass.name(), &text, scratch.path()).unwrap();
    let mut sides = SideBySide::with(shaders_with(pass, module), 64).unwrap();
    let run = std::panic::AssertUnwindSafe(|| run(&mut sides));
    std::panic::catch_unwind(run).is_err()
}

/// The control: shaders that add places up before they take their difference, that do not bring the
/// obstacles to the particle, or take anchors from elsewhere.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() || !can_assemble() {
        return;
    }
    let adds_first = [
        ("OpFSub %vec3 %apart_x_a %apart_x_b", "OpFAdd %vec3 %apart_x_a %apart_u_a"),
        ("OpFSub %vec3 %apart_u_a %apart_u_b", "OpFAdd %vec3 %apart_x_b %apart_u_b"),
        ("%apart_value = OpFAdd", "%apart_value = OpFSub"),
    ];
    let heap = |sides: &mut SideBySide| all_move(sides, shaken(Solver::Colored), 2);
    assert!(fails(Pass::SolveContacts, &adds_first, heap), "sums first");
    for right in ["%shift_moved = OpFAdd", "%al_end_at = OpFSub", "%al_start_at = OpFSub"] {
        let wrong = match right.split_once("OpFAdd") {
            Some((name, _)) => format!("{name}OpFSub"),
            None => right.replace("OpFSub", "OpFAdd"),
        };
        let change = [(right, wrong.as_str())];
        let walls = |sides: &mut SideBySide| _ = rubbed(sides);
        assert!(fails(Pass::CollideEnvironment, &change, walls), "{wrong}");
    }
}
