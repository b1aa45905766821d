//! Draws fluids together and to what they wet: surface tension and adhesion (Akinci et al. 2013;
//! docs/physics.md, section 8).
//! p_i -= h² w_i V_i (sum of V_j (s (C_ij e + W_ij (n_i - n_j)) or a A_ij e) + a G n over walls), with e from j
//! to i: s is the tension where both are of one fluid, a the adhesion where one of them is no fluid. What
//! a pair asks for is the same for both but for its sign.
//! Reads: position and start [m, 1/kg], radius [m], phase, material, materials, normals [1/m], the
//! list, planes of obstacles. Writes: predicted [m].
//! Order: each particle alone. Its neighbours are summed in eight lanes, one after the other, then the
//! lanes, then walls; deterministic.

use super::collide_environment::EnvironmentContact;
use super::fluid::kernel::{drawn_to_plane, hold, volume};
use super::fluid::{Around, Flows, place, spread, sums, walls};
use super::search::lists::Lists;
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::simd::{Kernel, Simd, Vector};
use crate::world::material::MaterialPairs;
use crate::world::{Particles, Phase, Who, World};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Particles that a block holds.
const BLOCK: usize = 256;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let Scratch { fluid, added, list, material_pairs, environment, .. } = scratch;
    let Some(asks) = world.lists.get(*list).map(|list| list.description.asks) else { return };
    let Some(made) = added.get(*list) else { return };
    let Particles { start, predicted, phase, material, .. } = &mut world.particles;
    let around = Around::new(&made.slots, &fluid.base, start, phase);
    let flows = Flows::of(material_pairs, material);
    // Without tension no pass has written them.
    fluid.normals.resize(predicted.len(), Vec4::ZERO);
    let draws = Draws {
        asks,
        phase,
        material,
        around: &around,
        flows: &flows,
        pairs: material_pairs,
        normals: &fluid.normals,
        environment,
        h_sq: at.h * at.h,
    };
    team.rows(Shared::new(predicted), BLOCK, |range, predicted| {
        team.simd.run(Drawn { range, by: &draws, predicted });
    });
}

/// What draws particles.
struct Draws<'a> {
    asks: Who,
    phase: &'a [u32],
    material: &'a [u32],
    around: &'a Around<'a>,
    flows: &'a Flows<'a>,
    pairs: &'a MaterialPairs,
    normals: &'a [Vec4],
    environment: &'a Lists<EnvironmentContact>,
    /// The square of the length of the substep, s².
    h_sq: f32,
}

/// Some particles that are drawn.
struct Drawn<'a> {
    range: Range<usize>,
    by: &'a Draws<'a>,
    predicted: &'a mut [Vec4],
}

impl Kernel for Drawn<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for i in self.range.clone() {
            let row = self.by.around.moved(i);
            if row.w == 0.0 || !self.by.asks.has(Phase(self.by.phase[i])) {
                continue;
            }
            let flows = self.by.around.is_fluid(i);
            let walls = if flows { self.by.walls(i, row.truncate()) } else { Vec3::ZERO };
            let drawn = self.by.pairs::<S>(i, flows) + walls;
            let part = self.by.h_sq * row.w * volume(self.by.around.radius(i));
            let change = drawn * -part;
            if change.is_finite() {
                self.predicted[i - self.range.start] += change.extend(0.0);
            }
        }
    }
}

impl Draws<'_> {
    /// The sum over the neighbours of a particle, N/m³.
    #[inline(always)]
    fn pairs<S: Simd>(&self, i: usize, is_fluid: bool) -> Vec3 {
        let radius = S::splat(self.around.radius(i));
        let normal = spread::<S>(self.normals[i]);
        let zero = S::splat(0.0);
        let of_fluid = S::splat(if is_fluid { 1.0 } else { 0.0 }).above(zero);
        let nothing = Vector { x: zero, y: zero, z: zero };
        let mut drawn = nothing;
        for from in self.around.starts(i) {
            let eight = self.around.eight::<S>(i, from);
            let hold = hold(eight.apart, radius + eight.radius, eight.there);
            let [.., tension, adhesion] = self.flows.between::<S>(i, &eight.slots);
            let both = S::both(of_fluid, eight.flows);
            // Of two solids none is here: a list has fluid on one of its sides.
            let along = S::select(both, tension * hold.cohesion, adhesion * hold.adhesion);
            let level = S::select(both, tension * hold.level, zero);
            let other = place(self.around.rows::<S>(self.normals, &eight.slots));
            let bent = Vector::select(level.above(zero), normal - other, nothing);
            drawn = drawn + (hold.direction * along + bent * level) * volume(eight.radius);
        }
        sums(drawn)
    }

    /// What walls do to a particle of fluid at p, N/m³.
    fn walls(&self, i: usize, p: Vec3) -> Vec3 {
        let mut drawn = Vec3::ZERO;
        if self.environment.particles() != self.material.len() {
            return drawn;
        }
        let (radius, planes) = (self.around.radius(i), self.environment.of(i));
        let per_length = 0.25 / radius;
        walls::each(planes, p, radius, |plane| {
            let collider = planes[plane.at].collider;
            let row = self.pairs.flow_on_wall(collider, self.material[i]);
            let pull = drawn_to_plane(plane.q) * (per_length * per_length) * plane.kept;
            drawn += plane.normal * (row.adhesion * pull);
        });
        drawn
    }
}
