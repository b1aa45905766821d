//! `motes bench`: the same scenes on several numbers of threads and on a Vulkan device, pass by
//! pass, side by side. A column is a backend with a number of threads.

mod neighbors;

use crate::cli::{BackendName, BenchArgs, Structures, Target};
use crate::commands::setup::{Setup, engine};
use crate::commands::summary::{Summary, write_json};
use crate::commands::table::{Table, number};
use crate::commands::{machine, output, run};
use crate::failure::Failure;
use motes::file::write_atomically;
use motes::pass::PASSES;
use motes::scene::Scene;
use motes::world::BroadPhase;
use std::io::Write;

pub fn run(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Failure> {
    const ALL: &[BroadPhase] =
        &[BroadPhase::Grid, BroadPhase::Octree, BroadPhase::Bvh, BroadPhase::Brute];
    match args.tuning.broad_phase {
        Some(Structures::All) if args.scenes.is_empty() => return neighbors::run(ALL, args, out),
        Some(Structures::One(structure)) if args.scenes.is_empty() => {
            return neighbors::run(&[structure], args, out);
        }
        _ => {}
    }
    let sets = &args.tuning.set;
    let files: Vec<_> = args.scenes.iter().flat_map(|s| output::scene_files(s, sets)).collect();
    let inputs: Vec<_> = output::named(&files).collect();
    output::check(&[("--json", args.json.as_deref()), ("--csv", args.csv.as_deref())], &inputs)?;
    let scenes: Vec<String> = match args.scenes.is_empty() {
        true => Scene::builtin_names().map(Into::into).collect(),
        false => args.scenes.clone(),
    };
    let targets = targets(args);
    let (machine, steps, repeat) = (machine::cpu_model(), args.steps, args.repeat);
    writeln!(out, "{machine}, {steps} steps, best of {repeat}; passes as means over the steps")?;
    let mut all = Vec::new();
    for scene in &scenes {
        let columns = measure(scene, &targets, args)?;
        write!(out, "\n{}", table(scene, &columns))?;
        out.flush()?;
        all.extend(columns);
    }
    if let Some(path) = &args.json {
        write_json(path, &all)?;
    }
    if let Some(path) = &args.csv {
        let text = csv(&all);
        write_atomically(path, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// What is compared: the CPU with each number of threads, and Vulkan where there is a device or
/// one was asked for.
fn targets(args: &BenchArgs) -> Vec<Target> {
    let cpu = args.teams().into_iter().map(|threads| Target::cpu(Some(threads)));
    let vulkan = Target::vulkan(args.device.clone());
    match args.backend {
        Some(BackendName::Cpu) => cpu.collect(),
        Some(BackendName::Vulkan) => vec![vulkan],
        None if args.device.is_some() || machine::has_vulkan() => cpu.chain([vulkan]).collect(),
        None => cpu.collect(),
    }
}

/// One column for each structure and target. Repeats take turns, so that a slow moment of the machine
/// does not fall on one column alone; the fastest repeat counts.
fn measure(scene: &str, targets: &[Target], args: &BenchArgs) -> Result<Vec<Summary>, Failure> {
    let mut tuning = args.tuning.clone();
    let all = tuning.broad_phase == Some(Structures::All);
    if all {
        tuning.broad_phase = None;
    }
    let setup = Setup::of_scene(scene, &tuning)?;
    let structures = match all {
        true => vec![BroadPhase::Grid, BroadPhase::Octree, BroadPhase::Bvh],
        false => vec![setup.world.params.broad_phase],
    };
    let columns: Vec<_> =
        structures.iter().flat_map(|&s| targets.iter().map(move |t| (s, t))).collect();
    let mut best: Vec<Option<Summary>> = vec![None; columns.len()];
    for _ in 0..args.repeat {
        for (best, &(structure, target)) in best.iter_mut().zip(&columns) {
            let mut world = setup.world.clone();
            world.params.broad_phase = structure;
            let mut engine = engine(world, target)?;
            let (summary, _) =
                run::simulate(scene, &mut engine, args.steps, None, false, |_, _| Ok(()))?;
            if best.as_ref().is_none_or(|old| summary.wall_ms < old.wall_ms) {
                *best = Some(summary);
            }
        }
    }
    Ok(best.into_iter().flatten().collect())
}

fn table(scene: &str, columns: &[Summary]) -> Table {
    let several = columns.iter().any(|s| s.broad_phase != columns[0].broad_phase);
    let heading = |s: &Summary| {
        let on = match s.backend {
            "cpu" => format!("x{}", s.threads),
            _ => format!("on {}", s.device),
        };
        match s.broad_phase {
            Some(structure) if several => format!("{structure} {on} ms"),
            _ => format!("{} {on} ms", s.backend),
        }
    };
    let mut table =
        Table::new(std::iter::once(scene.to_string()).chain(columns.iter().map(heading)));
    let mut row = |name: &str, cell: &dyn Fn(&Summary) -> Option<String>| {
        let cells: Vec<Option<String>> = columns.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let shown = cells.into_iter().map(|c| c.unwrap_or_else(|| "-".into()));
            table.row(std::iter::once(name.to_string()).chain(shown));
        }
    };
    // The rows of passes are means over all steps, which add up to the mean step. Medians do not.
    let mean = |s: &Summary, ms: f64| number(ms / s.steps.max(1) as f64);
    for info in PASSES {
        row(info.name, &|s| {
            let pass = s.passes.iter().find(|p| p.name == info.name)?;
            Some(mean(s, pass.ms_total))
        });
    }
    row("(between passes)", &|s| {
        let inside: f64 = s.passes.iter().map(|p| p.ms_total).sum();
        Some(mean(s, s.wall_ms - inside))
    });
    row("step, mean", &|s| Some(mean(s, s.wall_ms)));
    row("step, median", &|s| Some(number(s.ms_per_step.median)));
    row("step, 95 %", &|s| Some(number(s.ms_per_step.p95)));
    row("step, least", &|s| Some(number(s.ms_per_step.min)));
    row("steps/s", &|s| Some(number(s.steps_per_second())));
    table
}

fn csv(summaries: &[Summary]) -> String {
    let mut text = String::from("scene,backend,threads,particles,pass,calls,ms_median,ms_total\n");
    for s in summaries {
        let scene = s.scene.replace('"', "\"\"");
        let mut line = |name: &str, calls: u64, median: f64, total: f64| {
            text += &format!(
                "\"{scene}\",{},{},{},{name},{calls},{median},{total}\n",
                s.backend, s.threads, s.particles
            );
        };
        for p in &s.passes {
            line(p.name, p.calls, p.ms_median, p.ms_total);
        }
        line("step", s.steps as u64, s.ms_per_step.median, s.wall_ms);
    }
    text
}
