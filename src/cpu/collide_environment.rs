//! Finds where a particle meets the colliders, as planes that hold for the whole substep.
//! C(p) = n.p + d - r >= 0 [C 4.9], swept in the collider's frame when |p - x| > r.
//! Particle and obstacle are seen from `position`, where the particle's step began: so x, p and the planes
//! are small numbers wherever in the world that is.
//! Reads: collider shapes and their poses at both ends of the substep, position, x = start, p = predicted,
//! r, margin (m).
//! Writes: appends to `out`, which it never shortens; no limit on the number of contacts. And who has
//! any.
//! Order: collider, then triangle index, then what a slide adds; a pure function of its arguments, so any thread may run it.

use glam::{Vec3, Vec4};
use serde::{Deserialize, Serialize};

use super::contact::{Friction, Grip};
use super::search::lists::Lists;
use super::solve_contacts::push_out;
use super::team::Team;
use super::{Moment, Scratch};
use crate::error::Result;
use crate::simd::LANES;
use crate::step::Part;
use crate::world::collider::{Collider, Pose, Shape};
use crate::world::material::MaterialPairs;
use crate::world::{Held, Particles, Partner, Phase, World};

mod guard;
mod inline_vec;
mod mesh;
mod primitive;

pub(crate) use guard::Guard;
use guard::Near;

/// Where a collider is during a substep.
#[derive(Clone, Copy, Debug)]
pub struct Posed {
    /// Pose where the substep starts.
    pub start: Pose,
    /// Pose where it ends.
    pub end: Pose,
    /// Spares particles that are far.
    pub(crate) guard: Guard,
}

impl Posed {
    /// `collider` over the substep from `time` to `time + h` [s].
    pub fn new(collider: &Collider, time: f64, h: f64) -> Self {
        let (start, end) = (collider.pose_at(time), collider.pose_at(time + h));
        Posed { start, end, guard: Guard::of(collider, start, end) }
    }
    /// The same poses in a world whose origin is `base`. The guard stays where it was.
    pub(crate) fn seen_from(&self, base: Vec3) -> Self {
        Posed { start: self.start.seen_from(base), end: self.end.seen_from(base), ..*self }
    }
}

/// A collider with where it is.
#[derive(Clone, Copy, Debug)]
pub struct PosedCollider<'a> {
    /// Shape, friction and restitution.
    pub collider: &'a Collider,
    /// Its poses.
    pub posed: &'a Posed,
    /// Copied into the contacts, to find friction and restitution again.
    pub index: u32,
}

/// A plane the particle must stay on the positive side of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentContact {
    /// `n`, `d`: C(p) = n.p + d - r >= 0 at the end of the substep, p counted from where the step
    /// began.
    pub plane: Vec4,
    /// Displacement of the collider's surface at the contact during the substep, m. At the start
    /// of the substep the plane was n.x + d + n.motion - r, up to the collider's turn.
    pub motion: Vec3,
    /// [`PosedCollider::index`] of the collider.
    pub collider: u32,
    /// What it holds.
    pub(crate) held: Held,
}

/// Appends the contacts of one particle.
///
/// All is counted from `base`, and so are the contacts. `x` is its centre at the start of the substep,
/// `p` the predicted centre at its end, `r` its radius and `margin` an extra reach: a surface nearer than `r + margin` to `p` gives a contact
/// though it is not touched yet. A surface between `x` and `p` gives one at any speed. The path
/// is taken as straight in the collider's frame: a collider that turns by an angle a in a substep
/// is off by a^2 / 8 of the particle's distance from its origin.
pub fn find_contacts<'a>(
    colliders: impl Iterator<Item = PosedCollider<'a>> + Clone,
    base: Vec3,
    x: Vec3,
    p: Vec3,
    r: f32,
    margin: f32,
    out: &mut Vec<EnvironmentContact>,
) {
    let first = out.len();
    find_along(colliders.clone(), base, x, p, r, margin, out);
    if colliders.clone().nth(1).is_none() {
        return;
    }
    // A hit at high speed slides the particle along the first collider, perhaps into a second
    // that was not on its way.
    for _ in 0..SLIDES {
        // One plane, not deeper than the radius: it slides no further than that.
        if let [] | [_] = out[first..]
            && out[first..].iter().all(|contact| height(contact, p, r) >= -r)
        {
            break;
        }
        let slid = project(&out[first..], p, r);
        if (slid - p).length() <= r {
            break;
        }
        let known = out.len();
        find_along(colliders.clone(), base, x, slid, r, 0.0, out);
        let mut kept = known;
        for i in known..out.len() {
            if height(&out[i], slid, r) < -1e-3 * r {
                out[kept] = out[i];
                kept += 1;
            }
        }
        out.truncate(kept);
        if kept == known {
            break;
        }
    }
}

/// Colliders a fast particle may slide into one after the other within a substep.
const SLIDES: usize = 4;

fn find_along<'a>(
    colliders: impl Iterator<Item = PosedCollider<'a>>,
    base: Vec3,
    x: Vec3,
    p: Vec3,
    r: f32,
    margin: f32,
    out: &mut Vec<EnvironmentContact>,
) {
    for at in colliders {
        if at.posed.guard.is_far(base + x, base + p, r + margin) {
            continue;
        }
        let posed = at.posed.seen_from(base);
        // In the collider's own frame a fast collider is the same as a fast particle.
        let sweep =
            Sweep { x: posed.start.inverse_point(x), p: posed.end.inverse_point(p), r, margin };
        let mut emit = |plane: LocalPlane| emit_contact(&posed, at.index, plane, out);
        match &at.collider.shape {
            Shape::Mesh { bvh, closed: true, .. } => mesh::find_closed(bvh, &sweep, &mut emit),
            Shape::Mesh { bvh, thickness, .. } => {
                mesh::find_sheet(bvh, *thickness, &sweep, &mut emit);
            }
            primitive => primitive::find(primitive, &sweep, &mut emit),
        }
    }
}

/// C(p) of the contact's plane, m.
fn height(contact: &EnvironmentContact, p: Vec3, r: f32) -> f32 {
    contact.plane.truncate().dot(p) + contact.plane.w - r
}

/// The predicted centre after a few sweeps over the planes, as the solver will move it.
fn project(contacts: &[EnvironmentContact], p: Vec3, r: f32) -> Vec3 {
    let mut p = p;
    for _ in 0..8 {
        let mut inside = false;
        for contact in contacts {
            let height = height(contact, p, r);
            if height < 0.0 {
                p -= contact.plane.truncate() * height;
                inside = true;
            }
        }
        if !inside {
            break; // nor would another sweep move it
        }
    }
    p
}

/// The particle's way through the substep in the collider's frame.
#[derive(Clone, Copy, Debug)]
struct Sweep {
    x: Vec3,
    p: Vec3,
    r: f32,
    margin: f32,
}

/// A plane in the collider's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LocalPlane {
    /// Unit normal, toward the particle.
    normal: Vec3,
    /// A point of the surface on the plane, m.
    point: Vec3,
    /// Skin: how far the particle is kept off the plane beside its radius, m.
    skin: f32,
}

impl LocalPlane {
    /// Height of `p` over the plane, m.
    fn height(&self, p: Vec3) -> f32 {
        self.normal.dot(p - self.point)
    }
}

fn emit_contact(
    posed: &Posed,
    collider: u32,
    plane: LocalPlane,
    out: &mut Vec<EnvironmentContact>,
) {
    let normal = posed.end.apply_vector(plane.normal);
    let point = posed.end.apply_point(plane.point);
    let motion = point - posed.start.apply_point(plane.point);
    let plane = normal.extend(-normal.dot(point) - plane.skin);
    // Coordinates near f32's limit overflow in the products; such a contact would only spread it.
    if plane.is_finite() && motion.is_finite() {
        let known = EnvironmentContact { plane, motion, collider, ..Default::default() };
        out.push(known);
    }
}

/// Lists the contacts of every particle that physics moves.
pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch, at: &Moment) -> Result<()> {
    let h = f64::from(at.h);
    let Scratch { environment, environment_before, .. } = scratch;
    std::mem::swap(environment, environment_before);
    let memory = Memory {
        world,
        before: scratch.walls_are_known.then_some(&scratch.environment_before),
        material_pairs: &scratch.material_pairs,
        push_out: push_out(world, at),
        again: at.part == Part::Again,
    };
    scratch.posed.clear();
    scratch.posed.extend(world.colliders.iter().map(|c| Posed::new(c, at.time, h)));
    let posed = &scratch.posed[..];
    let colliders = world.colliders.iter().zip(posed).zip(0..);
    let colliders =
        colliders.map(|((collider, posed), index)| PosedCollider { collider, posed, index });
    let p = &world.particles;
    let slack = world.params.margin - 1.0;
    let reach = if world.has_fluid() { 1.0 + FLUID_SLACK } else { world.params.margin };
    let Particles { position, start, predicted, radius, phase, .. } = p;
    scratch.environment.fill(team, p.len(), (p.len(), 1024), |range, desk| {
        for first in range.clone().step_by(LANES) {
            let eight = first..(first + LANES).min(range.end);
            let near = Near {
                posed,
                position: &position[eight.clone()],
                start: &start[eight.clone()],
                predicted: &predicted[eight.clone()],
                radius: &radius[eight.clone()],
                reach,
            };
            let near = team.simd.run(near);
            for i in eight {
                if near >> (i - first) & 1 != 0 && position[i].w > 0.0 {
                    let [base, x, to] = [position, start, predicted].map(|of| of[i].truncate());
                    let r = radius[i];
                    let list = desk.parts().0;
                    let first = list.len();
                    let slack = if phase[i] & Phase::FLUID != 0 { FLUID_SLACK } else { slack };
                    find_contacts(colliders.clone(), base, x, to, r, slack * r, list);
                    memory.go_on(i, x, r, &mut list[first..]);
                }
                desk.end(i);
            }
        }
    })?;
    scratch.environment.collect_filled(&mut scratch.beside);
    scratch.walls_are_known = true;
    scratch.memory_is_behind = true;
    Ok(())
}

/// Fluid sees walls as far as its own kernel reaches, four radii: so many beyond its own.
const FLUID_SLACK: f32 = 3.0;

/// Cosine of the angle up to which two planes of an obstacle are taken for the same: 8 degrees.
const SAME_PLANE: f32 = 0.99;

/// What contacts with obstacles held before.
struct Memory<'a> {
    world: &'a World,
    /// The contacts as they were, or the world knows.
    before: Option<&'a Lists<EnvironmentContact>>,
    material_pairs: &'a MaterialPairs,
    /// How far old overlap may be pushed out in this substep, m.
    push_out: f32,
    /// The substep has begun already.
    again: bool,
}

impl Memory<'_> {
    /// New contacts of particle i, which was at x when the substep began, go on with what its
    /// contacts with the same obstacle held: the first with the first, and so on.
    fn go_on(&self, i: usize, x: Vec3, r: f32, contacts: &mut [EnvironmentContact]) {
        for k in 0..contacts.len() {
            let (earlier, rest) = contacts.split_at_mut(k);
            let contact = &mut rest[0];
            let began = contact.motion + x;
            // C where the substep began, with the plane where it was then.
            let c = contact.plane.dot(began.extend(1.0)) - r;
            let deep = (c + self.push_out).min(0.0);
            contact.held = Held { pressed: 0.0, anchor: began, floor: deep, ..Held::NOTHING };
            let Some(old) = self.before(i, x, contact, earlier, None) else { continue };
            if self.again {
                // A plane that is new in the same substep may have been behind an edge when that
                // began: how deep the particle was is what the planes before said.
                contact.held.floor = old.floor;
                let normal = contact.plane.truncate();
                if let Some(same) = self.before(i, x, contact, earlier, Some(normal)) {
                    contact.held = Held { floor: old.floor, ..same };
                }
            } else if self.world.particles.phase[i] & Phase::RIGID != 0 {
                // An impulse on a body, with which the next one begins.
                let Held { pressed, given, limit, .. } = old;
                contact.held = Held { pressed, given, limit, ..contact.held };
            } else {
                let material = self.world.particles.material[i];
                let row = self.material_pairs.wall(contact.collider, material);
                let mut grip = Grip::from(old);
                grip.begin(contact.plane.truncate().into(), x.into(), Friction::between(row));
                // Who was kept outside stays outside, though edges show another plane by now.
                let floor = if old.floor < 0.0 { deep } else { 0.0 };
                contact.held = grip.held(floor, old.share);
                contact.held.anchor += contact.motion;
            }
        }
    }

    /// What a contact of particle i goes on from, where those found `earlier` took theirs. When a
    /// substep begins, only contacts that press go on. In the same substep any tells how deep the
    /// particle was, but to go on the contact must have the same `normal`: what another plane gave is
    /// no longer to be taken back, for constraints have answered to it.
    fn before(
        &self,
        i: usize,
        x: Vec3,
        contact: &EnvironmentContact,
        earlier: &[EnvironmentContact],
        normal: Option<Vec3>,
    ) -> Option<Held> {
        let same = |c: &&EnvironmentContact| {
            c.collider == contact.collider
                && normal.is_none_or(|normal| c.plane.truncate().dot(normal) > SAME_PLANE)
        };
        let nth = earlier.iter().filter(same).count();
        let goes_on = |c: &&EnvironmentContact| self.again || c.held.pressed > 0.0;
        match self.before {
            Some(lists) => lists.of(i).iter().filter(same).filter(goes_on).nth(nth).map(|c| c.held),
            None => {
                let kept = self.world.contact_memory.of(i).iter();
                let mut kept = kept.filter(|k| k.with() == Partner::Obstacle(contact.collider));
                let held = kept.nth(nth).map(|kept| kept.held)?;
                Some(Held { anchor: held.anchor + x, ..held })
            }
        }
    }
}

#[cfg(test)]
mod tests;
