//! What is refused of emitters and sinks: by the names of their fields, before anything is allocated.

use super::{Emitter, Nozzle, Stream, World};
use crate::error::{Error, Result};
use crate::world::validate::LONGEST;
use crate::world::{MemoryNeed, ObjectId};
use glam::Vec3;

/// The fastest stream, m/s: places must stay finite for as long as a step may be.
const FASTEST: f32 = 1e6;

impl Emitter {
    /// What it will need at most, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        // As much as fluid sees in its list.
        let particles = u128::from(self.most);
        MemoryNeed { particles, edges: 0, corners4: 0, neighbors: 33 * particles }
    }

    pub(super) fn check(&self) -> Result<()> {
        let wrong = |field: &str, message: String| {
            Err(Error::value(format!("{}.{field}", self.name), message))
        };
        let positive = |field: &str, value: f32| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => {
                wrong(field, format!("{value} is not legal; expected a finite number above 0"))
            }
        };
        positive("radius", self.radius)?;
        if self.radius > LONGEST {
            return wrong("radius", format!("expected at most {LONGEST} m"));
        }
        match self.nozzle {
            Nozzle::Disc { radius } => positive("nozzle.radius", radius)?,
            Nozzle::Rectangle { half } => {
                half.iter().try_for_each(|&half| positive("nozzle.half", half))?;
            }
        }
        if !self.position.is_finite() {
            return wrong("position", format!("{} is not finite", self.position));
        }
        if !self.direction.is_finite() || self.direction.try_normalize().is_none() {
            return wrong("direction", "expected a direction such as [0, -1, 0]".into());
        }
        if let Some(side) = self.side {
            let along = self.direction.normalize();
            let across = side.normalize_or_zero().cross(along).length();
            if !(side.is_finite() && across > 1e-3) {
                return wrong("side", "expected a direction across that of the nozzle".into());
            }
        }
        if !(self.speed.is_finite() && self.speed > 0.0 && self.speed <= FASTEST) {
            let message = format!(
                "{} m/s is not legal; expected above 0 and at most {FASTEST}. Close the tap to stop it",
                self.speed
            );
            return wrong("speed", message);
        }
        if !(self.start.is_finite() && self.start >= 0.0) {
            return wrong("start", format!("{} s is not legal; expected at least 0", self.start));
        }
        if self.stop.is_nan() || self.stop <= self.start {
            let message = format!("{} s is not after the start, {} s", self.stop, self.start);
            return wrong("stop", message);
        }
        self.check_stream()?;
        self.check_counts()?;
        self.memory().check(&self.name)
    }

    fn check_stream(&self) -> Result<()> {
        let (field, value) = match self.stream {
            Stream::Fluid { density, coefficients } => {
                coefficients.validate(&self.name)?;
                ("density", density)
            }
            Stream::Grains { mass } => ("mass", mass),
        };
        let mass = self.particle_mass();
        if value.is_finite() && value > 0.0 && (1e-30..=1e30).contains(&mass) {
            return Ok(());
        }
        let message = format!(
            "{value} is not legal: a particle would have {mass} kg; expected 1e-30 to 1e30 kg"
        );
        Err(Error::value(format!("{}.{field}", self.name), message))
    }

    /// How many come out, in a layer and in a second.
    fn check_counts(&self) -> Result<()> {
        let Emitter { name, radius, most, speed, .. } = self;
        let wrong =
            |field: &str, message: String| Err(Error::value(format!("{name}.{field}"), message));
        // Not counted one by one where they are far too many.
        let at_most = self.nozzle.count_at_most(*radius);
        let layer = match at_most <= 4.0 * f64::from(*most) + 64.0 {
            true => self.nozzle.points(*radius).count() as f64,
            false => at_most,
        };
        if layer == 0.0 {
            let message = format!(
                "no particle of {radius} m fits into the nozzle; take a wider nozzle, or a smaller `radius`"
            );
            return wrong("nozzle", message);
        }
        if layer > f64::from(*most) {
            let message = format!(
                "a layer of the nozzle has {layer} particles, and there may be {most} in all; give more, or a narrower nozzle"
            );
            return wrong("most", message);
        }
        let Some(rate) = self.rate else { return Ok(()) };
        if !(rate.is_finite() && rate > 0.0) {
            let message = format!(
                "{rate} particles a second are not legal; expected above 0, or leave it out for as many as there is room for"
            );
            return wrong("rate", message);
        }
        let densest = self.densest_rate();
        // Whoever asks for the densest rate may have rounded it.
        if f64::from(rate) > 1.0001 * densest {
            let message = format!(
                "{rate} particles a second would overlap: at {speed} m/s the nozzle has room for {densest:.1}; take less, a wider nozzle or a higher speed"
            );
            return wrong("rate", message);
        }
        Ok(())
    }
}

impl World {
    /// Refuses an emitter whose particles would come out inside an obstacle, where it is now; `field`
    /// is the path the message starts with. Objects that are no emitters are free.
    pub(crate) fn check_nozzle(&self, object: ObjectId, field: &str) -> Result<()> {
        self.tap(object).map_or(Ok(()), |tap| self.check_outlets(field, &tap.outlets))
    }

    pub(super) fn check_outlets(&self, field: &str, outlets: &[Vec3]) -> Result<()> {
        for (number, collider) in self.colliders.iter().enumerate() {
            let pose = collider.pose_at(self.time);
            let depth = |&outlet: &Vec3| -collider.shape.distance(pose.inverse_point(outlet)).0;
            let deepest = outlets.iter().map(depth).fold(0.0, f32::max);
            if deepest > 0.0 {
                let name = match collider.name.is_empty() {
                    true => format!("collider {number}"),
                    false => format!("the collider `{}`", collider.name),
                };
                let message = format!(
                    "the nozzle is up to {deepest} m inside {name}; move it out, or make it narrower"
                );
                return Err(Error::value(format!("{field}.position"), message));
            }
        }
        Ok(())
    }

    /// Checks the sinks: they are the host program's to edit.
    pub(crate) fn check_sinks(&self) -> Result<()> {
        let mut sinks = self.sinks.iter().enumerate();
        sinks.try_for_each(|(i, sink)| sink.validate(&format!("sink.{i}")))
    }

    /// What a snapshot may have broken of the emitters.
    pub(crate) fn taps_are_sound(&self) -> bool {
        self.taps.iter().enumerate().all(|(k, tap)| {
            tap.emitter.check().is_ok()
                && self.object(tap.object).is_ok()
                && self.taps[..k].iter().all(|other| other.object != tap.object)
                && tap.outlets == tap.emitter.outlets()
                && tap.seen.is_finite()
                && tap.seen <= self.time
                && tap.idle.is_finite()
                && tap.idle >= 0.0
                && tap.sent < 1 << 62
        })
    }
}
