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
use std::time::{Duration, Instant};

/// How often a run that goes on tells how far it is.
const EVERY: Duration = Duration::from_millis(100);

/// What one backend took.
#[derive(Clone)]
pub struct Run {
    pub name: String,
    /// Median milliseconds of each pass that ran.
    pub ms: [f32; Pass::COUNT],
    pub wall_ms: f32,
}

/// Runs of the same steps.
#[derive(Default)]
pub struct Comparison {
    pub scene: String,
    pub steps: u32,
    /// Those that are done.
    pub runs: Vec<Run>,
    /// The one that goes on; none at the end.
    pub going: Option<Going>,
}

/// How far a comparison is.
#[derive(Clone, Debug)]
pub struct Going {
    pub name: String,
    /// Steps it has taken.
    pub step: u32,
    /// How many backends are done, of how many.
    pub done: usize,
    pub of: usize,
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

/// Measures, and sends what is known by then again and again. Once `stop` is set, the run that goes
/// on is given up; those that are done stay.
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
        let contenders = contenders(threads);
        let of = contenders.len();
        let mut runs = Vec::new();
        let tell = |runs: &[Run], going: Option<Going>| {
            let (scene, runs) = (scene.clone(), runs.to_vec());
            let known = Comparison { scene, steps, runs, going };
            let _ = theirs.send(Note::Compared(Ok(Box::new(known))));
        };
        for (name, backend) in contenders {
            let done = runs.len();
            let going = |step| tell(&runs, Some(Going { name: name.clone(), step, done, of }));
            match run(&name, world.clone(), backend, steps, &stop, going) {
                Ok(Some(run)) => runs.push(run),
                Ok(None) => break,
                // The others can be compared all the same.
                Err(error) => {
                    let why = format!("comparison, {name}: {error}");
                    let _ = theirs.send(Note::Compared(Err(why)));
                }
            }
        }
        tell(&runs, None);
    });
    if let Err(error) = started {
        let _ = notes.send(Note::Compared(Err(format!("comparison: no thread: {error}"))));
        let _ = notes.send(Note::Compared(Ok(Box::default())));
    }
}

/// Nothing when it was stopped. Tells now and then how many steps it has taken.
fn run(
    name: &str,
    world: World,
    backend: Backend,
    steps: u32,
    stop: &AtomicBool,
    going: impl Fn(u32),
) -> motes::Result<Option<Run>> {
    going(0);
    let mut told = Instant::now();
    let mut engine = Engine::new(world, backend)?;
    engine.keep_on_device(true);
    let dt = engine.world().params.dt;
    let mut times = vec![Vec::new(); Pass::COUNT];
    let mut walls = Vec::new();
    for step in 0..steps {
        if told.elapsed() >= EVERY {
            told = Instant::now();
            going(step);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let report = engine.step(dt)?;
        walls.push(report.wall_ms as f32);
        report.passes.ran().for_each(|(pass, _, ms)| times[pass as usize].push(ms as f32));
    }
    let ms = std::array::from_fn(|pass| median(&mut times[pass]));
    Ok(Some(Run { name: name.into(), ms, wall_ms: median(&mut walls) }))
}

fn median(values: &mut [f32]) -> f32 {
    values.sort_unstable_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::Cloth;

    /// All that is told, in order.
    fn told(steps: u32, stop: bool) -> Vec<Comparison> {
        // Devices are among those compared.
        #[cfg(feature = "vulkan")]
        motes::vulkan::harness::trial::usable();
        let mut world = World::new();
        world.add_cloth(&Cloth::default()).unwrap();
        let (send, told) = crossbeam::channel::unbounded();
        measure("cloth", world, 2, steps, Arc::new(AtomicBool::new(stop)), &send);
        let mut all = Vec::new();
        while all.last().is_none_or(|last: &Comparison| last.going.is_some()) {
            let Ok(Note::Compared(Ok(compared))) = told.recv() else { panic!("no comparison") };
            all.push(*compared);
        }
        all
    }

    #[test]
    fn the_same_passes_run_for_any_team() {
        let told = told(5, false);
        let all = contenders(2).len();
        // Each one is told of before it begins, with those that are done.
        for (k, (name, _)) in contenders(2).into_iter().enumerate() {
            let begun = |c: &&Comparison| c.going.as_ref().is_some_and(|g| g.name == name);
            let begun = told.iter().find(begun).unwrap();
            assert_eq!((begun.runs.len(), begun.going.as_ref().unwrap().of), (k, all), "{name}");
        }
        let compared = told.last().unwrap();
        assert_eq!(compared.runs.len(), all);
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
        assert!(told(u32::MAX, true).last().unwrap().runs.is_empty());
    }
}
