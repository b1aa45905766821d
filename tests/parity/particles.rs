//! The passes that take each particle alone: `predict`, `apply_deltas`, `update_velocity`, `sleep`,
//! `rebase`.

use super::{Close, assert_floats, assert_words, compare, saying, scene, sides, specs};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from, shaders_with};
use motes::vulkan::layout::state::STATE;
use motes::world::collider::{Collider, Pose, Shape};
use motes::world::{Integrator, Method};
use motes::{
    Backend, Bond, Cloth, Dispatch, Engine, Force, ForceKind, Grains, Kind, Lattice, Part,
    Particle, Pass, Phase, Solver, World,
};

/// How close the floats that a pass writes must be, and why.
struct Row {
    pass: Pass,
    buffer: Buffer,
    close: Close,
    why: &'static str,
}

/// What one division or root may cost where a device rounds it its own way (Vulkan allows 2.5 units
/// in the last place, 3 for roots), in worlds of some metres.
const ROUNDED: Close = Close::Within { absolute: 2e-6, relative: 1e-6 };

const ONE_BY_ONE: &str = "sums and products alone";

/// Without force fields.
const PLAIN: &[Row] = &[
    Row {
        pass: Pass::Predict,
        buffer: Buffer::Position,
        close: Close::Bits,
        why: "at most the inverse mass becomes 0",
    },
    Row { pass: Pass::Predict, buffer: Buffer::Velocity, close: Close::Bits, why: ONE_BY_ONE },
    Row { pass: Pass::Predict, buffer: Buffer::Predicted, close: Close::Bits, why: ONE_BY_ONE },
    Row {
        pass: Pass::Predict,
        buffer: Buffer::Start,
        close: Close::Bits,
        why: "copied; at most the inverse mass becomes 0",
    },
    Row {
        pass: Pass::UpdateVelocity,
        buffer: Buffer::Velocity,
        close: Close::Bits,
        why: "the host divides by h",
    },
    Row {
        pass: Pass::UpdateVelocity,
        buffer: Buffer::Predicted,
        close: Close::Bits,
        why: "copied from the start, or left alone",
    },
    Row {
        pass: Pass::UpdateVelocity,
        buffer: Buffer::Position,
        close: Close::Bits,
        why: "at most the inverse mass becomes 0",
    },
    Row { pass: Pass::Sleep, buffer: Buffer::Start, close: Close::Bits, why: "copied" },
    Row { pass: Pass::Rebase, buffer: Buffer::Position, close: Close::Bits, why: ONE_BY_ONE },
    Row { pass: Pass::Rebase, buffer: Buffer::Start, close: Close::Bits, why: ONE_BY_ONE },
    Row { pass: Pass::Rebase, buffer: Buffer::Predicted, close: Close::Bits, why: ONE_BY_ONE },
    Row {
        pass: Pass::ApplyDeltas,
        buffer: Buffer::Predicted,
        close: ROUNDED,
        why: "divides by how many there are",
    },
    Row {
        pass: Pass::ApplyDeltas,
        buffer: Buffer::Start,
        close: ROUNDED,
        why: "divides by how many there are",
    },
    Row {
        pass: Pass::ApplyDeltas,
        buffer: Buffer::Position,
        close: Close::Bits,
        why: "copied from the start",
    },
];

/// Where fields divide, these are wider.
const FIELDS: &[Row] = &[
    Row {
        pass: Pass::Predict,
        buffer: Buffer::Velocity,
        close: ROUNDED,
        why: "wind and points divide and take a root",
    },
    Row {
        pass: Pass::Predict,
        buffer: Buffer::Predicted,
        close: ROUNDED,
        why: "wind and points divide and take a root",
    },
    Row {
        pass: Pass::UpdateVelocity,
        buffer: Buffer::Velocity,
        // The difference of two positions that are off by a rounding, over h.
        close: Close::Within { absolute: 2e-4, relative: 1e-6 },
        why: "Verlet asks the fields again",
    },
];

fn ours(dispatch: &Dispatch) -> bool {
    use Pass::*;
    matches!(dispatch.pass, Predict | ApplyDeltas | UpdateVelocity | Sleep | Rebase)
}

/// A word of `state` after the device's pass.
pub fn state(outcome: &Outcome, name: &str) -> u32 {
    let found = STATE.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no {name}"));
    outcome.state[2][found.1]
}

fn judge(outcome: &Outcome, fields: bool) {
    let pass = outcome.dispatch.pass;
    let wide = FIELDS.iter().filter(|_| fields);
    for words in &outcome.buffers {
        let is_it = |row: &&Row| row.pass == pass && row.buffer == words.buffer;
        match wide.clone().chain(PLAIN).find(is_it) {
            Some(row) => {
                saying(row.why, || assert_floats(outcome, words.buffer, row.close));
            }
            // Constraints and pins: their multipliers are cleared, everything else stays.
            None => assert_words(outcome, words.buffer),
        }
    }
    if matches!(pass, Pass::Predict | Pass::UpdateVelocity) {
        let position = outcome.of(Buffer::Position);
        let weights = |words: &[u32]| words.iter().skip(3).step_by(4).filter(|w| **w != 0).count();
        let lost = weights(&position.before) - weights(&position.cpu);
        assert_eq!(state(outcome, "s_quarantined") as usize, lost, "{}", outcome.dispatch);
    }
}

/// Random numbers from -1 to 1.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
    pub fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next()) * size
    }
}

/// Loose particles at random in a cube of a side of 2 `size`, some of them held.
pub fn crowd(count: usize, size: f32, seed: u64) -> World {
    let mut world = World::new();
    let mut random = Random(seed);
    for k in 0..count {
        let particle = Particle {
            position: random.vector(size),
            velocity: random.vector(3.0),
            mass: if k % 7 == 3 { f32::INFINITY } else { 0.1 + random.next().abs() },
            radius: 0.03 + 0.02 * random.next(),
            phase: Phase::group(k as u32 % 3).self_colliding(),
        };
        world.add_particle(&particle).unwrap();
    }
    world
}

/// Constraints of every kind, compliant so that multipliers are not 0, beside a crowd.
fn mixture() -> World {
    let mut world = crowd(65, 0.15, 11);
    let soft = Bond { stiffness: 0.7, ..Bond::compliant(1e-5) };
    let cloth = Cloth { columns: 9, rows: 7, stretch: soft, bend: Some(soft), ..Cloth::default() };
    let cloth = world.add_cloth(&cloth).unwrap();
    let body = Lattice {
        counts: [3, 4, 3],
        center: Vec3::new(2.0, 0.0, 0.0),
        stretch: soft,
        volume: Some(Bond::compliant(1e-9)),
        ..Lattice::default()
    };
    let body = world.add_lattice(&body).unwrap();
    world.pin(cloth[0]).unwrap();
    world.drag(cloth[8], Vec3::new(0.3, 0.4, 0.5), 1e-4).unwrap();
    world.drag(body[3], Vec3::new(2.0, 1.0, 0.0), 1e-3).unwrap();
    world
}

fn fields() -> Vec<Force> {
    let force = |kind, region| Force { kind, region };
    let low = Vec3::splat(-0.4);
    vec![
        force(ForceKind::Wind { velocity: Vec3::new(4.0, 1.0, -2.0), drag: 0.8 }, None),
        force(
            ForceKind::Gravity { acceleration: Vec3::new(1.0, 2.0, 3.0) },
            Some([low, Vec3::splat(0.3)]),
        ),
        force(ForceKind::Point { center: Vec3::splat(0.1), strength: 40.0, reach: 0.5 }, None),
        force(
            ForceKind::Point { center: Vec3::ZERO, strength: -15.0, reach: 2.0 },
            Some([low, Vec3::splat(2.0)]),
        ),
    ]
}

#[test]
fn every_scene() {
    let Some(mut sides) = sides() else { return };
    for spec in specs() {
        let mut last = 0;
        let count = compare(&mut sides, scene(&spec), 2, ours, |outcome| {
            judge(outcome, false);
            last = outcome.particles;
        });
        assert!(count >= 6 && last > 0, "{spec}: {count}");
    }
}

#[test]
fn every_solver_method_and_integrator() {
    let Some(mut sides) = sides() else { return };
    for &solver in Solver::ALL {
        for &method in Method::ALL {
            for &integrator in Integrator::ALL {
                for with_fields in [false, true] {
                    let mut world = mixture();
                    world.params.solver = solver;
                    world.params.method = method;
                    world.params.integrator = integrator;
                    world.params.substeps = 2;
                    world.params.damping = 0.7;
                    world.params.sleeping = 0.24;
                    world.params.restitution = 0.6;
                    world.params.contact_omega = 1.3;
                    if with_fields {
                        world.forces = fields();
                    }
                    let mut gathered = 0;
                    let count = compare(&mut sides, world, 3, ours, |outcome| {
                        let dispatch = outcome.dispatch;
                        let of = matches!(dispatch.part, Part::Of(_));
                        gathered += usize::from(of);
                        // Where nothing is gathered there is nothing to compare.
                        judge(outcome, with_fields);
                    });
                    assert!(count >= 18, "{solver} {method} {integrator}: {count}");
                    assert_eq!(gathered > 0, solver == Solver::Jacobi, "{solver}");
                }
            }
        }
    }
}

#[test]
fn any_count_and_any_workgroup() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    if sides().is_none() {
        return;
    }
    for workgroup in [1, 48, 64, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        for count in [0, 1, 63, 65, 300] {
            let mut world = crowd(count, 0.3, count as u64);
            world.params.solver = Solver::Jacobi;
            let seen = compare(&mut sides, world, 2, ours, |outcome| judge(outcome, false));
            assert!(seen >= 6, "{count}: {seen}");
        }
    }
}

/// Numbers that overflow: particles are held where they last were well, and counted.
#[test]
fn what_is_not_finite_is_quarantined() {
    let Some(mut sides) = sides() else { return };
    for &integrator in Integrator::ALL {
        let mut world = World::new();
        world.params.integrator = integrator;
        let mut add = |x: f32, y: f32, v: f32| {
            let particle = Particle {
                position: Vec3::new(x, y, 2.0),
                velocity: Vec3::new(v, 0.0, 0.0),
                mass: 1.0,
                radius: 0.1,
                phase: Phase::group(9),
            };
            world.add_particle(&particle).unwrap()
        };
        // One flies out of range, two are driven apart too fast, one is only far.
        add(3.4e38, 1.0, 3.4e38);
        let apart = [add(0.0, 8.0, 0.0), add(0.0, 9.0, 0.0)];
        add(1e30, 1.0, -1e25);
        (0..70).for_each(|k| _ = add(k as f32, 1.0, 0.0));
        world.add_distance(apart[0], apart[1], Some(3e38), &Bond::default()).unwrap();
        world.colliders.push(super::contacts::floor());
        let mut lost = [0; 2];
        compare(&mut sides, world, 2, ours, |outcome| {
            judge(outcome, false);
            match outcome.dispatch.pass {
                Pass::Predict => lost[0] += state(outcome, "s_quarantined"),
                Pass::UpdateVelocity => lost[1] += state(outcome, "s_quarantined"),
                _ => {}
            }
        });
        assert_eq!(lost, [1, 2], "{integrator}");
    }
}

/// A constraint whose push overflows gives a held particle no number: it stays where it is held.
#[test]
fn a_held_particle_stays_whatever_pulls_at_it() {
    let Some(mut sides) = sides() else { return };
    let mut world = World::new();
    let body = Lattice { counts: [3, 1, 1], center: Vec3::Y * 1.8677411, ..Lattice::default() };
    let body = world.add_lattice(&body).unwrap();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    engine.step(1.0 / 60.0).unwrap();
    engine.world_mut().set_velocity(body[0], Vec3::X * -1e20).unwrap();
    engine.step(1.0 / 60.0).unwrap();
    let origin = Vec3::new(0.0, 0.0, -0.33317864);
    let grains = Grains { origin, counts: [3, 2, 2], ..Grains::default() };
    let grains = engine.world_mut().add_grains(&grains).unwrap();
    engine.step(1.0 / 60.0).unwrap();
    let mut world = engine.into_world();
    let corners = [grains[0], body[0], grains[2], grains[5]];
    world.add_constraint(Kind::Bend, &corners, Some(3e38), &Bond::default()).unwrap();
    let mut put_back = 0;
    compare(&mut sides, world, 3, ours, |outcome| {
        judge(outcome, false);
        if outcome.dispatch.pass == Pass::UpdateVelocity {
            let (x, p) = (outcome.of(Buffer::Position), outcome.of(Buffer::Predicted));
            let was_held = |k: &usize| {
                let row = 4 * k..4 * k + 4;
                x.before[4 * k + 3] == 0 && p.before[row.clone()] != p.cpu[row]
            };
            put_back += (0..outcome.particles).filter(was_held).count();
            assert!(p.device.iter().all(|&word| f32::from_bits(word).is_finite()));
        }
    });
    assert!(put_back > 0, "the case is not there any more");
}

/// A particle whose way out of a wall and then of a slope would overflow is not pushed out that far in
/// a substep. The lightest there can be have weights whose sums are finite.
#[test]
fn what_is_deep_or_light_stays_finite() {
    let Some(mut sides) = sides() else { return };
    for &solver in Solver::ALL {
        let mut world = crowd(70, 0.3, 5);
        world.params.solver = solver;
        world.params.mass_scale = 1.5;
        let mut add = |position: Vec3, mass: f32| {
            let phase = Phase::group(9).self_colliding();
            let particle = Particle { position, velocity: Vec3::ZERO, mass, radius: 0.1, phase };
            world.add_particle(&particle).unwrap();
        };
        add(Vec3::new(0.0, -1.5e38, 0.0), 1.0);
        add(Vec3::new(0.0, 2.0, 0.0), 1e-30);
        add(Vec3::new(0.05, 2.0, 0.0), 1e-30);
        for (normal, at) in [(Vec3::X, [3.3e38, 0.0]), (Vec3::ONE.with_z(0.0), [1.15e38; 2])] {
            let pose = Pose::from_translation(Vec3::new(at[0], at[1], 0.0));
            world.colliders.push(Collider::fixed(Shape::Plane { normal }, pose));
        }
        let mut lost = 0;
        compare(&mut sides, world, 2, ours, |outcome| {
            judge(outcome, false);
            lost += state(outcome, "s_quarantined");
        });
        assert_eq!(lost, 0, "{solver}");
    }
}

/// A pass's module with its `nth` sum turned into a difference, or `None` when it has no more.
pub fn mutant(pass: Pass, nth: usize) -> Option<Vec<u8>> {
    const SUM: u32 = 129;
    const DIFFERENCE: u32 = 131;
    let path = format!("{}/spirv/{}.spv", env!("CARGO_MANIFEST_DIR"), pass.name());
    let mut module = std::fs::read(path).unwrap();
    let word = |module: &[u8], at: usize| {
        u32::from_le_bytes(module[4 * at..4 * at + 4].try_into().unwrap())
    };
    let (mut at, mut seen) = (5, 0);
    while 4 * at < module.len() {
        let first = word(&module, at);
        if first & 0xffff == SUM {
            if seen == nth {
                let changed = (first & 0xffff_0000) | DIFFERENCE;
                module[4 * at..4 * at + 4].copy_from_slice(&changed.to_le_bytes());
                return Some(module);
            }
            seen += 1;
        }
        at += (first >> 16) as usize;
    }
    None
}

/// Turns each sum of a pass's shader into a difference, one at a time; returns how many there are
/// and which of them `passes` did not notice.
pub fn unnoticed(pass: Pass, mut passes: impl FnMut(&mut SideBySide)) -> (usize, Vec<usize>) {
    // The right one is not taken for wrong.
    passes(&mut SideBySide::open().unwrap());
    let mut missed = Vec::new();
    for nth in 0.. {
        let Some(module) = mutant(pass, nth) else { return (nth, missed) };
        let mut sides = SideBySide::with(shaders_with(pass, module), 64).unwrap();
        let run = std::panic::AssertUnwindSafe(|| passes(&mut sides));
        if std::panic::catch_unwind(run).is_ok() {
            missed.push(nth);
        }
    }
    (0, missed)
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() {
        return;
    }
    use Pass::*;
    for pass in [Predict, ApplyDeltas, UpdateVelocity, Sleep, Rebase] {
        let (sums, missed) = unnoticed(pass, |sides| {
            for &integrator in Integrator::ALL {
                let mut world = mixture();
                world.params.integrator = integrator;
                world.params.solver = Solver::Jacobi;
                // Where the second begins, particles have moved from where the step did.
                world.params.substeps = 2;
                world.params.sleeping = 0.12;
                world.params.restitution = 0.6;
                world.forces = fields();
                compare(sides, world, 2, |d| d.pass == pass, |outcome| judge(outcome, true));
            }
            // One that leaves the range of numbers.
            let mut world = World::new();
            let (position, velocity) = (Vec3::X * 3.39e38, Vec3::X * 3e38);
            let phase = Phase::group(1);
            let last = Particle { position, velocity, mass: 1.0, radius: 0.1, phase };
            world.add_particle(&last).unwrap();
            world.params.substeps = 1;
            compare(sides, world, 1, |d| d.pass == pass, |outcome| judge(outcome, true));
        });
        assert!(sums > 0 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}
