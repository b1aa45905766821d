//! What the passes over bodies share: the state of each body in a step, and sums over its links.
//!
//! A body is counted from its base, which is where `body_predict` has it: a centre c, seen from the
//! `position` X of its first particle, and a turn R. Particle i is f_i = ((X_i - X_0) + u_i - c) - R q_i
//! away from where the base has it. These are small numbers, and all that matching computes is
//! proportional to them: what the base has in its place is not moved, and no rounding pushes a body.

pub(crate) mod body_row;
pub(crate) mod pair;
pub(crate) mod rotation;
pub(crate) mod rows;

use super::solve_bodies::{Change, Item};
use crate::world::{Bodies, LinksAround, Particles, Phase, Places, World};
use body_row::BodyRow;
use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};
use pair::BodyPair;
use rows::Rows;
use std::ops::Range;

/// Links that are summed by themselves. Sums of a body are sums of these, in order.
pub(crate) const CHUNK: usize = 64;
/// Sums of a chunk are of so many lanes: link k goes to lane k % LANES, and the lanes are added in
/// order.
pub(crate) const LANES: usize = 8;
/// Numbers that a chunk is summed up to.
pub(crate) const SUMS: usize = 16;

/// A body while a step runs. On a device it is a row of `bodies`, word by word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BodyState {
    /// The first of its links, and how many; the first of its chunks, and how many.
    pub first: u32,
    pub count: u32,
    pub first_chunk: u32,
    pub chunks: u32,
    /// How much of what it is stretched by stays.
    pub stretch: f32,
    /// Compliance times mass, s^2.
    pub softness: f32,
    /// One over its size squared, 1/m^2.
    pub scale: f32,
    /// One over its mass, 1/kg, where obstacles act on it as a whole; 0 elsewhere.
    pub inv_mass: f32,
    /// Moments at rest, and their inverse, as `symmetric` takes them.
    pub moments: [Vec3; 2],
    pub inverse: [Vec3; 2],
    /// The turn now, and that of the base, as quaternions.
    pub turn: Vec4Words,
    pub base_turn: Vec4Words,
    /// The turn of the base, R.
    pub base: Rows,
    /// The centre of the base, c, seen from the `position` of the first particle.
    pub center: Vec3,
    /// What the goal of a particle that the base has at s = R q adds to the base: T s + shift.
    pub goal: Rows,
    pub shift: Vec3,
    /// The centre where the substep began, likewise, and its velocity.
    pub from: Vec3,
    pub drift: Vec3,
    /// What turning adds to a prediction, by place and by velocity, both from the centre's.
    pub swing: Rows,
    pub carry: Rows,
    /// What turning adds to a velocity, by place.
    pub spin: Rows,
    /// The turn where the substep began.
    pub from_base: Rows,
    /// What the size of its particles adds to the moments of inertia over the mass, m^2.
    pub own: f32,
    /// The first of its rows with obstacles, and how many.
    pub first_row: u32,
    pub rows: u32,
    /// The inverse of the inertia where the body comes to lie, 1/(kg m^2).
    pub mobility: Rows,
    /// The angular velocity in this substep, rad/s.
    pub omega: Vec3,
    /// What obstacles add to the velocities at the end, beyond what the particles were moved: the same
    /// for all, and by place.
    pub after: Vec3,
    pub after_by_place: Rows,
}

/// Four numbers that need no more alignment than one.
pub(crate) type Vec4Words = [f32; 4];

/// Words of a body on a device.
#[cfg(feature = "vulkan")]
pub(crate) const BODY_WORDS: usize = size_of::<BodyState>() / 4;

/// Links of a body that are summed together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Chunk {
    pub body: u32,
    pub first: u32,
    pub count: u32,
}

/// All bodies while a step runs.
#[derive(Clone, Default)]
pub(crate) struct Matched {
    pub around: LinksAround,
    pub states: Vec<BodyState>,
    pub chunks: Vec<Chunk>,
    /// What each chunk is summed up to.
    pub sums: Vec<[f32; SUMS]>,
    /// How far each link was pushed in this substep, m, in the order of the links around particles.
    pub pushes: Vec<Vec4>,
    /// Where rigid bodies meet obstacles, body by body.
    pub rows: Vec<BodyRow>,
    /// Boxes around rigid bodies, from left to right, and their numbers.
    pub boxes: Vec<(u32, [Vec3; 2])>,
    /// Rigid bodies that are near each other, and their rows: those of each pair from a place of its
    /// own on.
    pub pairs: Vec<BodyPair>,
    pub pair_rows: Vec<BodyRow>,
    /// The colours that pairs of a body have, as bits.
    pub taken: Vec<u32>,
    /// Whose rows are swept together, and those of each colour.
    pub items: Vec<Item>,
    pub colors: Vec<Range<usize>>,
    /// What impulses have changed of each body; and those of them that move it.
    pub changes: Vec<Change>,
    pub moves: Vec<Change>,
    made_for: Option<u64>,
}

impl Matched {
    /// As a step of a world begins.
    #[cfg(feature = "vulkan")]
    pub fn of(world: &World) -> Self {
        let mut matched = Matched::default();
        matched.update(world);
        matched
    }

    /// Whether this is of the bodies that a world has.
    #[cfg(feature = "vulkan")]
    pub fn is_of(&self, world: &World) -> bool {
        self.made_for == Some(world.bodies.revision) && self.states.len() == world.bodies.rows.len()
    }

    /// Takes the bodies as they are when a step begins.
    pub fn update(&mut self, world: &World) {
        self.around.update(world);
        let bodies = &world.bodies;
        if self.made_for != Some(bodies.revision) {
            self.made_for = Some(bodies.revision);
            self.chunks.clear();
            self.states.clear();
            self.states.resize(bodies.rows.len(), BodyState::default());
            for (number, (state, body)) in self.states.iter_mut().zip(&bodies.rows).enumerate() {
                state.first_chunk = self.chunks.len() as u32;
                let links = body.links();
                self.chunks.extend(links.clone().step_by(CHUNK).map(|first| Chunk {
                    body: number as u32,
                    first: first as u32,
                    count: (links.end - first).min(CHUNK) as u32,
                }));
                state.chunks = self.chunks.len() as u32 - state.first_chunk;
                state.own = links.map(|link| own_moment(bodies, &world.particles, link)).sum();
            }
            self.sums.clear();
            self.sums.resize(self.chunks.len(), [0.0; SUMS]);
            self.pushes.clear();
            self.pushes.resize(bodies.links.len(), Vec4::ZERO);
        }
        for (state, body) in self.states.iter_mut().zip(&bodies.rows) {
            (state.first, state.count) = (body.first, body.count);
            state.stretch = body.matching.stretch;
            state.softness = body.matching.compliance * body.mass;
            state.scale = 1.0 / body.size_sq;
            (state.moments, state.inverse) = (body.moments, body.inverse);
            state.turn = body.turn.to_array();
            let is_rigid = |slot: u32| world.particles.phase[slot as usize] & Phase::RIGID != 0;
            let rigid = is_rigid(bodies.links.particle[body.first as usize]);
            state.inv_mass = if rigid { 1.0 / body.mass } else { 0.0 };
        }
    }
}

/// What a particle adds to the moments of its body by its own size, per mass of the body: that of a cube
/// as wide as itself.
fn own_moment(bodies: &Bodies, particles: &Particles, link: usize) -> f32 {
    let radius = particles.radius[bodies.links.particle[link] as usize];
    bodies.links.rest[link].w * (radius * radius) * (2.0 / 3.0)
}

/// Where a particle is, seen from the `position` of the first of its body: differences of positions
/// come first.
#[inline(always)]
pub(crate) fn seen(places: Places<'_>, slot: usize, reference: usize) -> Vec3 {
    let apart = places.position[slot] - places.position[reference];
    apart.truncate() + places.moved[slot].truncate()
}

/// Adds up numbers of the links of a chunk, lane by lane.
#[inline(always)]
pub(crate) fn summed<const N: usize>(chunk: Chunk, of: impl Fn(usize) -> [f32; N]) -> [f32; N] {
    let mut lanes = [[0.0f32; N]; LANES];
    for k in 0..chunk.count as usize {
        let numbers = of(chunk.first as usize + k);
        for (sum, number) in lanes[k % LANES].iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    let mut sums = [0.0; N];
    for lane in &lanes {
        for (sum, number) in sums.iter_mut().zip(lane) {
            *sum += number;
        }
    }
    sums
}

/// The sums of a body: those of its chunks, in order.
#[inline]
pub(crate) fn of_body(state: &BodyState, sums: &[[f32; SUMS]]) -> [f32; SUMS] {
    let first = state.first_chunk as usize;
    let mut all = [0.0; SUMS];
    for chunk in &sums[first..first + state.chunks as usize] {
        for (sum, number) in all.iter_mut().zip(chunk) {
            *sum += number;
        }
    }
    all
}

/// The vector that begins at a number of a row of sums.
#[inline(always)]
pub(crate) fn vector(sums: &[f32; SUMS], at: usize) -> Vec3 {
    Vec3::new(sums[at], sums[at + 1], sums[at + 2])
}

#[cfg(test)]
mod tests;
