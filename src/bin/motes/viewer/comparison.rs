//! The same scene on every backend this machine has, for as many steps: what each pass takes, side
//! by side. Each runs a copy of the world, one after the other, on a thread of its own.

use super::backends;
use super::messages::Note;
use crate::commands::machine;
use crossbeam::channel::Sender;
use motes::pass::PASSES;
use motes::{Backend, Engine, Pass, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What one backend took.
pub struct Run {
    pub name: String,
    /// Median milliseconds of each pass that ran.
    pub ms: [f32; Pass::COUNT],
    pub wall_ms: f32,
}

/// Runs of the same steps.
pub struct Comparison {
    pub scene: String,
    pub steps: u32,
    pub runs: Vec<Run>,
}

impl Comparison {
    /// Passes that any of them ran, the costliest first.
    pub fn passes(&self) -> Vec<Pass> {
        let most = |pass: Pass| self.runs.iter().map(|r| r.ms[pass as usize]).fold(0.0, f32::max);
        let mut passes: Vec<Pass> =
            PASSES.iter().map(|info| info.pass).filter(|&pass| most(pass) > 0.0).collect();
        passes.sort_by(|a, b| most(*b).total_cmp(&most(*a)));
        passes
    }
}

/// The backends that are compared: the CPU with one worker and with all, and every device.
fn contenders(threads: usize) -> Vec<(String, Backend)> {
    let team = if threads > 1 { threads } else { machine::cores() };
    let mut all = vec![("cpu, 1 thread".to_string(), Backend::Cpu { threads: 1 })];
    if team > 1 {
        all.push((format!("cpu, {team} threads"), Backend::Cpu { threads: team }));
    }
    let others = backends::all().iter().filter(|choice| choice.name != "cpu");
    let here =
        others.filter_map(|choice| Some((choice.name.clone(), choice.make.as_ref().ok()?(team))));
    all.extend(here);
    all
}

/// Measures, and sends what came out. Once `stop` is set, the run that goes on is given up; those
/// that are done are sent.
pub fn measure(
    scene: &str,
    world: World,
    threads: usize,
    steps: u32,
    stop: Arc<AtomicBool>,
    notes: &Sender<Note>,
) {
    let (theirs, scene) = (notes.clone(), scene.to_string());
    let started = std::thread::Builder::new().name("comparison".into()).spawn(move || {
        let runs = contenders(threads)
            .into_iter()
            .map(|(name, backend)| run(name, world.clone(), backend, steps, &stop))
            .take_while(|run| !matches!(run, Ok(None)));
        let note = match runs.collect::<motes::Result<Vec<Option<Run>>>>() {
            Ok(runs) => {
                let runs = runs.into_iter().flatten().collect();
                Ok(Box::new(Comparison { scene, steps, runs }))
            }
            Err(error) => Err(format!("comparison: {error}")),
        };
        let _ = theirs.send(Note::Compared(note));
    });
    if let Err(error) = started {
        let _ = notes.send(Note::Compared(Err(format!("comparison: no thread: {error}"))));
    }
}

/// Nothing when it was stopped.
fn run(
    name: String,
    world: World,
    backend: Backend,
    steps: u32,
    stop: &AtomicBool,
) -> motes::Result<Option<Run>> {
    let mut engine = Engine::new(world, backend)?;
    engine.keep_on_device(true);
    let dt = engine.world().params.dt;
    let mut times = vec![Vec::new(); Pass::COUNT];
    let mut walls = Vec::new();
    for _ in 0..steps {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let report = engine.step(dt)?;
        walls.push(report.wall_ms as f32);
        report.passes.ran().for_each(|(pass, _, ms)| times[pass as usize].push(ms as f32));
    }
    let ms = std::array::from_fn(|pass| median(&mut times[pass]));
    Ok(Some(Run { name, ms, wall_ms: median(&mut walls) }))
}

fn median(values: &mut [f32]) -> f32 {
    values.sort_unstable_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::Cloth;

    fn compared(steps: u32, stop: bool) -> Box<Comparison> {
        // Devices are among those compared.
        #[cfg(feature = "vulkan")]
        motes::vulkan::harness::trial::usable();
        let mut world = World::new();
        world.add_cloth(&Cloth::default()).unwrap();
        let (send, told) = crossbeam::channel::unbounded();
        measure("cloth", world, 2, steps, Arc::new(AtomicBool::new(stop)), &send);
        let Ok(Note::Compared(Ok(compared))) = told.recv() else { panic!("nothing was compared") };
        compared
    }

    #[test]
    fn the_same_passes_run_for_any_team() {
        let compared = compared(5, false);
        assert_eq!(compared.runs.len(), contenders(2).len());
        assert!(compared.runs.len() >= 2);
        let passes = compared.passes();
        assert!(passes.contains(&Pass::SolveDistance) && passes.contains(&Pass::Predict));
        for run in &compared.runs {
            assert!(passes.iter().all(|&pass| run.ms[pass as usize] > 0.0) && run.wall_ms > 0.0);
        }
    }

    #[test]
    fn a_stopped_comparison_ends() {
        // As many steps would take weeks.
        assert!(compared(u32::MAX, true).runs.is_empty());
    }
}
