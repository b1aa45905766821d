//! `motes run`: a scene without a display.

use crate::cli::{BackendName, RunArgs};
use crate::commands::export::{Exporter, writes};
use crate::commands::quality::Watch;
use crate::commands::setup::{Setup, engine};
use crate::commands::summary::{Recorder, Summary};
use crate::commands::{output, progress};
use crate::failure::Failure;
use motes::scene::{CheckResult, Checker};
use motes::{Backend, Engine, World, snapshot};
use std::io::Write;

pub fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = args.scene.as_deref();
    let scene = spec.map_or(Vec::new(), |spec| output::scene_files(spec, &args.tuning.set));
    let inputs: Vec<_> = output::named(&scene).chain([("--load", args.load.as_deref())]).collect();
    let outputs = [("--report", args.report.as_deref()), ("--save", args.save.as_deref())];
    output::check(&outputs, &inputs)?;
    #[cfg(not(feature = "surface"))]
    if args.surface {
        return Err(Failure::Usage(crate::commands::export::NO_SURFACE.into()));
    }
    let setup = match &args.load {
        Some(path) => Setup::of_snapshot(path, args.scene.as_deref(), &args.tuning)?,
        None => Setup::of_scene(args.scene.as_deref().unwrap_or_default(), &args.tuning)?,
    };
    setup.warn();
    if args.schedule {
        return schedule(setup.world, args.target.backend, out);
    }
    let checker = match args.check {
        true => Some(Checker::new(setup.scene_of_checks()?, &setup.world)),
        false => None,
    };
    let steps = setup.steps(args.steps);
    let mut engine = engine(setup.world, &args.target)?;
    if let Some(folder) = &args.export {
        output::make_folder("--export", folder)?;
        let others = inputs.iter().chain(&outputs).copied();
        output::check_folder("--export", folder, others, |name| writes(args.format, name))?;
    }
    let smoothing = args.surface.then_some(args.smoothing);
    let exporter = |folder| Exporter::new(folder, args.format, smoothing);
    let mut exporter = args.export.clone().map(exporter);
    if let Some(exporter) = &mut exporter {
        exporter.write(engine.world())?;
    }

    let mut watch = Watch::default();
    let (mut summary, checks) =
        simulate(&setup.name, &mut engine, steps, checker, args.quiet, |step, engine| {
            watch.observe(step, engine)?;
            match &mut exporter {
                Some(exporter) if step % args.every == 0 => {
                    engine.fetch()?;
                    exporter.write(engine.world())
                }
                _ => Ok(()),
            }
        })?;
    if let Some(exporter) = exporter
        && !exporter.finish()?
    {
        // A closed standard error is no reason to stop.
        let _ = writeln!(std::io::stderr(), "warning: --surface: there was no fluid to export");
    }

    // Without a step there is nothing to judge.
    summary.quality = engine.quality().ok();
    if !args.quiet {
        write!(out, "{}", summary.text())?;
    }
    if args.workers {
        write!(out, "\n{}", summary.workers_text())?;
    }
    if let Some(path) = &args.save {
        snapshot::save(path, &setup.name, engine.world())?;
    }
    if let Some(path) = &args.report {
        summary.write(path)?;
    }
    if args.hash {
        writeln!(out, "hash {}", summary.hash)?;
    }
    hear(&engine)?;
    judge(&checks, args.check, out)
}

/// Prints what a step of `world` does. No device is opened for it.
fn schedule(world: World, backend: BackendName, out: &mut dyn Write) -> Result<(), Failure> {
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 })?;
    let schedule = engine.schedule().clone();
    let text = match backend {
        BackendName::Cpu => schedule.with_remarks(|_| String::new()),
        #[cfg(feature = "vulkan")]
        BackendName::Vulkan => {
            let kernels = motes::vulkan::kernels(engine.world());
            schedule.with_remarks(|dispatch| format!(": {}", counted(&kernels(dispatch))))
        }
        #[cfg(not(feature = "vulkan"))]
        BackendName::Vulkan => {
            return Err(Failure::Usage(crate::commands::setup::NO_VULKAN.into()));
        }
    };
    Ok(write!(out, "{text}")?)
}

/// Names, with a count where one stands several times in a row.
#[cfg(feature = "vulkan")]
fn counted(names: &[&str]) -> String {
    let words = names.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].to_string(),
        count => format!("{} x {count}", run[0]),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What the validation layer found, when it was asked to look (`MOTES_VALIDATION=1`).
#[cfg_attr(not(feature = "vulkan"), allow(unused_variables))]
fn hear(engine: &Engine) -> Result<(), Failure> {
    #[cfg(feature = "vulkan")]
    if let Some(messages) = engine.vulkan().map(|v| v.messages()).filter(|m| !m.is_empty()) {
        return Err(Failure::Failed(messages.join("\n")));
    }
    Ok(())
}

/// Runs the steps; `after` is called with the number of each, from 1. On a device the world stays
/// there: `after` fetches it to look at it.
pub fn simulate(
    name: &str,
    engine: &mut Engine,
    steps: u32,
    mut checker: Option<Checker>,
    quiet: bool,
    mut after: impl FnMut(u32, &mut Engine) -> motes::Result<()>,
) -> Result<(Summary, Vec<CheckResult>), Failure> {
    let dt = engine.world().params.dt;
    let mut recorder = Recorder::default();
    let bar = if quiet { progress::hidden() } else { progress::bar(steps, name) };
    engine.keep_on_device(true);
    for step in 1..=steps {
        recorder.observe(engine.step(dt)?);
        if let Some(checker) = &mut checker {
            engine.fetch()?;
            checker.observe(engine.world());
        }
        after(step, engine)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    engine.fetch()?;
    let results = checker.map(|c| c.finish(engine.world())).unwrap_or_default();
    Ok((recorder.summary(name, engine), results))
}

fn judge(checks: &[CheckResult], asked: bool, out: &mut dyn Write) -> Result<(), Failure> {
    for check in checks {
        writeln!(out, "{} {}", if check.passed { "ok  " } else { "FAIL" }, check.message)?;
    }
    if asked && checks.is_empty() {
        writeln!(out, "the scene has no checks")?;
    }
    let failed: Vec<&str> = checks.iter().filter(|c| !c.passed).map(|c| c.name.as_str()).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Failed(format!(
            "{} of {} checks failed: {}",
            failed.len(),
            checks.len(),
            failed.join(", ")
        ))),
    }
}
