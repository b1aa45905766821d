//! Keeps the triangles of cloth off the vertices of meshes, with static and kinetic friction.
//! m = sum of b p over the corners; where C = u.m + d < 0, m moves by D = -C u less friction, and each
//! corner by w b D / (sum of w b²). A particle takes the mean of what its contacts ask for, weighted
//! by b and -C, so deep contacts count most.
//! Reads: position [m], start [m], predicted [m, 1/kg], materials, point contacts. Writes: delta: what each particle
//! moves by [m]; predicted.
//! Part: all; start: the corners of triangles that still pass a vertex go back to where the substep
//! began.
//! Order: all contacts see the same positions, and each particle sums over its own in the order of
//! its list; deterministic.

use super::collide_points::PointContact;
use super::contact::Friction;
use super::team::{Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{Particles, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Particles that a block holds.
const BLOCK: usize = 64;

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    if at.part == Part::Start {
        return go_back(team, world, scratch);
    }
    let particles = &mut world.particles;
    let Scratch { point_contacts, pricked, delta, material_pairs, stirred, .. } = scratch;
    assert!(delta.len() == particles.predicted.len());
    let (moves, material) = (Shared::new(delta), &particles.material[..]);
    let Particles { position, start, predicted, .. } = &*particles;
    let cloth = Cloth { position, start, predicted };
    team.rows(&pricked[..], BLOCK, |_, pricked| {
        for i in pricked.iter().map(|&i| i as usize) {
            let mut sum = Vec4::ZERO;
            for contact in point_contacts.of(i) {
                let row = material_pairs.wall(contact.collider, material[i]);
                sum += cloth.asked(i, contact, Friction::between(row));
            }
            // SAFETY: in bounds, since whoever has a list is a particle; nobody stands in the list
            // twice.
            *unsafe { moves.at(i) } = sum;
        }
    });
    let (moves, predicted) = (&*delta, Shared::new(&mut particles.predicted));
    let moved = AtomicU32::new(0);
    team.rows(&pricked[..], BLOCK, |_, pricked| {
        for i in pricked.iter().map(|&i| i as usize) {
            let sum = moves[i];
            if sum.w > 0.0 {
                moved.store(1, Relaxed);
                // SAFETY: as above.
                let p = unsafe { predicted.at(i) };
                *p += (sum.truncate() / sum.w).extend(0.0);
            }
        }
    });
    *stirred |= moved.into_inner();
}

/// Puts the corners of triangles that still pass a vertex back to where the substep began, as the
/// vertex sees it.
fn go_back(team: &Team, world: &mut World, scratch: &mut Scratch) {
    let Scratch { point_contacts, pricked, .. } = scratch;
    let Particles { start, predicted, .. } = &mut world.particles;
    assert!(start.len() == predicted.len());
    let predicted = Shared::new(predicted);
    team.rows(&pricked[..], BLOCK, |_, pricked| {
        for i in pricked.iter().map(|&i| i as usize) {
            // SAFETY: in bounds, since whoever has a list is a particle; nobody stands in the list
            // twice.
            let p = unsafe { predicted.at(i) };
            let passed = point_contacts.of(i).iter().find(|contact| contact.passed != 0);
            if let Some(contact) = passed {
                *p = (start[i].truncate() + contact.motion).extend(p.w);
            }
        }
    });
}

/// Where the cloth is.
struct Cloth<'a> {
    position: &'a [Vec4],
    start: &'a [Vec4],
    predicted: &'a [Vec4],
}

impl Cloth<'_> {
    /// What a contact asks of particle i, times its weight, and the weight.
    fn asked(&self, i: usize, contact: &PointContact, friction: Friction<f32>) -> Vec4 {
        let [b, c] = contact.corners.map(|slot| slot as usize);
        let [share_b, share_c] = contact.shares;
        let share = 1.0 - share_b - share_c;
        // Corners as the contact counts them, from where the step of particle i began.
        let from = |slot: usize, of: &[Vec4]| (self.position[slot] - self.position[i]) + of[slot];
        let at = |of: &[Vec4]| of[i] * share + from(b, of) * share_b + from(c, of) * share_c;
        let (p, away) = (at(self.predicted).truncate(), contact.plane.truncate());
        let error = away.dot(p) + contact.plane.w;
        let w = [i, b, c].map(|slot| self.predicted[slot].w);
        if !(error < 0.0 && w[0] > 0.0) {
            return Vec4::ZERO;
        }
        let out = p - away * error;
        let slip = out - at(self.start).truncate() - contact.motion;
        let tangential = slip - away * away.dot(slip);
        let held = Vec3::from(friction.hold(tangential.into(), -error));
        let wanted = away * -error - held;
        let carried = w[0] * share * share + w[1] * share_b * share_b + w[2] * share_c * share_c;
        let weight = share * -error;
        (wanted * (w[0] * share / carried * weight)).extend(weight)
    }
}
