//! Bounces what closes fast, before the solve. Impacts that happen at once are handed on in rounds.
//! In a round each particle takes the contact that closes fastest, at a speed c; where the two of a
//! pair take each other, they bounce: J = (1 + e) c / (w_i + w_j) along the normal of their first
//! touch, with friction up to mu J. Rounds end when nothing closes faster than the threshold, or
//! after some; what closes then is left to the solve, which gives nothing back (e = 0).
//! Reads: position, start, predicted [m, 1/kg], velocity [m/s], radius, phase, materials, neighbour lists,
//! environment contacts. Writes: velocity, and predicted along with it; impacts.
//! Part: contacts of pairs, of walls (obstacles), or all.
//! Order: any. Who bounces depends on speeds and slots alone, so all solvers and any number of
//! threads give the same bits.

use super::collide_environment::EnvironmentContact;
use super::search::neighbors::Neighbor;
use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::material::{MaterialPairs, PairRow};
use crate::world::{Phase, Places, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Rounds of a substep at most: an impact is handed on through a row of as many contacts.
pub(crate) const ROUNDS: u32 = 16;

/// Particles touch up to this share of the contact distance: solved contacts lie at it.
const CLOSED: f32 = 1.001;

/// Who takes nobody, and who takes an obstacle: beyond all slots.
const NONE: u32 = u32::MAX;
const WALL: u32 = u32::MAX - 1;

/// What particles take in a round. Speeds are kept as bits, whose order is theirs.
#[derive(Default)]
pub(crate) struct Impacts {
    /// The highest closing speed of each particle in this round and in the one before, by turns;
    /// 0 where nothing closes.
    fastest: [Vec<AtomicU32>; 2],
    /// The particle that each takes: the one in the lowest slot, where several close as fast.
    partner: Vec<AtomicU32>,
}

impl Impacts {
    fn clear(&mut self, count: usize) {
        for speeds in &mut self.fastest {
            speeds.clear();
            speeds.resize_with(count, Default::default);
        }
        self.partner.resize_with(count, Default::default);
    }
}

/// Two that touch and close.
struct Impact {
    normal: Vec3,
    /// At which they close, m/s.
    speed: f32,
    relative: Vec3,
    row: PairRow,
}

impl Impact {
    /// The change of the relative velocity. Friction acts against the slip across the normal.
    fn bounce(&self) -> Vec3 {
        let push = (1.0 + self.row.restitution) * self.speed;
        let slip = self.relative + self.normal * self.speed;
        let size = slip.length();
        let mu = if size > self.row.fixed * push { self.row.kinetic } else { self.row.fixed };
        let most = mu * push;
        let held = if size > most { most / size } else { 1.0 };
        self.normal * push - slip * held
    }
}

/// The normal where two touch first that were `start` apart and go a relative `way`; `None` where
/// they do not, or part.
fn first_touch(start: Vec3, way: Vec3, contact: f32) -> Option<Vec3> {
    let (apart, along, reach) = (start.dot(start), start.dot(way), contact * CLOSED);
    if along.is_nan() || along >= 0.0 || apart < 1e-18 {
        return None;
    }
    if apart <= reach * reach {
        return Some(start / apart.sqrt());
    }
    // |start + t way| = contact, the first of the two.
    let gap = apart - contact * contact;
    let root = along * along - way.dot(way) * gap;
    let far = root.sqrt() - along;
    if root >= 0.0 && gap <= far {
        let at = start + way * (gap / far);
        return Some(at / at.length());
    }
    None
}

/// What decides an impact, apart from predictions and velocities.
struct Bounces<'a> {
    /// Where the substep began.
    start: Places<'a>,
    radius: &'a [f32],
    materials: &'a [u32],
    material_pairs: &'a MaterialPairs,
    threshold: f32,
    h: f32,
}

impl Bounces<'_> {
    /// Particles i and j, predicted at p, with velocities v.
    fn pair(&self, [i, j]: [usize; 2], contact: f32, p: [Vec4; 2], v: [Vec4; 2]) -> Option<Impact> {
        if p[0].w + p[1].w == 0.0 {
            return None;
        }
        let (start, moved) = (self.start.between(i, j), self.start.moved);
        let way = ((p[0] - p[1]) - (moved[i] - moved[j])).truncate();
        let normal = first_touch(start, way, contact)?;
        let row = *self.material_pairs.pair(self.materials[i], self.materials[j]);
        self.impact(normal, (v[0] - v[1]).truncate(), row)
    }

    /// Particle i and a plane.
    fn wall(&self, i: usize, contact: &EnvironmentContact, p: Vec4, v: Vec4) -> Option<Impact> {
        let normal = contact.plane.truncate();
        let gap = contact.plane.dot(p.truncate().extend(1.0));
        if p.w == 0.0 || gap >= self.radius[i] {
            return None;
        }
        let row = *self.material_pairs.wall(contact.collider, self.materials[i]);
        self.impact(normal, v.truncate() - contact.motion / self.h, row)
    }

    /// Of the planes of particle i the first that it closes with fastest.
    fn fastest_wall(
        &self,
        i: usize,
        planes: &[EnvironmentContact],
        p: Vec4,
        v: Vec4,
    ) -> Option<Impact> {
        let impacts = planes.iter().filter_map(|plane| self.wall(i, plane, p, v));
        impacts.reduce(|best, other| if other.speed > best.speed { other } else { best })
    }

    /// A contact that gives nothing back is left to the solve, as where no material bounces.
    fn impact(&self, normal: Vec3, relative: Vec3, row: PairRow) -> Option<Impact> {
        let speed = -normal.dot(relative);
        let bounces = row.restitution > 0.0 && speed > self.threshold && speed.is_finite();
        bounces.then_some(Impact { normal, speed, relative, row })
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    let particles = &mut world.particles;
    let count = particles.len();
    let Scratch { impacts, neighbors, environment, material_pairs, .. } = scratch;
    impacts.clear(count);
    let bounces = Bounces {
        start: Places { position: &particles.position, moved: &particles.start },
        radius: &particles.radius,
        materials: &particles.material,
        material_pairs,
        threshold: world.params.restitution_threshold,
        h: at.h,
    };
    let phase = &particles.phase[..];
    let above =
        |i: usize| -> &[Neighbor] { if at.part == Part::Walls { &[] } else { neighbors.above(i) } };
    let planes = |i: usize| -> &[EnvironmentContact] {
        let left_to_bodies = phase[i] & Phase::RIGID != 0;
        if at.part == Part::Pairs || left_to_bodies { &[] } else { environment.of(i) }
    };
    let (p, v) = (&mut particles.predicted[..], &mut particles.velocity[..]);
    assert!(p.len() == count && v.len() == count);
    for round in 0..ROUNDS {
        let [even, odd] = &impacts.fastest;
        let (now, before) = if round % 2 == 0 { (even, odd) } else { (odd, even) };
        let taken = &impacts.partner;
        if !find_fastest(team, &bounces, (above, planes), (p, v), (now, before, taken), round) {
            break;
        }
        team.blocks(count, BLOCK, |_, range| {
            for i in range {
                let fastest = now[i].load(Relaxed);
                if fastest == 0 {
                    continue;
                }
                let is_it = |impact: Impact| impact.speed.to_bits() == fastest;
                for n in above(i) {
                    let j = n.slot as usize;
                    if now[j].load(Relaxed) == fastest
                        && bounces
                            .pair([i, j], n.contact, [p[i], p[j]], [v[i], v[j]])
                            .is_some_and(is_it)
                    {
                        taken[i].fetch_min(j as u32, Relaxed);
                        taken[j].fetch_min(i as u32, Relaxed);
                    }
                }
                if bounces.fastest_wall(i, planes(i), p[i], v[i]).is_some_and(is_it) {
                    taken[i].fetch_min(WALL, Relaxed);
                }
            }
        });
        let (moved, sped) = (Shared::new(p), Shared::new(v));
        team.blocks(count, BLOCK, |_, range| {
            for i in range {
                // The next round counts here.
                before[i].store(0, Relaxed);
                let j = taken[i].load(Relaxed);
                if j == WALL {
                    // SAFETY: in bounds, and who takes a wall bounces with no particle: nobody else
                    // comes here with this slot.
                    let (p, v) = unsafe { (moved.at(i), sped.at(i)) };
                    let Some(impact) = bounces.fastest_wall(i, planes(i), *p, *v) else {
                        continue;
                    };
                    let change = impact.bounce().extend(0.0);
                    *v += change;
                    *p += change * at.h;
                    continue;
                }
                let j = j as usize;
                if j <= i || j >= count || taken[j].load(Relaxed) as usize != i {
                    continue;
                }
                let Some(n) = above(i).iter().find(|n| n.slot as usize == j) else { continue };
                // SAFETY: in bounds and different. The two took each other, so nobody else comes here
                // with the slot of either, and j itself leaves the work to i.
                let (pi, pj, vi, vj) =
                    unsafe { (moved.at(i), moved.at(j), sped.at(i), sped.at(j)) };
                let Some(impact) = bounces.pair([i, j], n.contact, [*pi, *pj], [*vi, *vj]) else {
                    continue;
                };
                let push = (impact.bounce() / (pi.w + pj.w)).extend(0.0);
                let (gives, takes) = (push * pi.w, push * pj.w);
                *vi += gives;
                *vj -= takes;
                *pi += gives * at.h;
                *pj -= takes * at.h;
            }
        });
    }
}

/// Finds at what speed each particle closes fastest; whether any does. From the second round on only
/// those that closed in the round `before`, and their neighbours, can have become faster.
fn find_fastest<'a>(
    team: &Team,
    bounces: &Bounces,
    (above, planes): (
        impl Fn(usize) -> &'a [Neighbor] + Sync,
        impl Fn(usize) -> &'a [EnvironmentContact] + Sync,
    ),
    (p, v): (&[Vec4], &[Vec4]),
    (now, before, taken): (&[AtomicU32], &[AtomicU32], &[AtomicU32]),
    round: u32,
) -> bool {
    let found = AtomicBool::new(false);
    let stirred = |i: usize| round == 0 || before[i].load(Relaxed) > 0;
    team.blocks(p.len(), BLOCK, |_, range| {
        let mut any = false;
        for i in range {
            taken[i].store(NONE, Relaxed);
            let own = stirred(i);
            for n in above(i) {
                let j = n.slot as usize;
                if (own || stirred(j))
                    && let Some(impact) =
                        bounces.pair([i, j], n.contact, [p[i], p[j]], [v[i], v[j]])
                {
                    let speed = impact.speed.to_bits();
                    now[i].fetch_max(speed, Relaxed);
                    now[j].fetch_max(speed, Relaxed);
                    any = true;
                }
            }
            if own && let Some(impact) = bounces.fastest_wall(i, planes(i), p[i], v[i]) {
                now[i].fetch_max(impact.speed.to_bits(), Relaxed);
                any = true;
            }
        }
        if any {
            found.store(true, Relaxed);
        }
    });
    found.into_inner()
}
