//! Watching a run: what must be looked at after every step is folded into one number a check,
//! the rest is measured once at the end.

use super::table::{Check, Test};
use super::tunnel::Tunnels;
use super::{fluid, measure, overlap, slope};
use crate::scene::Scene;
use crate::world::{ObjectId, World};

/// How a check came out.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// Name of the check.
    pub name: String,
    /// The object it is about; none for the whole world.
    pub object: Option<String>,
    /// Whether it held.
    pub passed: bool,
    /// What was measured; not a number when there was nothing to measure.
    pub value: f64,
    /// What it was held against: of two bounds the one that failed, or else the nearer.
    pub bound: f64,
    /// All of it in a line.
    pub message: String,
}

/// Watches a run for the checks of a scene.
///
/// Make it before the first step, call [`Checker::observe`] after every step and
/// [`Checker::finish`] after the last.
#[derive(Clone, Debug)]
pub struct Checker {
    watches: Vec<Watch>,
    start: Start,
}

#[derive(Clone, Debug)]
struct Watch {
    check: Check,
    /// The worst value so far; none before the first look.
    worst: Option<f64>,
    bounces: Bounces,
    tunnels: Tunnels,
    /// Lowest and highest value so far, where it is to be steady.
    seen: Option<[f64; 2]>,
}

/// What later values are compared to.
#[derive(Clone, Copy, Debug)]
struct Start {
    energy: f64,
    broken: u64,
    quarantined: u64,
}

impl Checker {
    /// Starts watching a world that [`Scene::build`] made.
    pub fn new(scene: &Scene, world: &World) -> Self {
        let start = Start {
            energy: world.energy(),
            broken: world.broken(),
            quarantined: world.quarantined(),
        };
        let watch = |check: &Check| Watch {
            check: check.clone(),
            worst: None,
            bounces: Bounces::default(),
            tunnels: Tunnels::default(),
            seen: None,
        };
        Checker { watches: scene.checks.iter().map(watch).collect(), start }
    }

    /// True when some check looks at every step; if not, [`Checker::observe`] does nothing.
    pub fn observes(&self) -> bool {
        self.watches.iter().any(|w| w.check.observes())
    }

    /// Looks at the world after a step.
    pub fn observe(&mut self, world: &World) {
        for watch in &mut self.watches {
            if watch.check.observes() && world.time() >= watch.check.after {
                watch.observe(world, &self.start);
            }
        }
    }

    /// Measures what is measured at the end, and judges.
    pub fn finish(&self, world: &World) -> Vec<CheckResult> {
        self.watches.iter().map(|w| w.judge(world, &self.start)).collect()
    }
}

impl Check {
    fn observes(&self) -> bool {
        matches!(
            self.test,
            Test::NothingBelow
                | Test::MaxSpeed
                | Test::EnergyNotAbove
                | Test::BouncesAtLeast
                | Test::NoParticlePassed
                | Test::ParticlesTunnelled
                | Test::MaxPenetration
                | Test::SteadyHeight
                | Test::SteadyCount
        )
    }

    fn object(&self) -> Option<ObjectId> {
        self.of.as_ref().map(|(id, _)| *id)
    }

    /// Heights along the axis that the check names, or else against gravity, m.
    fn heights(&self, world: &World) -> measure::Spread {
        measure::along(world, self.object(), self.axis.unwrap_or(world.up()))
    }
}

impl Watch {
    fn observe(&mut self, world: &World, start: &Start) {
        let check = &self.check;
        let object = check.object();
        let (value, larger_is_worse) = match check.test {
            Test::NothingBelow => (measure::heights(world, object).low, false),
            Test::MaxSpeed => (measure::speeds(world, object).high, true),
            Test::EnergyNotAbove => (measure::energy_rise(world, start.energy, check.floor), true),
            Test::NoParticlePassed => (self.depth_passed(world), true),
            Test::MaxPenetration => (measure::penetration(world, object), true),
            Test::SteadyHeight => {
                (band(&mut self.seen, measure::heights(world, object).mean), true)
            }
            Test::SteadyCount => {
                (band(&mut self.seen, measure::slots(world, object).count() as f64), true)
            }
            Test::ParticlesTunnelled => {
                if let Some((surface, _)) = check.through {
                    self.tunnels.see(world, object, surface);
                }
                self.worst = Some(self.tunnels.count as f64);
                return;
            }
            Test::BouncesAtLeast => {
                let tolerance = check.tolerance.unwrap_or(1e-3);
                self.bounces.see(check.heights(world).mean, tolerance);
                self.worst = Some(self.bounces.count as f64);
                return;
            }
            _ => return,
        };
        // A value that is not a number stays: it is the worst there is.
        let replaces = |worst: f64| {
            !worst.is_nan() && (value.is_nan() || ((value > worst) == larger_is_worse))
        };
        if self.worst.is_none_or(replaces) {
            self.worst = Some(value);
        }
    }

    /// How far the body has come out on the other side, m.
    fn depth_passed(&self, world: &World) -> f64 {
        let axis = self.check.axis.unwrap_or(world.up());
        let body = measure::along(world, self.check.object(), axis).low;
        let level = match &self.check.through {
            Some((cloth, _)) => measure::along(world, Some(*cloth), axis).low,
            None => self.check.level,
        };
        level - body
    }

    fn value(&self, world: &World, start: &Start) -> Option<f64> {
        let check = &self.check;
        let object = check.object();
        Some(match check.test {
            Test::NothingBelow
            | Test::MaxSpeed
            | Test::EnergyNotAbove
            | Test::BouncesAtLeast
            | Test::NoParticlePassed
            | Test::ParticlesTunnelled
            | Test::MaxPenetration
            | Test::SteadyHeight
            | Test::SteadyCount => self.worst?,
            Test::ParticleCount => measure::slots(world, object).count() as f64,
            Test::MeanHeight => check.heights(world).mean,
            Test::MinHeight => check.heights(world).low,
            Test::MaxHeight => check.heights(world).high,
            Test::MaxOverlap => overlap::largest(world, object),
            Test::MaxStrain => measure::strains(world, object).high,
            Test::MeanStrain => measure::mean_strain(world, object),
            Test::BrokenAtLeast | Test::BrokenAtMost => (world.broken() - start.broken) as f64,
            Test::PartsAtLeast | Test::PartsAtMost => {
                measure::parts(world, object, check.size) as f64
            }
            Test::ParticlesAccountedFor => measure::missing(world, object),
            Test::AtRest => measure::speeds(world, object).mean,
            Test::ResidualBelow => world.residual(check.kind),
            Test::SlopeAtLeast | Test::SlopeAtMost => slope::degrees(world, object),
            Test::OutOfRoundAtMost => fluid::out_of_round(world, object),
            Test::VolumeErrorAtMost => fluid::volume_error(world, object),
            Test::MixingLayerAtMost => {
                let (lower, _) = *check.through.as_ref()?;
                fluid::mixing_layer(world, object, lower)
            }
            Test::QuarantinedAtMost => (world.quarantined() - start.quarantined) as f64,
        })
    }

    fn judge(&self, world: &World, start: &Start) -> CheckResult {
        let Check { name, min, max, of, .. } = &self.check;
        let measured = self.value(world, start);
        let value = measured.unwrap_or(f64::NAN);
        let passed = value >= *min && value <= *max;
        let bound = if !max.is_finite() || (min.is_finite() && value - min <= max - value) {
            *min
        } else {
            *max
        };
        let whose = of.as_ref().map(|(_, n)| format!(" of {n}")).unwrap_or_default();
        let word = if passed { "holds" } else { "FAILS" };
        let wanted = match (min.is_finite(), max.is_finite()) {
            (true, true) => format!("from {min} to {max}"),
            (true, false) => format!("at least {min}"),
            _ => format!("at most {max}"),
        };
        let message = match measured {
            Some(_) => format!("{name}{whose} {word}: {value:.6}, expected {wanted}"),
            None => format!("{name}{whose} {word}: the run ended before `after`"),
        };
        CheckResult {
            name: name.to_string(),
            object: of.as_ref().map(|(_, n)| n.clone()),
            passed,
            value,
            bound,
            message,
        }
    }
}

/// How wide the band is that a value kept to, as a share of its highest; `seen` is where it was.
fn band(seen: &mut Option<[f64; 2]>, value: f64) -> f64 {
    let [low, high] = seen.unwrap_or([value; 2]);
    let [low, high] = [low.min(value), high.max(value)];
    *seen = Some([low, high]);
    // Written so that a value that is not a number is not lost.
    (high - low + 0.0 * value) / high.abs().max(1e-9)
}

/// Counts the highest points that follow a lowest one.
#[derive(Clone, Copy, Debug, Default)]
struct Bounces {
    count: u32,
    rising: bool,
    /// Lowest height while falling, highest while rising.
    extreme: Option<f64>,
}

impl Bounces {
    /// Turns smaller than `tolerance` are not turns.
    fn see(&mut self, height: f64, tolerance: f64) {
        let extreme = self.extreme.unwrap_or(height);
        let turned = if self.rising { extreme - height } else { height - extreme } > tolerance;
        if turned {
            self.count += u32::from(self.rising);
            self.rising = !self.rising;
            self.extreme = Some(height);
        } else if self.rising {
            self.extreme = Some(extreme.max(height));
        } else {
            self.extreme = Some(extreme.min(height));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_is_a_top_after_a_bottom() {
        let count = |heights: &[f64]| {
            let mut bounces = Bounces::default();
            heights.iter().for_each(|&h| bounces.see(h, 0.01));
            bounces.count
        };
        assert_eq!(count(&[2.0, 1.0, 0.5, 0.5]), 0);
        assert_eq!(count(&[2.0, 1.0, 1.5]), 0, "it may still be rising");
        assert_eq!(count(&[2.0, 1.0, 1.5, 1.2]), 1);
        assert_eq!(count(&[2.0, 1.0, 1.5, 1.2, 1.3, 1.1]), 2);
        assert_eq!(count(&[1.0, 1.001, 1.0, 1.002, 1.0]), 0, "jitter is no bounce");
    }
}
