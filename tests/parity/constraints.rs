//! Parity of the passes over constraints: sweeps, pins, acceleration, breaking.

#[path = "random_constraints.rs"]
mod random_constraints;

use super::{Close, assert_floats, compare, scene, sides};
use glam::{Vec3, Vec4};
use motes::pass::Buffer;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from, shaders_with};
use motes::vulkan::{DeviceKind, devices};
use motes::world::{Acceleration, Method};
use motes::{
    Backend, Bond, Cloth, Dispatch, Engine, Kind, Lattice, Particle, Pass, Phase, Scene, Solver,
    World,
};
use random_constraints::{Dice, PLACES, PLAIN, Wish, random};
use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

/// How close each kind of number must be, and why.
///
/// | what | on a software device | elsewhere |
/// |---|---|---|
/// | positions, multipliers, corrections, iterates | the same bits: + - x are exact anywhere, and these devices take roots and divide by the processor's own instructions | 1e-4: Vulkan allows roots and quotients a few units in the last place, and a row in sequence builds on those before it |
/// | least correction of the guard | 1e-4 relative: summed in f32 on the device, in f64 here | the same |
/// | rows that break, their order, lists and headers | exact | exact, as long as no strain is within rounding of its threshold |
fn close() -> Close {
    let mut usable = devices().unwrap_or_default().into_iter().filter(|d| d.refused.is_none());
    match usable.all(|d| d.kind == DeviceKind::Software) {
        true => Close::Bits,
        false => Close::Within { absolute: 1e-4, relative: 1e-4 },
    }
}

/// The sweeps over every kind there is: a new kind is compared as soon as it has its row in the
/// table of kinds, since the random worlds hold constraints of each.
static SWEEPS: LazyLock<[Pass; Kind::ALL.len()]> = LazyLock::new(|| Kind::ALL.map(Kind::solve));
const OTHERS: [Pass; 2] = [Pass::BreakConstraints, Pass::Accelerate];

/// Every `step`th dispatch of some passes.
fn every(step: usize, passes: &[Pass]) -> impl Fn(&Dispatch) -> bool {
    let seen = Cell::new(0);
    move |d| {
        if !passes.contains(&d.pass) {
            return false;
        }
        seen.set(seen.get() + 1);
        (seen.get() - 1usize).is_multiple_of(step)
    }
}

/// Judges a dispatch of any of these passes.
fn judge(outcome: &Outcome, close: Close, seen: &mut Seen) {
    match outcome.dispatch.pass {
        Pass::BreakConstraints => seen.broken += judge_rows(outcome, close),
        Pass::Accelerate => seen.restarts += usize::from(judge_accelerate(outcome, close)),
        _ => {
            for words in &outcome.buffers {
                assert_floats(outcome, words.buffer, close);
            }
        }
    }
}

/// What happened meanwhile: a case that never broke anything has shown nothing.
#[derive(Default)]
struct Seen {
    broken: u32,
    restarts: usize,
}

fn built_in(workgroup: u32) -> Option<SideBySide> {
    // Says why there is none, or fails where one is required.
    sides()?;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv");
    Some(SideBySide::with(shaders_from(folder), workgroup).unwrap())
}

#[test]
fn sweeps_move_what_the_cpu_moves() {
    let Some(mut sides) = sides() else { return };
    let (close, mut seen) = (close(), Seen::default());
    let mut count = 0;
    for (seed, particles) in [1, 2, 4, 5, 63, 64, 65, 200].into_iter().enumerate() {
        for &solver in Solver::ALL {
            // So few rows are one run, which nobody meets.
            if solver == Solver::Lockfree && particles > 5 {
                continue;
            }
            let laws = [(Method::Pbd, true), (Method::Xpbd, true), (Method::Xpbd, false)];
            for (method, soft) in laws {
                for place in PLACES {
                    let seed = seed as u64 + 10;
                    let wish = Wish { seed, particles, solver, method, soft, place, ..PLAIN };
                    let wanted = every(if solver == Solver::Colored { 5 } else { 1 }, &*SWEEPS);
                    let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
                    count += compare(&mut sides, random(wish), 1, wanted, judge);
                }
            }
        }
    }
    assert!(count > 1500, "{count}");
}

#[test]
fn the_overflow_colour_is_swept_in_order() {
    let Some(mut sides) = sides() else { return };
    let (close, mut seen) = (close(), Seen::default());
    let world = random(Wish { particles: 600, ..PLAIN });
    let wanted = |d: &Dispatch| d.part == motes::Part::Color(63);
    let mut passes = HashSet::new();
    compare(&mut sides, world, 1, wanted, |outcome| {
        judge(outcome, close, &mut seen);
        passes.insert(outcome.dispatch.pass);
    });
    assert_eq!(passes.len(), Kind::SETS.len(), "colours did not run out for every kind");
}

#[test]
fn workgroups_of_any_size_do_the_same() {
    for size in [1, 3, 100, 256] {
        let Some(mut sides) = built_in(size) else { return };
        let (close, mut seen) = (close(), Seen::default());
        for solver in [Solver::Colored, Solver::Jacobi] {
            let mut world = random(Wish { particles: 131, solver, breaks: true, ..PLAIN });
            world.params.acceleration = Acceleration::Chebyshev;
            world.params.iterations = 7;
            let (sweep, other) = (every(31, &*SWEEPS), every(1, &OTHERS));
            let wanted = |d: &Dispatch| sweep(d) || other(d);
            compare(&mut sides, world, 2, wanted, |o| judge(o, close, &mut seen));
        }
        assert!(seen.broken > 10, "{size}: {} broke", seen.broken);
    }
}

/// Where rows share no particle no update can be lost.
#[test]
fn lockfree_loses_nothing_where_nobody_meets() {
    let Some(mut sides) = sides() else { return };
    let (close, mut seen) = (close(), Seen::default());
    let mut world = World::new();
    let mut dice = Dice(3);
    for _ in 0..200 {
        let mut add = || {
            let (position, velocity, phase) = (dice.point(), dice.point(), Phase::group(1));
            let particle = Particle { position, velocity, mass: 1.0, radius: 0.01, phase };
            world.add_particle(&particle).unwrap()
        };
        let (a, b) = (add(), add());
        let rest = Some(dice.between(0.0, 2.0));
        world.add_distance(a, b, rest, &Bond::compliant(1e-4)).unwrap();
    }
    world.params.solver = Solver::Lockfree;
    (world.params.substeps, world.params.iterations) = (1, 8);
    let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
    assert_eq!(compare(&mut sides, world, 1, every(1, &*SWEEPS), judge), 8);
}

/// Sum of |C| over the distance rows of a buffer, where particles moved from these places.
fn residual(outcome: &Outcome, from: &[Vec4], predicted: &[u32], rows: &[u32]) -> f64 {
    let at = |slot: u32| {
        let word = |k: usize| f32::from_bits(predicted[4 * slot as usize + k]);
        from[slot as usize].truncate() + Vec3::new(word(0), word(1), word(2))
    };
    assert!(predicted.len() == 4 * outcome.particles);
    let set = Set::new(rows);
    let error = |row: usize| {
        let length = at(set.column(0, row)).distance(at(set.column(1, row)));
        f64::from((length - f32::from_bits(set.column(2, row))).abs())
    };
    set.live().map(error).sum()
}

/// Runs at once are another order, and a few updates are lost: what a sweep leaves over lies elsewhere
/// and is somewhat more, a ninth on lavapipe.
#[test]
fn lockfree_sweeps_leave_little_more_than_the_cpus() {
    let Some(mut sides) = sides() else { return };
    let mut world = scene("cloth_stretch");
    world.params.solver = Solver::Lockfree;
    let from = world.particles().positions().to_vec();
    let count = compare(&mut sides, world, 1, every(1, &[Pass::SolveDistance]), |outcome| {
        let (predicted, rows) = (outcome.of(Buffer::Predicted), outcome.of(Buffer::Distance));
        let cpu = residual(outcome, &from, &predicted.cpu, &rows.cpu);
        let device = residual(outcome, &from, &predicted.device, &rows.device);
        assert!(device < 1.25 * cpu, "{cpu} m on the CPU, {device} m on the device");
        let moved = predicted.before.iter().zip(&predicted.device).filter(|(a, b)| a != b).count();
        assert!(moved > outcome.particles, "{moved} words changed");
    });
    assert!(count > 0);
}

/// Forty sweeps in a row take away nearly what the CPU's do.
#[test]
fn lockfree_converges_on_a_device() {
    if sides().is_none() {
        return;
    }
    let mut world = scene("cloth_stretch");
    world.params.solver = Solver::Lockfree;
    let before = world.residual(Kind::Distance);
    let after = |backend| {
        let mut engine = Engine::new(world.clone(), backend).unwrap();
        engine.step(world.params.dt).unwrap();
        engine.world().residual(Kind::Distance)
    };
    let cpu = after(Backend::Cpu { threads: 1 });
    let device = after(Backend::Vulkan { device: None, from: None });
    assert!(before - device > 0.6 * (before - cpu), "{before} m: {cpu} m, {device} m");
}

fn word(name: &str) -> usize {
    motes::vulkan::layout::word(name).unwrap_or_else(|| panic!("{name}"))
}

/// Returns whether the guard began again.
fn judge_accelerate(outcome: &Outcome, close: Close) -> bool {
    for words in &outcome.buffers {
        if words.buffer != Buffer::Iterates {
            assert_floats(outcome, words.buffer, close);
        }
    }
    let [_, cpu, device] = &outcome.state;
    for name in ["s_accelerate_count", "s_accelerate_omega", "s_accelerate_rho"] {
        assert_eq!(cpu[word(name)], device[word(name)], "{name}");
    }
    let least = word("s_accelerate_least");
    let (a, b) = (f32::from_bits(cpu[least]), f32::from_bits(device[least]));
    assert!(Close::Within { absolute: 0.0, relative: 1e-4 }.holds(a, b), "least: {a} {b}");
    // Where it began again the CPU's next place is the first, whatever the device's was. Only the
    // guard restarts; a substep begins anew without having gone wrong.
    if cpu[word("s_accelerate_count")] == 0 {
        return outcome.dispatch.part != motes::Part::Begin;
    }
    let words = outcome.of(Buffer::Iterates);
    let pairs = words.cpu.iter().zip(&words.device).enumerate().skip(outcome.particles);
    for (at, (&a, &b)) in pairs {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        assert!(close.holds(a, b), "iterates, word {at}: {a} {b}");
    }
    false
}

/// A cloth that hangs by a corner and is pulled at another.
fn accelerated(solver: Solver, rho: f32, compliance: f32) -> World {
    let material = Bond::compliant(compliance);
    let bend = Some(Bond::compliant(1e-3));
    let cloth = Cloth { columns: 13, rows: 11, stretch: material, bend, ..Default::default() };
    let mut world = World::new();
    world.params.substeps = 1;
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    world.drag(ids[12], Vec3::new(0.9, 0.3, 0.1), 1e-3).unwrap();
    world.params.acceleration = Acceleration::Chebyshev;
    world.params.solver = solver;
    world.params.rho = rho;
    world.params.iterations = 40;
    world
}

/// A substep that forgot to begin anew would go on with the rho that the guard had lowered.
#[test]
fn acceleration_begins_anew_in_every_substep() {
    if sides().is_none() {
        return;
    }
    let mut world = accelerated(Solver::Colored, 0.9999, 0.0);
    world.params.substeps = 3;
    let after = |backend| {
        let mut engine = Engine::new(world.clone(), backend).unwrap();
        engine.step(world.params.dt).unwrap();
        engine.positions().to_vec()
    };
    let cpu = after(Backend::Cpu { threads: 1 });
    let device = after(Backend::Vulkan { device: None, from: None });
    let apart = cpu.iter().zip(&device).map(|(a, b)| (a - b).length()).fold(0.0, f32::max);
    assert!(apart < 1e-4, "{apart} m");
}

#[test]
fn acceleration_carries_as_far_and_stops_as_soon() {
    let Some(mut sides) = sides() else { return };
    let (close, mut seen) = (close(), Seen::default());
    for (solver, rho, compliance) in [
        (Solver::Colored, 0.95, 0.0),
        (Solver::Colored, 0.95, 1e-4),
        (Solver::Jacobi, 0.99, 1e-6),
        // Far beyond what it bears.
        (Solver::Colored, 0.9999, 0.0),
        (Solver::Jacobi, 0.9999, 1e-2),
    ] {
        let world = accelerated(solver, rho, compliance);
        let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
        // Two steps: each begins the acceleration anew, and then has 40 iterations.
        assert_eq!(compare(&mut sides, world, 2, every(1, &OTHERS), judge), 2 * (1 + 40));
    }
    for place in PLACES {
        for particles in [1, 63, 65] {
            let mut world = random(Wish { particles, place, ..PLAIN });
            world.params.acceleration = Acceleration::Chebyshev;
            world.params.iterations = 12;
            let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
            compare(&mut sides, world, 1, every(1, &OTHERS), judge);
        }
    }
    assert!(seen.restarts > 3, "the guard was never needed");
}

/// Rows of a kind as they lie on the device; `src/vulkan/encode.rs` writes the same.
struct Set<'a> {
    words: &'a [u32],
    cap: usize,
    corners: usize,
}

impl<'a> Set<'a> {
    fn new(words: &'a [u32]) -> Self {
        Set { words, cap: words[0] as usize, corners: words[1] as usize }
    }
    fn column(&self, k: usize, row: usize) -> u32 {
        self.words[256 + k * self.cap + row]
    }
    /// Rows that are alive, colour by colour.
    fn live(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words[2] as usize).flat_map(|c| {
            let first = self.words[64 + c] as usize;
            first..first + self.words[128 + c] as usize
        })
    }
    /// All columns of a row but the scratch one.
    fn row(&self, row: usize) -> Vec<u32> {
        (0..self.corners + 8).map(|k| self.column(k, row)).collect()
    }
    fn incident(&self, particle: usize) -> &[u32] {
        let [start, entries, live] = [3, 4, 5].map(|k| self.words[k] as usize);
        let first = entries + self.words[start + particle] as usize;
        &self.words[first..first + self.words[live + particle] as usize]
    }
    fn natural(&self) -> &[u32] {
        let first = self.words[6] as usize;
        &self.words[first..first + self.words[7] as usize]
    }
}

/// Rows, lists and counts must be the same; rest values that yielded may differ by rounding where a
/// device rounds otherwise. Returns how many broke.
fn judge_rows(outcome: &Outcome, close: Close) -> u32 {
    let mut gone = 0;
    for buffer in Kind::SETS.map(Kind::buffer) {
        let words = outcome.of(buffer);
        let (before, cpu, device) =
            (Set::new(&words.before), Set::new(&words.cpu), Set::new(&words.device));
        assert_eq!(cpu.words[64..256], device.words[64..256], "{buffer:?}: colours");
        for (at, row) in cpu.live().enumerate() {
            for (k, (a, b)) in cpu.row(row).into_iter().zip(device.row(row)).enumerate() {
                let same = if k == cpu.corners {
                    close.holds(f32::from_bits(a), f32::from_bits(b))
                } else {
                    a == b
                };
                assert!(same, "{buffer:?} row {row} ({at}.) column {k}: {a} {b}");
            }
        }
        for particle in 0..outcome.particles {
            let (a, b) = (cpu.incident(particle), device.incident(particle));
            assert_eq!(a, b, "{buffer:?}: rows of particle {particle}");
        }
        assert_eq!(cpu.natural(), device.natural(), "{buffer:?}: order of creation");
        gone += (before.live().count() - cpu.live().count()) as u32;
    }
    let device = &outcome.state[2];
    assert_eq!(device[word("s_broken")], gone, "rows that broke");
    for kind in Kind::SETS {
        assert_eq!(device[word(&format!("s_marked_{kind}"))], 0, "a mark of {kind} is left behind");
    }
    gone
}

#[test]
fn the_same_rows_break_and_yield() {
    let Some(mut sides) = sides() else { return };
    let (close, mut seen) = (close(), Seen::default());
    for (seed, particles) in [1, 2, 4, 63, 65, 150, 300].into_iter().enumerate() {
        for place in PLACES {
            let seed = seed as u64 + 50;
            let wish = Wish { seed, particles, breaks: true, place, ..PLAIN };
            let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
            compare(&mut sides, random(wish), 3, every(1, &OTHERS), judge);
        }
    }
    assert!(seen.broken > 500, "{}", seen.broken);
}

/// Hinges and tetrahedra that would hold torn parts together go with the edge they span.
#[test]
fn what_spans_a_torn_edge_goes_with_it() {
    let Some(mut sides) = sides() else { return };
    let close = close();
    let brittle = Bond { break_at: 0.05, yield_at: 0.01, ..Default::default() };
    let tough = Bond::default();
    let mut world = World::new();
    let cloth = Cloth { stretch: brittle, shear: brittle, bend: Some(tough), ..Default::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    let block = Lattice {
        counts: [4, 4, 4],
        center: Vec3::splat(-3.0),
        stretch: brittle,
        volume: Some(tough),
        ..Default::default()
    };
    let body = world.add_lattice(&block).unwrap();
    for id in [ids[40], ids[777], body[5], body[21]] {
        let from = world.position(id).unwrap();
        world.set_position(id, from + Vec3::new(0.02, 0.05, 0.01)).unwrap();
    }
    let mut lost = [0; 3];
    compare(&mut sides, world, 4, every(1, &OTHERS), |outcome| {
        judge_rows(outcome, close);
        for (lost, words) in lost.iter_mut().zip(&outcome.buffers) {
            let count = |words: &[u32]| Set::new(words).live().count();
            *lost += count(&words.before) - count(&words.cpu);
        }
    });
    assert!(lost.iter().all(|&n| n > 0), "{lost:?}");
}

#[test]
fn scenes_have_the_same_sweeps_and_breaks() {
    let Some(mut sides) = sides() else { return };
    let (close, mut seen) = (close(), Seen::default());
    let mut scenes = 0;
    for name in Scene::builtin_names() {
        let world = scene(name);
        if world.constraint_count() == 0 {
            continue;
        }
        let (sweep, other) = (every(101, &*SWEEPS), every(1, &OTHERS));
        let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
        let steps = if name == "tear" { 24 } else { 2 };
        let count = compare(&mut sides, world, steps, |d| sweep(d) || other(d), judge);
        assert!(count > 0, "{name}");
        scenes += 1;
    }
    assert!(scenes >= 8 && seen.broken > 0, "{scenes} scenes, {} broke", seen.broken);
}

/// A module whose `at`th instruction of one kind is of another.
fn altered(pass: Pass, from: u32, to: u32, at: usize) -> Vec<u8> {
    let path = format!("{}/spirv/{}.spv", env!("CARGO_MANIFEST_DIR"), pass.name());
    let mut bytes = std::fs::read(path).unwrap();
    let (mut here, mut seen) = (20, 0);
    while here < bytes.len() {
        let word = u32::from_le_bytes(bytes[here..here + 4].try_into().unwrap());
        if word & 0xffff == from {
            if seen == at {
                bytes[here..here + 4].copy_from_slice(&(word & 0xffff_0000 | to).to_le_bytes());
                return bytes;
            }
            seen += 1;
        }
        here += 4 * (word >> 16) as usize;
    }
    panic!("{}: no {at}th instruction {from}", pass.name());
}

/// Negative control: one wrong instruction in a shader, and its case fails.
#[test]
fn a_wrong_shader_is_found() {
    if sides().is_none() {
        return;
    }
    let close = close();
    // Opcodes of SPIR-V.
    let (add, subtract, multiply) = (129, 131, 133);
    let (whole_add, whole_subtract) = (128, 130);
    for (pass, from, to, at) in [
        (Pass::SolveDistance, subtract, add, 0),
        (Pass::SolveBend, multiply, add, 4),
        (Pass::SolveVolume, subtract, add, 1),
        (Pass::SolvePin, subtract, add, 0),
        (Pass::Accelerate, subtract, add, 1),
        (Pass::BreakConstraints, subtract, add, 2),
        (Pass::BreakConstraints, whole_subtract, whole_add, 3),
    ] {
        let shaders = shaders_with(pass, altered(pass, from, to, at));
        let mut sides = SideBySide::with(shaders, 64).unwrap();
        let mut world = random(Wish { breaks: true, ..PLAIN });
        world.params.acceleration = Acceleration::Chebyshev;
        world.params.iterations = 6;
        let mut seen = Seen::default();
        let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
        let run = || compare(&mut sides, world, 1, every(1, &[pass]), judge);
        let outcome = catch_unwind(AssertUnwindSafe(run));
        assert!(outcome.is_err(), "{}: a wrong instruction was not noticed", pass.name());
    }
}
