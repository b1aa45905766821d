//! Carries iterates further the way they went: Chebyshev semi-iteration.
//! q_k = w_k (p_k - q_(k-2)) + q_(k-2), p_k the sweep of q_(k-1); w = 1 for a few sweeps, then
//! 2 / (2 - rho²), then w_k = 4 / (4 - rho² w_(k-1)) (Wang 2015).
//! Reads: predicted [m, 1/kg], multipliers, both of the last two iterations.
//! Writes: predicted, multipliers (with XPBD a soft constraint's belongs to the positions).
//! Order: each particle and each multiplier is taken alone, and the guard adds its sums block by block
//! in order, so the result is deterministic.

use super::team::{BLOCK, Shared, Team};
use super::{Moment, Scratch};
use crate::step::Part;
use crate::world::{Kind, World};
use glam::Vec4;

/// How many sweeps are left alone at first: they cut errors that an extrapolation would only stir
/// up.
const PLAIN: u32 = 4;
/// The squared correction of a sweep may be this many times the least so far before the guard takes
/// it for divergence.
const GROWTH: f64 = 1.5;

/// The iterates before this one; they last for a substep.
#[derive(Default)]
pub(crate) struct Iterates {
    pub position: Past<Vec4>,
    /// The multipliers of each stored kind, ...
    pub rows: [Past<f32>; Kind::SETS.len()],
    /// ... and those of the pins.
    pub pins: Past<f32>,
    /// Iterations since the last beginning.
    pub count: u32,
    pub omega: f32,
    pub rho: f32,
    /// Least squared correction since the last beginning.
    pub least: f64,
    /// Squared corrections by block.
    sums: Vec<f64>,
}

/// The last two iterates.
#[derive(Default)]
pub(crate) struct Past<T> {
    pub last: Vec<T>,
    pub before: Vec<T>,
}

impl<T: Copy + Default> Past<T> {
    fn resize(&mut self, len: usize) {
        self.last.resize(len, T::default());
        self.before.resize(len, T::default());
    }

    /// The one before becomes the last.
    fn turn(&mut self) {
        std::mem::swap(&mut self.last, &mut self.before);
    }
}

impl Iterates {
    /// A substep begins.
    pub fn begin(&mut self, rho: f32) {
        self.rho = rho;
        self.restart();
    }

    fn restart(&mut self) {
        self.count = 0;
        self.omega = 1.0;
        self.least = f64::INFINITY;
    }

    /// The factor of this iteration.
    fn next_omega(&mut self) -> f32 {
        let rho_sq = self.rho * self.rho;
        self.omega = match self.count {
            k if k < PLAIN => 1.0,
            PLAIN => 2.0 / (2.0 - rho_sq),
            _ => 4.0 / (4.0 - rho_sq * self.omega),
        };
        self.count += 1;
        self.omega
    }

    /// Begins again with plain sweeps, and rho twice as far from 1, when the corrections grow. It
    /// keeps a run from blowing up; a cloth that overshot may still have been crumpled by then.
    fn guard(&mut self) {
        // The first correction is measured from an earlier substep.
        if self.count < 2 {
            return;
        }
        let correction: f64 = self.sums.iter().sum();
        if correction <= GROWTH * self.least {
            self.least = self.least.min(correction);
            return;
        }
        self.rho = (1.0 - 2.0 * (1.0 - self.rho)).max(0.0);
        self.restart();
    }
}

pub(crate) fn run(team: &Team, world: &mut World, scratch: &mut Scratch, at: &Moment) {
    if at.part == Part::Begin {
        return scratch.iterates.begin(world.params.rho);
    }
    let World { particles, sets, pins, .. } = world;
    let iterates = &mut scratch.iterates;
    let omega = iterates.next_omega();
    carry_positions(team, &mut particles.predicted, iterates, omega);
    for ((rows, cache), past) in
        sets.all_mut().into_iter().zip(&scratch.kinds).zip(&mut iterates.rows)
    {
        if cache.keeps_lambda() {
            carry_multipliers(team, &mut rows.lambda, past, omega);
        }
    }
    let past_pins = &mut iterates.pins;
    past_pins.resize(pins.len());
    for (i, pin) in pins.iter_mut().enumerate() {
        carry(&mut pin.lambda, &mut past_pins.before[i], omega);
    }
    past_pins.turn();
    iterates.guard();
}

fn carry_positions(team: &Team, positions: &mut [Vec4], iterates: &mut Iterates, omega: f32) {
    let Iterates { position: past, sums, .. } = iterates;
    past.resize(positions.len());
    sums.resize(positions.len().div_ceil(BLOCK), 0.0);
    let sums = Shared::new(sums);
    let rows = (Shared::new(positions), &past.last[..], Shared::new(&mut past.before));
    team.rows(rows, BLOCK, |range, (positions, last, before)| {
        // Four sums, so that none waits for the addition before it.
        let mut squares = [Vec4::ZERO; 4];
        for (i, ((p, last), before)) in positions.iter_mut().zip(last).zip(before).enumerate() {
            let correction = *p - *last;
            squares[i % 4] += correction * correction;
            // What is pinned stays to the bit, wherever it was before.
            if omega > 1.0 && p.w > 0.0 {
                *p = *before + (*p - *before) * omega;
            }
            *before = *p;
        }
        let [a, b, c, d] = squares.map(|sum| sum.as_dvec4().element_sum());
        // SAFETY: one sum a block.
        unsafe { *sums.at(range.start / BLOCK) = (a + b) + (c + d) };
    });
    // The oldest made room for the newest.
    past.turn();
}

fn carry_multipliers(team: &Team, lambda: &mut [f32], past: &mut Past<f32>, omega: f32) {
    past.resize(lambda.len());
    let rows = (Shared::new(lambda), Shared::new(&mut past.before));
    team.rows(rows, BLOCK, |_, (lambda, before)| {
        for (lambda, before) in lambda.iter_mut().zip(before) {
            carry(lambda, before, omega);
        }
    });
    past.turn();
}

/// Carries one multiplier further and leaves it in place of the oldest.
#[inline]
fn carry(lambda: &mut f32, before: &mut f32, omega: f32) {
    if omega > 1.0 {
        *lambda = *before + (*lambda - *before) * omega;
    }
    *before = *lambda;
}
