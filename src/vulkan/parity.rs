//! Each pass alone on both backends, from the same state: what `tests/parity.rs` judges, and what
//! `--gpu-from` bisects with.

use super::image::{self, Image, Traits};
use super::layout::state as s;
use super::record::{Turn, ending, work};
use super::{Shaders, Vulkan, WORKGROUP, shaders};
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::{Dispatch, Part, Pass, Run, Schedule, walk};
use crate::world::{ListKey, World};
use glam::Vec4;
use std::sync::Arc;

/// A buffer before a dispatch, and after it on both sides.
#[derive(Clone, Debug)]
pub struct Words {
    /// Which.
    pub buffer: Buffer,
    /// Before.
    pub before: Vec<u32>,
    /// After the CPU's pass.
    pub cpu: Vec<u32>,
    /// After the device's.
    pub device: Vec<u32>,
}

/// What a dispatch did on both sides.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The dispatch.
    pub dispatch: Dispatch,
    /// How many particles there are.
    pub particles: usize,
    /// The buffers it writes.
    pub buffers: Vec<Words>,
    /// `state` before, and after on both sides.
    pub state: [Vec<u32>; 3],
    /// `globals`.
    pub globals: Vec<u32>,
    /// Invocations of a workgroup.
    pub workgroup: usize,
    /// How often it ran on the device until its lists had room.
    pub attempts: usize,
}

impl Outcome {
    /// A buffer it writes.
    pub fn of(&self, buffer: Buffer) -> &Words {
        let found = self.buffers.iter().find(|w| w.buffer == buffer);
        found.unwrap_or_else(|| panic!("{} does not write {buffer:?}", self.dispatch))
    }
}

/// A device to compare with.
pub struct Twin {
    vulkan: Vulkan,
    /// Predictions of some slots, replaced before `bounds` on both sides: whatever a step would
    /// quarantine, so that lists meet it all the same.
    pub spoiled: Vec<(usize, [f32; 3])>,
    /// Dispatches behind `bounds` go on from what the device left, as in a step of its own.
    pub chained: bool,
}

/// Where the modules of other shaders lie: `NAME.spv` for each pass, the built-in ones else.
pub fn shaders_from(folder: impl Into<std::path::PathBuf>) -> Shaders {
    let folder = folder.into();
    Arc::new(move |pass| {
        let file = folder.join(format!("{}.spv", pass.name()));
        std::fs::read(file).ok().or_else(|| shaders::module(pass).map(<[u8]>::to_vec))
    })
}

/// The built-in shaders, but for one pass.
pub fn shaders_with(pass: Pass, module: Vec<u8>) -> Shaders {
    Arc::new(
        move |p| {
            if p == pass { Some(module.clone()) } else { shaders::module(p).map(<[u8]>::to_vec) }
        },
    )
}

impl Twin {
    /// Opens the best device. Shaders are read from the folder that the environment variable
    /// `MOTES_SPIRV` names, if it does.
    pub fn open() -> Result<Self> {
        let shaders = match std::env::var_os("MOTES_SPIRV") {
            Some(folder) => shaders_from(folder),
            None => super::built_in(),
        };
        Self::with(shaders, WORKGROUP)
    }

    /// With given shaders and workgroups of a given size.
    pub fn with(shaders: Shaders, workgroup: u32) -> Result<Self> {
        Ok(Twin {
            vulkan: Vulkan::with(None, shaders, workgroup)?,
            spoiled: Vec::new(),
            chained: false,
        })
    }

    /// What the validation layer said.
    pub fn messages(&self) -> Vec<String> {
        self.vulkan.device.messages()
    }

    /// Steps an engine of the CPU; every dispatch that `wanted` names is run on the device too, from
    /// the same state, and judged.
    pub fn step(
        &mut self,
        engine: &mut Engine,
        dt: f32,
        wanted: impl Fn(&Dispatch) -> bool,
        judge: impl FnMut(&Outcome),
    ) -> Result<()> {
        let Twin { vulkan, spoiled, chained } = self;
        let chained = *chained;
        engine.step_with(dt, |cpu, world, schedule, h, report| {
            let mut both = Both { cpu, vulkan, spoiled, chained, wanted, judge, h };
            walk(&mut both, world, schedule, h, report)
        })
    }
}

impl Twin {
    /// Steps an engine of the CPU; returns how many contacts the device counts where it ended.
    pub fn contacts(&mut self, engine: &mut Engine, dt: f32) -> Result<usize> {
        let (vulkan, mut count) = (&mut self.vulkan, 0);
        engine.step_with(dt, |cpu, world, schedule, h, report| {
            walk(cpu, world, schedule, h, report)?;
            let dispatch = Dispatch { pass: Pass::Sleep, part: Part::All };
            vulkan.load(world, &cpu.scratch, h, Some(&dispatch))?;
            vulkan.write_step(world, h, false)?;
            let Some(plan) = vulkan.plan.clone() else { return Ok(()) };
            let work = ending(schedule, &plan);
            vulkan.prepare(&work)?;
            let this = &*vulkan;
            let turn = Turn { substep: 0, dispatch, when_stale: false };
            this.commands.once(|recorder| this.dispatch(&work, &plan, &turn, recorder))?;
            count = this.download(&this.state, s::WORDS)?[s::CONTACTS] as usize;
            Ok(())
        })?;
        Ok(count)
    }
}

/// Runs dispatches on the CPU, and some on the device.
struct Both<'a, W, J> {
    cpu: &'a mut Cpu,
    vulkan: &'a mut Vulkan,
    spoiled: &'a [(usize, [f32; 3])],
    chained: bool,
    wanted: W,
    judge: J,
    h: f32,
}

impl<W: Fn(&Dispatch) -> bool, J: FnMut(&Outcome)> Run for Both<'_, W, J> {
    fn begin_substep(&mut self, world: &World, h: f32) {
        self.cpu.begin_substep(world, h);
    }
    fn lists_are_stale(&self) -> bool {
        self.cpu.lists_are_stale()
    }
    fn run(
        &mut self,
        dispatches: &[Dispatch],
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        for dispatch in dispatches {
            if dispatch.pass == Pass::Bounds {
                for &(slot, [x, y, z]) in self.spoiled {
                    let row = &mut world.particles.predicted[slot];
                    *row = Vec4::new(x, y, z, row.w);
                }
            }
            if (self.wanted)(dispatch) {
                let outcome = self.compare(dispatch, world, report)?;
                (self.judge)(&outcome);
            } else {
                self.cpu.run(dispatch, world, report)?;
            }
        }
        Ok(())
    }
}

impl<W, J> Both<'_, W, J> {
    fn compare(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<Outcome> {
        let Both { cpu, vulkan, h, chained, .. } = self;
        let follows = *chained && dispatch.pass != Pass::Bounds;
        let renew = ListKey::of(world) != world.list_key;
        let mut attempts = 0;
        let (plan, state_device) = loop {
            if !follows {
                vulkan.load(world, &cpu.scratch, *h, Some(dispatch))?;
            }
            let Some(plan) = vulkan.plan.clone() else { unreachable!("it was just loaded") };
            vulkan.run_one(dispatch, world, renew, follows)?;
            attempts += 1;
            let state = vulkan.download(&vulkan.state, s::WORDS)?;
            let room = plan.room.grown(&state);
            if follows || room == plan.room {
                break (plan, state);
            }
            vulkan.room = Some(room);
        };
        if !follows {
            vulkan.room = Some(plan.room);
        }
        let image = Image { world, scratch: &cpu.scratch, plan: &plan, h: *h };
        let written = dispatch.pass.info().writes;
        let before: Vec<_> = written.iter().map(|&b| image.words(b, Some(dispatch))).collect();
        let state_before = image.state();
        let traits = Traits::of(world, *h);
        let globals = image::globals(world, &plan, &traits, *h, renew);

        let device: Vec<Vec<u32>> = written
            .iter()
            .map(|&b| vulkan.download(&vulkan.buffers[b as usize], plan.words(b)))
            .collect::<Result<_>>()?;

        cpu.run(dispatch, world, report)?;
        let image = Image { world, scratch: &cpu.scratch, plan: &plan, h: *h };
        let buffers = written
            .iter()
            .zip(before)
            .zip(device)
            .map(|((&buffer, before), device)| Words {
                buffer,
                before,
                cpu: image.words(buffer, Some(dispatch)),
                device,
            })
            .collect();
        Ok(Outcome {
            dispatch: *dispatch,
            particles: plan.particles,
            buffers,
            state: [state_before, image.state(), state_device],
            globals,
            workgroup: plan.workgroup as usize,
            attempts,
        })
    }
}

impl Vulkan {
    /// Runs one dispatch by itself, in a substep that begins now; `when_stale` with as many groups
    /// as the device counted.
    fn run_one(
        &mut self,
        dispatch: &Dispatch,
        world: &World,
        renew: bool,
        when_stale: bool,
    ) -> Result<()> {
        self.write_step(world, self.h, renew)?;
        let Some(plan) = self.plan.clone() else { return Ok(()) };
        let turn = Turn { substep: 0, dispatch: *dispatch, when_stale };
        let work = work(&turn, &plan);
        self.pipelines.require(dispatch.pass)?;
        self.prepare(&work)?;
        let this = &*self;
        self.commands.once(|recorder| this.dispatch(&work, &plan, &turn, recorder))
    }

    /// A step whose passes before `from` run on the CPU; from there on, one submission a dispatch.
    pub(crate) fn step_from(
        &mut self,
        from: Pass,
        cpu: &mut Cpu,
        world: &mut World,
        schedule: &Schedule,
        h: f32,
        report: &mut StepReport,
    ) -> Result<()> {
        if !super::record::turns(schedule).iter().any(|turn| turn.dispatch.pass == from) {
            let passes = "`motes run` prints the passes of a scene";
            let why = format!("{} is not among the passes of this scene; {passes}", from.name());
            return Err(Error::value("gpu-from", why));
        }
        // The CPU's lists are of an earlier step; its own are made anew.
        world.list_key = ListKey::default();
        let mut late =
            Late { cpu, vulkan: self, from, h, device: false, begun: false, renew: false };
        walk(&mut late, world, schedule, h, report)?;
        let time = world.time;
        let times = std::mem::take(&mut report.passes);
        let (builds, iterations) = (report.list_builds, report.iterations);
        self.read_back(world)?;
        self.finish(world, schedule, h, true, report)?;
        (report.passes, report.list_builds, report.iterations) = (times, builds, iterations);
        world.time = time;
        self.edited = true;
        Ok(())
    }

    /// Copies to where `finish` reads.
    fn read_back(&self, world: &World) -> Result<()> {
        self.commands.once(|recorder| {
            recorder.barrier();
            recorder.copy(self.state.raw, self.read_state.raw, s::WORDS);
            self.copy_particles(world.particles.len(), recorder);
            recorder.barrier();
        })
    }
}

/// On the CPU up to a pass, on the device from there to the end of the step.
struct Late<'a> {
    cpu: &'a mut Cpu,
    vulkan: &'a mut Vulkan,
    from: Pass,
    h: f32,
    /// Whether the device has taken over.
    device: bool,
    /// A substep has begun.
    begun: bool,
    /// Its lists are to be made in any case.
    renew: bool,
}

impl Run for Late<'_> {
    fn begin_substep(&mut self, world: &World, h: f32) {
        self.cpu.begin_substep(world, h);
        // The device may have taken over before the first, where they are yet to be made.
        self.renew &= !(self.device && self.begun);
        self.begun = true;
    }
    fn lists_are_stale(&self) -> bool {
        if !self.device {
            return self.cpu.lists_are_stale();
        }
        let state = self.vulkan.download(&self.vulkan.state, s::WORDS);
        state.is_ok_and(|state| state[s::STALE] != 0)
    }
    fn run(
        &mut self,
        dispatches: &[Dispatch],
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        for dispatch in dispatches {
            let started = std::time::Instant::now();
            if !self.device && dispatch.pass == self.from {
                self.renew = ListKey::of(world) != world.list_key;
                self.vulkan.load(world, &self.cpu.scratch, self.h, Some(dispatch))?;
                self.device = true;
            }
            if self.device {
                self.vulkan.run_one(dispatch, world, self.renew, false)?;
                if dispatch.pass == Pass::SortParticles {
                    let n = world.particles.len();
                    let sorted = &self.vulkan.buffers[Buffer::Sorted as usize];
                    let sorted = self.vulkan.download(sorted, 5 * n)?;
                    world.reorder(&sorted[4 * n..]);
                }
            } else {
                self.cpu.run(dispatch, world, report)?;
            }
            report.passes.add(dispatch.pass, started.elapsed());
        }
        Ok(())
    }
}
