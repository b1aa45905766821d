//! What the colours of a picture tell, where there is no window to choose them in.

use super::palette;
use clap::ValueEnum;
use motes::search::Search;
use motes::{Params, Phase, World};

/// What particles and skins are coloured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum Tint {
    /// One colour an object
    #[default]
    Object,
    /// From rest to the fastest
    Speed,
    /// From nothing to the densest
    Density,
    /// From the smallest radius to the largest
    Size,
    /// One colour a collision group
    Phase,
    /// One colour a material
    Material,
}

impl Tint {
    /// A colour for each slot, or none where objects have their own. From dark violet to bright
    /// yellow where something is measured.
    pub fn colors(self, world: &World) -> motes::Result<Option<Vec<[u8; 3]>>> {
        let p = world.particles();
        let slots = 0..p.len();
        let scaled = |values: &[f32], low: f32, high: f32| {
            let share = |value: &f32| palette::scalar((value - low) / (high - low).max(1e-9));
            values.iter().map(share).collect()
        };
        Ok(Some(match self {
            Tint::Object => return Ok(None),
            Tint::Phase => {
                slots.map(|s| palette::group(Phase(p.phases()[s]).group_number())).collect()
            }
            Tint::Material => slots.map(|s| palette::group(p.material(s).number())).collect(),
            Tint::Speed => {
                let speeds: Vec<f32> =
                    p.velocities().iter().map(|v| v.truncate().length()).collect();
                let top = palette::usual_top(speeds.len(), |slot| speeds[slot]);
                scaled(&speeds, 0.0, top.max(0.05))
            }
            Tint::Density => {
                let mut densities = Vec::new();
                let mut search = Search::new(Params::default(), 0)?;
                search.densities(p.positions(), p.radii(), &mut densities)?;
                let top = palette::usual_top(densities.len(), |slot| densities[slot]);
                scaled(&densities, 0.0, top)
            }
            Tint::Size => {
                let low = p.radii().iter().copied().fold(f32::INFINITY, f32::min);
                let high = p.radii().iter().copied().fold(0.0, f32::max);
                scaled(p.radii(), low.min(high), high)
            }
        }))
    }
}
