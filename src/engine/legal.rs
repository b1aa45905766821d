//! What is checked before anything runs: that the world is legal, and that the engine is whole.

use super::Engine;
use crate::error::{Error, Result};
use crate::world::{Collider, Sink};
use std::sync::Arc;

/// What an engine knows of its world's legality.
#[derive(Default)]
pub(super) struct Legality {
    /// The colliders as they were when last found legal.
    colliders: Vec<Collider>,
    /// The sinks, likewise.
    sinks: Vec<Sink>,
    /// The world was put in place of another since it was last looked at.
    pub is_new: bool,
    /// Passes run, or ran until one of them panicked: then worlds, lists and device may not belong
    /// together.
    pub is_half_way: bool,
}

impl Engine {
    /// Whether this is the world of the last step, perhaps edited, and not one put in its place.
    pub(super) fn is_ours(&self) -> bool {
        let stamp = &self.world.stamp;
        let ours = stamp.engine.as_ref().is_some_and(|e| Arc::ptr_eq(e, &self.me));
        ours && stamp.step == self.steps
    }

    /// Refuses an engine that a panic left half-way, and a world that an edit made illegal. Methods
    /// of a world check by themselves; what is left are the public fields, and another world.
    pub(super) fn check(&mut self) -> Result<()> {
        if self.legality.is_half_way {
            return Err(Error::HalfWay);
        }
        if self.legality.is_new || !self.is_ours() {
            self.world.validate()?;
            self.legality.colliders.clone_from(&self.world.colliders);
            self.legality.sinks.clone_from(&self.world.sinks);
            self.legality.is_new = false;
            return Ok(());
        }
        self.world.params.check()?;
        for force in &self.world.forces {
            force.validate("force")?;
        }
        let (known, now) = (&mut self.legality.sinks, &self.world.sinks);
        if known.len() != now.len() || !known.iter().zip(now).all(|(a, b)| a.is_same(b)) {
            self.world.check_sinks()?;
            known.clone_from(now);
        }
        self.world.check_materials()?;
        self.check_colliders()
    }

    /// Looks at those colliders that are not as they were.
    fn check_colliders(&mut self) -> Result<()> {
        let (known, now) = (&mut self.legality.colliders, &self.world.colliders);
        let is_same =
            |i: usize, collider| known.get(i).is_some_and(|k: &Collider| k.is_same(collider));
        let Some(first) = now.iter().enumerate().position(|(i, c)| !is_same(i, c)) else {
            known.truncate(now.len());
            return Ok(());
        };
        for (i, collider) in now.iter().enumerate().skip(first) {
            if !is_same(i, collider) {
                collider.validate(&format!("collider.{i}"))?;
            }
        }
        known.truncate(first);
        known.extend_from_slice(&now[first..]);
        Ok(())
    }

    /// Runs passes. If one of them panics and the host program catches it, the engine is of no use
    /// any more and says so.
    pub(super) fn guarded<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.legality.is_half_way = true;
        let done = run(self);
        self.legality.is_half_way = false;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Cloth, World};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// An engine whose next step panics in a pass: a constraint speaks of a particle that is not
    /// there.
    fn broken(threads: usize) -> Engine {
        let mut world = World::new();
        world.add_cloth(&Cloth::default()).unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads }).unwrap();
        engine.step(0.01).unwrap();
        engine.world.particles.position.truncate(3);
        engine
    }

    #[test]
    fn after_a_panic_that_was_caught_the_engine_only_says_so() {
        for threads in [1, 2] {
            let mut engine = broken(threads);
            let panicked = catch_unwind(AssertUnwindSafe(|| engine.step(0.01).is_ok()));
            assert!(panicked.is_err(), "this step must panic for the test to mean anything");
            for _ in 0..2 {
                assert!(matches!(engine.step(0.01), Err(Error::HalfWay)));
                assert!(matches!(engine.predict(), Err(Error::HalfWay)));
                let after = |_: &World, _: f64| std::ops::ControlFlow::Continue(());
                assert!(matches!(engine.iterate(1, after), Err(Error::HalfWay)));
            }
            let message = engine.step(0.01).unwrap_err().to_string();
            assert!(message.contains("panic") && message.contains("new engine"), "{message}");
        }
    }

    #[test]
    fn an_error_does_not_make_the_engine_useless() {
        let mut world = World::new();
        world.add_cloth(&Cloth::default()).unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        assert!(engine.step(f32::NAN).is_err());
        engine.world_mut().params.damping = -1.0;
        assert!(engine.step(0.01).is_err());
        engine.world_mut().params.damping = 0.0;
        engine.step(0.01).unwrap();
    }
}
