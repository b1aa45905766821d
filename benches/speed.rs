//! The speed table of `docs/speed.md`: what the engine takes for the work that counts, with one worker
//! and two, beside a plain scalar loop in the same run and the goals. `cargo bench --bench speed`
//! prints it as Markdown in about five minutes; with `-- water` only the rows of water.
//!
//! Whatever is compared takes turns, so that a slow moment of the machine does not fall on one of
//! them alone, and the least of several turns counts.

mod worlds;
mod yardstick;

use motes::world::Acceleration;
use motes::{Backend, Engine, Kind, Pass, World};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use worlds::{bent, cube, listed_pairs, machine, settled, stretched};
use yardstick::Yardstick;

/// 100 000 grains, with settings that pass the scene's checks, and the steps until they rest.
const GRAINS: &str = "grains_box:stones";
const GRAINS_SETTLE: u32 = 900;
/// Numbers of workers compared.
const TEAMS: [usize; 2] = [1, 2];
/// Acceleration of the cloth of 100 x 100.
const RHO: f32 = 0.995;

fn main() {
    if !std::env::args().any(|a| a == "--bench") {
        return println!("this is a bench: cargo bench --bench speed");
    }
    println!("{}\n", machine());
    println!("| work | 1 thread | 2 threads | plain loop | of it | goals |");
    println!("|---|---|---|---|---|---|");
    if std::env::args().any(|a| a == "water") {
        return water();
    }

    let cloth = stretched(100);
    let work = "distance constraint, 100 x 100 cloth, ns";
    let plain = sweeps(work, &cloth, Plain::Cloth(100), [3.0, 1.7]);
    let same = Plain::Known(plain);
    sweeps("same, 500 x 500 cloth, ns", &stretched(500), Plain::Cloth(500), [3.5, 2.0]);
    sweeps("with dihedral bending, 100 x 100, blended, ns", &bent(), same, [9.0, 5.0]);
    sweeps("edges + tetrahedra, cube 20^3, blended, ns", &cube(), same, [8.0, 4.5]);
    to_a_tenth(&cloth);
    grains(plain);
    water();
}

/// What the plain loop takes for a distance constraint.
#[derive(Clone, Copy)]
enum Plain {
    /// To be measured in turn, on a cloth with so many columns.
    Cloth(u32),
    /// Measured before, ns.
    Known(f64),
}

/// Prints a row and its share of the plain loop.
fn row(work: &str, times: [f64; 2], plain: Option<f64>, goals: [f64; 2]) {
    let [one, two] = times.map(digits);
    let (plain, shares) = match plain {
        Some(p) => (digits(p), format!("{:.2} / {:.2}", times[0] / p, times[1] / p)),
        None => ("-".into(), "-".into()),
    };
    println!("| {work} | {one} | {two} | {plain} | {shares} | {} / {} |", goals[0], goals[1]);
}

fn digits(value: f64) -> String {
    if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// The least that each run gives in so many turns.
fn least<const N: usize>(turns: u32, mut runs: [Box<dyn FnMut() -> f64 + '_>; N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for _ in 0..turns {
        for (least, run) in least.iter_mut().zip(&mut runs) {
            *least = least.min(run());
        }
    }
    least
}

fn engine(world: &World, threads: usize) -> Engine {
    Engine::new(world.clone(), Backend::Cpu { threads }).expect("legal")
}

/// So many iterations, ms.
fn iterate(engine: &mut Engine, count: u32) -> f64 {
    let mut ms = 0.0;
    let add = |_: &World, took| {
        ms += took;
        ControlFlow::Continue(())
    };
    engine.iterate(count, add).expect("legal");
    ms
}

/// ns per constraint and iteration. Returns what the plain loop takes for a distance constraint.
fn sweeps(work: &str, world: &World, plain: Plain, goals: [f64; 2]) -> f64 {
    const SWEEPS: u32 = 10;
    let per_constraint = |ms: f64, count: usize| ms * 1e6 / f64::from(SWEEPS) / count as f64;
    let count = world.constraint_count();
    let [mut one, mut two] = TEAMS.map(|threads| engine(world, threads));
    let plain: Box<dyn FnMut() -> f64> = match plain {
        Plain::Known(ns) => Box::new(move || ns),
        Plain::Cloth(columns) => {
            let mut plain = Yardstick::of_cloth(world, columns);
            Box::new(move || {
                let began = Instant::now();
                (0..SWEEPS).for_each(|_| plain.iterate());
                black_box(&plain);
                per_constraint(began.elapsed().as_secs_f64() * 1e3, plain.len())
            })
        }
    };
    // Enough for a second or two of each.
    let turns = (20_000_000 / (count as u32 * SWEEPS)).clamp(10, 60);
    let [one, two, plain] = least(
        turns,
        [
            Box::new(|| per_constraint(iterate(&mut one, SWEEPS), count)),
            Box::new(|| per_constraint(iterate(&mut two, SWEEPS), count)),
            plain,
        ],
    );
    row(work, [one, two], Some(plain), goals);
    plain
}

/// Time until a tenth of the stretched cloth's residual is left, ms; reading the residual is not
/// in it: iterations are counted first.
fn to_a_tenth(cloth: &World) {
    let goal = 0.1 * cloth.residual(Kind::Distance);
    let mut plain = Yardstick::of_cloth(cloth, 100);
    let mut plain_count = 0;
    while plain.residual() > goal {
        plain.iterate();
        plain_count += 1;
    }
    let plain_ms = || {
        let mut plain = Yardstick::of_cloth(cloth, 100);
        let began = Instant::now();
        (0..plain_count).for_each(|_| plain.iterate());
        black_box(&plain);
        began.elapsed().as_secs_f64() * 1e3
    };
    for (acceleration, work, goals) in [
        (Acceleration::None, "100 x 100 cloth to a tenth of its residual, ms", [140.0, 80.0]),
        (Acceleration::Chebyshev, "same, accelerated, ms", [14.0, 9.0]),
    ] {
        let mut world = cloth.clone();
        world.params.acceleration = acceleration;
        world.params.rho = RHO;
        let Some(count) = iterations_until(&world, goal) else {
            println!("| {work} | not reached | | | | {} / {} |", goals[0], goals[1]);
            continue;
        };
        let run = |threads: usize| {
            let mut engine = engine(&world, threads);
            let world = &world;
            move || {
                *engine.world_mut() = world.clone();
                iterate(&mut engine, count)
            }
        };
        let [one, two, plain] = least(8, [Box::new(run(1)), Box::new(run(2)), Box::new(plain_ms)]);
        row(
            &format!("{work} ({count} iterations, plain {plain_count})"),
            [one, two],
            Some(plain),
            goals,
        );
    }
}

fn iterations_until(world: &World, goal: f64) -> Option<u32> {
    let (mut count, mut reached) = (0, false);
    let watch = |world: &World, _| {
        count += 1;
        reached = world.residual(Kind::Distance) <= goal;
        if reached { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    engine(world, 1).iterate(5000, watch).expect("legal");
    reached.then_some(count)
}

/// A pile: whole steps with all they hold until it rests and then, and its contacts.
fn grains(plain: f64) {
    const STEPS: u32 = 5;
    let [(_, alone_ms), (pile, both_ms)] =
        TEAMS.map(|threads| settled(GRAINS, GRAINS_SETTLE, threads));
    let (particles, pairs) = (pile.particles().len(), listed_pairs(&pile));
    let (dt, substeps) = (pile.params.dt, pile.params.substeps);
    let iterations = pile.params.iterations;
    let sweeps = substeps * iterations;
    let mut step_ms = [f64::INFINITY; 2];
    let mut contact_ns = [f64::INFINITY; 2];
    let mut engines = TEAMS.map(|threads| engine(&pile, threads));
    for turn in 0..6 {
        for (team, engine) in engines.iter_mut().enumerate() {
            let (mut step, mut contacts) = (0.0, 0.0);
            for _ in 0..STEPS {
                let report = engine.step(dt).expect("legal");
                step += report.wall_ms;
                let of = |pass| report.passes.ms(pass);
                contacts += of(Pass::SolveContacts);
            }
            // The first turn makes lists and memory.
            if turn > 0 {
                let steps = f64::from(STEPS);
                step_ms[team] = step_ms[team].min(step / steps);
                let each = contacts * 1e6 / steps / (pairs as f64 * f64::from(sweeps));
                contact_ns[team] = contact_ns[team].min(each);
            }
        }
    }
    let work = format!("contact solve, `{GRAINS}` at rest, {pairs} listed pairs, ns");
    row(&work, contact_ns, Some(plain), [4.0, 2.2]);
    let work = format!(
        "a whole step, `{GRAINS}` at rest, {particles} grains, \
         {substeps} x {iterations} iterations, ms"
    );
    row(&work, step_ms, None, [30.0, 16.0]);
    let work = format!("same, mean of the {GRAINS_SETTLE} steps until there, ms");
    row(&work, [alone_ms, both_ms], None, [30.0, 16.0]);
}

/// A dam that has broken: an iteration, a substep with all it holds, a step as coarse as seed 000 takes
/// them, and how time and memory grow with the number of particles.
fn water() {
    const DAM: &str = "dam_break:100k";
    const SETTLE: u32 = 40;
    let (dam, _) = settled(DAM, SETTLE, 0);
    let (particles, substeps) = (dam.particles().len(), dam.params.substeps);
    let iterations = dam.params.iterations;
    let turns = f64::from(substeps * iterations);
    let [one, two] = steps(&dam, 5);
    let work = format!("an iteration, `{DAM}` after {SETTLE} steps, {particles} particles, ms");
    row(&work, [one, two].map(|(_, fluid)| fluid / turns), None, [8.0, 4.5]);
    let work = format!("a whole substep with {iterations} iterations, ms");
    row(&work, [one, two].map(|(step, _)| step / f64::from(substeps)), None, [55.0, 30.0]);

    let (mut dam, _) = settled("dam_break:37k", SETTLE, 0);
    (dam.params.substeps, dam.params.iterations) = (2, 2);
    let particles = dam.particles().len();
    let work = format!("a step of 2 substeps of 2 iterations, {particles} particles, ms");
    row(&work, steps(&dam, 10).map(|(step, _)| step), None, [50.0, 25.0]);

    let mut sizes = Vec::new();
    println!();
    for scene in ["dam_break", "dam_break:37k", DAM, "dam_break:1m"] {
        let (dam, _) = settled(scene, 1, 0);
        let particles = dam.particles().len() as f64;
        let before = resident();
        let mut engine = engine(&dam, 2);
        let step = |_| engine.step(dam.params.dt).expect("legal").wall_ms;
        let ms = (0..4).map(step).fold(f64::INFINITY, f64::min) / f64::from(dam.params.substeps);
        let bytes = resident().saturating_sub(before) as f64;
        println!("`{scene}`: {ms:.1} ms a substep, {:.0} bytes a particle", bytes / particles);
        sizes.push((particles, ms));
    }
    println!("linear in the number of particles: R² = {:.4}", linearity(&sizes));
}

/// The least that a step takes, with one worker and two, and what `density_lambda` and `density_delta`
/// take of it, ms.
fn steps(world: &World, turns: u32) -> [(f64, f64); 2] {
    let mut least = [(f64::INFINITY, f64::INFINITY); 2];
    let mut engines = TEAMS.map(|threads| engine(world, threads));
    for turn in 0..=turns {
        for (least, engine) in least.iter_mut().zip(&mut engines) {
            let report = engine.step(world.params.dt).expect("legal");
            // The first turn makes memory.
            if turn > 0 {
                let of = |pass| report.passes.ms(pass);
                let fluid = of(Pass::DensityLambda) + of(Pass::DensityDelta);
                *least = (least.0.min(report.wall_ms), least.1.min(fluid));
            }
        }
    }
    least
}

/// Bytes of memory that this process holds; 0 where the system does not tell.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .map_or(0, |pages: usize| pages * 4096)
}

/// R² of the best line through points.
fn linearity(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let both = sum(&|dx, dy| dx * dy);
    both * both / (sum(&|dx, _| dx * dx) * sum(&|_, dy| dy * dy))
}
