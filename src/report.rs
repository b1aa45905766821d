//! What a step reports: time per pass and worker, residual per kind of constraint, contacts,
//! quarantine.

mod workers;

pub use workers::Workers;

use crate::pass::PASSES;
use crate::step::Pass;
use crate::world::BroadPhase;
use std::time::Duration;

/// Calls and wall time of every pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassTimes {
    calls: [u32; Pass::COUNT],
    time: [Duration; Pass::COUNT],
}

impl Default for PassTimes {
    fn default() -> Self {
        PassTimes { calls: [0; Pass::COUNT], time: [Duration::ZERO; Pass::COUNT] }
    }
}

impl PassTimes {
    pub(crate) fn add(&mut self, pass: Pass, time: Duration) {
        self.add_calls(pass, 1, time);
    }
    /// Adds several calls that took `time` together.
    pub(crate) fn add_calls(&mut self, pass: Pass, calls: u32, time: Duration) {
        self.calls[pass as usize] += calls;
        self.time[pass as usize] += time;
    }
    /// How often a pass ran.
    pub fn calls(&self, pass: Pass) -> u32 {
        self.calls[pass as usize]
    }
    /// Wall time of a pass, ms.
    pub fn ms(&self, pass: Pass) -> f64 {
        self.time[pass as usize].as_secs_f64() * 1e3
    }
    /// The passes that ran, in order: pass, calls, ms.
    pub fn ran(&self) -> impl Iterator<Item = (Pass, u32, f64)> + '_ {
        PASSES
            .iter()
            .filter(|info| self.calls(info.pass) > 0)
            .map(|info| (info.pass, self.calls(info.pass), self.ms(info.pass)))
    }
}

/// What the last step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Calls and wall time of every pass.
    pub passes: PassTimes,
    /// How long each worker was busy.
    pub workers: Workers,
    /// Wall time of the step, ms.
    pub wall_ms: f64,
    /// Solver iterations run, over all substeps.
    pub iterations: u32,
    /// What finds neighbours; `None` where nothing can touch.
    pub broad_phase: Option<BroadPhase>,
    /// How often the neighbour lists were built.
    pub list_builds: u32,
    /// Touching pairs and environment contacts at the end of the last substep.
    pub contacts: usize,
    /// Listed candidates: pairs and environment planes.
    pub listed: usize,
    /// Constraints broken in this step.
    pub broken: usize,
    /// Particles quarantined in this step.
    pub quarantined: u64,
    /// Particles that came out of emitters as it began.
    pub emitted: usize,
    /// Particles that sinks took as it began.
    pub sunk: usize,
    /// Emitters that wait, because there are as many of their particles as there may be.
    pub waiting: usize,
}

impl StepReport {
    pub(crate) fn begin(&mut self) {
        // A steady step allocates nothing: the list of workers keeps its memory.
        let mut workers = std::mem::take(&mut self.workers);
        workers.clear();
        *self = StepReport { workers, ..StepReport::default() };
    }
}
