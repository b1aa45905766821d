//! The worker view of a run: how long each worker was busy, pass by pass (`--workers`).

use crate::commands::table::{Table, number};
use motes::pass::PASSES;
use motes::{Pass, StepReport};
use serde::Serialize;
use std::collections::HashSet;

/// What one worker did in all steps.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerSummary {
    pub worker: usize,
    /// In passes and between them.
    pub busy_ms: f64,
    /// Between passes: sizing arrays, counting contacts.
    pub between_ms: f64,
    /// Every pass that ran, also those it had no part in.
    pub passes: Vec<WorkerPass>,
}

#[derive(Clone, Debug, Serialize)]
pub struct WorkerPass {
    pub name: &'static str,
    pub busy_ms: f64,
}

/// Gathers the worker views of steps.
#[derive(Default)]
pub struct WorkerRecorder {
    /// By worker: between passes, then by pass.
    busy_ms: Vec<(f64, [f64; Pass::COUNT])>,
    ran: HashSet<Pass>,
}

impl WorkerRecorder {
    pub fn observe(&mut self, report: &StepReport) {
        let workers = &report.workers;
        self.busy_ms.resize(workers.len(), (0.0, [0.0; Pass::COUNT]));
        self.ran.extend(report.passes.ran().map(|(pass, ..)| pass));
        for (worker, (between, busy)) in self.busy_ms.iter_mut().enumerate() {
            *between += workers.between_ms(worker);
            workers.passes(worker).for_each(|(pass, ms)| busy[pass as usize] += ms);
        }
    }

    pub fn summary(&self) -> Vec<WorkerSummary> {
        let of = |(worker, &(between_ms, busy)): (usize, &(f64, [f64; Pass::COUNT]))| {
            let ran = PASSES.iter().filter(|info| self.ran.contains(&info.pass));
            let pass = |p: Pass| WorkerPass { name: p.name(), busy_ms: busy[p as usize] };
            WorkerSummary {
                worker,
                busy_ms: between_ms + busy.iter().sum::<f64>(),
                between_ms,
                passes: ran.map(|info| pass(info.pass)).collect(),
            }
        };
        self.busy_ms.iter().enumerate().map(of).collect()
    }
}

/// A row a pass, with its wall time and each worker's share of it. `walls` are the passes' in order.
pub fn table(workers: &[WorkerSummary], walls: &[(&str, f64)], wall_ms: f64) -> Table {
    let mut headings = vec!["busy".to_string(), "wall ms".into()];
    for w in workers {
        headings.extend([format!("worker {} ms", w.worker), "share".into()]);
    }
    let mut table = Table::new(headings);
    let mut row = |name: &str, wall: f64, busy: &dyn Fn(&WorkerSummary) -> f64| {
        let mut cells = vec![name.to_string(), number(wall)];
        for worker in workers {
            let ms = busy(worker);
            cells.extend([number(ms), format!("{:.1} %", 100.0 * ms / wall.max(1e-9))]);
        }
        table.row(cells);
    };
    for (i, &(name, wall)) in walls.iter().enumerate() {
        row(name, wall, &|w| w.passes[i].busy_ms);
    }
    let in_passes: f64 = walls.iter().map(|&(_, ms)| ms).sum();
    row("between passes", (wall_ms - in_passes).max(0.0), &|w| w.between_ms);
    row("all", wall_ms, &|w| w.busy_ms);
    table
}
