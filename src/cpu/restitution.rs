//! Gives closing contacts their bounce, at velocity level (Müller 2020).
//! For contacts that closed faster than the threshold: v_n = -e v_n(before), shared by real masses.
//! Reads: predicted [m, 1/kg], velocity [m/s], prior velocity, radius, neighbour lists or contact
//! rows, environment contacts. Writes: velocity in place, pair by pair; delta [m/s, 1] under
//! `jacobi`, where each particle takes the mean over its pairs.
//! Order: tile, or slot and list; deterministic for every solver.

use super::collide_environment::EnvironmentContact;
use super::color_contacts::Pair;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::world::{Solver, World};
use glam::{Vec3, Vec4};

/// Contacts count as closed up to this share of the contact distance: a solved one lies at it.
const CLOSED: f32 = 1.001;

/// What decides a bounce, apart from the velocities now.
struct Bounce<'a> {
    p: &'a [Vec4],
    before: &'a [Vec4],
    restitution: f32,
    threshold: f32,
}

impl Bounce<'_> {
    /// The change of relative velocity a pair needs along the line from j to i, over the sum of the
    /// inverse masses; `None` when it does not bounce.
    fn pair(&self, i: usize, j: usize, contact: f32, vi: Vec4, vj: Vec4) -> Option<Vec3> {
        let d = (self.p[i] - self.p[j]).truncate();
        let distance = d.length();
        let sum = self.p[i].w + self.p[j].w;
        if distance > contact * CLOSED || distance < 1e-9 || sum == 0.0 {
            return None;
        }
        let normal = d / distance;
        let closing = normal.dot((self.before[i] - self.before[j]).truncate());
        let short = -self.restitution * closing - normal.dot((vi - vj).truncate());
        (closing < -self.threshold && short > 0.0).then(|| normal * (short / sum))
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let pairs = world.params.restitution > 0.0 && world.may_touch();
    let World { params, particles, colliders, .. } = world;
    let Scratch { delta, velocity_prior, neighbors, environment, contact_rows: rows, .. } = scratch;
    let (p, v) = (&particles.predicted[..], &mut particles.velocity);
    let bounce = Bounce {
        p,
        before: velocity_prior,
        restitution: params.restitution,
        threshold: params.restitution_threshold,
    };
    let radius = &particles.radius;
    let wall = |i: usize, v: Vec4, contact: &EnvironmentContact| -> Vec3 {
        let normal = contact.plane.truncate();
        let gap = contact.plane.dot(p[i].truncate().extend(1.0));
        let speed = normal.dot(contact.motion) / at.h;
        let closing = normal.dot(bounce.before[i].truncate()) - speed;
        if p[i].w == 0.0 || gap > radius[i] * CLOSED || closing >= -bounce.threshold {
            return Vec3::ZERO;
        }
        let own = colliders[contact.collider as usize].restitution.unwrap_or(params.restitution);
        normal * (speed - own * closing - normal.dot(v.truncate())).max(0.0)
    };
    match params.solver {
        Solver::Jacobi => {
            let v = &v[..];
            team.rows(Shared::new(delta), BLOCK, |range, delta| {
                for (i, delta) in range.zip(delta) {
                    let list = if pairs && p[i].w > 0.0 { neighbors.of(i) } else { &[] };
                    let (mut sum, mut count) = (Vec3::ZERO, 0.0f32);
                    for n in list {
                        let j = n.slot as usize;
                        if let Some(push) = bounce.pair(i, j, n.contact, v[i], v[j]) {
                            sum += push * p[i].w;
                            count += 1.0;
                        }
                    }
                    let mut change = sum / count.max(1.0);
                    for contact in environment.of(i) {
                        change += wall(i, v[i] + change.extend(0.0), contact);
                    }
                    *delta = change.extend(1.0);
                }
            });
            return;
        }
        Solver::Colored if pairs => {
            rows.sweep(team, [v], |Pair { i, j, contact }, [vi], [vj]| {
                if let Some(push) = bounce.pair(i, j, contact, *vi, *vj) {
                    *vi += (push * p[i].w).extend(0.0);
                    *vj -= (push * p[j].w).extend(0.0);
                }
            });
        }
        Solver::Seidel | Solver::Lockfree if pairs => {
            for i in 0..p.len() {
                for n in neighbors.above(i) {
                    let j = n.slot as usize;
                    if let Some(push) = bounce.pair(i, j, n.contact, v[i], v[j]) {
                        v[i] += (push * p[i].w).extend(0.0);
                        v[j] -= (push * p[j].w).extend(0.0);
                    }
                }
            }
        }
        _ => {}
    }
    team.rows(Shared::new(v), BLOCK, |range, v| {
        for (i, v) in range.zip(v) {
            for contact in environment.of(i) {
                *v += wall(i, *v, contact).extend(0.0);
            }
        }
    });
}
