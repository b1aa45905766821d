//! What only tests ask of an engine, behind the feature `harness`.

use super::Engine;
use crate::step::{Dispatch, Schedule};

/// What a backend ran: each dispatch and, on a device, the entry points of its shader.
pub type Log = Vec<(Dispatch, Vec<&'static str>)>;

#[doc(hidden)]
impl Engine {
    /// From now on the engine remembers what it runs.
    pub fn start_log(&mut self) {
        self.cpu.log = Some(Vec::new());
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &mut self.vulkan {
            vulkan.log = Some(Vec::new());
        }
    }

    /// What was run since the log was started or taken last. A step on a device is a list for each
    /// attempt: one that ran out of room is done again.
    pub fn take_log(&mut self) -> Vec<Log> {
        #[cfg(feature = "vulkan")]
        if let Some(log) = self.vulkan.as_mut().and_then(|vulkan| vulkan.log.as_mut()) {
            return std::mem::take(log);
        }
        let log = self.cpu.log.as_mut().map(std::mem::take).unwrap_or_default();
        vec![log.into_iter().map(|dispatch| (dispatch, Vec::new())).collect()]
    }

    /// The schedule of the next step, to be spoiled.
    pub fn schedule_mut(&mut self) -> &mut Schedule {
        self.schedule();
        &mut self.schedule
    }

    /// By slot, the multiplier that the last iteration on the CPU gave to a particle of fluid, kg m²; 0 for
    /// solids.
    pub fn fluid_multipliers(&self) -> impl Iterator<Item = f32> + '_ {
        self.cpu.scratch.fluid.lambdas.iter().map(|row| row.w)
    }

    /// A step on the CPU that `walk_it` takes, for those who look at every dispatch.
    #[cfg(feature = "vulkan")]
    pub(crate) fn step_with(
        &mut self,
        dt: f32,
        walk_it: impl FnOnce(
            &mut crate::cpu::Cpu,
            &mut crate::World,
            &Schedule,
            f32,
            &mut crate::StepReport,
        ) -> crate::Result<()>,
    ) -> crate::Result<()> {
        self.schedule();
        self.report.begin();
        let Engine { world, cpu, schedule, report, .. } = self;
        let h = dt / world.params.substeps as f32;
        cpu.begin_step();
        walk_it(cpu, world, schedule, h, report)?;
        world.step_count += 1;
        cpu.finish_step(world, report);
        Ok(())
    }
}
