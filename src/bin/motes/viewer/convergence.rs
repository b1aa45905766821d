//! How the residual of each kind of constraint falls over the iterations of the running scene: a
//! copy of the world is taken to where the next substep would begin its iterations, and swept.

use super::messages::Note;
use crossbeam::channel::Sender;
use motes::{Backend, Engine, Kind, ParticleId, Solver, World};
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

fn sweep(mut world: World, iterations: u32) -> motes::Result<Curve> {
    predict(&mut world)?;
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|&kind| world.count(kind) > 0).collect();
    let mut curve = Curve {
        step: world.step_count(),
        solver: world.params.solver,
        kinds: kinds.iter().map(|&kind| (kind, vec![world.residual(kind)])).collect(),
        ms: 0.0,
    };
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 })?;
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

/// Moves the free particles as the pass `predict` would, without force fields.
fn predict(world: &mut World) -> motes::Result<()> {
    let h = world.params.dt / world.params.substeps as f32;
    let gravity = world.params.gravity;
    let p = world.particles();
    let moves: Vec<_> = (0..p.len())
        .filter(|&slot| p.positions()[slot].w > 0.0)
        .map(|slot| {
            let velocity = p.velocities()[slot].truncate() + gravity * h;
            (ParticleId(p.ids()[slot]), p.positions()[slot].truncate() + velocity * h)
        })
        .collect();
    moves.into_iter().try_for_each(|(id, position)| world.set_position(id, position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::Cloth;

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
}
