//! Finds where the inside of a fluid is, for its surface tension (Akinci et al. 2013; docs/physics.md,
//! section 8).
//! n_i = sum of V_j grad_i W_ij over what is of the same material; 0 where that has no tension.
//! Reads: position and start [m], radius [m], phase, material, materials, the list. Writes: normals
//! [1/m].
//! Order: each particle alone. Its neighbours are summed in eight lanes, one after the other, then the
//! lanes; deterministic.

use super::Scratch;
use super::fluid::kernel::{pair, volume};
use super::fluid::{Around, Flows, sums};
use super::team::{Shared, Team};
use crate::simd::{Kernel, Simd, Vector};
use crate::world::{Particles, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let Scratch { fluid, added, list, material_pairs, .. } = scratch;
    let Some(made) = added.get(*list) else { return };
    let Particles { start, phase, material, .. } = &world.particles;
    let around = Around::new(&made.slots, &fluid.base, start, phase);
    let flows = Flows::of(material_pairs, material);
    fluid.normals.resize(start.len(), Vec4::ZERO);
    team.rows(Shared::new(&mut fluid.normals), BLOCK, |range, normals| {
        team.simd.run(Normals { range, around: &around, flows: &flows, normals });
    });
}

/// The normals of some particles.
struct Normals<'a> {
    range: Range<usize>,
    around: &'a Around<'a>,
    flows: &'a Flows<'a>,
    normals: &'a mut [Vec4],
}

impl Kernel for Normals<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let [.., tension, _] = self.flows.own(i);
            let draws = self.around.is_fluid(i) && tension > 0.0;
            let normal = if draws { self.normal::<S>(i) } else { Vec3::ZERO };
            self.normals[i - self.range.start] = normal.extend(0.0);
        }
    }
}

impl Normals<'_> {
    #[inline(always)]
    fn normal<S: Simd>(&self, i: usize) -> Vec3 {
        let radius = S::splat(self.around.radius(i));
        let zero = S::splat(0.0);
        let mut normal = Vector { x: zero, y: zero, z: zero };
        for from in self.around.starts(i) {
            let eight = self.around.eight::<S>(i, from);
            let [.., tension, _] = self.flows.between::<S>(i, &eight.slots);
            let same = S::both(eight.flows, tension.above(zero));
            let pair = pair(eight.apart, radius + eight.radius, same);
            normal = normal + pair.apart * (volume(eight.radius) * pair.slope);
        }
        sums(normal)
    }
}
