//! Gives closing contacts their bounce, at velocity level (Müller 2020).
//! For contacts that closed faster than the threshold: v_n = -e v_n(before), shared by real masses.
//! Reads: predicted [m, 1/kg], velocity [m/s], prior velocity, radius, materials, neighbour lists or
//! contact rows, environment contacts. Writes: velocity in place, pair by pair; delta [m/s, 1] under
//! `jacobi`, where each particle takes the mean over its pairs.
//! Part: pairs of particles, walls (obstacles), or all of them at once under `jacobi`.
//! Order: tile, or slot and list; deterministic for every solver.

use super::collide_environment::EnvironmentContact;
use super::color_contacts::Pair;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::material::MaterialPairs;
use crate::world::{Solver, World};
use glam::{Vec3, Vec4};

/// Contacts count as closed up to this share of the contact distance: a solved one lies at it.
const CLOSED: f32 = 1.001;

/// What decides a bounce, apart from the velocities now.
struct Bounce<'a> {
    p: &'a [Vec4],
    before: &'a [Vec4],
    materials: &'a [u32],
    material_pairs: &'a MaterialPairs,
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
        let e = self.material_pairs.pair(self.materials[i], self.materials[j]).restitution;
        let normal = d / distance;
        let closing = normal.dot((self.before[i] - self.before[j]).truncate());
        let short = -e * closing - normal.dot((vi - vj).truncate());
        // A pair that gives nothing back is left as it is, as where no material bounces.
        let bounces = e > 0.0 && closing < -self.threshold && short > 0.0;
        bounces.then(|| normal * (short / sum))
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let (pairs, walls) = (at.part != Part::Walls, at.part != Part::Pairs);
    let World { params, particles, .. } = world;
    let Scratch { delta, velocity_prior, neighbors, environment, material_pairs, .. } = scratch;
    let rows = &scratch.contact_rows;
    let materials = &particles.material[..];
    let (p, v) = (&particles.predicted[..], &mut particles.velocity);
    let bounce = Bounce {
        p,
        before: velocity_prior,
        materials,
        material_pairs,
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
        let e = material_pairs.wall(contact.collider, materials[i]).restitution;
        normal * (speed - e * closing - normal.dot(v.truncate())).max(0.0)
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
                    let planes = if walls { environment.of(i) } else { &[] };
                    for contact in planes {
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
    if !walls {
        return;
    }
    team.rows(Shared::new(v), BLOCK, |range, v| {
        for (i, v) in range.zip(v) {
            for contact in environment.of(i) {
                *v += wall(i, *v, contact).extend(0.0);
            }
        }
    });
}
