//! Constraints of one kind, as parallel arrays in colour order.
//!
//! No two constraints of a colour share a particle, so a colour can be solved in any order and in
//! parallel. Colours are given when a constraint is added and never change: breaking, cutting and
//! adding move rows, they recolour nothing. Inside a colour rows stay in order of creation, so the
//! result never depends on who removed what.

use crate::table::give_back;
use crate::world::particles::GONE;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut, Range};

/// The colour of constraints that found no free one; it is solved serially.
pub const OVERFLOW_COLOR: usize = 63;

/// One constraint over `N` particle slots, as it is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint<const N: usize> {
    /// Slots of the particles.
    pub particles: [u32; N],
    /// Rest length m, angle rad or volume m³.
    pub rest: f32,
    /// PBD stiffness, 0..=1 (1 = rigid).
    pub stiffness: f32,
    /// XPBD compliance: m/N, rad/(N m) or m⁵/N (0 = rigid).
    pub compliance: f32,
    /// Strain beyond which it breaks (infinite: never).
    pub break_at: f32,
    /// Strain beyond which it yields (infinite: never).
    pub yield_at: f32,
    /// Colour to take when it is free on all particles; a builder that knows the mesh's
    /// directions gives colours that converge better under acceleration than greedy ones.
    pub color_hint: Option<u8>,
}

impl<const N: usize> Constraint<N> {
    /// A rigid, unbreakable constraint.
    pub fn rigid(particles: [u32; N], rest: f32) -> Self {
        Constraint {
            particles,
            rest,
            stiffness: 1.0,
            compliance: 0.0,
            break_at: f32::INFINITY,
            yield_at: f32::INFINITY,
            color_hint: None,
        }
    }
}

/// The creation number that is never given: rows are numbered anew before it comes.
const END_OF_SERIALS: u32 = (1 << 31) - 1;

/// The most particles that a constraint may have.
const MOST_CORNERS: usize = 4;

/// The constraints of a kind, whichever it is. Code that need not know at compile time how many
/// particles they have is written once here, for all kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintRows {
    /// How many particles each constraint has.
    corners: u8,
    /// `corner[k][i]`: slot of particle k of constraint i. Only the first `corners` are used.
    pub(crate) corner: [Vec<u32>; MOST_CORNERS],
    pub(crate) rest: Vec<f32>,
    /// Breaking is judged on the rest value of the unyielded constraint.
    pub(crate) rest_original: Vec<f32>,
    pub(crate) stiffness: Vec<f32>,
    pub(crate) compliance: Vec<f32>,
    pub(crate) break_at: Vec<f32>,
    pub(crate) yield_at: Vec<f32>,
    pub(crate) lambda: Vec<f32>,
    /// Creation number: the natural order that `seidel` sweeps in.
    pub(crate) serial: Vec<u32>,
    color: Vec<u8>,
    /// First row of each colour, and the end.
    color_start: Vec<u32>,
    /// For each slot, the colours in use around it.
    used: Vec<u64>,
    next_serial: u32,
    /// Rows were appended and wait to be sorted into their colours.
    unsorted: bool,
    /// Rises with every change of topology; caches of derived data compare it.
    revision: u64,
}

/// All constraints of a kind with `N` particles each: its rows, and the number of their corners in
/// the type, so that loops over corners are unrolled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintSet<const N: usize>(ConstraintRows);

impl<const N: usize> Default for ConstraintSet<N> {
    fn default() -> Self {
        ConstraintSet(ConstraintRows::new(N))
    }
}

impl<const N: usize> Deref for ConstraintSet<N> {
    type Target = ConstraintRows;
    fn deref(&self) -> &ConstraintRows {
        &self.0
    }
}

impl<const N: usize> DerefMut for ConstraintSet<N> {
    fn deref_mut(&mut self) -> &mut ConstraintRows {
        &mut self.0
    }
}

impl<const N: usize> ConstraintSet<N> {
    /// Slots of the particles of constraint `i`.
    pub fn particles(&self, i: usize) -> [u32; N] {
        std::array::from_fn(|k| self.corner[k][i])
    }

    /// Adds a constraint; its colour is chosen here, for good.
    pub(crate) fn add(&mut self, constraint: &Constraint<N>) {
        let rows = &mut self.0;
        if rows.next_serial >= END_OF_SERIALS {
            rows.renumber();
        }
        let top = constraint.particles.iter().max().map_or(0, |&p| p as usize + 1);
        if rows.used.len() < top {
            rows.used.resize(top, 0);
        }
        let around = constraint.particles.iter().fold(0, |m, &p| m | rows.used[p as usize]);
        let free = |c: u32| c < OVERFLOW_COLOR as u32 && around >> c & 1 == 0;
        let color = match constraint.color_hint {
            Some(hint) if free(u32::from(hint)) => u32::from(hint),
            _ => around.trailing_ones().min(OVERFLOW_COLOR as u32),
        };
        if color < OVERFLOW_COLOR as u32 {
            for &p in &constraint.particles {
                rows.used[p as usize] |= 1 << color;
            }
        }
        for (k, &p) in constraint.particles.iter().enumerate() {
            rows.corner[k].push(p);
        }
        rows.rest.push(constraint.rest);
        rows.rest_original.push(constraint.rest);
        rows.stiffness.push(constraint.stiffness);
        rows.compliance.push(constraint.compliance);
        rows.break_at.push(constraint.break_at);
        rows.yield_at.push(constraint.yield_at);
        rows.lambda.push(0.0);
        rows.serial.push(rows.next_serial);
        rows.color.push(color as u8);
        rows.next_serial += 1;
        rows.unsorted = true;
        rows.revision += 1;
    }
}

impl ConstraintRows {
    fn new(corners: usize) -> Self {
        assert!(corners <= MOST_CORNERS, "raise MOST_CORNERS for a kind of {corners} particles");
        ConstraintRows {
            corners: corners as u8,
            corner: Default::default(),
            rest: Vec::new(),
            rest_original: Vec::new(),
            stiffness: Vec::new(),
            compliance: Vec::new(),
            break_at: Vec::new(),
            yield_at: Vec::new(),
            lambda: Vec::new(),
            serial: Vec::new(),
            color: Vec::new(),
            color_start: Vec::new(),
            used: Vec::new(),
            next_serial: 0,
            unsorted: false,
            revision: 0,
        }
    }

    /// How many particles each constraint has.
    pub fn corners(&self) -> usize {
        usize::from(self.corners)
    }
    /// How many constraints there are.
    pub fn len(&self) -> usize {
        self.rest.len()
    }
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
    /// Slots of the particles of constraint `i`.
    pub fn slots(&self, i: usize) -> impl Iterator<Item = u32> + '_ {
        self.corner[..self.corners()].iter().map(move |column| column[i])
    }
    /// Current rest values.
    pub fn rest(&self) -> &[f32] {
        &self.rest
    }
    /// How many colours are in use.
    pub fn color_count(&self) -> usize {
        match self.unsorted {
            true => self.color.iter().max().map_or(0, |&c| c as usize + 1),
            false => self.color_start.len().saturating_sub(1),
        }
    }
    /// The rows of a colour (valid once the rows were sorted, which every step does first).
    pub fn color_range(&self, color: usize) -> Range<usize> {
        self.color_start[color] as usize..self.color_start[color + 1] as usize
    }
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
    pub(crate) fn has_breakable(&self) -> bool {
        self.break_at.iter().chain(&self.yield_at).any(|v| v.is_finite())
    }

    /// Numbers the rows from 0, in the order of their creation. A world that adds and removes for
    /// ever needs it once in two thousand million constraints.
    fn renumber(&mut self) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&row| self.serial[row]);
        for (serial, &row) in order.iter().enumerate() {
            self.serial[row] = serial as u32;
        }
        self.next_serial = self.len() as u32;
        self.revision += 1;
    }

    /// Sorts appended rows into their colours (stable counting sort). Cheap when nothing is new.
    pub(crate) fn commit(&mut self) {
        if !self.unsorted {
            return;
        }
        self.unsorted = false;
        let order = self.count_colors();
        for k in 0..self.corners() {
            permute(&mut self.corner[k], &order);
        }
        for values in [
            &mut self.rest,
            &mut self.rest_original,
            &mut self.stiffness,
            &mut self.compliance,
            &mut self.break_at,
            &mut self.yield_at,
            &mut self.lambda,
        ] {
            permute(values, &order);
        }
        permute(&mut self.serial, &order);
        permute(&mut self.color, &order);
    }

    /// Fills `color_start` and returns the stable order by colour.
    fn count_colors(&mut self) -> Vec<u32> {
        let colors = self.color.iter().max().map_or(0, |&c| c as usize + 1);
        self.color_start.clear();
        self.color_start.resize(colors + 1, 0);
        for &c in &self.color {
            self.color_start[c as usize + 1] += 1;
        }
        for c in 0..colors {
            self.color_start[c + 1] += self.color_start[c];
        }
        let mut next = self.color_start.clone();
        let mut order = vec![0; self.color.len()];
        for (i, &c) in self.color.iter().enumerate() {
            order[next[c as usize] as usize] = i as u32;
            next[c as usize] += 1;
        }
        order
    }

    /// Removes the marked rows, keeping the order inside each colour. It goes over the arrays once,
    /// however many rows go, so removing all is as cheap per row as removing one. Returns how many
    /// went.
    pub(crate) fn remove_marked(&mut self, gone: &[bool]) -> usize {
        debug_assert!(!self.unsorted, "marks refer to sorted rows");
        let mut next = 0;
        let mut color_len = [0u32; 64];
        for (i, &row_gone) in gone.iter().enumerate().take(self.len()) {
            let color = self.color[i];
            if row_gone {
                if (color as usize) < OVERFLOW_COLOR {
                    for k in 0..self.corners() {
                        self.used[self.corner[k][i] as usize] &= !(1 << color);
                    }
                }
                continue;
            }
            color_len[color as usize] += 1;
            for k in 0..self.corners() {
                self.corner[k][next] = self.corner[k][i];
            }
            self.rest[next] = self.rest[i];
            self.rest_original[next] = self.rest_original[i];
            self.stiffness[next] = self.stiffness[i];
            self.compliance[next] = self.compliance[i];
            self.break_at[next] = self.break_at[i];
            self.yield_at[next] = self.yield_at[i];
            self.lambda[next] = self.lambda[i];
            self.serial[next] = self.serial[i];
            self.color[next] = color;
            next += 1;
        }
        let removed = self.len() - next;
        if removed == 0 {
            return 0;
        }
        for k in 0..self.corners() {
            self.corner[k].truncate(next);
        }
        self.rest.truncate(next);
        self.rest_original.truncate(next);
        self.stiffness.truncate(next);
        self.compliance.truncate(next);
        self.break_at.truncate(next);
        self.yield_at.truncate(next);
        self.lambda.truncate(next);
        self.serial.truncate(next);
        self.color.truncate(next);
        for (c, len) in color_len.iter().enumerate().take(self.color_count()) {
            self.color_start[c + 1] = self.color_start[c] + len;
        }
        self.revision += 1;
        removed
    }

    /// Follows particles to their new slots; constraints on removed particles go with them.
    /// Returns how many constraints went.
    pub(crate) fn remap(&mut self, map: &[u32], particle_count: usize) -> usize {
        self.commit();
        let gone: Vec<bool> = (0..self.len())
            .map(|i| (0..self.corners()).any(|k| map[self.corner[k][i] as usize] == GONE))
            .collect();
        let removed = self.remove_marked(&gone);
        self.give_back();
        let mut used = vec![0; particle_count];
        for (old, &mask) in self.used.iter().enumerate() {
            if map[old] != GONE {
                used[map[old] as usize] = mask;
            }
        }
        self.used = used;
        for k in 0..self.corners() {
            for slot in &mut self.corner[k] {
                *slot = map[*slot as usize];
            }
        }
        self.revision += 1;
        removed
    }

    /// There are fewer slots, and nobody went who has constraints.
    pub(crate) fn cut_slots(&mut self, count: usize) {
        self.used.truncate(count);
    }

    /// Gives memory back when few rows are left.
    fn give_back(&mut self) {
        self.corner.iter_mut().for_each(give_back);
        for values in [
            &mut self.rest,
            &mut self.rest_original,
            &mut self.stiffness,
            &mut self.compliance,
            &mut self.break_at,
            &mut self.yield_at,
            &mut self.lambda,
        ] {
            give_back(values);
        }
        give_back(&mut self.serial);
        give_back(&mut self.color);
    }

    /// Checks what a snapshot may have broken: lengths, indices, finiteness, colours. `corners` is
    /// how many particles the kind has.
    pub(crate) fn is_sound(&self, corners: usize, particle_count: usize) -> bool {
        let n = self.len();
        if self.corners() != corners {
            return false;
        }
        let values = [&self.rest_original, &self.stiffness, &self.compliance, &self.lambda];
        let thresholds = [&self.break_at, &self.yield_at];
        (0..self.corners()).all(|k| {
            self.corner[k].len() == n
                && self.corner[k]
                    .iter()
                    .all(|&p| (p as usize) < particle_count.min(self.used.len()))
        }) && values.iter().all(|v| v.len() == n && v.iter().all(|x| x.is_finite()))
            && self.rest.iter().all(|x| x.is_finite())
            && thresholds.iter().all(|v| v.len() == n && v.iter().all(|x| !x.is_nan()))
            && self.serial.len() == n
            && self.color.len() == n
            && self.used.len() <= particle_count
            && self.next_serial <= END_OF_SERIALS
            && self.serial.iter().all(|&serial| serial < self.next_serial)
            && self.revision < 1 << 62
            && self.colors_are_sound()
    }

    /// Whether the colours are ranges of rows that share no particle, but for the overflow.
    pub(crate) fn colors_are_sound(&self) -> bool {
        if self.color.iter().any(|&c| c as usize > OVERFLOW_COLOR) {
            return false;
        }
        let mut seen = vec![0u64; self.used.len()];
        for i in 0..self.len() {
            let bit = 1u64 << self.color[i];
            if self.color[i] as usize == OVERFLOW_COLOR {
                continue;
            }
            for k in 0..self.corners() {
                let slot = self.corner[k][i] as usize;
                if seen[slot] & bit != 0 || self.used[slot] & bit == 0 {
                    return false;
                }
                seen[slot] |= bit;
            }
        }
        if self.unsorted {
            return true;
        }
        let starts = &self.color_start;
        self.color.windows(2).all(|w| w[0] <= w[1])
            && (self.is_empty() || starts.last() == Some(&(self.len() as u32)))
            && starts.first().is_none_or(|&first| first == 0)
            && self.color_count() <= OVERFLOW_COLOR + 1
            && starts.windows(2).all(|w| w[0] <= w[1] && w[1] as usize <= self.len())
            && (0..self.color_count())
                .all(|c| self.color[self.color_range(c)].iter().all(|&x| x as usize == c))
    }
}

fn permute<T: Copy>(values: &mut Vec<T>, order: &[u32]) {
    *values = order.iter().map(|&i| values[i as usize]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: u32) -> ConstraintSet<2> {
        let mut set = ConstraintSet::default();
        for i in 0..n {
            set.add(&Constraint::rigid([i, i + 1], 1.0));
        }
        set.commit();
        set
    }

    #[test]
    fn a_chain_takes_two_colors_and_stays_sound() {
        let set = chain(100);
        assert_eq!(set.color_count(), 2);
        assert!(set.is_sound(2, 101));
        assert!(!set.is_sound(4, 101), "a set of another kind");
    }

    #[test]
    fn a_star_overflows_into_the_serial_color() {
        let mut set = ConstraintSet::<2>::default();
        for i in 1..=100 {
            set.add(&Constraint::rigid([0, i], 1.0));
        }
        set.commit();
        assert_eq!(set.color_count(), 64);
        assert_eq!(set.color_range(OVERFLOW_COLOR).len(), 37);
        assert!(set.is_sound(2, 101));
    }

    #[test]
    fn removal_keeps_colors_and_frees_them_for_reuse() {
        let mut set = chain(1000);
        let colors_before: Vec<_> =
            set.serial.iter().zip(&set.color).map(|(s, c)| (*s, *c)).collect();
        let gone: Vec<bool> = set.serial.iter().map(|s| s % 3 == 0).collect();
        assert_eq!(set.remove_marked(&gone), 334);
        assert!(set.is_sound(2, 1001));
        for (s, c) in set.serial.iter().zip(&set.color) {
            assert!(colors_before.contains(&(*s, *c)), "colour of {s} changed");
        }
        set.add(&Constraint::rigid([0, 1], 1.0));
        set.commit();
        assert!(set.is_sound(2, 1001) && set.color_count() == 2);
    }

    /// Numbers do not run out: the order of creation stays, and what was made first is 0 again.
    #[test]
    fn rows_are_numbered_anew_before_numbers_run_out() {
        let mut set = chain(10);
        set.0.serial.iter_mut().for_each(|serial| *serial += END_OF_SERIALS - 15);
        set.0.next_serial = END_OF_SERIALS - 5;
        let gone: Vec<bool> = set.serial.iter().map(|s| s % 2 == 0).collect();
        set.remove_marked(&gone);
        let by_age = |set: &ConstraintSet<2>| {
            let mut ages: Vec<_> =
                (0..set.len()).map(|i| (set.serial[i], set.particles(i))).collect();
            ages.sort_unstable();
            ages
        };
        let old: Vec<_> = by_age(&set).into_iter().map(|(_, particles)| particles).collect();
        for k in 20..30 {
            set.add(&Constraint::rigid([k, k + 1], 1.0));
            assert!(set.is_sound(2, 31));
        }
        let now = by_age(&set);
        assert!(now.iter().map(|&(serial, _)| serial).eq(0..15));
        assert!(now.iter().take(5).map(|&(_, particles)| particles).eq(old));
        assert!(now[5..].is_sorted_by_key(|&(_, particles)| particles));
    }

    #[test]
    fn all_of_400_000_go_at_once() {
        let mut set = chain(400_000);
        let gone = vec![true; set.len()];
        assert_eq!(set.remove_marked(&gone), 400_000);
        assert!(set.is_empty() && set.is_sound(2, 400_001));
        assert!(set.used.iter().all(|&mask| mask == 0));
    }
}
