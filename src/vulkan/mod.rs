//! The Vulkan backend: the passes of the CPU, from hand-written SPIR-V. What the device decides
//! (whether lists are stale, how many tiles there are) it keeps to itself.
//!
//! - `device` chooses a device; [`gpu`](crate::gpu) opens it, and has its memory and commands;
//! - `layout` and `plan` say which word means what, and how large everything is;
//! - `stages` says what a dispatch of a pass is on the device;
//! - `program` turns the tree of a schedule into chunks, `chunk` records one of them, `recorded` puts
//!   a step together and has it done;
//! - `encode` turns a world, or what the CPU's passes left, into words; `load` brings the device what
//!   it lacks of them, `sync` brings back what steps changed.

mod chunk;
mod commands;
mod device;
mod encode;
mod handover;
#[cfg(any(test, feature = "harness"))]
pub mod harness;
pub mod layout;
mod lists;
mod load;
mod memory;
mod pipelines;
pub(crate) mod plan;
mod program;
mod recorded;
pub(crate) mod stages;
mod sync;
#[cfg(test)]
mod tests;

pub use crate::gpu::{DeviceInfo, DeviceKind};
pub use device::devices;
pub use pipelines::Shaders;

use crate::error::{Error, Result};
use crate::gpu::Device;
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::{Dispatch, Pass, Schedule};
use crate::table::Changes;
use crate::world::constraints::OVERFLOW_COLOR;
use crate::world::material::MaterialPairs;
use crate::world::{ListId, ListKey, Solver, World};
use commands::Commands;
use encode::Traits;
use layout::state as s;
use lists::DeviceList;
pub(crate) use lists::FetchedList;
use load::Loaded;
use memory::{DeviceBuffer, Memory, Place};
use pipelines::Pipelines;
use plan::{Plan, Room};
use recorded::Recorded;
use std::collections::HashMap;
use std::sync::Arc;

/// Invocations of a workgroup, unless a test asks for others.
const WORKGROUP: u32 = 64;
/// A step that keeps running out of room is given up after so many attempts. Each attempt has half
/// more room than the one before it was found to need.
const ATTEMPTS: usize = 16;

/// Turns of a loop after which Mesa's lavapipe goes on as if it were done, and some less.
const LOOP: usize = 60_000;

/// The Vulkan backend.
pub(crate) struct Vulkan {
    recorded: Option<Recorded>,
    pipelines: Pipelines,
    /// One a [`Buffer`], in its order; empty before the first step.
    buffers: Vec<DeviceBuffer>,
    saved: Vec<DeviceBuffer>,
    globals: Option<DeviceBuffer>,
    state: DeviceBuffer,
    saved_state: DeviceBuffer,
    read_state: DeviceBuffer,
    /// The columns that the world takes back, what contacts hold, the order that particles were put
    /// in.
    read: Vec<DeviceBuffer>,
    commands: Commands,
    memory: Memory,
    device: Arc<Device>,
    plan: Option<Plan>,
    traits: Option<Traits>,
    /// What materials give in contact, as it was last written.
    material_pairs: MaterialPairs,
    room: Option<Room>,
    workgroup: u32,
    /// Substeps of this length are loaded.
    h: f32,
    /// What each list on the device was made for.
    list_keys: HashMap<ListId, ListKey>,
    /// The lists that were added to the world.
    lists: Vec<DeviceList>,
    /// How often the list of contacts was made.
    contact_builds: u64,
    /// The world may have been edited: before the next step it is compared with what was loaded.
    edited: bool,
    /// What the device has of the world; `None` when it must be given everything.
    loaded: Option<Loaded>,
    /// Rows that the device lacks.
    missing: Changes,
    /// By buffer, and `globals` behind them: what the host wrote in place last.
    last_written: Vec<Vec<u32>>,
    /// Bytes that were given to the device.
    uploaded: u64,
    /// How often a step was recorded.
    recordings: u64,
    /// Steps leave particles and constraints on the device until somebody fetches them.
    keep: bool,
    /// The device has taken steps that the world does not show.
    ahead: bool,
    /// How often particles were brought back.
    fetched: u64,
    /// Why the world could not be brought up to date before an edit; the next step tells.
    failed: Option<Error>,
    /// A loop of more kernels is recorded once and done several times.
    unrolled: usize,
    /// What each submission of a step ran, once a test has asked for it.
    #[cfg(feature = "harness")]
    pub(crate) log: Option<Vec<Vec<chunk::Ran>>>,
}

/// What can be asked of the backend of an engine.
#[doc(hidden)]
pub struct View<'a>(pub(crate) &'a Vulkan);

impl View<'_> {
    /// What the validation layer said.
    pub fn messages(&self) -> Vec<String> {
        self.0.device.messages()
    }
    /// Bytes of device memory in use.
    pub fn bytes(&self) -> u64 {
        self.0.memory.bytes()
    }
    /// How often positions and velocities were brought back.
    pub fn fetched(&self) -> u64 {
        self.0.fetched
    }
    /// Bytes that were given to the device.
    pub fn uploaded(&self) -> u64 {
        self.0.uploaded
    }
    /// How often a step was recorded.
    pub fn recorded(&self) -> u64 {
        self.0.recordings
    }
    /// Kernels that a step runs, were its lists stale in every substep.
    pub fn dispatches(&self) -> usize {
        let Some(recorded) = &self.0.recorded else { return 0 };
        let counts = recorded.program.counts().into_iter();
        counts.zip(recorded.kernels()).map(|(plays, kernels)| plays as usize * kernels).sum()
    }
    /// Kernels that are recorded: no more than those of a step, and far fewer where long loops are
    /// recorded once.
    pub fn kernels(&self) -> usize {
        self.0.recorded.as_ref().map_or(0, |recorded| recorded.kernels().sum())
    }
}

/// The entry points that a device runs for a dispatch in a step of `world`, in order.
pub fn kernels(world: &World) -> impl Fn(&Dispatch) -> Vec<&'static str> {
    let plan = Plan::of(world, None, WORKGROUP);
    move |dispatch| program::kernels(dispatch, &plan).iter().map(|stage| stage.entry).collect()
}

impl Vulkan {
    /// Opens a device by number or name, or the best one.
    pub fn new(wanted: Option<&str>) -> Result<Self> {
        Self::with(wanted, built_in(), WORKGROUP)
    }

    /// With other shaders, or workgroups of another size.
    pub fn with(wanted: Option<&str>, shaders: Shaders, workgroup: u32) -> Result<Self> {
        Self::on(Arc::new(device::open(wanted)?), shaders, workgroup)
    }

    /// On a device that is open, and that others may use as well.
    pub fn shared(device: &Arc<Device>) -> Result<Self> {
        device::must_serve(&device.name, &device.refused)?;
        Self::on(Arc::clone(device), built_in(), WORKGROUP)
    }

    fn on(device: Arc<Device>, shaders: Shaders, workgroup: u32) -> Result<Self> {
        let memory = Memory::new(&device);
        let state = |place| memory.buffer("state", s::WORDS, place);
        Ok(Vulkan {
            recorded: None,
            pipelines: Pipelines::new(&device, shaders, workgroup)?,
            buffers: Vec::new(),
            saved: Vec::new(),
            globals: None,
            state: state(Place::Device)?,
            saved_state: state(Place::Device)?,
            read_state: state(Place::Read)?,
            read: Vec::new(),
            commands: Commands::new(&device)?,
            memory,
            device,
            plan: None,
            traits: None,
            material_pairs: MaterialPairs::default(),
            room: None,
            workgroup,
            h: 0.0,
            list_keys: HashMap::new(),
            lists: Vec::new(),
            contact_builds: 0,
            edited: true,
            loaded: None,
            missing: Changes::default(),
            last_written: vec![Vec::new(); Buffer::COUNT + 1],
            uploaded: 0,
            recordings: 0,
            keep: false,
            ahead: false,
            fetched: 0,
            failed: None,
            unrolled: program::UNROLLED,
            #[cfg(feature = "harness")]
            log: None,
        })
    }

    /// Whether steps leave particles and constraints on the device.
    pub fn keep(&mut self, keep: bool) {
        if self.keep != keep {
            self.keep = keep;
            self.recorded = None;
        }
    }

    /// The world is about to be edited: it is brought up to date. Returns whether it had to be.
    pub fn edit(&mut self, world: &mut World) -> bool {
        self.edited = true;
        let fetched = self.fetch(world);
        self.failed = None;
        fetched.unwrap_or_else(|error| {
            self.failed = Some(error);
            false
        })
    }

    /// Another world took the place of the one on the device, or changed in ways that nobody marked.
    pub fn forget(&mut self) {
        self.edited = true;
        self.loaded = None;
        self.ahead = false;
        self.failed = None;
    }

    /// The next step loads the whole world, though the device may have it; its lists stay.
    #[cfg(any(test, feature = "harness"))]
    pub fn reload(&mut self) {
        self.edited = true;
        load::marked(crate::table::Mark::Loaded).for_each(|b| self.missing.mark_whole(b));
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
    /// What the driver calls the device.
    pub fn name(&self) -> &str {
        &self.device.name
    }
    /// Advances the world by the substeps of `schedule`, `h` seconds each.
    pub fn step(
        &mut self,
        world: &mut World,
        schedule: &Schedule,
        h: f32,
        report: &mut StepReport,
    ) -> Result<()> {
        if world.params.until_residual > 0.0 || world.params.budget_ms > 0.0 {
            return Err(Error::value(
                "until_residual, budget_ms",
                "iterations that end early are for the CPU: a step on the device is one piece; set both to 0, or use --backend cpu",
            ));
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.edited || h != self.h {
            self.bring(world, h)?;
        }
        let mut sorts = world.sort_is_due()
            && schedule.dispatches().iter().any(|d| d.pass == Pass::SortParticles);
        let mut all = sorts;
        for _ in 0..ATTEMPTS {
            let holds = |&(id, key): &(ListId, ListKey)| self.list_keys.get(&id) == Some(&key);
            let due = lists::keys(world).filter(|list| all || !holds(list));
            let due: Vec<ListId> = due.map(|(id, _)| id).collect();
            self.write_step(world, h, &due)?;
            self.record_step(world, schedule, sorts)?;
            self.submit_step(sorts)?;
            if sorts {
                self.take_order(world);
                self.recorded.as_ref().map_or(Ok(()), |recorded| recorded.sort_times(report))?;
                sorts = false;
            }
            self.check_loops(world)?;
            if !self.ran_out() {
                // The lists know which constraints broke, but not who was quarantined since.
                let particles = world.particle_revision;
                self.finish(world, schedule, h, !self.keep, report)?;
                let keys = lists::keys(world).map(|(id, key)| (id, key.with_particles(particles)));
                self.list_keys = keys.collect();
                return Ok(());
            }
            self.grow(world)?;
            all = true;
        }
        Err(Error::TooLarge {
            what: "the lists of this step".into(),
            needed: "more room each time it was done again".into(),
            limit: "16 attempts were made; are the particles far too large or all in one place?"
                .into(),
        })
    }

    /// Some devices end a shader's loops after so many turns, and say nothing: where that may have
    /// happened the step is not taken.
    fn check_loops(&mut self, world: &World) -> Result<()> {
        let state = self.read_state.host();
        let (gave_up, serial) = (state[s::GAVE_UP], self.longest_loop(world, state));
        let cut = self.device.name.contains("llvmpipe") && serial > LOOP;
        if gave_up == 0 && !cut {
            return Ok(());
        }
        self.restore(world)?;
        let (pass, remedy) = match gave_up {
            1 => (
                "collide_environment",
                "there are too many triangles within a particle's reach: use --backend cpu, smaller particles or a coarser mesh",
            ),
            2 => (
                "collide_points",
                "there are too many vertices within the reach of cloth: use --backend cpu, or a coarser mesh",
            ),
            3 => ("solve_bodies", "there are too many contacts of rigid bodies: use --backend cpu"),
            4 => (
                "body_contacts",
                "there are too many particles at the surfaces of rigid bodies: use --backend cpu, or larger particles",
            ),
            5 => (
                "color_bodies",
                "there are too many rigid bodies near each other: use --backend cpu",
            ),
            _ => (
                "what is solved in a row",
                "use --backend cpu, or a solver that works side by side, such as colored",
            ),
        };
        let what = format!("{} ends loops of {pass} before they are done", self.name());
        Err(device::failed(what, remedy))
    }

    /// Turns of the longest loop in which one invocation solves row after row.
    fn longest_loop(&self, world: &World, state: &[u32]) -> usize {
        let Some(plan) = &self.plan else { return 0 };
        let far_pairs = state[s::FAR_PAIRS] as usize;
        let rows = plan.sets.iter().map(|rows| match plan.solver {
            Solver::Seidel => rows.cap,
            _ => rows.colors.get(OVERFLOW_COLOR).map_or(0, ExactSizeIterator::len),
        });
        let pairs = match plan.solver {
            Solver::Seidel if world.may_touch() => {
                plan.particles + state[s::NEIGHBORS_USED] as usize
            }
            _ => 0,
        };
        rows.max().unwrap_or(0).max(far_pairs).max(pairs)
    }
}

/// The shaders that come with the program.
fn built_in() -> Shaders {
    Arc::new(|pass| pass.module().to_vec())
}
