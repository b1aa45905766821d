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
    /// How far the constraint that is strained most is from its length at rest.
    Strain,
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
    pub const ALL: [(ColorBy, &'static str); 8] = [
        (ColorBy::Object, "object"),
        (ColorBy::Speed, "speed"),
        (ColorBy::Density, "density"),
        (ColorBy::Strain, "strain"),
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
            ColorBy::Strain => Some("%"),
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
    /// Of each slot, % of the length at rest; empty unless it is shown.
    strains: Vec<f32>,
}

impl<'a> Colors<'a> {
    pub fn new(moment: &'a Moment, by: ColorBy) -> Self {
        let strains = if by == ColorBy::Strain { strains(moment) } else { Vec::new() };
        let range = match by {
            ColorBy::Strain => {
                let top = usual_top(strains.len(), |slot| strains[slot].abs()).max(0.1);
                (-top, top)
            }
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
        Colors { moment, by, range, strains }
    }

    /// What a full scale means, for the legend.
    pub fn range(&self) -> (f32, f32) {
        self.range
    }

    /// The strain of a slot [%], while that is shown.
    pub fn strain(&self, slot: usize) -> Option<f32> {
        self.strains.get(slot).copied()
    }

    /// The colour of a share of the full scale.
    pub fn of_share(&self, share: f32) -> [u8; 3] {
        match self.by {
            ColorBy::Strain => palette::strain(2.0 * share - 1.0, 1.0),
            _ => palette::scalar(share),
        }
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
                moment.topology.hue(moment.topology.object.get(slot).copied().unwrap_or(0))
            }
            ColorBy::Material => {
                palette::group(moment.made_of.get(slot).copied().unwrap_or_default().number())
            }
            ColorBy::Speed => {
                scaled(moment.velocities.get(slot).map_or(0.0, |v| v.truncate().length()))
            }
            ColorBy::Density => scaled(moment.densities.get(slot).copied().unwrap_or(0.0)),
            ColorBy::Strain => {
                palette::strain(self.strains.get(slot).copied().unwrap_or(0.0), self.range.1)
            }
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

/// How far the most strained edge at each particle is from its length at rest [%].
fn strains(moment: &Moment) -> Vec<f32> {
    let mut most = vec![0.0_f32; moment.positions.len()];
    let at = |slot: u32| moment.positions.get(slot as usize).map(|p| p.truncate());
    for ([a, b], rest) in &moment.topology.edges {
        let (Some(p), Some(q)) = (at(*a), at(*b)) else { continue };
        let strain = 100.0 * (p.distance(q) / rest.max(1e-9) - 1.0);
        for slot in [*a, *b] {
            let most = &mut most[slot as usize];
            if strain.abs() > most.abs() {
                *most = strain;
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::physics::Topology;
    use glam::Vec4;

    #[test]
    fn strain_is_that_of_the_most_strained_edge() {
        let edges = vec![([0, 1], 1.0), ([1, 2], 1.0)];
        // The first edge is 10 % too long, the second 40 % too short.
        let positions = [0.0, 1.1, 1.7, 9.0].map(|x| Vec4::new(x, 0.0, 0.0, 1.0)).to_vec();
        let topology = Topology { edges, ..Topology::default() }.into();
        let velocities = vec![Vec4::ZERO; 4];
        let moment = Moment { positions, velocities, topology, ..Moment::default() };
        let colors = Colors::new(&moment, ColorBy::Strain);
        for (slot, percent) in [10.0, -40.0, -40.0, 0.0].into_iter().enumerate() {
            let strain = colors.strain(slot).unwrap();
            assert!((strain - percent).abs() < 1e-3, "{strain} % at {slot}");
        }
        let (low, high) = colors.range();
        assert!(low == -high && high > 9.0);
        let [stretched, squeezed, free] = [0, 1, 3].map(|slot| colors.of(slot));
        assert!(stretched[0] > stretched[2] && squeezed[2] > squeezed[0]);
        assert_eq!(free, colors.of_share(0.5));
        // The control: another colouring measures no strain.
        assert_eq!(Colors::new(&moment, ColorBy::Speed).strain(0), None);
    }
}
