//! Bare solver iterations, one at a time: how fast a solver converges, apart from everything else
//! a step does.

use super::Engine;
use crate::cpu::team::{Shared, Team};
use crate::error::{Error, Result};
use crate::step::{Part, Pass, run};
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
    /// assert!((engine.positions()[0].x - 0.1).abs() < 1e-6);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn predict(&mut self) -> Result<()> {
        self.refuse_device()?;
        let schedule = self.schedule();
        let mut passes = schedule.begin.clone();
        passes.extend(schedule.predict.iter().filter(|d| d.pass == Pass::Predict));
        self.report.begin();
        let Engine { world, cpu, report, .. } = self;
        cpu.begin_substep(world, world.params.dt / world.params.substeps as f32);
        run(&passes, cpu, world, report)?;
        take_finite(&cpu.team, &mut world.particles);
        Ok(())
    }

    fn refuse_device(&self) -> Result<()> {
        self.world.params.check()?;
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
        let mut sweeps = self.schedule().iterate.clone();
        sweeps.retain(|d| match d.pass {
            Pass::SolveContacts | Pass::SolveEnvironment => false,
            Pass::ApplyDeltas => matches!(d.part, Part::Of(_)),
            _ => true,
        });
        self.report.begin();
        let Engine { world, cpu, report, .. } = self;
        world.particles.predicted.clone_from(&world.particles.position);
        world.distance.lambda.fill(0.0);
        world.bend.lambda.fill(0.0);
        world.volume.lambda.fill(0.0);
        world.pins.iter_mut().for_each(|pin| pin.lambda = 0.0);
        let h = world.params.dt / world.params.substeps as f32;
        {
            cpu.begin_substep(world, h);
            for _ in 0..count {
                let started = Instant::now();
                run(&sweeps, cpu, world, report)?;
                let ms = started.elapsed().as_secs_f64() * 1e3;
                report.iterations += 1;
                report.wall_ms += ms;
                take_finite(&cpu.team, &mut world.particles);
                if after(world, ms).is_break() {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Takes the predicted positions; a diverging sweep must not leave a world that no longer
/// validates, so what is not finite stays where it was. The team's work, so that the positions stay
/// with the worker that sweeps them.
fn take_finite(team: &Team, particles: &mut Particles) {
    let Particles { position, predicted, .. } = particles;
    let rows = (Shared::new(position), Shared::new(predicted));
    team.rows(rows, 512, |_, (position, predicted)| {
        if predicted.iter().fold(true, |all, p| all & p.is_finite()) {
            position.copy_from_slice(predicted);
            return;
        }
        for (x, p) in position.iter_mut().zip(predicted) {
            if p.is_finite() {
                *x = *p;
            } else {
                *p = *x;
            }
        }
    });
}
