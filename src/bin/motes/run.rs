//! `motes run`: a scene without a display.

use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::stage::{Stage, engine};
use crate::summary::{Recorder, Summary};
use crate::{frames, output, progress};
use motes::scene::{CheckResult, Checker};
use motes::{Engine, snapshot};
use std::io::Write;

pub fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Failure> {
    output::check_file("--report", args.report.as_deref())?;
    output::check_file("--save", args.save.as_deref())?;
    let stage = match &args.load {
        Some(path) => Stage::of_snapshot(path, args.scene.as_deref(), &args.tuning)?,
        None => Stage::of_scene(args.scene.as_deref().unwrap_or_default(), &args.tuning)?,
    };
    let checker = match args.check {
        true => Some(Checker::new(stage.scene_of_checks()?, &stage.world)),
        false => None,
    };
    let steps = stage.steps(args.steps);
    let mut engine = engine(stage.world, &args.target)?;
    if let Some(folder) = &args.export {
        output::make_folder("--export", folder)?;
    }

    let (summary, checks) =
        simulate(&stage.name, &mut engine, steps, checker, |step, engine| match &args.export {
            Some(folder) if step % args.every == 0 => {
                engine.fetch()?;
                frames::export(folder, args.format, engine.world())
            }
            _ => Ok(()),
        })?;

    write!(out, "{}", summary.text())?;
    if args.workers {
        write!(out, "\n{}", summary.workers_text())?;
    }
    if let Some(path) = &args.save {
        snapshot::save(path, &stage.name, engine.world())?;
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
    mut after: impl FnMut(u32, &mut Engine) -> motes::Result<()>,
) -> Result<(Summary, Vec<CheckResult>), Failure> {
    let dt = engine.world().params.dt;
    let mut recorder = Recorder::default();
    let bar = progress::bar(steps, name);
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
