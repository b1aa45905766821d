//! The times of the latest steps: what the profile shows and saves.

use super::physics::Sample;
use motes::Pass;
use motes::file::write_atomically;
use motes::pass::PASSES;
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long steps are remembered.
const KEPT: Duration = Duration::from_secs(30);

/// Steps of the last half minute.
#[derive(Default)]
pub struct History {
    samples: VecDeque<Sample>,
    /// The moment the graph stands still at.
    frozen: Option<(Instant, VecDeque<Sample>)>,
}

impl History {
    pub fn push(&mut self, sample: Sample) {
        self.samples.push_back(sample);
        let old = |s: &Sample| sample.at.saturating_duration_since(s.at) > KEPT;
        while self.samples.front().is_some_and(old) {
            self.samples.pop_front();
        }
    }

    pub fn clear(&mut self) {
        self.samples.clear();
        self.frozen = None;
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    pub fn toggle_freeze(&mut self) {
        self.frozen = match self.frozen {
            Some(_) => None,
            None => Some((Instant::now(), self.samples.clone())),
        };
    }

    /// The right end of the graph.
    pub fn now(&self) -> Instant {
        self.frozen.as_ref().map_or_else(Instant::now, |(at, _)| *at)
    }

    /// Steps to show, oldest first.
    pub fn shown(&self) -> &VecDeque<Sample> {
        self.frozen.as_ref().map_or(&self.samples, |(_, samples)| samples)
    }

    /// Steps that ended within the last `span`, live.
    pub fn latest(&self, span: Duration) -> impl Iterator<Item = &Sample> {
        let now = Instant::now();
        self.samples.iter().rev().take_while(move |s| now.saturating_duration_since(s.at) <= span)
    }

    /// Steps a second, mean milliseconds a step, and the share of the time spent in steps.
    pub fn pace(&self) -> (f32, f32, f32) {
        let span = Duration::from_secs(1);
        let (count, ms) = self.latest(span).fold((0u32, 0.0), |(n, ms), s| (n + 1, ms + s.wall_ms));
        let count = count as f32;
        (count, ms / count.max(1.0), (ms / 1e3).min(1.0))
    }

    /// Writes the shown steps, one a line.
    pub fn write_csv(&self, path: &Path) -> motes::Result<()> {
        let ran: Vec<Pass> = PASSES
            .iter()
            .map(|info| info.pass)
            .filter(|&pass| self.shown().iter().any(|s| s.ms[pass as usize] > 0.0))
            .collect();
        write_atomically(path, |out| {
            write!(out, "step,wall_ms,iterations,contacts")?;
            ran.iter().try_for_each(|pass| write!(out, ",{}_ms", pass.name()))?;
            writeln!(out)?;
            for s in self.shown() {
                write!(out, "{},{:.4},{},{}", s.step, s.wall_ms, s.iterations, s.contacts)?;
                ran.iter().try_for_each(|&pass| write!(out, ",{:.4}", s.ms[pass as usize]))?;
                writeln!(out)?;
            }
            Ok(())
        })
    }
}
