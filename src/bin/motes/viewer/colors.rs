//! What the colour of a particle tells.

use super::physics::Moment;
use crate::painter::palette::{self, usual_top};
use motes::Phase;
use serde::{Deserialize, Serialize};

/// What particles and skins are coloured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColorBy {
    /// The object a particle belongs to. Settings of earlier versions call it `material`.
    #[default]
    #[serde(alias = "material")]
    Object,
    /// From rest to the fastest.
    Speed,
    /// From nothing to the densest.
    Density,
    /// From the smallest radius to the largest.
    Size,
    /// The collision group.
    Phase,
    /// The worker whose range of memory it lies in.
    Worker,
    /// What it is made of.
    #[serde(rename = "made_of")]
    Material,
}

impl ColorBy {
    pub const ALL: [(ColorBy, &'static str); 7] = [
        (ColorBy::Object, "object"),
        (ColorBy::Speed, "speed"),
        (ColorBy::Density, "density"),
        (ColorBy::Size, "size"),
        (ColorBy::Phase, "phase"),
        (ColorBy::Worker, "worker"),
        (ColorBy::Material, "material"),
    ];

    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|(by, _)| *by == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()].0
    }

    /// The unit of what is measured; none where colours only tell things apart.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            ColorBy::Speed => Some("m/s"),
            ColorBy::Density => Some("kg/m³"),
            ColorBy::Size => Some("m"),
            ColorBy::Object | ColorBy::Phase | ColorBy::Worker | ColorBy::Material => None,
        }
    }
}

/// Colours of one moment.
pub struct Colors<'a> {
    moment: &'a Moment,
    by: ColorBy,
    /// What is shown as 0 and as 1.
    range: (f32, f32),
}

impl<'a> Colors<'a> {
    pub fn new(moment: &'a Moment, by: ColorBy) -> Self {
        let range = match by {
            ColorBy::Speed => {
                let speed = |slot: usize| moment.velocities[slot].truncate().length();
                (0.0, usual_top(moment.velocities.len(), speed).max(0.05))
            }
            ColorBy::Density => {
                (0.0, usual_top(moment.densities.len(), |slot| moment.densities[slot]))
            }
            ColorBy::Size => {
                let low = moment.radii.iter().copied().fold(f32::INFINITY, f32::min);
                let high = moment.radii.iter().copied().fold(0.0, f32::max);
                (low.min(high), high)
            }
            _ => (0.0, 1.0),
        };
        Colors { moment, by, range }
    }

    /// What a full scale means, for the legend.
    pub fn range(&self) -> (f32, f32) {
        self.range
    }

    /// The colour of a slot; numbers that do not exist give the first colour.
    pub fn of(&self, slot: usize) -> [u8; 3] {
        let moment = self.moment;
        let scaled = |value: f32| {
            let (low, high) = self.range;
            palette::scalar((value - low) / (high - low).max(1e-9))
        };
        match self.by {
            ColorBy::Object => {
                palette::group(moment.topology.object.get(slot).copied().unwrap_or(0))
            }
            ColorBy::Material => {
                palette::group(moment.made_of.get(slot).copied().unwrap_or_default().number())
            }
            ColorBy::Speed => {
                scaled(moment.velocities.get(slot).map_or(0.0, |v| v.truncate().length()))
            }
            ColorBy::Density => scaled(moment.densities.get(slot).copied().unwrap_or(0.0)),
            ColorBy::Size => scaled(moment.radii.get(slot).copied().unwrap_or(0.0)),
            ColorBy::Phase => {
                let phase = moment.phases.get(slot).copied().unwrap_or(0);
                palette::group(Phase(phase).group_number())
            }
            ColorBy::Worker => {
                let workers = moment.threads.max(1);
                palette::group((slot * workers / moment.positions.len().max(1)) as u32)
            }
        }
    }
}
