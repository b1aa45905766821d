//! A world on a backend, and what may be asked of it between two steps.

use crate::cpu::Cpu;
use crate::cpu::team::Team;
use crate::error::{Error, Result};
use crate::report::StepReport;
#[cfg(feature = "vulkan")]
use crate::step::Pass;
use crate::step::walk::walk;
use crate::step::{Crowd, Schedule, schedule};
#[cfg(feature = "vulkan")]
use crate::vulkan::Vulkan;
use crate::world::{ConstraintRows, Kind, ListId, Params, Plumbing, Stamp, World};
use glam::Vec4;
use rayon::ThreadPool;
use std::sync::Arc;
use std::time::Instant;

mod compression;
#[cfg(feature = "harness")]
mod harness;
mod iterate;
mod legal;
mod neighbors;
mod quality;
#[cfg(feature = "vulkan")]
mod shared;

pub use compression::Compression;
pub use neighbors::{Neighbor, NeighborList};
pub use quality::{Quality, Residual};

/// Where the passes run. Two pools are equal when they are one and the same.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// This machine's processor; 0 threads means one per core.
    Cpu {
        /// Worker threads, the one that calls [`Engine::step`] among them.
        threads: usize,
    },
    /// This machine's processor, with the threads of a pool that the host program uses as well.
    ///
    /// The thread that calls [`Engine::step`] works too, be it one of the pool's or not. Those of
    /// the pool that are free help it, and go back to the pool when the step is done; a step never
    /// waits for one that has not come. The results are the same, bit for bit, as with any other
    /// number of threads. Calling them in takes rayon a few microseconds and an allocation or more
    /// a step, which [`Backend::Cpu`] does not have: its threads wait for nothing else.
    ///
    /// ```
    /// use motes::{Backend, Cloth, Engine, World};
    /// use std::sync::Arc;
    /// let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build()?);
    /// let mut world = World::new();
    /// world.add_cloth(&Cloth { columns: 100, rows: 100, ..Cloth::default() })?;
    /// let mut engine = Engine::new(world, Backend::CpuPool { pool: Arc::clone(&pool) })?;
    /// engine.step(1.0 / 60.0)?;
    /// // The program's own work runs on the same threads between the steps.
    /// let sum: usize = pool.install(|| (0..1000usize).sum());
    /// # assert_eq!(sum, 499_500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    CpuPool {
        /// The pool.
        pool: Arc<ThreadPool>,
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

impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Backend::Cpu { threads: a }, Backend::Cpu { threads: b }) => a == b,
            (Backend::CpuPool { pool: a }, Backend::CpuPool { pool: b }) => Arc::ptr_eq(a, b),
            #[cfg(feature = "vulkan")]
            (
                Backend::Vulkan { device: a, from: first },
                Backend::Vulkan { device: b, from: second },
            ) => a == b && first == second,
            _ => false,
        }
    }
}
impl Eq for Backend {}

impl Default for Backend {
    fn default() -> Self {
        Backend::Cpu { threads: 0 }
    }
}

/// A world and what it takes to step it.
///
/// An engine may be sent to another thread, and several engines may be stepped in several threads
/// at once; one engine is stepped by one thread at a time. It has worker threads of its own unless
/// it was given a pool. A process that forks takes none of them along: in the child, an engine of
/// the parent must not be stepped. Make a new one there, from a snapshot if need be.
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
    plumbing: Plumbing,
    /// The revision of the particles that the neighbour lists are of, once they are made.
    listed_for: Option<u64>,
    legality: legal::Legality,
    /// Marks the world this engine stepped; see [`Engine::adopt`].
    me: Arc<()>,
    steps: u64,
    /// Length of the last substep, s; 0 before the first.
    h: f32,
}

/// Everything [`schedule`] depends on, cheap to compare.
struct ScheduleKey {
    params: Params,
    /// The revision of the particles, and what of them matters.
    particles: u64,
    crowd: Crowd,
    rows: [u64; Kind::SETS.len()],
    pins: usize,
    colliders: usize,
    /// Those that blow on surfaces.
    winds: usize,
    /// Pairs of particles, and particles with obstacles.
    bounce: [bool; 2],
    lists: Vec<ListId>,
}

impl Engine {
    /// Takes a world to a backend. Fails when the world is not legal.
    pub fn new(world: World, backend: Backend) -> Result<Self> {
        world.validate()?;
        let team = match &backend {
            Backend::Cpu { threads } => Team::new(*threads)?,
            Backend::CpuPool { pool } => Team::on_pool(Arc::clone(pool))?,
            // Beside a device, only passes that stay on the CPU need more than this thread.
            #[cfg(feature = "vulkan")]
            Backend::Vulkan { from, .. } => Team::new(if from.is_some() { 0 } else { 1 })?,
        };
        #[cfg(feature = "vulkan")]
        let (vulkan, from) = match backend {
            Backend::Vulkan { device, from } => {
                (Some(Box::new(Vulkan::new(device.as_deref())?)), from)
            }
            _ => (None, None),
        };
        Ok(Engine {
            world,
            cpu: Cpu::new(team),
            #[cfg(feature = "vulkan")]
            vulkan,
            #[cfg(feature = "vulkan")]
            from,
            schedule: Schedule::default(),
            scheduled_for: None,
            report: StepReport::default(),
            plumbing: Plumbing::default(),
            listed_for: None,
            legality: legal::Legality::default(),
            me: Arc::new(()),
            steps: 0,
            h: 0.0,
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
        if self.vulkan.as_mut().is_some_and(|vulkan| vulkan.edit(&mut self.world)) {
            self.mark_as_new();
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
        if let Some(vulkan) = &mut self.vulkan
            && vulkan.fetch(&mut self.world)?
        {
            self.mark_as_new();
        }
        Ok(())
    }
    /// The world changed without a step: a copy made before is another world.
    #[cfg(feature = "vulkan")]
    fn mark_as_new(&mut self) {
        self.steps += 1;
        self.world.stamp.step = self.steps;
    }
    /// The next step gives the device the whole world, whether or not it changed.
    #[cfg(all(feature = "vulkan", any(test, feature = "harness")))]
    #[doc(hidden)]
    pub fn reload(&mut self) {
        if let Some(vulkan) = &mut self.vulkan {
            vulkan.reload();
        }
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
    /// Worker threads on this machine's processor, the calling one among them. A device needs no
    /// more than that one, unless passes stay on the CPU.
    pub fn threads(&self) -> usize {
        self.cpu.team.threads()
    }
    /// Caches and schedule belong to the world of the last step. `world_mut` may have put another
    /// in its place, with the same revisions: then they are made anew.
    fn adopt(&mut self) {
        if !self.is_ours() {
            self.legality.is_new = true;
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
        self.world.choose_rigid();
        let w = &self.world;
        let key = self.scheduled_for.as_ref();
        let rows = w.sets.all().map(ConstraintRows::revision);
        let bounce = [w.materials_bounce(), w.walls_may_bounce()];
        let same = key.is_some_and(|k| {
            k.params == w.params
                && (k.particles == w.particle_revision || k.crowd.is_still_that_of(w))
                && k.rows == rows
                && k.pins == w.pins.len()
                && k.colliders == w.colliders.len()
                && k.winds == w.surface_winds().count()
                && k.bounce == bounce
                && k.lists.iter().copied().eq(w.lists.iter().map(|list| list.id))
        });
        if let Some(key) = self.scheduled_for.as_mut().filter(|_| same) {
            key.particles = w.particle_revision;
        }
        if !same {
            self.schedule = schedule(w);
            self.scheduled_for = Some(ScheduleKey {
                params: w.params.clone(),
                particles: w.particle_revision,
                crowd: Crowd::of(w),
                rows,
                pins: w.pins.len(),
                colliders: w.colliders.len(),
                winds: w.surface_winds().count(),
                bounce,
                lists: w.lists.iter().map(|list| list.id).collect(),
            });
        }
        &self.schedule
    }

    /// Advances the world by `dt` seconds.
    ///
    /// # Errors
    /// When `dt`, a parameter, a force, a material or a collider is not legal, or another world that
    /// was put in place of this one; nothing has changed then. When lists grow beyond what memory
    /// holds: the step ended half-way, and the world is best taken back from a copy or a snapshot.
    /// When an earlier step panicked and the program caught it ([`Error::HalfWay`]): the engine
    /// cannot go on.
    pub fn step(&mut self, dt: f32) -> Result<&StepReport> {
        if !(dt.is_finite() && (1e-6..=1.0).contains(&dt)) {
            return Err(Error::value("dt", format!("{dt} s is not legal; expected 1e-6 to 1")));
        }
        self.check()?;
        self.world.drive_skeletons(dt / self.world.params.substeps as f32)?;
        self.guarded(|engine| engine.take_step(dt))?;
        Ok(&self.report)
    }

    fn take_step(&mut self, dt: f32) -> Result<()> {
        let started = Instant::now();
        self.report.begin();
        self.flow()?;
        self.schedule();
        self.legality.is_new = false;
        self.listed_for = None;
        let h = dt / self.world.params.substeps as f32;
        self.h = h;
        self.report.broad_phase = self.schedule.broad_phase;
        #[cfg(feature = "vulkan")]
        if self.vulkan.is_some() {
            self.step_on_device(h)?;
            self.report.wall_ms = started.elapsed().as_secs_f64() * 1e3;
            self.listed_for = Some(self.world.particle_revision);
            return Ok(());
        }
        let Engine { world, cpu, schedule, report, .. } = self;
        cpu.team.clear_busy();
        cpu.begin_step();
        let _visit = cpu.team.visit();
        if let Err(error) = walk(cpu, world, &schedule.nodes, h, report) {
            // What contacts hold may be of lists that were given up.
            cpu.forget();
            return Err(error);
        }
        world.step_count += 1;
        cpu.finish_step(world, report);
        let wall = started.elapsed();
        report.wall_ms = wall.as_secs_f64() * 1e3;
        report.workers.gather(&cpu.team, &report.passes, wall);
        self.listed_for = Some(self.world.particle_revision);
        Ok(())
    }

    /// Lets particles go and come, where they are on the host. What a device kept is fetched first.
    fn flow(&mut self) -> Result<()> {
        if !self.world.has_taps() {
            return Ok(());
        }
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &mut self.vulkan {
            vulkan.fetch(&mut self.world)?;
        }
        let flow = self.world.flow(&mut self.plumbing);
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = self.vulkan.as_mut().filter(|_| flow.emitted + flow.sunk > 0) {
            vulkan.edit(&mut self.world);
        }
        let StepReport { emitted, sunk, waiting, .. } = &mut self.report;
        (*emitted, *sunk, *waiting) = (flow.emitted, flow.sunk, flow.waiting);
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
