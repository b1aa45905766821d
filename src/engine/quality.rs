//! How well the last step was solved: what to look at before a result is trusted.

use super::Engine;
use super::compression::Compression;
use crate::error::{Error, Result};
use crate::kind::{Constrain, Distance, Kind, Sets, Stored, Visit};
use crate::world::{ListDescription, Method, Params, Places};
use serde::Serialize;

/// A mean residual above this share of the rest value is worth a word: what is drawn then has not
/// much to do with the constraints that were asked for.
const RESIDUAL: f32 = 0.02;
/// So is one of soft constraints above this share of how far they are off their rest, unless it is less
/// than `LEAST` of the rest value: a long bar may sink far though each of its links is off by little.
const OF_STRAIN: f32 = 0.25;
const LEAST: f32 = 1e-3;
/// So is the worst residual above this share of the strain at which the constraint breaks: then what
/// breaks depends on the iterations.
const OF_BREAK: f32 = 0.1;
/// So is an overlap above this share of the smaller radius.
const OVERLAP: f32 = 0.15;
/// So is fluid that is denser than at rest by more than this share on average.
const COMPRESSION: f32 = 0.03;

/// How far the constraints and contacts of the last step are from solved, in shares, so that a
/// number means the same in a scene of any size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Of each kind of constraint that the world has, pins apart.
    pub residuals: Vec<Residual>,
    /// The largest strain of a distance constraint, l / l0 - 1.
    pub strain: f32,
    /// The deepest overlap of two particles, over the smaller of their radii.
    pub overlap: f32,
    /// Of the fluid, where there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
}

/// |C + α λ| of a kind of constraint under XPBD, |C| under PBD: as a share of the rest length or
/// rest volume, in radians for hinges. With XPBD it goes to 0 as the iterations converge, however
/// soft the constraint is; the plain |C| does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// Whose.
    #[serde(serialize_with = "as_name")]
    pub kind: Kind,
    /// The mean over all constraints of the kind.
    pub mean: f32,
    /// The largest.
    pub largest: f32,
    /// Of constraints with a compliance: how much of their |C| is not solved, in the mean. Near 0 they
    /// are as stretched as their forces say, near 1 by what the iterations left over. 0 for rigid ones.
    pub of_strain: f32,
    /// The largest of those that can break, over the strain at which they do; 0 where none can.
    pub of_break: f32,
}

fn as_name<S: serde::Serializer>(kind: &Kind, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(kind.name())
}

impl Quality {
    /// What is worth a word, and which parameter to turn; nothing where all is well.
    pub fn advice(&self, params: &Params) -> Vec<String> {
        let mut advice = Vec::new();
        let substeps = format!("use more substeps (`substeps`, now {})", params.substeps);
        for residual in &self.residuals {
            let of = match residual.kind.unit() {
                "m" => "length",
                "m³" => "volume",
                // An angle says little by itself: a loose hinge may be far from its rest.
                _ => continue,
            };
            if residual.mean > RESIDUAL {
                advice.push(format!(
                    "{} constraints are not solved, on average they are off by {:.1} % of their \
                     rest {of}; {substeps}",
                    residual.kind,
                    100.0 * residual.mean,
                ));
            }
            if residual.of_strain > OF_STRAIN && residual.mean > LEAST {
                advice.push(format!(
                    "{} constraints are softer than they should be, {:.0} % of what they are off their \
                     rest {of} is not solved; {substeps}",
                    residual.kind,
                    100.0 * residual.of_strain,
                ));
            }
            if residual.of_break > OF_BREAK {
                advice.push(format!(
                    "{} constraints break too early or too late, the worst is off by {:.0} % of the \
                     strain at which it breaks; {substeps}",
                    residual.kind,
                    100.0 * residual.of_break,
                ));
            }
        }
        if self.overlap > OVERLAP {
            let deep = match params.mass_scale > 0.0 {
                true => "",
                false => ", and for deep piles `mass_scale`",
            };
            advice.push(format!(
                "particles overlap by up to {:.0} % of a radius; {substeps}{deep}",
                100.0 * self.overlap,
            ));
        }
        if let Some(Compression { mean, largest }) = self.compression
            && mean > COMPRESSION
        {
            advice.push(format!(
                "fluid is {:.1} % too dense on average and up to {:.0} %; {substeps}",
                100.0 * mean,
                100.0 * largest,
            ));
        }
        advice
    }
}

impl Engine {
    /// How well the last step was solved. It costs about as much as an iteration; from a device, what
    /// it needs is fetched.
    ///
    /// ```
    /// use motes::{Backend, Cloth, Engine, World};
    /// let mut world = World::new();
    /// let cloth = world.add_cloth(&Cloth::default())?;
    /// world.pin(cloth[0])?;
    /// let mut engine = Engine::new(world, Backend::default())?;
    /// engine.step(1.0 / 60.0)?;
    /// assert!(engine.quality()?.strain < 1.0);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// Before the first step, and when a device is lost.
    pub fn quality(&mut self) -> Result<Quality> {
        if self.h == 0.0 {
            return Err(Error::value("quality", "there is none yet; step the world first"));
        }
        self.fetch()?;
        #[cfg(feature = "vulkan")]
        if let Some(vulkan) = &self.vulkan {
            vulkan.fetch_multipliers(&mut self.world)?;
        }
        let (world, at) = (&self.world, self.world.particles.now());
        let inv_h_sq = match world.params.method {
            Method::Xpbd => 1.0 / (self.h * self.h),
            Method::Pbd => 0.0,
        };
        let mut look = Look { sets: &world.sets, at, inv_h_sq, residuals: Vec::new() };
        Kind::SETS.into_iter().for_each(|kind| kind.visit(&mut look));
        let residuals = look.residuals;
        let edges = &world.sets.distance;
        let strain = |i: usize| Distance::strain(&at.corners(edges.particles(i)), edges.rest[i]);
        let strain = (0..edges.len()).map(strain).fold(0.0, f32::max);
        let (overlap, compression) = (self.deepest_overlap(), self.compression());
        Ok(Quality { residuals, strain, overlap, compression })
    }

    /// Over the smaller radius. Where there is no list nothing can touch, or an edit has just been
    /// made.
    fn deepest_overlap(&self) -> f32 {
        let Ok(list) = self.neighbors(ListDescription::CONTACTS) else { return 0.0 };
        let particles = &self.world.particles;
        let (at, radius) = (particles.now(), &particles.radius);
        let mut deepest = 0.0f32;
        for i in 0..at.len() {
            for entry in list.entries(i) {
                let j = entry.slot as usize;
                let depth = entry.contact - at.between(i, j).length();
                deepest = deepest.max(depth / radius[i].min(radius[j]));
            }
        }
        deepest
    }
}

/// Gathers the residual of each kind.
struct Look<'a> {
    sets: &'a Sets,
    at: Places<'a>,
    inv_h_sq: f32,
    residuals: Vec<Residual>,
}

impl Visit for Look<'_> {
    fn visit<K: Stored<N>, const N: usize>(&mut self) {
        let set = K::set(self.sets);
        if set.is_empty() {
            return;
        }
        let residual = |i: usize| {
            let p = self.at.corners(set.particles(i));
            let pulled = set.compliance[i] * self.inv_h_sq * set.lambda[i];
            // An angle is a share of its own, and so is what rests at 0.
            let rest = set.rest[i].abs();
            let share = if K::UNIT == "rad" || rest == 0.0 { 1.0 } else { rest };
            let error = K::error(&p, set.rest[i]);
            let is_soft = set.compliance[i] * self.inv_h_sq > 0.0;
            ((error + pulled).abs() / share, if is_soft { error.abs() / share } else { 0.0 })
        };
        let (mut sum, mut largest, mut of_break) = (0.0f64, 0.0f32, 0.0f32);
        let (mut soft, mut soft_error) = (0.0f64, 0.0f64);
        for ((share, error), &break_at) in (0..set.len()).map(residual).zip(&set.break_at) {
            sum += f64::from(share);
            if error > 0.0 {
                soft += f64::from(share);
                soft_error += f64::from(error);
            }
            largest = largest.max(share);
            // What never breaks has an infinite strain for it.
            of_break = of_break.max(share / break_at);
        }
        let mean = (sum / set.len() as f64) as f32;
        let of_strain = if soft_error > 0.0 { (soft / soft_error) as f32 } else { 0.0 };
        self.residuals.push(Residual { kind: K::KIND, mean, largest, of_strain, of_break });
    }
}
