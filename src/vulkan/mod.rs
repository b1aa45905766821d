//! The Vulkan backend: the passes of the CPU, from hand-written SPIR-V. A step is one submission;
//! what the device decides (whether lists are stale, how many tiles there are) it keeps to itself.
//!
//! - `device` finds and opens a device, `memory` its buffers, `commands` what it is told to do;
//! - `layout` and `plan` say which word means what, and how large everything is;
//! - `stages` says what a dispatch of a pass is on the device, `record` puts a step together;
//! - `image` turns a world, or what the CPU's passes left, into words; `sync` brings them back.

mod commands;
mod device;
mod image;
pub mod layout;
mod memory;
pub mod parity;
mod pipelines;
mod plan;
mod record;
mod shaders;
mod stages;
mod sync;
#[cfg(test)]
mod tests;
#[doc(hidden)]
pub mod trial;

#[doc(hidden)]
pub use device::Loader;
pub use device::{DeviceInfo, DeviceKind, devices};
pub use pipelines::Shaders;

use crate::cpu::Scratch;
use crate::error::{Error, Result};
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::{Dispatch, Pass, Schedule};
use crate::world::constraints::OVERFLOW_COLOR;
use crate::world::{ListKey, Solver, World};
use ash::vk;
use commands::{Commands, Recorder, Sequence};
use device::Device;
use image::{Image, Traits};
use layout::state as s;
use memory::{DeviceBuffer, Memory, Place};
use pipelines::Pipelines;
use plan::{Plan, Room};
use record::{Size, Turn};
use stages::Stage;
use std::sync::Arc;

/// Invocations of a workgroup, unless a test asks for others.
const WORKGROUP: u32 = 64;
/// A step that keeps running out of room is given up after so many attempts: each at least doubles
/// nothing less than what was missing.
const ATTEMPTS: usize = 16;

/// Turns of a loop after which Mesa's lavapipe goes on as if it were done, and some less.
const LOOP: usize = 60_000;

/// Where in `read` the order of particles is.
const ORDER: usize = 2;

/// What a world is on the device; passes make the rest.
const KEPT: &[Buffer] = &[
    Buffer::Position,
    Buffer::Predicted,
    Buffer::Velocity,
    Buffer::Radius,
    Buffer::Phase,
    Buffer::Rest,
    Buffer::Distance,
    Buffer::Bend,
    Buffer::Volume,
    Buffer::Pins,
    Buffer::Colliders,
];

/// What a step changes and an attempt that ran out of room must give back.
const SAVED: [Buffer; 5] =
    [Buffer::Position, Buffer::Velocity, Buffer::Distance, Buffer::Bend, Buffer::Volume];

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
    /// Positions, then velocities, then the [`ORDER`] that particles were put in.
    read: Vec<DeviceBuffer>,
    commands: Commands,
    memory: Arc<Memory>,
    device: Arc<Device>,
    plan: Option<Plan>,
    traits: Option<Traits>,
    room: Option<Room>,
    workgroup: u32,
    /// Substeps of this length are loaded.
    h: f32,
    /// What the lists on the device were made for.
    list_key: Option<ListKey>,
    /// The world was edited: everything is loaded anew.
    edited: bool,
    /// Steps leave particles and constraints on the device until somebody fetches them.
    keep: bool,
    /// The device has taken steps that the world does not show.
    ahead: bool,
    /// How often particles were brought back.
    fetched: u64,
    /// Why the world could not be brought up to date before an edit; the next step tells.
    failed: Option<Error>,
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
    /// Dispatches of a step, were its lists stale in every substep.
    pub fn dispatches(&self) -> usize {
        self.0.recorded.as_ref().map_or(0, |r| r.dispatches)
    }
}

/// A step, ready to be submitted.
struct Recorded {
    schedule: Schedule,
    step: Sequence,
    /// Dispatches on the device.
    dispatches: usize,
}

impl Vulkan {
    /// Opens a device by number or name, or the best one.
    pub fn new(wanted: Option<&str>) -> Result<Self> {
        Self::with(wanted, built_in(), WORKGROUP)
    }

    /// With other shaders, or workgroups of another size.
    pub fn with(wanted: Option<&str>, shaders: Shaders, workgroup: u32) -> Result<Self> {
        Self::on(Device::open(wanted)?, shaders, workgroup)
    }

    /// On a device that is open.
    fn on(device: Device, shaders: Shaders, workgroup: u32) -> Result<Self> {
        let device = Arc::new(device);
        let memory = Memory::new(Arc::clone(&device))?;
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
            room: None,
            workgroup,
            h: 0.0,
            list_key: None,
            edited: true,
            keep: false,
            ahead: false,
            fetched: 0,
            failed: None,
        })
    }

    /// Whether steps leave particles and constraints on the device.
    pub fn keep(&mut self, keep: bool) {
        if self.keep != keep {
            self.keep = keep;
            self.recorded = None;
        }
    }

    /// The world is about to be edited: it is brought up to date, and loaded anew for the next step.
    pub fn edit(&mut self, world: &mut World) {
        self.failed = self.fetch(world).err();
        self.edited = true;
    }

    /// Another world took the place of the one on the device.
    pub fn forget(&mut self) {
        self.edited = true;
        self.ahead = false;
        self.failed = None;
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
            self.fetch(world)?;
            self.load(world, &Scratch::default(), h, None)?;
        }
        let mut sorts = world.sort_is_due() && !schedule.sort.is_empty();
        let mut renew = sorts || self.list_key != Some(ListKey::of(world));
        for _ in 0..ATTEMPTS {
            self.write_step(world, h, renew)?;
            self.record_step(world, schedule)?;
            let sorting = if sorts { self.record_sort(schedule)? } else { None };
            let Some(recorded) = &self.recorded else { break };
            let sorted = sorting.iter().map(|sorting| sorting.raw);
            self.commands.submit(&sorted.chain([recorded.step.raw]).collect::<Vec<_>>())?;
            if let Some(sorting) = sorting {
                self.take_order(world);
                sorting.times(report)?;
                sorts = false;
            }
            self.check_loops(world)?;
            if !self.ran_out() {
                self.list_key = Some(ListKey::of(world));
                return self.finish(world, schedule, h, !self.keep, report);
            }
            self.grow(world)?;
            renew = true;
        }
        Err(Error::TooLarge {
            what: "the lists of this step".into(),
            needed: "more room each time it was done again".into(),
            limit: "16 attempts were made; are the particles far too large or all in one place?"
                .into(),
        })
    }

    /// Loads the world; with what the CPU's passes left, if the device is to go on from there.
    fn load(
        &mut self,
        world: &World,
        scratch: &Scratch,
        h: f32,
        before: Option<&Dispatch>,
    ) -> Result<()> {
        // Until all of it is there.
        self.edited = true;
        let plan = Plan::of(world, self.room_for(world), self.workgroup).holding(scratch);
        self.check_size(&plan)?;
        self.lay(&plan)?;
        let image = Image { world, scratch, plan: &plan, h };
        let wanted = if before.is_some() { Buffer::ALL } else { KEPT };
        let words: Vec<_> = wanted.iter().map(|&b| image.words(b, before)).collect();
        let state = image.state();
        let mut loads: Vec<_> = wanted
            .iter()
            .zip(&words)
            .map(|(&b, words)| (&self.buffers[b as usize], &words[..]))
            .collect();
        loads.push((&self.state, &state));
        self.upload(&loads)?;
        self.traits = Some(Traits::of(world, h));
        self.plan = Some(plan);
        self.h = h;
        self.list_key = None;
        self.edited = false;
        Ok(())
    }

    /// Refuses what takes more workgroups than a dispatch may have.
    fn check_size(&self, plan: &Plan) -> Result<()> {
        let most = self.device.limits.max_compute_work_group_count[0] as usize;
        let rows = plan.rows.iter().map(|rows| rows.cap).max().unwrap_or(0);
        let items = plan.particles.max(rows);
        if items.div_ceil(self.workgroup as usize) <= most {
            return Ok(());
        }
        Err(Error::TooLarge {
            what: format!("the world on {}", self.device.name),
            needed: format!("{items} invocations at once"),
            limit: format!(
                "a dispatch there has {most} groups of {}; use fewer particles, or --backend cpu",
                self.workgroup
            ),
        })
    }

    /// Room that was found to be needed, as long as the number of particles is the same.
    fn room_for(&self, world: &World) -> Option<Room> {
        let same = self.plan.as_ref().is_some_and(|p| p.particles == world.particles.len());
        self.room.filter(|_| same)
    }

    /// Makes the buffers of a plan; those that have their size stay. Without memory for all of them
    /// everything does.
    fn lay(&mut self, plan: &Plan) -> Result<()> {
        let memory = &self.memory;
        let mut made = Vec::new();
        for (at, &buffer) in Buffer::ALL.iter().enumerate() {
            let words = plan.words(buffer).max(4);
            let place = match buffer {
                Buffer::Pins | Buffer::Colliders => Place::Written,
                _ => Place::Device,
            };
            if self.buffers.get(at).is_none_or(|old| old.words != words) {
                made.push((at, memory.buffer(&format!("{buffer:?}"), words, place)?));
            }
        }
        let saved = SAVED.map(|b| memory.buffer("saved", plan.words(b), Place::Device));
        let saved = saved.into_iter().collect::<Result<_>>()?;
        let words = layout::globals::FIELDS + layout::globals::FIELD * plan.forces;
        let globals = memory.buffer("globals", words, Place::Written)?;
        let (n, read) = (plan.particles, |words| memory.buffer("read", words, Place::Read));
        self.read = vec![read(4 * n)?, read(4 * n)?, read(n)?];
        (self.recorded, self.saved, self.globals) = (None, saved, Some(globals));
        for (at, new) in made {
            match self.buffers.get_mut(at) {
                Some(old) => *old = new,
                None => self.buffers.push(new),
            }
        }
        let Vulkan { pipelines, globals, state, buffers, .. } = self;
        pipelines.bind_all(|buffer, at| place_of(globals, state, buffers, buffer, at));
        Ok(())
    }

    /// Puts words into buffers of the device.
    fn upload(&self, loads: &[(&DeviceBuffer, &[u32])]) -> Result<()> {
        let total = loads.iter().map(|(_, words)| words.len()).sum();
        let mut staging = self.memory.buffer("staging", total, Place::Staging)?;
        let mut first = 0;
        for (_, words) in loads {
            staging.host_mut()[first..first + words.len()].copy_from_slice(words);
            first += words.len();
        }
        self.commands.once(|recorder| {
            let mut first = 0;
            for (buffer, words) in loads {
                recorder.copy_from((staging.raw, first), buffer.raw, words.len());
                first += words.len();
            }
            recorder.barrier();
        })
    }

    /// Gets the words of a buffer of the device.
    fn download(&self, buffer: &DeviceBuffer, words: usize) -> Result<Vec<u32>> {
        if words == 0 {
            return Ok(Vec::new());
        }
        let staging = self.memory.buffer("staging", words, Place::Read)?;
        self.commands.once(|recorder| {
            recorder.barrier();
            recorder.copy(buffer.raw, staging.raw, words);
            recorder.barrier();
        })?;
        Ok(staging.host()[..words].to_vec())
    }

    /// Writes what a step takes from the host: parameters, obstacles' poses, pins' targets.
    fn write_step(&mut self, world: &World, h: f32, renew: bool) -> Result<()> {
        let (Some(plan), Some(traits)) = (&self.plan, &self.traits) else { return Ok(()) };
        let words = image::globals(world, plan, traits, h, renew);
        if let Some(globals) = &mut self.globals {
            globals.host_mut()[..words.len()].copy_from_slice(&words);
        }
        if plan.colliders > 0 {
            let colliders = self.buffers[Buffer::Colliders as usize].host_mut();
            stages::environment::encode_step(world, h, &mut colliders[..plan.collider_words]);
        }
        if plan.pins > 0 {
            image::pin_targets(world, plan, h, self.buffers[Buffer::Pins as usize].host_mut());
        }
        Ok(())
    }

    /// Records the step unless it is recorded already.
    fn record_step(&mut self, world: &World, schedule: &Schedule) -> Result<()> {
        if self.recorded.as_ref().is_some_and(|r| r.schedule == *schedule) {
            return Ok(());
        }
        self.recorded = None;
        let Some(plan) = self.plan.clone() else { return Ok(()) };
        let turns = record::turns(schedule);
        let ending = record::ending(schedule, &plan);
        for turn in &turns {
            self.pipelines.require(turn.dispatch.pass)?;
            self.prepare(&record::work(turn, &plan))?;
        }
        self.prepare(&ending)?;
        let breakable = world.has_breakable();
        let step = self.commands.sequence(turns.iter().map(|turn| turn.dispatch.pass).collect())?;
        let this = &*self;
        let mut dispatches = 0;
        self.commands.record(step.raw, |recorder| {
            let (first, words) = (s::LIST_BUILDS, s::NEIGHBORS_USED - s::LIST_BUILDS);
            recorder.fill(this.state.raw, first, words);
            recorder.barrier();
            for (from, to, words) in this.kept(&plan, breakable) {
                recorder.copy(from, to, words);
            }
            recorder.barrier();
            step.begin(recorder);
            for (at, turn) in turns.iter().enumerate() {
                let work = record::work(turn, &plan);
                dispatches += work.len();
                this.dispatch(&work, &plan, turn, recorder);
                step.stamp(at + 1, recorder);
            }
            if let Some(last) = turns.last() {
                dispatches += ending.len();
                this.dispatch(&ending, &plan, &Turn { when_stale: false, ..*last }, recorder);
            }
            recorder.copy(this.state.raw, this.read_state.raw, s::WORDS);
            if !this.keep {
                this.copy_particles(plan.particles, recorder);
            }
            recorder.barrier();
            Ok(())
        })?;
        self.recorded = Some(Recorded { schedule: schedule.clone(), step, dispatches });
        Ok(())
    }

    /// Makes the pipelines of some stages.
    fn prepare(&mut self, work: &[(Pass, Stage)]) -> Result<()> {
        let Vulkan { pipelines, globals, state, buffers, .. } = self;
        for (pass, stage) in work {
            pipelines.prepare(*pass, stage, |b, at| place_of(globals, state, buffers, b, at))?;
        }
        Ok(())
    }

    /// Records stages, each with a barrier behind it.
    fn dispatch(&self, work: &[(Pass, Stage)], plan: &Plan, turn: &Turn, recorder: &Recorder) {
        for (pass, stage) in work {
            self.pipelines.record(*pass, stage, turn.substep, recorder);
            // SAFETY: the buffer is being recorded; indirect arguments lie inside `state`.
            unsafe {
                match record::size(stage.groups, plan, turn.when_stale) {
                    Size::Fixed(0) => {}
                    Size::Fixed(count) => recorder.device.cmd_dispatch(recorder.raw, count, 1, 1),
                    Size::Indirect(slot) => {
                        let offset = 4 * (s::ARGUMENTS as u64 + 3 * u64::from(slot));
                        recorder.device.cmd_dispatch_indirect(recorder.raw, self.state.raw, offset);
                    }
                }
            }
            recorder.barrier();
        }
    }

    /// What a step changes, where that is kept meanwhile, and how many words it has.
    fn kept<'a>(
        &'a self,
        plan: &'a Plan,
        breakable: bool,
    ) -> impl Iterator<Item = (vk::Buffer, vk::Buffer, usize)> + 'a {
        let changes =
            move |b: &Buffer| breakable || matches!(b, Buffer::Position | Buffer::Velocity);
        let buffers = SAVED.into_iter().zip(&self.saved).filter(move |(b, _)| changes(b));
        let buffers = buffers.map(|(b, to)| (self.buffers[b as usize].raw, to.raw, plan.words(b)));
        buffers.chain([(self.state.raw, self.saved_state.raw, s::WORDS)])
    }

    /// Some devices end a shader's loops after so many turns, and say nothing: where that may have
    /// happened the step is not taken.
    fn check_loops(&mut self, world: &World) -> Result<()> {
        let state = self.read_state.host();
        let (gave_up, serial) = (state[s::GAVE_UP] > 0, self.longest_loop(world, state));
        let cut = self.device.name.contains("llvmpipe") && serial > LOOP;
        if !gave_up && !cut {
            return Ok(());
        }
        self.restore(world)?;
        let (pass, remedy) = match gave_up {
            true => (
                "collide_environment",
                "there are too many triangles within a particle's reach: use --backend cpu, smaller particles or a coarser mesh",
            ),
            false => (
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
        let apart = state[s::APART] as usize;
        let rows = plan.rows.iter().map(|rows| match plan.solver {
            Solver::Seidel => rows.cap,
            _ => rows.colors.get(OVERFLOW_COLOR).map_or(0, ExactSizeIterator::len),
        });
        let pairs = match plan.solver {
            Solver::Seidel if world.may_touch() => {
                plan.particles + state[s::NEIGHBORS_USED] as usize
            }
            _ => 0,
        };
        rows.max().unwrap_or(0).max(apart).max(pairs)
    }

    /// Whether a list had no room.
    fn ran_out(&self) -> bool {
        self.read_state.host()[s::OVERFLOW_NEIGHBORS..=s::OVERFLOW_NODES].iter().any(|&w| w > 0)
    }

    /// Goes back to where the step began; its lists are gone.
    fn restore(&mut self, world: &World) -> Result<()> {
        self.list_key = None;
        let Some(plan) = &self.plan else { return Ok(()) };
        self.commands.once(|recorder| {
            for (to, from, words) in self.kept(plan, world.has_breakable()) {
                recorder.copy(from, to, words);
            }
            recorder.barrier();
        })
    }

    /// Makes room for what was counted, and half more, and goes back to where the step began.
    fn grow(&mut self, world: &World) -> Result<()> {
        let Some(mut plan) = self.plan.clone() else { return Ok(()) };
        plan.room = plan.room.grown(self.read_state.host());
        self.restore(world)?;
        self.lay(&plan)?;
        self.room = Some(plan.room);
        self.plan = Some(plan);
        Ok(())
    }
}

/// The shaders that come with the program.
fn built_in() -> Shaders {
    Arc::new(|pass| shaders::module(pass).map(<[u8]>::to_vec))
}

/// Where a buffer is: globals and state stand before the pass's own.
fn place_of(
    globals: &Option<DeviceBuffer>,
    state: &DeviceBuffer,
    buffers: &[DeviceBuffer],
    buffer: Option<Buffer>,
    at: usize,
) -> vk::Buffer {
    match (buffer, at) {
        (Some(buffer), _) => buffers[buffer as usize].raw,
        (None, 0) => globals.as_ref().map_or(state.raw, |g| g.raw),
        (None, _) => state.raw,
    }
}
