//! What sweeps over a kind of constraint need besides its own arrays. It can be made again from
//! them at any time.

use super::colored;
use super::law;
use super::runs::Plans;
use crate::cpu::team::{Shared, Team};
use crate::simd::Vector;
use crate::world::constraints::ConstraintSet;
use crate::world::{Method, Params};
use glam::Vec4;

/// Rows that a block holds when they are told how their particles lie.
const BLOCK: usize = 1024;

#[derive(Default)]
pub(crate) struct Cache {
    /// How corner k of each row lay to the first one where the step began, at k - 1: [x, y, z, 0], m.
    pub(crate) base: [Vec<Vec4>; 3],
    /// [`super::Law::multiplier`]'s `soft` per row.
    pub(crate) soft: Vec<f32>,
    soft_key: Option<(u64, Method, f32, u32)>,
    pub(crate) law: law::Choice,
    /// One more than the highest slot in use.
    reach: usize,
    pub(super) plans: Plans,
    /// The revision that reach and plans were made for.
    reach_revision: Option<u64>,
    /// Rows in order of creation.
    pub(crate) natural: Vec<u32>,
    natural_revision: Option<u64>,
    /// The corrections of a Jacobi sweep: corner k of row i is at i * N + k.
    pub(crate) corrections: Vec<Vec4>,
    /// Constraints of this kind on the busiest particle of each row.
    pub(crate) busiest: Vec<f32>,
    /// Which corrections each particle gathers: those from its start to the next one's.
    pub(crate) incident_start: Vec<u32>,
    pub(crate) incident: Vec<u32>,
    incident_revision: Option<u64>,
}

impl Cache {
    /// Brings what every sweep needs up to date; cheap when nothing changed.
    pub fn update<const N: usize>(&mut self, set: &ConstraintSet<N>, params: &Params, h: f32) {
        self.update_reach(set);
        self.update_soft(set, params, h);
    }

    /// Takes note of how the particles of each row lie to each other.
    pub fn take_bases<const N: usize>(
        &mut self,
        team: &Team,
        set: &ConstraintSet<N>,
        position: &[Vec4],
    ) {
        for (k, base) in self.base.iter_mut().enumerate().take(N - 1) {
            base.resize(set.len(), Vec4::ZERO);
            let rows = (Shared::new(base), &set.corner[0][..], &set.corner[k + 1][..]);
            team.rows(rows, BLOCK, |_, (base, first, other)| {
                for ((base, &first), &other) in base.iter_mut().zip(first).zip(other) {
                    let apart = position[other as usize] - position[first as usize];
                    *base = apart.truncate().extend(0.0);
                }
            });
        }
    }

    /// How corner k of a row lay to the first.
    #[inline(always)]
    pub(super) fn base(&self, row: usize) -> impl Fn(usize) -> Vector<f32> + '_ {
        move |k| {
            let [x, y, z, _] = self.base[k - 1][row].to_array();
            Vector { x, y, z }
        }
    }

    /// Whether sweeps read the multipliers: they do with XPBD on compliant constraints.
    pub fn keeps_lambda(&self) -> bool {
        self.law == law::Choice::Compliant
    }

    fn update_soft<const N: usize>(&mut self, set: &ConstraintSet<N>, params: &Params, h: f32) {
        let key = (set.revision(), params.method, h, params.iterations);
        if self.soft_key == Some(key) {
            return;
        }
        self.soft_key = Some(key);
        self.soft.clear();
        match params.method {
            Method::Xpbd => {
                let inv_h_sq = 1.0 / (h * h);
                self.soft.extend(set.compliance.iter().map(|c| c * inv_h_sq));
            }
            Method::Pbd => {
                let exponent = 1.0 / params.iterations.max(1) as f32;
                let soft = |k: &f32| 1.0 - libm::powf(1.0 - k, exponent);
                self.soft.extend(set.stiffness.iter().map(soft));
            }
        }
        self.law = law::Choice::of(params, &self.soft);
    }

    /// Checks once, for each topology, what lets sweeps read and write particles unchecked.
    fn update_reach<const N: usize>(&mut self, set: &ConstraintSet<N>) {
        if self.reach_revision == Some(set.revision()) {
            return;
        }
        // A set that comes new may come from anywhere; from then on only its own methods change
        // it, and they keep the colours.
        if self.reach_revision.is_none() {
            assert_eq!(set.corners(), N, "a set of another kind");
            assert!(set.colors_are_sound(), "constraints of a colour share a particle");
        }
        self.reach_revision = Some(set.revision());
        let highest = set.corner[..N].iter().flatten().max();
        self.reach = highest.map_or(0, |&slot| slot as usize + 1);
        self.plans.update(set, colored::BLOCK / N);
    }

    /// Panics unless every particle of the set is among `particle_count`.
    pub(crate) fn assert_within<const N: usize>(
        &self,
        set: &ConstraintSet<N>,
        particle_count: usize,
    ) {
        assert_eq!(self.reach_revision, Some(set.revision()), "the cache is out of date");
        assert!(self.reach <= particle_count, "a constraint on a particle that is not there");
    }

    pub(crate) fn update_natural<const N: usize>(&mut self, set: &ConstraintSet<N>) {
        if self.natural_revision == Some(set.revision()) {
            return;
        }
        self.natural_revision = Some(set.revision());
        self.natural.clear();
        self.natural.extend(0..set.len() as u32);
        self.natural.sort_unstable_by_key(|&i| set.serial[i as usize]);
    }

    /// Finds which corrections each particle gathers, by a counting sort that keeps the order of
    /// rows.
    pub(crate) fn update_incidence<const N: usize>(
        &mut self,
        set: &ConstraintSet<N>,
        particles: usize,
    ) {
        let up_to_date = self.incident_revision == Some(set.revision())
            && self.incident_start.len() == particles + 1;
        if up_to_date {
            return;
        }
        self.incident_revision = Some(set.revision());
        let start = &mut self.incident_start;
        start.clear();
        start.resize(particles + 1, 0);
        for k in 0..N {
            for &p in &set.corner[k] {
                start[p as usize + 1] += 1;
            }
        }
        for i in 0..particles {
            start[i + 1] += start[i];
        }
        self.incident.clear();
        self.incident.resize(N * set.len(), 0);
        let mut next = start.clone();
        for i in 0..set.len() {
            for k in 0..N {
                let at = &mut next[set.corner[k][i] as usize];
                self.incident[*at as usize] = (i * N + k) as u32;
                *at += 1;
            }
        }
        self.corrections.clear();
        self.corrections.resize(N * set.len(), Vec4::ZERO);
        let count = |p: u32| start[p as usize + 1] - start[p as usize];
        let busiest = |i| set.particles(i).map(count).into_iter().max().unwrap_or(1);
        self.busiest.clear();
        self.busiest.extend((0..set.len()).map(|i| busiest(i) as f32));
    }
}
