//! How the residual of each kind of constraint falls over the iterations of the running scene: a
//! copy of the world is taken to where the next substep would begin its iterations, and swept.

use super::messages::Note;
use crossbeam::channel::Sender;
use motes::{Backend, Engine, Kind, Solver, World};
use std::ops::ControlFlow;

/// Residuals over iterations; index 0 is before the first.
pub struct Curve {
    pub step: u64,
    pub solver: Solver,
    /// Kinds the world has, with the summed |C| after each iteration.
    pub kinds: Vec<(Kind, Vec<f64>)>,
    /// Milliseconds an iteration took, the mean.
    pub ms: f64,
}

/// Measures on a thread of its own and sends the curve, so that neither window nor physics waits.
pub fn measure(world: World, iterations: u32, notes: &Sender<Note>) {
    let theirs = notes.clone();
    let started = std::thread::Builder::new().name("convergence".into()).spawn(move || {
        let note = match sweep(world, iterations) {
            Ok(curve) => Note::Curve(Box::new(curve)),
            Err(error) => Note::error(format!("convergence: {error}")),
        };
        let _ = theirs.send(note);
    });
    if let Err(error) = started {
        let _ = notes.send(Note::error(format!("convergence: no thread: {error}")));
    }
}

fn sweep(world: World, iterations: u32) -> motes::Result<Curve> {
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 })?;
    engine.predict()?;
    let world = engine.world();
    let kinds = Kind::ALL.into_iter().filter(|&kind| world.count(kind) > 0);
    let mut curve = Curve {
        step: world.step_count(),
        solver: world.params.solver,
        kinds: kinds.map(|kind| (kind, vec![world.residual(kind)])).collect(),
        ms: 0.0,
    };
    engine.iterate(iterations, |world, ms| {
        curve.ms += ms;
        for (kind, residuals) in &mut curve.kinds {
            residuals.push(world.residual(*kind));
        }
        ControlFlow::Continue(())
    })?;
    curve.ms /= f64::from(iterations.max(1));
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::Cloth;
    use motes::world::{Force, ForceKind};

    #[test]
    fn the_residual_of_a_pulled_cloth_shrinks() {
        let mut world = World::new();
        world.params.gravity = glam::Vec3::ZERO;
        let cloth = world.add_cloth(&Cloth::default()).unwrap();
        world.set_position(cloth[0], glam::Vec3::Y).unwrap();
        let curve = sweep(world, 30).unwrap();
        assert_eq!(curve.kinds.len(), 1);
        let residuals = &curve.kinds[0].1;
        assert_eq!(residuals.len(), 31);
        assert!(residuals[0] > 0.0 && residuals[30] < 0.7 * residuals[0], "{residuals:?}");
    }

    /// The curve ends where the step itself ends: its last residual is the engine's own.
    #[test]
    fn the_curve_of_a_step_ends_at_the_residual_of_that_step() {
        let mut world = World::new();
        // The curve is that of a substep.
        world.params.substeps = 1;
        let cloth = world.add_cloth(&Cloth::default()).unwrap();
        world.pin(cloth[0]).unwrap();
        let kind = ForceKind::Wind { velocity: glam::Vec3::new(3.0, 0.0, 4.0), drag: 0.02 };
        world.forces.push(Force { kind, region: None });
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        for _ in 0..20 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let iterations = engine.world().params.iterations;
        let curve = sweep(engine.world().clone(), iterations).unwrap();
        engine.step(engine.world().params.dt).unwrap();
        let (end, own) =
            (curve.kinds[0].1[iterations as usize], engine.world().residual(Kind::Distance));
        assert!((end - own).abs() < 1e-6 * own, "{end} and {own}");
        // The control: without the wind it is another curve.
        let mut calm = engine.world().clone();
        calm.forces.clear();
        let other = sweep(calm, iterations).unwrap().kinds[0].1[0];
        assert!((other / curve.kinds[0].1[0] - 1.0).abs() > 1e-3);
    }
}
