//! A world on a backend, and what may be asked of it between two steps.

use crate::cpu::Cpu;
use crate::error::{Error, Result};
use crate::report::StepReport;
#[cfg(feature = "vulkan")]
use crate::step::Pass;
use crate::step::{Schedule, schedule, walk};
#[cfg(feature = "vulkan")]
use crate::vulkan::Vulkan;
use crate::world::{Params, Stamp, World};
use glam::Vec4;
use std::sync::Arc;
use std::time::Instant;

mod iterate;

/// Where the passes run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// This machine's processor; 0 threads means one per core.
    Cpu {
        /// Worker threads.
        threads: usize,
    },
    /// A Vulkan device.
    #[cfg(feature = "vulkan")]
    Vulkan {
        /// Its number or a part of its name; the best one when none is given.
        device: Option<String>,
        /// Passes before this one of each step run on the CPU, to find a pass that goes wrong.
        from: Option<Pass>,
    },
}

impl Default for Backend {
    fn default() -> Self {
        Backend::Cpu { threads: 0 }
    }
}

/// A world and what it takes to step it.
///
/// ```
/// use motes::{Backend, Cloth, Engine, World};
/// let mut world = World::new();
/// let cloth = world.add_cloth(&Cloth::default())?;
/// world.pin(cloth[0])?;
/// let mut engine = Engine::new(world, Backend::default())?;
/// for _ in 0..60 {
///     engine.step(1.0 / 60.0)?;
/// }
/// assert!(engine.world().position(cloth[100]).unwrap().y < 0.0);
/// # Ok::<(), motes::Error>(())
/// ```
pub struct Engine {
    world: World,
    cpu: Cpu,
    #[cfg(feature = "vulkan")]
    vulkan: Option<Box<Vulkan>>,
    /// On a device, passes before this one run on the CPU.
    #[cfg(feature = "vulkan")]
    from: Option<Pass>,
    schedule: Schedule,
    /// What the schedule was made from.
    scheduled_for: Option<ScheduleKey>,
    report: StepReport,
    /// Marks the world this engine stepped; see [`Engine::adopt`].
    me: Arc<()>,
    steps: u64,
}

/// Everything [`schedule`] depends on, cheap to compare.
#[derive(Clone, PartialEq)]
struct ScheduleKey {
    params: Params,
    revisions: [u64; 4],
    pins: usize,
    restitution: Vec<Option<f32>>,
}

impl Engine {
    /// Takes a world to a backend. Fails when the world is not legal.
    pub fn new(world: World, backend: Backend) -> Result<Self> {
        world.validate()?;
        let threads = match backend {
            Backend::Cpu { threads } => threads,
            #[cfg(feature = "vulkan")]
            Backend::Vulkan { .. } => 0,
        };
        #[cfg(feature = "vulkan")]
        let (vulkan, from) = match backend {
            Backend::Cpu { .. } => (None, None),
            Backend::Vulkan { device, from } => {
                (Some(Box::new(Vulkan::new(device.as_deref())?)), from)
            }
        };
        Ok(Engine {
            world,
            cpu: Cpu::new(threads)?,
            #[cfg(feature = "vulkan")]
            vulkan,
            #[cfg(feature = "vulkan")]
            from,
            schedule: Schedule::default(),
            scheduled_for: None,
            report: StepReport::default(),
            me: Arc::new(()),
            steps: 0,
        })
    }

    /// The world as it is now. After [`keep_on_device`](Engine::keep_on_device) its particles and
    /// constraints are as they were when last [fetched](Engine::fetch).
    pub fn world(&self) -> &World {
        &self.world
    }
    /// The world, to edit between two steps. What a device kept is fetched first; if that fails, the
    /// next step says so.
    pub fn world_mut(&mut self) -> &mut World {
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &mut self.vulkan {
            vulkan.edit(&mut self.world);
        }
        &mut self.world
    }
    /// Gives the world back, as [`world`](Engine::world) shows it.
    pub fn into_world(self) -> World {
        self.world
    }
    /// On a device: whether steps leave particles and constraints there instead of copying them to
    /// the world each time. [`fetch`](Engine::fetch) brings them when somebody wants to look. On the
    /// CPU, where the world is at hand, it does nothing.
    pub fn keep_on_device(&mut self, keep: bool) {
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &mut self.vulkan {
            vulkan.keep(keep);
        }
        #[cfg(not(feature = "vulkan"))]
        let _ = keep;
    }
    /// Brings the world up to date with a device that kept the last steps to itself.
    ///
    /// # Errors
    /// When the device is lost: particles and constraints are as they were when last fetched, while
    /// time and the count of steps are as of the last step.
    pub fn fetch(&mut self) -> Result<()> {
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &mut self.vulkan {
            vulkan.fetch(&mut self.world)?;
        }
        Ok(())
    }
    #[cfg(test)]
    pub(crate) fn scratch(&self) -> &crate::cpu::Scratch {
        &self.cpu.scratch
    }
    /// Positions by slot: [x, y, z, inverse mass], as [`world`](Engine::world) has them. Steps may put particles in another order;
    /// [`Particles::slot`](crate::world::Particles::slot) tells where one is now.
    pub fn positions(&self) -> &[Vec4] {
        self.world.particles.positions()
    }
    /// What the last step did.
    pub fn report(&self) -> &StepReport {
        &self.report
    }
    /// What the driver calls the device that steps this world; `None` on the CPU.
    pub fn device(&self) -> Option<&str> {
        #[cfg(feature = "vulkan")]
        return self.vulkan.as_ref().map(|v| v.name());
        #[cfg(not(feature = "vulkan"))]
        None
    }
    /// The Vulkan backend, where one steps this world.
    #[cfg(feature = "vulkan")]
    #[doc(hidden)]
    pub fn vulkan(&self) -> Option<crate::vulkan::View<'_>> {
        self.vulkan.as_deref().map(crate::vulkan::View)
    }
    /// Worker threads in use.
    pub fn threads(&self) -> usize {
        self.cpu.team.threads()
    }
    /// Caches and schedule belong to the world of the last step. `world_mut` may have put another
    /// in its place, with the same revisions: then they are made anew.
    fn adopt(&mut self) {
        let stamp = &self.world.stamp;
        let ours = stamp.engine.as_ref().is_some_and(|e| Arc::ptr_eq(e, &self.me));
        if !(ours && stamp.step == self.steps) {
            self.cpu.forget();
            self.scheduled_for = None;
            #[cfg(feature = "vulkan")]
            if let Some(vulkan) = &mut self.vulkan {
                vulkan.forget();
            }
        }
        self.steps += 1;
        self.world.stamp = Stamp { engine: Some(Arc::clone(&self.me)), step: self.steps };
    }

    /// The passes of the next step.
    pub fn schedule(&mut self) -> &Schedule {
        self.adopt();
        self.world.commit();
        let w = &self.world;
        let key = self.scheduled_for.as_ref();
        let revisions =
            [w.particle_revision, w.distance.revision(), w.bend.revision(), w.volume.revision()];
        let same = key.is_some_and(|k| {
            k.params == w.params
                && k.revisions == revisions
                && k.pins == w.pins.len()
                && k.restitution.iter().copied().eq(w.colliders.iter().map(|c| c.restitution))
        });
        if !same {
            self.schedule = schedule(w);
            self.scheduled_for = Some(ScheduleKey {
                params: w.params.clone(),
                revisions,
                pins: w.pins.len(),
                restitution: w.colliders.iter().map(|c| c.restitution).collect(),
            });
        }
        &self.schedule
    }

    /// Advances the world by `dt` seconds.
    ///
    /// # Errors
    /// When `dt`, a parameter or a force is not legal; nothing has changed then. When lists grow
    /// beyond what memory holds: the step ended half-way, and the world is best taken back from
    /// a copy or a snapshot.
    pub fn step(&mut self, dt: f32) -> Result<&StepReport> {
        if !(dt.is_finite() && (1e-6..=1.0).contains(&dt)) {
            return Err(Error::value("dt", format!("{dt} s is not legal; expected 1e-6 to 1")));
        }
        self.world.params.check()?;
        for force in &self.world.forces {
            force.validate("force")?;
        }
        self.schedule();
        self.report.begin();
        let started = Instant::now();
        let h = dt / self.schedule.substeps as f32;
        self.report.broad_phase = self.schedule.broad_phase;
        #[cfg(feature = "vulkan")]
        if self.vulkan.is_some() {
            self.step_on_device(h)?;
            self.report.wall_ms = started.elapsed().as_secs_f64() * 1e3;
            return Ok(&self.report);
        }
        let Engine { world, cpu, schedule, report, .. } = self;
        cpu.team.clear_busy();
        walk(cpu, world, schedule, h, report)?;
        world.step_count += 1;
        cpu.finish_step(world, report);
        let wall = started.elapsed();
        report.wall_ms = wall.as_secs_f64() * 1e3;
        report.workers.gather(&cpu.team, &report.passes, wall);
        Ok(&self.report)
    }

    /// A step on the CPU that `walk_it` takes, for those who look at every dispatch.
    #[cfg(feature = "vulkan")]
    pub(crate) fn step_with(
        &mut self,
        dt: f32,
        walk_it: impl FnOnce(&mut Cpu, &mut World, &Schedule, f32, &mut StepReport) -> Result<()>,
    ) -> Result<()> {
        self.schedule();
        self.report.begin();
        let Engine { world, cpu, schedule, report, .. } = self;
        walk_it(cpu, world, schedule, dt / schedule.substeps as f32, report)?;
        world.step_count += 1;
        cpu.finish_step(world, report);
        Ok(())
    }

    #[cfg(feature = "vulkan")]
    fn step_on_device(&mut self, h: f32) -> Result<()> {
        let Engine { world, cpu, vulkan, from, schedule, report, .. } = self;
        let Some(vulkan) = vulkan else { return Ok(()) };
        match from {
            Some(from) => vulkan.step_from(*from, cpu, world, schedule, h, report)?,
            None => vulkan.step(world, schedule, h, report)?,
        }
        world.step_count += 1;
        Ok(())
    }
}
