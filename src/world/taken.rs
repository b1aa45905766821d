//! Which places are taken by particles already, so that a fluid fills only what is free.

use super::World;
use glam::Vec3;
use std::collections::HashMap;

/// Two particles overlap when their centres are nearer than this part of the sum of their radii. What only
/// touches, but for some rounding or a turned lattice, does not.
const OVERLAP: f32 = 0.9;

/// The particles in and around a box, by cells as wide as the largest overlap.
pub(crate) struct Taken {
    width: f32,
    cells: HashMap<[i64; 3], Vec<(Vec3, f32)>>,
}

impl Taken {
    /// Those that balls of `radius` with their centres in the box might overlap.
    pub fn around(world: &World, [low, high]: [Vec3; 2], radius: f32) -> Self {
        let p = world.particles();
        let largest = p.radii().iter().copied().fold(0.0, f32::max);
        let width = OVERLAP * (radius + largest);
        let mut taken = Taken { width, cells: HashMap::new() };
        for (at, &own) in p.positions().iter().zip(p.radii()) {
            let at = at.truncate();
            if at.cmpge(low - width).all() && at.cmple(high + width).all() {
                taken.cells.entry(taken.cell(at)).or_default().push((at, own));
            }
        }
        taken
    }

    /// Whether a ball would overlap one that is there.
    pub fn overlaps(&self, at: Vec3, radius: f32) -> bool {
        if self.cells.is_empty() {
            return false;
        }
        let [x, y, z] = self.cell(at);
        let around = |c: i64| [c - 1, c, c + 1];
        around(x).into_iter().any(|x| {
            around(y).into_iter().any(|y| {
                around(z).into_iter().any(|z| {
                    let there = self.cells.get(&[x, y, z]).into_iter().flatten();
                    there
                        .into_iter()
                        .any(|&(other, own)| other.distance(at) < OVERLAP * (radius + own))
                })
            })
        })
    }

    fn cell(&self, at: Vec3) -> [i64; 3] {
        (at / self.width).floor().to_array().map(|c| c as i64)
    }
}
