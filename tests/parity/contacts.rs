//! The passes over contacts: `remember_contacts`, `anchor_contacts`, `solve_contacts`,
//! `solve_environment`, `restitution`, and the count of what touches.

use super::particles::{Random, crowd, unnoticed};
use super::{Close, assert_floats, compare, scene, sides, specs};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, Words, shaders_from};
use motes::vulkan::layout;
use motes::world::collider::{Keyframe, Pose, Shape};
use motes::{
    Backend, Cloth, Coefficients, Collider, Dispatch, Engine, Grains, Particle, Pass, Phase,
    Solver, World,
};

/// How close the floats that a pass writes must be, and why.
struct Row {
    pass: Pass,
    buffer: Buffer,
    close: Close,
    why: &'static str,
}

/// Each pair divides and takes roots, which a device may round its own way; a sweep hands that on
/// from pair to pair. Worlds here are some metres large.
const SWEPT: Close = Close::Within { absolute: 1e-5, relative: 1e-5 };
/// The same for one particle alone.
const ALONE: Close = Close::Within { absolute: 2e-6, relative: 2e-6 };

const PAIRS: &str = "pair after pair, with roots and divisions";
const MEAN: &str = "a sum over a list, with roots and divisions";
const MEMORY: &str = "the normal and the cut of the slip divide and take roots";
const PLANES: &str = "friction divides and takes a root";
const BOUNCE: &str = "impact after impact, with roots and divisions; some metres a second";

const TABLE: &[Row] = &[
    Row { pass: Pass::AnchorContacts, buffer: Buffer::Grips, close: ALONE, why: MEMORY },
    Row { pass: Pass::SolveContacts, buffer: Buffer::Grips, close: SWEPT, why: PAIRS },
    Row { pass: Pass::SolveContacts, buffer: Buffer::Predicted, close: SWEPT, why: PAIRS },
    Row { pass: Pass::SolveContacts, buffer: Buffer::Delta, close: ALONE, why: MEAN },
    Row { pass: Pass::SolveEnvironment, buffer: Buffer::Predicted, close: ALONE, why: PLANES },
    Row { pass: Pass::SolveEnvironment, buffer: Buffer::WallGrips, close: ALONE, why: PLANES },
    Row { pass: Pass::Restitution, buffer: Buffer::Velocity, close: SWEPT, why: BOUNCE },
    Row { pass: Pass::Restitution, buffer: Buffer::Predicted, close: SWEPT, why: BOUNCE },
];

fn ours(dispatch: &Dispatch) -> bool {
    use Pass::*;
    matches!(
        dispatch.pass,
        RememberContacts | AnchorContacts | SolveContacts | SolveEnvironment | Restitution
    )
}

/// Compares what a dispatch wrote; whether it moved anything.
pub fn judge(outcome: &Outcome) -> bool {
    let mut moved = false;
    for words in &outcome.buffers {
        moved |= words.cpu != words.before;
        match words.buffer {
            Buffer::ContactMemory => {
                assert_memory(outcome, words);
                continue;
            }
            // Notes of the rounds: what came of them stands in the velocities.
            Buffer::Impacts => continue,
            _ => {}
        }
        let is_it = |row: &&Row| row.pass == outcome.dispatch.pass && row.buffer == words.buffer;
        let row = TABLE.iter().find(is_it).expect("every buffer has its row");
        let say = format!("bound of {:?}: {}", words.buffer, row.why);
        super::saying(&say, || match words.buffer {
            Buffer::Grips | Buffer::WallGrips => assert_grips(outcome, words, row.close),
            _ => assert_floats(outcome, words.buffer, row.close),
        });
    }
    moved
}

/// Grips of contacts that press are alike; of the others only that they do not press counts.
pub fn assert_grips(outcome: &Outcome, words: &Words, close: Close) {
    let grip = layout::word("held_words").unwrap();
    let rows = words.cpu.chunks_exact(grip).zip(words.device.chunks_exact(grip));
    for (at, (cpu, device)) in rows.enumerate() {
        let [cpu, device] = [cpu, device].map(|row| row.iter().map(|&word| f32::from_bits(word)));
        let [cpu, device]: [Vec<f32>; 2] = [cpu.collect(), device.collect()];
        let pressed = [cpu[0], device[0]].map(|pressed| pressed.max(0.0));
        let mut alike = close.holds(pressed[0], pressed[1]);
        if pressed.iter().all(|&pressed| pressed > 0.0) {
            alike &= cpu.iter().zip(&device).all(|(&a, &b)| close.holds(a, b));
        }
        // What goes on has an anchor, though it does not press yet.
        if outcome.dispatch.pass == Pass::AnchorContacts && cpu[0] >= 0.0 {
            alike &= device[0] >= 0.0;
            alike &= cpu[4..].iter().zip(&device[4..]).all(|(&a, &b)| close.holds(a, b));
        }
        assert!(
            alike,
            "{}: {:?} {at}: {cpu:?} on the CPU, {device:?} on the device, {close:?}",
            outcome.dispatch, words.buffer
        );
    }
}

/// The memory holds the same contacts, bit for bit, in whatever order a device adds pairs.
fn assert_memory(outcome: &Outcome, words: &Words) {
    let n = outcome.particles;
    let word = |name: &str| layout::word(name).unwrap();
    let cap = outcome.globals[word("g_grip_cap")] as usize;
    let [count, pair, wall, grip] =
        ["s_memory_pairs", "memory_words", "kept_wall_words", "held_words"].map(word);
    let [_, cpu, device] = &outcome.state;
    assert_eq!(cpu[count], device[count], "{}: pairs", outcome.dispatch);
    let pairs = |words: &[u32]| {
        let mut rows: Vec<Vec<u32>> =
            words.chunks_exact(pair).take(device[count] as usize).map(<[u32]>::to_vec).collect();
        rows.sort();
        rows
    };
    assert!(pairs(&words.cpu) == pairs(&words.device), "{}: pairs differ", outcome.dispatch);
    let places = (pair + 1) * cap + n;
    let walls = |words: &[u32], i: usize| -> Vec<Vec<u32>> {
        let (first, length) = (words[places + 2 * i] as usize, words[places + 2 * i + 1] as usize);
        let rows = words[places + 2 * n..].chunks_exact(wall).skip(first).take(length);
        let presses = |row: &&[u32]| f32::from_bits(row[1]) > 0.0;
        rows.filter(presses).map(|row| row[..1 + grip].to_vec()).collect()
    };
    for i in 0..n {
        let (a, b) = (walls(&words.cpu, i), walls(&words.device, i));
        assert_eq!(a, b, "{}: walls of {i}", outcome.dispatch);
    }
}

/// A little tilted, so that every product counts.
pub fn floor() -> Collider {
    Collider::fixed(Shape::Plane { normal: Vec3::new(0.05, 1.0, 0.1) }, Pose::IDENTITY)
}

/// A shaken heap that falls on a floor and into a moving wall, with balls of these sizes (in radii)
/// in the middle.
pub fn heap(counts: [u32; 3], balls: &[f32]) -> World {
    let mut world = World::new();
    let heap = Grains {
        counts,
        origin: Vec3::new(0.0, 0.04, 0.0),
        spacing: 0.085,
        jitter: 0.3,
        velocity: Vec3::new(0.3, -2.0, 0.1),
        ..Grains::default()
    };
    let ids = world.add_grains(&heap).unwrap();
    let middle = world.position(ids[ids.len() / 2]).unwrap();
    for (k, size) in balls.iter().enumerate() {
        let ball = Particle {
            position: middle + Vec3::X * (k as f32 * heap.radius),
            velocity: Vec3::ZERO,
            mass: 1.0,
            radius: size * heap.radius,
            phase: Phase::group(77 + k as u32),
        };
        world.add_particle(&ball).unwrap();
    }
    world.colliders.push(floor());
    let turned = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
    let pose = |x: f32| Pose::new(Vec3::new(x, 0.0, 0.0), turned);
    world.colliders.push(Collider {
        path: vec![
            Keyframe { time: 0.0, pose: pose(-0.06) },
            Keyframe { time: 1.0, pose: pose(2.0) },
        ],
        coefficients: Coefficients {
            friction_static: Some(0.9),
            friction_kinetic: Some(0.2),
            restitution: Some(0.8),
            ..Coefficients::default()
        },
        ..floor()
    });
    world.params.mass_scale = 1.0;
    world.params.substeps = 2;
    world.params.restitution = 0.5;
    world
}

/// Has every dispatch of ours judged; all five passes must have changed something.
pub fn all_move(sides: &mut SideBySide, world: World, steps: usize) {
    let mut moved = [0; 5];
    compare(sides, world, steps, ours, |outcome| {
        let at = match outcome.dispatch.pass {
            Pass::AnchorContacts => 0,
            Pass::SolveContacts => 1,
            Pass::SolveEnvironment => 2,
            Pass::RememberContacts => 3,
            _ => 4,
        };
        moved[at] += usize::from(judge(outcome));
    });
    assert!(moved.iter().all(|&count| count > 0), "{moved:?}");
}

#[test]
fn every_scene() {
    let Some(mut sides) = sides() else { return };
    let mut moved = 0;
    for spec in specs() {
        compare(&mut sides, scene(&spec), 2, ours, |o| moved += usize::from(judge(o)));
    }
    assert!(moved > 100, "{moved}");
}

#[test]
fn every_solver_that_is_deterministic() {
    let Some(mut sides) = sides() else { return };
    for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
        // Balls use up the colours of a tile and reach beyond tiles; some grains are held.
        let mut world = heap([9, 8, 7], &[4.0, 25.0]);
        world.params.solver = solver;
        world.params.contact_omega = 1.2;
        for k in 0..20 {
            let id = motes::ParticleId(11 * k);
            world.pin(id).unwrap();
        }
        all_move(&mut sides, world, 3);
    }
}

/// Pairs over a floor, each particle `apart` from their middle and on its way there.
fn lone_pairs(apart: f32, speed: f32) -> World {
    let mut world = World::new();
    let mut random = Random(3);
    for k in 0..200 {
        let middle = Vec3::new((k % 10) as f32, 0.04, (k / 10) as f32);
        for side in [-1.0, 1.0] {
            let particle = Particle {
                position: middle + Vec3::X * apart * side + random.vector(0.01),
                velocity: random.vector(2.0) - Vec3::X * side * speed,
                mass: 1.0 + random.next() * 0.5,
                radius: 0.05,
                phase: Phase::group(1).self_colliding(),
            };
            world.add_particle(&particle).unwrap();
        }
    }
    world.colliders.push(floor());
    world.params.restitution = 0.5;
    world.params.mass_scale = 1.5;
    world
}

/// Pairs that share no particle are solved alike in any order, so lock-free sweeps can be compared.
#[test]
fn lone_pairs_without_locks() {
    let Some(mut sides) = sides() else { return };
    let mut world = lone_pairs(0.045, 2.0);
    world.params.solver = Solver::Lockfree;
    all_move(&mut sides, world, 2);
}

/// Pairs of which many pass each other in one substep, from the outside and out of an overlap.
#[test]
fn pairs_that_pass_each_other() {
    let Some(mut sides) = sides() else { return };
    for &solver in Solver::ALL {
        for (apart, speed) in [(0.1, 6.0), (0.03, 4.0)] {
            let mut world = lone_pairs(apart, speed);
            world.params.solver = solver;
            compare(&mut sides, world, 2, ours, |outcome| _ = judge(outcome));
        }
    }
}

/// In a heap updates may be lost, but a sweep must still take overlap away.
#[test]
fn a_heap_without_locks() {
    let Some(mut sides) = sides() else { return };
    let mut world = heap([10, 10, 10], &[]);
    world.params.solver = Solver::Lockfree;
    world.params.iterations = 4;
    let reach = 2.0 * Grains::default().radius;
    let at = |words: &[u32]| -> Vec<Vec3> {
        let row = |r: &[u32]| Vec3::from_array([r[0], r[1], r[2]].map(f32::from_bits));
        words.chunks_exact(4).map(row).collect()
    };
    let overlap = |at: &[Vec3]| -> f32 {
        let with = |i: usize| at[..i].iter().map(move |b| (reach - at[i].distance(*b)).max(0.0));
        (0..at.len()).flat_map(with).sum()
    };
    let mut first = true;
    let solves = |d: &Dispatch| d.pass == Pass::SolveContacts;
    compare(&mut sides, world, 3, solves, |outcome| {
        let words = outcome.of(Buffer::Predicted);
        let [before, cpu, device] = [&words.before, &words.cpu, &words.device].map(|w| at(w));
        assert!(device.iter().all(|p| p.is_finite()));
        let (was, here, there) = (overlap(&before), overlap(&cpu), overlap(&device));
        let weights = |words: &[u32]| words.iter().skip(3).step_by(4).copied().collect::<Vec<_>>();
        assert_eq!(weights(&words.before), weights(&words.device));
        if first {
            first = false;
            assert!(was > 1.0, "nothing overlaps: {was}");
            let said = format!("{was} m before, {here} m by the CPU, {there} m by the device");
            // At least half of what the CPU takes away.
            assert!(here < was && was - there > 0.5 * (was - here), "{said}");
        }
    });
}

#[test]
fn any_count_and_any_workgroup() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    if sides().is_none() {
        return;
    }
    for workgroup in [1, 48, 64, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
            for count in [0, 1, 63, 65, 130] {
                let mut world = crowd(count, 0.2, 90 + count as u64);
                world.params.solver = solver;
                world.params.restitution = 0.9;
                world.colliders.push(floor());
                compare(&mut sides, world, 2, ours, |outcome| _ = judge(outcome));
            }
        }
    }
}

/// All at one point, or nearly; very different radii; some far away, one beyond what floats hold.
#[test]
fn odd_worlds() {
    let Some(mut sides) = sides() else { return };
    for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
        for (size, spread) in [(0.0, 1.0), (1e-10, 1.0), (0.05, 40.0)] {
            let mut world = World::new();
            let mut random = Random(17);
            for k in 0..70 {
                let big = k % 9 == 4;
                let particle = Particle {
                    position: random.vector(size)
                        + if k == 66 { Vec3::X * 1e7 } else { Vec3::ZERO },
                    velocity: random.vector(1.0),
                    mass: if k % 8 == 1 { f32::INFINITY } else { 1.0 },
                    radius: if big { 0.01 * spread } else { 0.01 },
                    phase: Phase::group(k).self_colliding(),
                };
                world.add_particle(&particle).unwrap();
            }
            let wild = Particle {
                position: Vec3::new(3.4e38, 0.0, 0.0),
                velocity: Vec3::X * 3.4e38,
                mass: 1.0,
                radius: 0.01,
                phase: Phase::group(99),
            };
            world.add_particle(&wild).unwrap();
            world.colliders.push(floor());
            world.params.solver = solver;
            world.params.restitution = 0.7;
            world.params.restitution_threshold = 0.01;
            super::saying(&format!("{solver} {size} {spread}"), || {
                compare(&mut sides, world, 2, ours, |outcome| _ = judge(outcome));
            });
        }
    }
}

/// Cloth among grains: constraints pull particles back into obstacles, which have the last word.
#[test]
fn obstacles_have_the_last_word() {
    let Some(mut sides) = sides() else { return };
    let mut world = heap([4, 3, 4], &[]);
    let cloth = Cloth {
        origin: Vec3::new(-0.1, 0.02, -0.1),
        columns: 12,
        rows: 12,
        self_collide: true,
        ..Cloth::default()
    };
    world.add_cloth(&cloth).unwrap();
    all_move(&mut sides, world, 2);
}

#[test]
fn what_touches_is_counted() {
    let Some(mut sides) = sides() else { return };
    for &solver in Solver::ALL {
        for balls in [&[][..], &[4.0, 25.0]] {
            let mut world = heap([9, 8, 7], balls);
            world.params.solver = solver;
            let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
            for _ in 0..3 {
                let counted = sides.contacts(&mut engine, 1.0 / 60.0).unwrap();
                assert_eq!(counted, engine.report().contacts, "{solver}");
                assert!(counted > 50, "{solver}: {counted}");
            }
        }
    }
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() {
        return;
    }
    let passes =
        [Pass::AnchorContacts, Pass::SolveContacts, Pass::SolveEnvironment, Pass::Restitution];
    for pass in passes {
        let (sums, missed) = unnoticed(pass, |sides| {
            for solver in [Solver::Colored, Solver::Jacobi] {
                let mut world = heap([7, 6, 5], &[]);
                world.params.solver = solver;
                // Grains are lifted from the third substep of a contact on.
                world.params.substeps = 4;
                let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
                let wanted = |d: &Dispatch| d.pass == pass;
                sides.step(&mut engine, 1.0 / 60.0, wanted, |o| _ = judge(o)).unwrap();
                let counted = sides.contacts(&mut engine, 1.0 / 60.0).unwrap();
                assert_eq!(counted, engine.report().contacts);
                if pass == Pass::SolveContacts {
                    let mut passing = lone_pairs(0.1, 6.0);
                    passing.params.solver = solver;
                    // What bounces before the solve does not pass each other in it.
                    (passing.params.substeps, passing.params.restitution) = (1, 0.0);
                    compare(sides, passing, 1, wanted, |o| _ = judge(o));
                }
            }
        });
        assert!(sums > 0 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}
