//! Each pass alone on both backends, from the same state: what `tests/parity.rs` judges.

use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Result;
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::walk::{Run, walk};
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::encode::{self, Encoder, Listing, Traits};
use crate::vulkan::layout::state as s;
use crate::vulkan::{Shaders, Vulkan, WORKGROUP, built_in, lists};
use crate::world::{ListDescription, ListId, World};
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
    /// The name of the list that it was about; that of the contacts where it was about none.
    pub list: String,
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
pub struct SideBySide {
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
        std::fs::read(file).unwrap_or_else(|_| pass.module().to_vec())
    })
}

/// The built-in shaders, but for one pass.
pub fn shaders_with(pass: Pass, module: Vec<u8>) -> Shaders {
    Arc::new(move |p| if p == pass { module.clone() } else { p.module().to_vec() })
}

impl SideBySide {
    /// Opens the best device. Shaders are read from the folder that the environment variable
    /// `MOTES_SPIRV` names, if it does.
    pub fn open() -> Result<Self> {
        let shaders = match std::env::var_os("MOTES_SPIRV") {
            Some(folder) => shaders_from(folder),
            None => built_in(),
        };
        Self::with(shaders, WORKGROUP)
    }

    /// With given shaders and workgroups of a given size.
    pub fn with(shaders: Shaders, workgroup: u32) -> Result<Self> {
        Ok(SideBySide {
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
        let SideBySide { vulkan, spoiled, chained } = self;
        let chained = *chained;
        engine.step_with(dt, |cpu, world, schedule, h, report| {
            let mut both = Both { cpu, vulkan, spoiled, chained, wanted, judge, h };
            walk(&mut both, world, &schedule.nodes, h, report)
        })
    }
}

impl SideBySide {
    /// Steps an engine of the CPU; returns how many contacts the device counts where it ended.
    pub fn contacts(&mut self, engine: &mut Engine, dt: f32) -> Result<usize> {
        let mut count = 0;
        let counts = |d: &Dispatch| d.part == Part::Count;
        self.step(engine, dt, counts, |outcome| {
            let [_, _, device] = &outcome.state;
            count += device[s::CONTACTS] as usize;
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
    fn begin_list(&mut self, list: ListId) {
        self.cpu.begin_list(list);
    }
    fn list_is_stale(&self) -> bool {
        self.cpu.list_is_stale()
    }
    fn run(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        if dispatch.pass == Pass::Bounds {
            for &(slot, [x, y, z]) in self.spoiled {
                let row = &mut world.particles.predicted[slot];
                *row = Vec4::new(x, y, z, row.w);
            }
        }
        if !(self.wanted)(dispatch) {
            return self.cpu.run(dispatch, world, report);
        }
        let outcome = self.compare(dispatch, world, report)?;
        (self.judge)(&outcome);
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
        let (list, renew) = (cpu.scratch.list, lists::due(world));
        let mut attempts = 0;
        let (plan, state_device) = loop {
            if !follows {
                vulkan.load(world, &cpu.scratch, *h, Some(dispatch))?;
            }
            let Some(plan) = vulkan.plan.clone() else { unreachable!("it was just loaded") };
            vulkan.run_one((list, dispatch), world, &renew, follows)?;
            attempts += 1;
            let state = vulkan.download(vulkan.state_of(list), s::WORDS)?;
            let room = plan.room.clone().grown(list, &state);
            if follows || room == plan.room {
                break (plan, state);
            }
            vulkan.room = Some(room);
        };
        if !follows {
            vulkan.room = Some(plan.room.clone());
        }
        let plan = plan.for_list(list);
        let encoder = Encoder { world, scratch: &cpu.scratch, plan: &plan, h: *h, list };
        let written = dispatch.pass.info().writes;
        let before: Vec<_> = written.iter().map(|&b| encoder.words(b, Some(dispatch))).collect();
        let state_before = encoder.state();
        let traits = Traits::of(world, *h);
        let added = world.lists.get(list).map(|list| list.description.clone());
        let description = added.unwrap_or_else(|| ListDescription::contacts(&world.params));
        let listing = Listing { description: &description, renew: renew.contains(&list) };
        let globals = encode::globals(world, &plan, &traits, *h, &listing);

        let device: Vec<Vec<u32>> = written
            .iter()
            .map(|&b| vulkan.download(vulkan.buffer_of(list, b), plan.words(b)))
            .collect::<Result<_>>()?;

        cpu.run(dispatch, world, report)?;
        let encoder = Encoder { world, scratch: &cpu.scratch, plan: &plan, h: *h, list };
        let buffers = written
            .iter()
            .zip(before)
            .zip(device)
            .map(|((&buffer, before), device)| Words {
                buffer,
                before,
                cpu: encoder.words(buffer, Some(dispatch)),
                device,
            })
            .collect();
        Ok(Outcome {
            dispatch: *dispatch,
            list: description.name,
            particles: plan.particles,
            buffers,
            state: [state_before, encoder.state(), state_device],
            globals,
            workgroup: plan.workgroup as usize,
            attempts,
        })
    }
}
