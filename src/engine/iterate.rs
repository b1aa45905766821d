//! Bare solver iterations, one at a time: how fast a solver converges, apart from everything else
//! a step does.

use super::Engine;
use crate::cpu::team::{Shared, Team};
use crate::cpu::{self, Cpu};
use crate::error::{Error, Result};
use crate::step::walk::walk;
use crate::step::{Dispatch, Loop, Node, Part, Pass};
use crate::world::{Particles, World};
use std::ops::ControlFlow;
use std::time::Instant;

impl Engine {
    /// Takes the particles to where the next substep begins its iterations: constraints past their
    /// threshold break, forces act, and each particle moves along its velocity. No time passes.
    /// Contacts are left out, as in [`Engine::iterate`], which may go on from here.
    ///
    /// ```
    /// use motes::{Backend, Engine, Particle, Phase, World};
    /// let mut world = World::new();
    /// world.params.gravity = glam::Vec3::ZERO;
    /// let velocity = glam::Vec3::X * 6.0;
    /// let position = glam::Vec3::ZERO;
    /// let phase = Phase::group(1);
    /// world.add_particle(&Particle { position, velocity, mass: 1.0, radius: 0.1, phase })?;
    /// let mut engine = Engine::new(world, Backend::default())?;
    /// engine.predict()?;
    /// // A substep is a quarter of 1/60 s.
    /// assert!((engine.positions()[0].x - 6.0 / 240.0).abs() < 1e-6);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn predict(&mut self) -> Result<()> {
        self.refuse_device()?;
        self.guarded(Self::take_prediction)
    }

    fn take_prediction(&mut self) -> Result<()> {
        let wanted = |d: &Dispatch| matches!(d.pass, Pass::BreakConstraints | Pass::Predict);
        let passes = self.schedule().dispatches().into_iter().filter(wanted);
        let passes: Vec<Node> = passes.map(Node::Run).collect();
        self.report.begin();
        let Engine { world, cpu, report, .. } = self;
        let h = world.params.dt / world.params.substeps as f32;
        cpu.begin_step();
        cpu.begin_substep(world, h);
        let _visit = cpu.team.visit();
        walk(cpu, world, &passes, h, report)?;
        take_finite(&cpu.team, &mut world.particles);
        rebase(cpu, world);
        Ok(())
    }

    fn refuse_device(&mut self) -> Result<()> {
        self.check()?;
        match self.device() {
            None => Ok(()),
            Some(_) => Err(Error::value(
                "backend",
                "bare iterations run on the CPU only; make a second engine with Backend::Cpu",
            )),
        }
    }

    /// Runs up to `count` solver iterations over the constraints where the particles are now:
    /// nothing is predicted, no time passes and velocities stay. Contacts are left out, since their
    /// lists belong to a step. `after` sees the world after each iteration with the milliseconds
    /// that iteration took (not `after` itself), and may end the run.
    ///
    /// ```
    /// use motes::{Backend, Cloth, Engine, Kind, World};
    /// use std::ops::ControlFlow;
    /// let mut world = World::new();
    /// let cloth = world.add_cloth(&Cloth::default())?;
    /// world.set_position(cloth[0], glam::Vec3::Y)?;
    /// let before = world.residual(Kind::Distance);
    /// let mut engine = Engine::new(world, Backend::default())?;
    /// engine.iterate(10, |_, _| ControlFlow::Continue(()))?;
    /// assert!(engine.world().residual(Kind::Distance) < before);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn iterate(
        &mut self,
        count: u32,
        mut after: impl FnMut(&World, f64) -> ControlFlow<()>,
    ) -> Result<()> {
        self.refuse_device()?;
        self.guarded(|engine| engine.take_iterations(count, &mut after))
    }

    fn take_iterations(
        &mut self,
        count: u32,
        after: &mut dyn FnMut(&World, f64) -> ControlFlow<()>,
    ) -> Result<()> {
        let schedule = self.schedule();
        let nodes = |list: Vec<Dispatch>, wanted: fn(&Dispatch) -> bool| -> Vec<Node> {
            list.into_iter().filter(wanted).map(Node::Run).collect()
        };
        let begin = nodes(schedule.dispatches(), |d| d.part == Part::Begin);
        let sweeps = nodes(schedule.dispatches_in(Loop::Iterations), |d| match d.pass {
            Pass::SolveContacts | Pass::SolveEnvironment => false,
            Pass::ApplyDeltas => matches!(d.part, Part::Of(_)),
            _ => true,
        });
        self.report.begin();
        let Engine { world, cpu, report, .. } = self;
        world.particles.predicted.clone_from(&world.particles.start);
        world.clear_multipliers();
        let h = world.params.dt / world.params.substeps as f32;
        cpu.begin_substep(world, h);
        cpu.take_bases(world);
        walk(cpu, world, &begin, h, report)?;
        for _ in 0..count {
            let started = Instant::now();
            let visit = cpu.team.visit();
            walk(cpu, world, &sweeps, h, report)?;
            let ms = started.elapsed().as_secs_f64() * 1e3;
            report.iterations += 1;
            report.wall_ms += ms;
            take_finite(&cpu.team, &mut world.particles);
            // `after` is the host program's, which may wait for threads of its pool.
            drop(visit);
            if after(world, ms).is_break() {
                break;
            }
        }
        rebase(cpu, world);
        Ok(())
    }
}

/// As at the end of a step.
fn rebase(cpu: &mut Cpu, world: &mut World) {
    cpu::rebase::run(&cpu.team, world);
}

/// Takes the predicted positions; a diverging sweep must not leave a world that no longer
/// validates, so what is not finite stays where it was. The team's work, so that the positions stay
/// with the worker that sweeps them.
fn take_finite(team: &Team, particles: &mut Particles) {
    let Particles { start, predicted, .. } = particles;
    let rows = (Shared::new(start), Shared::new(predicted));
    team.rows(rows, 512, |_, (start, predicted)| {
        if predicted.iter().fold(true, |all, p| all & p.is_finite()) {
            start.copy_from_slice(predicted);
            return;
        }
        for (x, p) in start.iter_mut().zip(predicted) {
            if p.is_finite() {
                *x = *p;
            } else {
                *p = *x;
            }
        }
    });
}
