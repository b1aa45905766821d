//! What a run did and cost: the `--report` JSON and the table at the end.

use crate::commands::stats::{Spread, median};
use crate::commands::table::{Table, number};
use crate::commands::workers::{self, WorkerRecorder, WorkerSummary};
use crate::commands::{machine, quality};
use motes::file::write_atomically;
use motes::pass::PASSES;
use motes::{Engine, Kind, Pass, Quality, StepReport};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Gathers the reports of steps.
#[derive(Default)]
pub struct Recorder {
    step_ms: Vec<f64>,
    passes: Vec<PassRecord>,
    workers: WorkerRecorder,
    list_builds: u64,
    iterations: u64,
}

#[derive(Clone, Default)]
struct PassRecord {
    calls: u64,
    /// One entry for each step it ran in.
    ms: Vec<f64>,
}

/// A run, as `--report` writes it.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub scene: String,
    pub backend: &'static str,
    pub device: String,
    pub threads: usize,
    pub particles: usize,
    pub constraints: usize,
    pub contacts: usize,
    pub listed: usize,
    pub steps: usize,
    pub dt: f32,
    pub substeps: u32,
    pub iterations: u32,
    pub wall_ms: f64,
    pub ms_per_step: Spread,
    pub passes: Vec<PassSummary>,
    /// The sum of |C| of each kind.
    pub residual: BTreeMap<&'static str, f64>,
    /// How well the last step was solved; `motes run` looks at that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    pub quarantined: u64,
    pub hash: String,
    // Beyond the fixed keys.
    /// Particles that came out of emitters, and that sinks took.
    pub emitted: u64,
    pub sunk: u64,
    /// Emitters that wait, because there are as many of their particles as there may be.
    pub waiting: Vec<String>,
    pub version: &'static str,
    pub solver: &'static str,
    pub method: &'static str,
    pub time: f64,
    pub broken: u64,
    /// What found neighbours; `auto` has chosen by then.
    pub broad_phase: Option<&'static str>,
    pub list_builds: u64,
    pub iterations_run: u64,
    pub workers: Vec<WorkerSummary>,
}

/// What a pass cost. The median is over the steps it ran in: lists are not made in every step.
#[derive(Clone, Debug, Serialize)]
pub struct PassSummary {
    pub name: &'static str,
    pub calls: u64,
    pub ms_median: f64,
    pub ms_total: f64,
}

impl Recorder {
    pub fn observe(&mut self, report: &StepReport) {
        self.passes.resize(Pass::COUNT, PassRecord::default());
        self.step_ms.push(report.wall_ms);
        self.list_builds += u64::from(report.list_builds);
        self.iterations += u64::from(report.iterations);
        self.workers.observe(report);
        for (pass, calls, ms) in report.passes.ran() {
            let record = &mut self.passes[pass as usize];
            record.calls += u64::from(calls);
            record.ms.push(ms);
        }
    }

    /// The run so far, with the state the engine is in now.
    pub fn summary(&self, scene: &str, engine: &Engine) -> Summary {
        let world = engine.world();
        let report = engine.report();
        let params = &world.params;
        let ran = PASSES.iter().zip(&self.passes).filter(|(_, record)| record.calls > 0);
        Summary {
            scene: scene.into(),
            backend: if engine.device().is_some() { "vulkan" } else { "cpu" },
            device: engine.device().map_or_else(machine::cpu_model, Into::into),
            threads: engine.threads(),
            particles: world.particles().len(),
            constraints: world.constraint_count(),
            contacts: report.contacts,
            listed: report.listed,
            steps: self.step_ms.len(),
            dt: params.dt,
            substeps: params.substeps,
            iterations: params.iterations,
            wall_ms: self.step_ms.iter().sum(),
            ms_per_step: Spread::of(&self.step_ms),
            passes: ran
                .map(|(info, record)| PassSummary {
                    name: info.name,
                    calls: record.calls,
                    ms_median: median(&record.ms),
                    ms_total: record.ms.iter().sum(),
                })
                .collect(),
            residual: Kind::ALL
                .into_iter()
                .filter(|&kind| world.count(kind) > 0)
                .map(|kind| (kind.name(), world.residual(kind)))
                .collect(),
            quality: None,
            quarantined: world.quarantined(),
            emitted: world.taps().iter().map(|tap| tap.sent()).sum(),
            sunk: world.sunk(),
            waiting: waiting(world),
            hash: format!("{:016x}", world.hash()),
            version: env!("CARGO_PKG_VERSION"),
            solver: params.solver.word(),
            method: params.method.word(),
            time: world.time(),
            broken: world.broken(),
            broad_phase: report.broad_phase.map(|b| b.word()),
            list_builds: self.list_builds,
            iterations_run: self.iterations,
            workers: self.workers.summary(),
        }
    }
}

impl Summary {
    pub fn steps_per_second(&self) -> f64 {
        if self.wall_ms > 0.0 { self.steps as f64 * 1e3 / self.wall_ms } else { 0.0 }
    }

    /// What it ran on.
    pub fn machine(&self) -> String {
        match self.backend {
            "cpu" => format!("{} threads", self.threads),
            _ => self.device.clone(),
        }
    }

    pub fn write(&self, path: &Path) -> motes::Result<()> {
        write_json(path, self)
    }

    /// How busy each worker was.
    pub fn workers_text(&self) -> String {
        let walls: Vec<_> = self.passes.iter().map(|p| (p.name, p.ms_total)).collect();
        workers::table(&self.workers, &walls, self.wall_ms).to_string()
    }

    /// The table printed at the end of a run.
    pub fn text(&self) -> String {
        let mut passes =
            Table::new(["pass", "calls", "median ms", "mean ms", "ms in all", "share"]);
        // The means, the sums and the shares add up to the last row. Medians do not: they are of
        // the steps in which a pass ran.
        let mut row = |name: &str, calls: String, median: String, ms: f64| {
            passes.row([
                name.to_string(),
                calls,
                median,
                number(ms / self.steps.max(1) as f64),
                number(ms),
                format!("{:.1} %", 100.0 * ms / self.wall_ms.max(1e-9)),
            ]);
        };
        let mut between = self.wall_ms;
        for pass in &self.passes {
            between -= pass.ms_total;
            row(pass.name, pass.calls.to_string(), number(pass.ms_median), pass.ms_total);
        }
        row("(between passes)", String::new(), String::new(), between);
        let median = number(self.ms_per_step.median);
        row("step", self.steps.to_string(), median, self.wall_ms);
        let mut facts = Table::new(["scene", &self.scene]).align("<<");
        let mut fact = |name: &str, value: String| facts.row([name.to_string(), value]);
        fact("particles", self.particles.to_string());
        fact("constraints", self.constraints.to_string());
        let by = self.broad_phase.map_or(String::new(), |name| {
            format!(", neighbours by {name}, listed anew {} times", self.list_builds)
        });
        fact("contacts", format!("{} of {} listed{by}", self.contacts, self.listed));
        let steps = format!(
            "{} of {} s, {} substeps, {} iterations, {} {}",
            self.steps, self.dt, self.substeps, self.iterations, self.solver, self.method
        );
        fact("steps", steps);
        let Spread { median, p95, min } = self.ms_per_step;
        let speed = format!(
            "{} steps/s on {}; a step takes {} ms (median), {} (95 %), {} (least)",
            number(self.steps_per_second()),
            self.machine(),
            number(median),
            number(p95),
            number(min)
        );
        fact("speed", speed);
        let residual: Vec<String> =
            self.residual.iter().map(|(kind, r)| format!("{kind} {}", number(*r))).collect();
        if !residual.is_empty() {
            fact("residual", residual.join(", "));
        }
        if let Some(quality) = &self.quality {
            fact("quality", quality::text(quality));
        }
        if self.broken > 0 {
            fact("broken", self.broken.to_string());
        }
        fact("quarantined", self.quarantined.to_string());
        if self.emitted + self.sunk > 0 {
            fact("came and went", format!("{} emitted, {} sunk", self.emitted, self.sunk));
        }
        if !self.waiting.is_empty() {
            let why = "as many of their particles are there as `most` allows";
            fact("waiting", format!("{}: {why}", self.waiting.join(", ")));
        }
        format!("{passes}\n{facts}")
    }
}

/// The names of the emitters that wait.
fn waiting(world: &motes::World) -> Vec<String> {
    let waiting = world.taps().iter().filter(|tap| tap.is_waiting());
    let objects = waiting.filter_map(|tap| world.object(tap.object()).ok());
    objects.map(|object| object.name.clone()).collect()
}

/// Writes JSON for people and programs, whole or not at all.
pub fn write_json(path: &Path, value: &impl Serialize) -> motes::Result<()> {
    write_atomically(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}
