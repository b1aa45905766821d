//! Parity of the passes over constraints: sweeps, pins, acceleration, breaking.

use super::{Close, assert_floats, compare, scene, twin};
use glam::Vec3;
use motes::pass::Buffer;
use motes::vulkan::layout::state::STATE;
use motes::vulkan::parity::{Outcome, Twin, shaders_from, shaders_with};
use motes::vulkan::{DeviceKind, devices};
use motes::world::{Acceleration, Method};
use motes::{
    Cloth, Dispatch, Lattice, Material, Particle, ParticleId, Pass, Path, Phase, Scene, Solver,
    World,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How close each kind of number must be, and why.
///
/// | what | on a software device | elsewhere |
/// |---|---|---|
/// | positions, multipliers, corrections, iterates | the same bits: + - x are exact anywhere, and these devices take roots and divide by the processor's own instructions | 1e-4: Vulkan allows roots and quotients a few units in the last place, and a row in sequence builds on those before it |
/// | least correction of the guard | 1e-4 relative: summed in f32 on the device, in f64 here | the same |
/// | rows that break, their order, lists and headers | exact | exact, as long as no strain is within rounding of its threshold |
fn close() -> Close {
    let best = devices().ok().and_then(|all| all.into_iter().find(|d| d.refused.is_none()));
    match best.map(|d| d.kind) {
        Some(DeviceKind::Software) => Close::Bits,
        _ => Close::Within { absolute: 1e-4, relative: 1e-4 },
    }
}

const SWEEPS: [Pass; 4] = [Pass::SolveDistance, Pass::SolveBend, Pass::SolveVolume, Pass::SolvePin];
const OTHERS: [Pass; 2] = [Pass::BreakConstraints, Pass::Accelerate];

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 ^ self.0 >> 29) >> 17
    }
    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }
    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.below(1 << 24) as f32 / (1 << 24) as f32
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    fn point(&mut self) -> Vec3 {
        Vec3::new(self.between(-2.0, 2.0), self.between(-2.0, 2.0), self.between(-2.0, 2.0))
    }
    fn distinct<const N: usize>(&mut self, ids: &[ParticleId]) -> [ParticleId; N] {
        let mut slots: Vec<usize> = Vec::new();
        while slots.len() < N {
            let slot = self.below(ids.len());
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        std::array::from_fn(|k| ids[slots[k]])
    }
}

/// What kind of random world is wanted.
#[derive(Clone, Copy)]
struct Wish {
    seed: u64,
    particles: usize,
    solver: Solver,
    method: Method,
    /// Half of the constraints give way, some yield or break.
    soft: bool,
    breaks: bool,
    place: Place,
}

/// Where the particles of a random world are.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Spread,
    /// All at one point: no direction, no normal, no volume.
    Gathered,
    /// Some fly so fast that their squares overflow, and differences of infinities are no numbers.
    Flying,
}

const PLAIN: Wish = Wish {
    seed: 1,
    particles: 65,
    solver: Solver::Colored,
    method: Method::Xpbd,
    soft: true,
    breaks: false,
    place: Place::Spread,
};

/// Particles in disorder, some pinned, some on top of each other, some a million times heavier than
/// others; constraints of every kind between them, so many around the first that colours run out.
fn random(wish: Wish) -> World {
    let mut dice = Dice(wish.seed);
    let mut world = World::new();
    let ids = random_particles(&mut dice, &mut world, wish);
    let material = |dice: &mut Dice| Material {
        stiffness: if dice.one_in(4) { 1.0 } else { dice.between(0.0, 1.0) },
        compliance: if wish.soft && dice.one_in(2) { dice.between(0.0, 1e-3) } else { 0.0 },
        break_at: if wish.breaks && dice.one_in(3) {
            dice.between(0.05, 2.0)
        } else {
            f32::INFINITY
        },
        yield_at: if wish.breaks && dice.one_in(2) {
            dice.between(0.01, 1.0)
        } else {
            f32::INFINITY
        },
    };
    let count = 2 * ids.len();
    for i in 0..count {
        if ids.len() >= 2 {
            let [mut a, b] = dice.distinct(&ids);
            if i % 3 == 0 && b != ids[0] {
                a = ids[0];
            }
            let rest = if dice.one_in(3) { None } else { Some(dice.between(0.0, 3.0)) };
            let material = material(&mut dice);
            world.add_distance(a, b, rest, &material).unwrap();
        }
        if ids.len() >= 4 && i % 2 == 0 {
            let [a, b, c, d] = dice.distinct(&ids);
            world.add_bend([a, b], [c, d], &material(&mut dice)).unwrap();
            world.add_volume(dice.distinct(&ids), &material(&mut dice)).unwrap();
        }
    }
    // They are pulled out of the shapes that they keep.
    for &id in ids.iter().filter(|_| wish.place != Place::Gathered) {
        let from = world.position(id).unwrap();
        world.set_position(id, from + 0.3 * dice.point()).unwrap();
    }
    world.params.solver = wish.solver;
    world.params.method = wish.method;
    world.params.omega = 1.2;
    world.params.iterations = 2;
    world.params.substeps = 2;
    world
}

fn random_particles(dice: &mut Dice, world: &mut World, wish: Wish) -> Vec<ParticleId> {
    let mut ids: Vec<ParticleId> = Vec::new();
    for i in 0..wish.particles {
        let twin = i > 0 && (wish.place == Place::Gathered || dice.one_in(8));
        let position =
            if twin { world.position(ids[dice.below(i)]).unwrap() } else { dice.point() };
        let mass = if dice.one_in(8) { 1e6 } else { dice.between(0.1, 10.0) };
        let velocity = match wish.place {
            Place::Spread => dice.point(),
            Place::Gathered => Vec3::ZERO,
            Place::Flying if dice.one_in(6) => 1e21 * dice.point(),
            Place::Flying => dice.point(),
        };
        let phase = Phase::group(1);
        let particle = Particle { position, velocity, mass, radius: 0.01, phase };
        let id = world.add_particle(&particle).unwrap();
        match dice.below(8) {
            0 => world.pin(id).unwrap(),
            1 => world.drag(id, dice.point(), dice.between(0.0, 1e-3)).unwrap(),
            2 => world.drag(id, position, 0.0).unwrap(),
            3 => {
                let path = Path { keys: vec![(0.0, position), (0.1, dice.point())], looped: true };
                world.hold_on_path(id, path, Vec3::Y, 0.0).unwrap();
            }
            _ => {}
        }
        ids.push(id);
    }
    ids
}

/// Every `step`th dispatch of some passes.
fn every(step: usize, passes: &[Pass]) -> impl Fn(&Dispatch) -> bool {
    let seen = Cell::new(0);
    move |d| {
        if !passes.contains(&d.pass) {
            return false;
        }
        seen.set(seen.get() + 1);
        (seen.get() - 1) % step == 0
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

fn built_in(workgroup: u32) -> Option<Twin> {
    // Says why there is none, or fails where one is required.
    twin()?;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv");
    Some(Twin::with(shaders_from(folder), workgroup).unwrap())
}

#[test]
fn sweeps_move_what_the_cpu_moves() {
    let Some(mut twin) = twin() else { return };
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
                for place in [Place::Spread, Place::Gathered, Place::Flying] {
                    let seed = seed as u64 + 10;
                    let wish = Wish { seed, particles, solver, method, soft, place, ..PLAIN };
                    let wanted = every(if solver == Solver::Colored { 5 } else { 1 }, &SWEEPS);
                    let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
                    count += compare(&mut twin, random(wish), 1, wanted, judge);
                }
            }
        }
    }
    assert!(count > 1500, "{count}");
}

#[test]
fn the_overflow_colour_is_swept_in_order() {
    let Some(mut twin) = twin() else { return };
    let (close, mut seen) = (close(), Seen::default());
    let world = random(Wish { particles: 200, ..PLAIN });
    let wanted = |d: &Dispatch| d.part == motes::Part::Color(63);
    let count = compare(&mut twin, world, 1, wanted, |o| judge(o, close, &mut seen));
    assert!(count > 0, "colours did not run out");
}

#[test]
fn workgroups_of_any_size_do_the_same() {
    for size in [1, 3, 100, 256] {
        let Some(mut twin) = built_in(size) else { return };
        let (close, mut seen) = (close(), Seen::default());
        for solver in [Solver::Colored, Solver::Jacobi] {
            let mut world = random(Wish { particles: 131, solver, breaks: true, ..PLAIN });
            world.params.acceleration = Acceleration::Chebyshev;
            world.params.iterations = 7;
            let (sweep, other) = (every(31, &SWEEPS), every(1, &OTHERS));
            let wanted = |d: &Dispatch| sweep(d) || other(d);
            compare(&mut twin, world, 2, wanted, |o| judge(o, close, &mut seen));
        }
        assert!(seen.broken > 10, "{size}: {} broke", seen.broken);
    }
}

/// Where rows share no particle no update can be lost.
#[test]
fn lockfree_loses_nothing_where_nobody_meets() {
    let Some(mut twin) = twin() else { return };
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
        world.add_distance(a, b, rest, &Material::compliant(1e-4)).unwrap();
    }
    world.params.solver = Solver::Lockfree;
    let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
    assert_eq!(compare(&mut twin, world, 1, every(1, &SWEEPS), judge), 8);
}

/// Sum of |C| over the distance rows of a buffer.
fn residual(outcome: &Outcome, predicted: &[u32], rows: &[u32]) -> f64 {
    let at = |slot: u32| {
        let word = |k: usize| f32::from_bits(predicted[4 * slot as usize + k]);
        Vec3::new(word(0), word(1), word(2))
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
/// and is somewhat more, a ninth on lavapipe (sweeps one after the other converge at the CPU's rate).
#[test]
fn lockfree_sweeps_leave_little_more_than_the_cpus() {
    let Some(mut twin) = twin() else { return };
    let mut world = scene("cloth_stretch");
    world.params.solver = Solver::Lockfree;
    let count = compare(&mut twin, world, 1, every(1, &[Pass::SolveDistance]), |outcome| {
        let (predicted, rows) = (outcome.of(Buffer::Predicted), outcome.of(Buffer::Distance));
        let cpu = residual(outcome, &predicted.cpu, &rows.cpu);
        let device = residual(outcome, &predicted.device, &rows.device);
        assert!(device < 1.25 * cpu, "{cpu} m on the CPU, {device} m on the device");
        let moved = predicted.before.iter().zip(&predicted.device).filter(|(a, b)| a != b).count();
        assert!(moved > outcome.particles, "{moved} words changed");
    });
    assert!(count > 0);
}

fn word(name: &str) -> usize {
    STATE.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name}")).1
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
    // Where it began again the CPU's next place is the first, whatever the device's was.
    if cpu[word("s_accelerate_count")] == 0 {
        return true;
    }
    let words = outcome.of(Buffer::Iterates);
    let pairs = words.cpu.iter().zip(&words.device).enumerate().skip(outcome.particles);
    for (at, (&a, &b)) in pairs {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        assert!(close.holds(a, b), "iterates, word {at}: {a} {b}");
    }
    false
}

#[test]
fn acceleration_carries_as_far_and_stops_as_soon() {
    let Some(mut twin) = twin() else { return };
    let (close, mut seen) = (close(), Seen::default());
    for (solver, rho, compliance) in [
        (Solver::Colored, 0.95, 0.0),
        (Solver::Colored, 0.95, 1e-4),
        (Solver::Jacobi, 0.99, 1e-6),
        // Far beyond what it bears.
        (Solver::Colored, 0.9999, 0.0),
        (Solver::Jacobi, 0.9999, 1e-2),
    ] {
        let material = Material::compliant(compliance);
        let bend = Some(Material::compliant(1e-3));
        let cloth = Cloth { columns: 13, rows: 11, stretch: material, bend, ..Default::default() };
        let mut world = World::new();
        let ids = world.add_cloth(&cloth).unwrap();
        world.pin(ids[0]).unwrap();
        world.drag(ids[12], Vec3::new(0.9, 0.3, 0.1), 1e-3).unwrap();
        world.params.acceleration = Acceleration::Chebyshev;
        world.params.solver = solver;
        world.params.rho = rho;
        world.params.iterations = 40;
        let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
        assert_eq!(compare(&mut twin, world, 2, every(1, &OTHERS), judge), 80);
    }
    for place in [Place::Spread, Place::Gathered, Place::Flying] {
        for particles in [1, 63, 65] {
            let mut world = random(Wish { particles, place, ..PLAIN });
            world.params.acceleration = Acceleration::Chebyshev;
            world.params.iterations = 12;
            let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
            compare(&mut twin, world, 1, every(1, &OTHERS), judge);
        }
    }
    assert!(seen.restarts > 3, "the guard was never needed");
}

/// Rows of a kind as they lie on the device; `src/vulkan/image.rs` writes the same.
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
    for buffer in [Buffer::Distance, Buffer::Bend, Buffer::Volume] {
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
    for name in ["s_marked_distance", "s_marked_bend", "s_marked_volume"] {
        assert_eq!(device[word(name)], 0, "{name} is left behind");
    }
    gone
}

#[test]
fn the_same_rows_break_and_yield() {
    let Some(mut twin) = twin() else { return };
    let (close, mut seen) = (close(), Seen::default());
    for (seed, particles) in [1, 2, 4, 63, 65, 150, 300].into_iter().enumerate() {
        for place in [Place::Spread, Place::Gathered, Place::Flying] {
            let seed = seed as u64 + 50;
            let wish = Wish { seed, particles, breaks: true, place, ..PLAIN };
            let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
            compare(&mut twin, random(wish), 3, every(1, &OTHERS), judge);
        }
    }
    assert!(seen.broken > 500, "{}", seen.broken);
}

/// Hinges and tetrahedra that would hold torn parts together go with the edge they span.
#[test]
fn what_spans_a_torn_edge_goes_with_it() {
    let Some(mut twin) = twin() else { return };
    let close = close();
    let brittle = Material { break_at: 0.05, yield_at: 0.01, ..Default::default() };
    let tough = Material::default();
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
    compare(&mut twin, world, 4, every(1, &OTHERS), |outcome| {
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
    let Some(mut twin) = twin() else { return };
    let (close, mut seen) = (close(), Seen::default());
    let mut scenes = 0;
    for name in Scene::builtin_names() {
        let world = scene(name);
        if world.constraint_count() == 0 {
            continue;
        }
        let (sweep, other) = (every(101, &SWEEPS), every(1, &OTHERS));
        let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
        let steps = if name == "tear" { 24 } else { 2 };
        let count = compare(&mut twin, world, steps, |d| sweep(d) || other(d), judge);
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
    if twin().is_none() {
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
        let mut twin = Twin::with(shaders, 64).unwrap();
        let mut world = random(Wish { breaks: true, ..PLAIN });
        world.params.acceleration = Acceleration::Chebyshev;
        world.params.iterations = 6;
        let mut seen = Seen::default();
        let judge = |outcome: &Outcome| judge(outcome, close, &mut seen);
        let run = || compare(&mut twin, world, 1, every(1, &[pass]), judge);
        let outcome = catch_unwind(AssertUnwindSafe(run));
        assert!(outcome.is_err(), "{}: a wrong instruction was not noticed", pass.name());
    }
}
