//! A step that begins on the CPU and is handed over to the device at a pass (`--gpu-from`), to find
//! the pass that goes wrong.

use super::layout::state as s;
use super::program::Turn;
use super::{Vulkan, lists};
use crate::cpu::Cpu;
use crate::error::{Error, Result};
use crate::pass::Buffer;
use crate::report::StepReport;
use crate::step::walk::{Run, walk};
use crate::step::{Condition, Dispatch, Pass, Schedule};
use crate::world::{ListId, ListKey, World};

impl Vulkan {
    /// Runs one dispatch about a list by itself, in a substep that begins now; `when_stale` with as many groups
    /// as the device counted.
    pub(super) fn run_one(
        &mut self,
        (list, dispatch): (ListId, &Dispatch),
        world: &World,
        renew: &[ListId],
        when_stale: bool,
    ) -> Result<()> {
        self.write_step(world, self.h, renew)?;
        let Some(plan) = self.plan.clone() else { return Ok(()) };
        let turn = Turn { substep: 0, list, dispatch: *dispatch, when_stale };
        self.prepare(&turn, &plan)?;
        let this = &*self;
        self.commands.once(|recorder| _ = this.dispatch(&turn, &plan, recorder))?;
        Ok(())
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
        // Whether a step sorts is not known before it begins, so that is no place to take over at.
        let passes = schedule.dispatches_if(|condition| condition != Condition::SortIsDue);
        if !passes.iter().any(|dispatch| dispatch.pass == from) {
            let passes = "`motes run` prints the passes of a scene";
            let why = format!("{} is not among the passes of this scene; {passes}", from.name());
            return Err(Error::value("gpu-from", why));
        }
        // The CPU's lists, and what it knows of contacts, are of an earlier step.
        cpu.forget();
        world.list_key = ListKey::default();
        world.lists.expire();
        let mut handover = Handover {
            cpu,
            vulkan: self,
            from,
            h,
            list: ListId::CONTACTS,
            device: false,
            begun: false,
            renew: Vec::new(),
        };
        walk(&mut handover, world, &schedule.nodes, h, report)?;
        let time = world.time;
        let times = std::mem::take(&mut report.passes);
        let (builds, iterations) = (report.list_builds, report.iterations);
        self.read_back()?;
        self.finish(world, schedule, h, true, report)?;
        (report.passes, report.list_builds, report.iterations) = (times, builds, iterations);
        world.time = time;
        // The passes of the CPU changed the world, and marked nothing.
        self.forget();
        self.list_keys = lists::keys(world).collect();
        Ok(())
    }

    /// Copies to where `finish` reads.
    fn read_back(&self) -> Result<()> {
        self.commands.once(|recorder| {
            recorder.barrier();
            self.copy_states(recorder);
            self.copy_particles(recorder);
            recorder.barrier();
        })?;
        Ok(())
    }
}

/// On the CPU up to a pass, on the device from there to the end of the step.
struct Handover<'a> {
    cpu: &'a mut Cpu,
    vulkan: &'a mut Vulkan,
    from: Pass,
    h: f32,
    /// The list that passes are about.
    list: ListId,
    /// Whether the device has taken over.
    device: bool,
    /// A substep has begun.
    begun: bool,
    /// Those of its lists that are to be made in any case.
    renew: Vec<ListId>,
}

impl Run for Handover<'_> {
    fn begin_substep(&mut self, world: &World, h: f32) {
        self.cpu.begin_substep(world, h);
        // The device may have taken over before the first, where they are yet to be made.
        if self.device && self.begun {
            self.renew.clear();
        }
        self.begun = true;
    }
    fn begin_list(&mut self, list: ListId) {
        self.list = list;
        self.cpu.begin_list(list);
    }
    fn list_is_stale(&self) -> bool {
        if !self.device {
            return self.cpu.list_is_stale();
        }
        let state = self.vulkan.download(self.vulkan.state_of(self.list), s::WORDS);
        state.is_ok_and(|state| state[s::STALE] != 0)
    }
    fn run(
        &mut self,
        dispatch: &Dispatch,
        world: &mut World,
        report: &mut StepReport,
    ) -> Result<()> {
        if !self.device && dispatch.pass == self.from {
            self.renew = lists::due(world);
            self.vulkan.load(world, &self.cpu.scratch, self.h, Some(dispatch))?;
            self.device = true;
        }
        if !self.device {
            return self.cpu.run(dispatch, world, report);
        }
        self.vulkan.run_one((self.list, dispatch), world, &self.renew, false)?;
        if dispatch.pass == Pass::SortParticles {
            let n = world.particles.len();
            let sorted = &self.vulkan.buffers[Buffer::Sorted as usize];
            let sorted = self.vulkan.download(sorted, 5 * n)?;
            world.reorder(&sorted[4 * n..]);
        }
        Ok(())
    }
}
