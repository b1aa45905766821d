//! How evenly a step's work was shared out.

use crate::cpu::team::{BUSY_ROWS, Team};
use crate::pass::PASSES;
use crate::report::PassTimes;
use crate::step::Pass;
use std::time::Duration;

/// How long each worker was busy in the last step, pass by pass. The rest of the pass's wall time
/// it waited for the others, or slept because there was nothing to share out.
///
/// Worker 0 is the thread that called: what it does alone, in a pass or between passes, is its
/// busy time. With more workers than cores, a worker that the system holds up looks busy.
/// Empty after [`crate::Engine::iterate`].
///
/// ```
/// use motes::{Backend, Cloth, Engine, Pass, World};
/// let mut world = World::new();
/// world.add_cloth(&Cloth { columns: 100, rows: 100, ..Cloth::default() })?;
/// let mut engine = Engine::new(world, Backend::Cpu { threads: 2 })?;
/// let report = engine.step(1.0 / 60.0)?;
/// for worker in 0..report.workers.len() {
///     let share = report.workers.busy_ms(worker) / report.wall_ms;
///     let sweeps = report.workers.busy_ms_in(worker, Pass::SolveDistance);
///     println!("worker {worker}: busy {:.0} %, {sweeps:.2} ms of it sweeping", 100.0 * share);
/// }
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workers {
    /// By worker; a row for each pass and one for what lies between them.
    busy: Vec<[Duration; BUSY_ROWS]>,
}

impl Workers {
    /// How many workers there are.
    pub fn len(&self) -> usize {
        self.busy.len()
    }
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.busy.is_empty()
    }
    /// How long a worker was busy in all, ms; 0 if there is no such worker.
    pub fn busy_ms(&self, worker: usize) -> f64 {
        let rows = self.busy.get(worker).map_or(&[][..], |rows| rows);
        ms(rows.iter().sum())
    }
    /// How long a worker was busy in a pass, ms.
    pub fn busy_ms_in(&self, worker: usize, pass: Pass) -> f64 {
        self.row(worker, pass as usize)
    }
    /// How long a worker was busy between passes, ms: sizing arrays, counting contacts.
    pub fn between_ms(&self, worker: usize) -> f64 {
        self.row(worker, Pass::COUNT)
    }
    /// The passes a worker had a part in, in order: pass, ms.
    pub fn passes(&self, worker: usize) -> impl Iterator<Item = (Pass, f64)> + '_ {
        let all = PASSES.iter().map(move |info| (info.pass, self.busy_ms_in(worker, info.pass)));
        all.filter(|&(_, ms)| ms > 0.0)
    }

    fn row(&self, worker: usize, row: usize) -> f64 {
        self.busy.get(worker).map_or(0.0, |rows| ms(rows[row]))
    }

    pub(super) fn clear(&mut self) {
        self.busy.clear();
    }
    /// Takes what the team noted since the step began, `wall` ago.
    pub(crate) fn gather(&mut self, team: &Team, passes: &PassTimes, wall: Duration) {
        let mut rows = [Duration::ZERO; BUSY_ROWS];
        rows[..Pass::COUNT].copy_from_slice(&passes.time);
        rows[Pass::COUNT] = wall.saturating_sub(passes.time.iter().sum());
        self.busy.clear();
        self.busy.extend(team.busy(&rows));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use crate::{Backend, Cloth, Engine, Pass, World};

    fn cloth(threads: usize) -> Engine {
        let mut world = World::new();
        world.add_cloth(&Cloth { columns: 100, rows: 100, ..Cloth::default() }).unwrap();
        Engine::new(world, Backend::Cpu { threads }).unwrap()
    }

    #[test]
    fn nobody_is_busier_than_the_clock_and_the_caller_does_what_others_do_not() {
        for threads in [1, 2, 3] {
            let mut engine = cloth(threads);
            let mut helped = false;
            for _ in 0..20 {
                let report = engine.step(1.0 / 60.0).unwrap();
                let workers = &report.workers;
                assert_eq!(workers.len(), threads);
                let mut busy = 0.0;
                for worker in 0..threads {
                    for (pass, _, wall) in report.passes.ran() {
                        let ms = workers.busy_ms_in(worker, pass);
                        assert!(ms <= wall, "{worker} in {}: {ms} of {wall}", pass.name());
                    }
                    let in_passes: f64 = workers.passes(worker).map(|(_, ms)| ms).sum();
                    let in_all = workers.busy_ms(worker);
                    assert!((in_passes + workers.between_ms(worker) - in_all).abs() < 1e-6);
                    busy += in_all;
                }
                // To the nanosecond that a duration is rounded to.
                assert!(busy <= threads as f64 * report.wall_ms + 1e-6);
                assert!(workers.busy_ms(0) > 0.0);
                helped |= (1..threads).any(|w| workers.busy_ms_in(w, Pass::SolveDistance) > 0.0);
                if threads == 1 {
                    assert!((busy - report.wall_ms).abs() < 1e-6);
                }
            }
            assert_eq!(helped, threads > 1);
        }
    }

    #[test]
    fn a_pass_that_never_ran_shows_nothing_and_who_has_nothing_to_do_shows_zero() {
        let mut engine = cloth(2);
        let workers = &engine.step(1.0 / 60.0).unwrap().workers;
        for worker in 0..2 {
            assert_eq!(workers.busy_ms_in(worker, Pass::SolveContacts), 0.0);
            assert!(workers.passes(worker).all(|(pass, _)| pass != Pass::SolveContacts));
        }
        assert_eq!(workers.busy_ms(2), 0.0);

        // One block each: nothing to share out.
        let mut world = World::new();
        world.add_cloth(&Cloth { columns: 5, rows: 5, ..Cloth::default() }).unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        let report = engine.step(1.0 / 60.0).unwrap();
        assert_eq!(report.workers.busy_ms(1), 0.0);
        assert_eq!(report.workers.passes(1).count(), 0);
        assert!((report.workers.busy_ms(0) - report.wall_ms).abs() < 1e-6);
    }
}
