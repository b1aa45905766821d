//! `motes converge`: residual against iterations and time on a stretched cloth, for every solver
//! ([C] figures 5.3 and 5.4).
//!
//! A cloth of equally stiff constraints is pulled to `stretch` times its area and let go, without
//! gravity or contacts; what is left of the summed |C| after each iteration shows the solver alone.

mod chart;

use crate::cli::ConvergeArgs;
use crate::commands::table::{Table, number};
use crate::commands::{machine, output, plot};
use crate::failure::Failure;
use motes::file::write_atomically;
use motes::{Backend, Cloth, Engine, Kind, Solver, World};
use serde::Serialize;
use std::io::Write;
use std::ops::ControlFlow;

/// A curve ends when this share of the first residual is left: below it, rounding decides.
const END: f64 = 1e-3;

/// How one solver did.
#[derive(Serialize)]
pub struct Curve {
    pub solver: &'static str,
    pub threads: usize,
    pub omega: f32,
    /// Sum of |C| [m] before the first iteration and after each.
    pub residual: Vec<f64>,
    /// Time spent iterating until then [ms]; reading the residual is not in it.
    pub ms: Vec<f64>,
    /// Until 10 % of the first residual is left.
    pub to_10_percent: Option<Reached>,
    /// Until 1 % is left.
    pub to_1_percent: Option<Reached>,
}

#[derive(Clone, Copy, Serialize)]
pub struct Reached {
    pub iterations: usize,
    pub ms: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    size: u32,
    stretch: f32,
    particles: usize,
    constraints: usize,
    method: &'static str,
    device: String,
    first_residual: f64,
    curves: &'a [Curve],
}

pub fn run(args: &ConvergeArgs, out: &mut dyn Write) -> Result<(), Failure> {
    output::check(&[("--json", args.json.as_deref()), ("--plot", args.plot.as_deref())], &[])?;
    let plot_as = args.plot.as_deref().map(plot::Format::of).transpose()?;
    let world = stretched(args)?;
    let (particles, constraints) = (world.particles().len(), world.distance().len());
    let first = world.residual(Kind::Distance);
    writeln!(
        out,
        "{0} x {0} cloth, {particles} particles, {constraints} constraints, stretched to {1} times \
         its area; first residual {2} m",
        args.size,
        args.stretch,
        number(first)
    )?;
    let curves = curves(args, &world)?;
    write!(out, "{}", table(&curves))?;
    if let Some(path) = &args.json {
        let report = Report {
            size: args.size,
            stretch: args.stretch,
            particles,
            constraints,
            method: args.method.word(),
            device: machine::cpu_model(),
            first_residual: first,
            curves: &curves,
        };
        write_atomically(path, |out| Ok(serde_json::to_writer(out, &report)?))?;
    }
    if let (Some(path), Some(format)) = (&args.plot, plot_as) {
        let title = format!(
            "{0} x {0} cloth, {constraints} constraints, {1} x its area",
            args.size, args.stretch
        );
        plot::write(path, format, &chart::draw(&title, &curves))?;
        writeln!(out, "plot: {}", path.display())?;
    }
    Ok(())
}

/// The cloth, all constraints at full stiffness, pulled out evenly.
fn stretched(args: &ConvergeArgs) -> Result<World, Failure> {
    let mut world = World::new();
    world.params.gravity = glam::Vec3::ZERO;
    world.params.method = args.method;
    let cloth = Cloth { columns: args.size, rows: args.size, ..Cloth::default() };
    let ids = world.add_cloth(&cloth)?;
    let factor = args.stretch.sqrt();
    for id in ids {
        if let Some(at) = world.position(id) {
            world.set_position(id, at * factor)?;
        }
    }
    Ok(world)
}

fn curves(args: &ConvergeArgs, world: &World) -> Result<Vec<Curve>, Failure> {
    let all_cores = machine::cores();
    let mut teams = match args.threads.is_empty() {
        true => vec![1, all_cores],
        false => args.threads.clone(),
    };
    teams.dedup();
    let mut curves = Vec::new();
    for &solver in &args.solver {
        // The sequential sweep is the same for any team.
        let teams = if solver == Solver::Seidel { &[1][..] } else { &teams[..] };
        for &threads in teams {
            for &omega in &args.omega {
                curves.push(measure(world, solver, threads, omega, args.iterations)?);
            }
        }
    }
    Ok(curves)
}

fn measure(
    world: &World,
    solver: Solver,
    threads: usize,
    omega: f32,
    iterations: u32,
) -> Result<Curve, Failure> {
    let mut world = world.clone();
    world.params.solver = solver;
    world.params.omega = omega;
    let first = world.residual(Kind::Distance);
    let mut engine = Engine::new(world, Backend::Cpu { threads })?;
    // Workers awake, caches and side arrays made: what a second step would find.
    let start = engine.world().clone();
    engine.iterate(2, |_, _| ControlFlow::Continue(()))?;
    *engine.world_mut() = start;

    let (mut residual, mut ms) = (vec![first], vec![0.0]);
    let mut spent = 0.0;
    engine.iterate(iterations, |world, took| {
        spent += took;
        let left = world.residual(Kind::Distance);
        residual.push(left);
        ms.push(spent);
        match left > END * first && left.is_finite() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    let reached = |share: f64| {
        let at = residual.iter().position(|&r| r <= share * first)?;
        Some(Reached { iterations: at, ms: ms[at] })
    };
    let (to_10_percent, to_1_percent) = (reached(0.1), reached(0.01));
    let solver = solver.word();
    Ok(Curve { solver, threads, omega, residual, ms, to_10_percent, to_1_percent })
}

fn table(curves: &[Curve]) -> Table {
    let mut table = Table::new([
        "solver",
        "threads",
        "omega",
        "to 10 %",
        "ms",
        "to 1 %",
        "ms",
        "us/iteration",
        "left at the end",
    ]);
    for curve in curves {
        let cells = |reached: Option<Reached>| match reached {
            Some(r) => [r.iterations.to_string(), number(r.ms)],
            None => ["not reached".into(), String::new()],
        };
        let [ten, ten_ms] = cells(curve.to_10_percent);
        let [one, one_ms] = cells(curve.to_1_percent);
        let run = curve.residual.len() - 1;
        let total = curve.ms.last().copied().unwrap_or(0.0);
        let left = curve.residual.last().zip(curve.residual.first()).map_or(0.0, |(a, b)| a / b);
        table.row([
            curve.solver.to_string(),
            curve.threads.to_string(),
            curve.omega.to_string(),
            ten,
            ten_ms,
            one,
            one_ms,
            number(total * 1e3 / run.max(1) as f64),
            format!("{:.2} % after {run}", left * 100.0),
        ]);
    }
    table
}
