//! What the colours in the scene mean, whatever they tell.

use super::colors::{ColorBy, Colors};
use super::physics::Moment;
use crate::painter::palette;
use motes::{MaterialId, Phase};
use std::collections::BTreeSet;

/// Names listed at most.
const MOST: usize = 10;
/// Colours of a bar.
const STEPS: usize = 24;

/// A bar for what is measured, names for what is only told apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Legend {
    /// Values at both ends, their unit, and the colours between them.
    Bar { title: &'static str, ends: (f32, f32), unit: &'static str, colors: Vec<[u8; 3]> },
    /// Colours with their names, and how many more there are.
    Names { title: &'static str, names: Vec<([u8; 3], String)>, more: usize },
}

impl Default for Legend {
    fn default() -> Self {
        Legend::Names { title: "", names: Vec::new(), more: 0 }
    }
}

impl Legend {
    pub fn of(moment: &Moment, colors: &Colors, by: ColorBy) -> Self {
        let title = ColorBy::ALL.iter().find(|(one, _)| *one == by).map_or("", |(_, word)| word);
        if let Some(unit) = by.unit() {
            let share = |step: usize| step as f32 / (STEPS - 1) as f32;
            let colors_of = (0..STEPS).map(|step| colors.of_share(share(step))).collect();
            return Legend::Bar { title, ends: colors.range(), unit, colors: colors_of };
        }
        let numbered = numbered(moment, by);
        let more = numbered.len().saturating_sub(MOST);
        let names = numbered.into_iter().take(MOST);
        let color = |number| match by {
            ColorBy::Object => moment.topology.hue(number),
            _ => palette::group(number),
        };
        let names = names.map(|(number, name)| (color(number), name)).collect();
        Legend::Names { title, names, more }
    }
}

/// The numbers that give colours, with their names.
fn numbered(moment: &Moment, by: ColorBy) -> Vec<(u32, String)> {
    match by {
        ColorBy::Object => {
            let objects = moment.topology.objects.iter().enumerate();
            objects.map(|(k, object)| (k as u32, object.name.clone())).collect()
        }
        ColorBy::Material => {
            let used: BTreeSet<u32> = moment.made_of.iter().map(|id| id.number()).collect();
            let name = |number: u32| {
                let known = moment.materials.iter().find(|(id, _)| id.number() == number);
                known.map_or(MaterialId::DEFAULT_NAME.into(), |(_, material)| material.name.clone())
            };
            used.into_iter().map(|number| (number, name(number))).collect()
        }
        ColorBy::Phase => {
            let groups: BTreeSet<u32> =
                moment.phases.iter().map(|&phase| Phase(phase).group_number()).collect();
            groups.into_iter().map(|group| (group, format!("group {group}"))).collect()
        }
        ColorBy::Worker => {
            (0..moment.threads.max(1) as u32).map(|w| (w, format!("worker {w}"))).collect()
        }
        ColorBy::Speed | ColorBy::Density | ColorBy::Strain | ColorBy::Size => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec4;

    #[test]
    fn every_colouring_has_a_legend() {
        let moment = Moment {
            positions: vec![Vec4::ONE; 3],
            velocities: vec![Vec4::ONE; 3],
            radii: vec![0.1, 0.2, 0.3],
            phases: vec![0, 3, 3],
            made_of: vec![MaterialId::default(); 3],
            threads: 2,
            ..Moment::default()
        };
        for (by, word) in ColorBy::ALL {
            let colors = Colors::new(&moment, by);
            match Legend::of(&moment, &colors, by) {
                Legend::Bar { title, ends, colors, .. } => {
                    assert!(by.unit().is_some() && title == word && ends.0 <= ends.1, "{word}");
                    assert_ne!(colors[0], colors[STEPS - 1], "{word}");
                }
                Legend::Names { title, names, more } => {
                    assert!(by.unit().is_none() && title == word && more == 0, "{word}");
                    // Each particle's colour is among them; nothing here belongs to an object.
                    let listed = |slot: usize| names.iter().any(|(c, _)| *c == colors.of(slot));
                    assert!(by == ColorBy::Object || (0..3).all(listed), "{word}: {names:?}");
                }
            }
        }
    }
}
