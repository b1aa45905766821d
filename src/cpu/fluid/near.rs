//! Eight neighbours of a particle at once, and how they lie to it.

use super::kernel::seen;
use super::place;
use crate::cpu::search::broad::SearchTools;
use crate::cpu::search::lists::Lists;
use crate::simd::{LANES, Simd, Vector};
use glam::Vec4;

/// 0 to 7: which lane is which.
const NUMBERS: [f32; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Whose list is asked for while that of a particle is gone through.
const AHEAD: usize = 3;

/// Where particles are: rows that gathers find.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    lists: &'a Lists<u32, SearchTools>,
    /// Where each was when the step began, m, and its radius, m.
    base: &'a [Vec4],
    /// How far it is from there, m, and something else.
    moved: &'a [Vec4],
}

/// A particle as its neighbours meet it.
pub(crate) struct Around<'a, S> {
    places: Places<'a>,
    /// Its list, and up to seven entries more, to a whole number of vectors.
    list: &'a [u32],
    length: usize,
    /// Its rows, in both halves of a vector.
    x: S,
    u: S,
}

/// Eight neighbours.
pub(crate) struct Eight<S: Simd> {
    /// From each of them to the particle, m.
    pub between: Vector<S>,
    pub radius: S,
    /// What the particle has for the last column of `moved`, less what each of them has there.
    pub last: S,
    /// Whether there are so many.
    pub there: S::Mask,
}

impl<'a> Places<'a> {
    pub fn new(lists: &'a Lists<u32, SearchTools>, base: &'a [Vec4], moved: &'a [Vec4]) -> Self {
        assert!(lists.particles() == base.len() && base.len() == moved.len());
        Places { lists, base, moved }
    }

    /// Particle i, with this in the last column of `moved`. Asks for the list of one that follows soon.
    #[inline(always)]
    pub fn around<S: Simd>(&self, i: usize, last: f32) -> Around<'a, S> {
        self.lists.prefetch_all((i + AHEAD).min(self.base.len() - 1));
        let (x, u) = (self.base[i], self.moved[i].truncate().extend(last));
        // SAFETY: both can be read.
        let (x, u) = unsafe {
            let (x, u) = (x.as_ref().as_ptr().cast(), u.as_ref().as_ptr().cast());
            (S::load_pair(x, x), S::load_pair(u, u))
        };
        let (list, length) = self.lists.in_eights(i);
        Around { places: *self, list, length, x, u }
    }
}

/// Neighbours where all particles are equally large: how they lie, by vectors of eight.
#[derive(Clone, Copy)]
pub(crate) struct Seen<S> {
    /// From each of them to the particle, m.
    pub between: Vector<S>,
    /// As in [`Eight`].
    pub last: S,
    /// What [`seen`] says of them.
    pub q_sq: S,
}

/// So many vectors are looked at before any of them is worked on.
const ROOM: usize = 12;

/// Where a worker puts what it sees. First all places are looked up, then all kernels are worked out: a
/// kernel is one long chain of operations, and of short loops a processor has more of them under way.
pub(crate) struct Room<S>([Seen<S>; ROOM]);

impl<S: Simd> Room<S> {
    #[inline(always)]
    pub fn new() -> Self {
        let zero = S::splat(0.0);
        let between = Vector { x: zero, y: zero, z: zero };
        Room([Seen { between, last: zero, q_sq: zero }; ROOM])
    }
}

impl<S: Simd> Around<'_, S> {
    /// The vectors from which on [`Around::look`] sees all neighbours.
    #[inline(always)]
    pub fn looks(&self) -> impl Iterator<Item = usize> + use<S> {
        (0..self.eights()).step_by(ROOM)
    }

    /// How many vectors of neighbours there are.
    #[inline(always)]
    pub fn eights(&self) -> usize {
        self.list.len() / LANES
    }

    /// Looks at neighbours from a vector on, as many as there is room for.
    #[inline(always)]
    pub fn look<'r>(&self, from: usize, per_area: S, room: &'r mut Room<S>) -> &'r [Seen<S>] {
        let count = (self.eights() - from).min(ROOM);
        for (k, entry) in room.0[..count].iter_mut().enumerate() {
            let Eight { between, last, there, .. } = self.eight::<true>(from + k);
            *entry = Seen { between, last, q_sq: seen(between, per_area, there) };
        }
        &room.0[..count]
    }

    /// Some of the neighbours. Where all particles are `EQUAL`ly large half of the columns need not
    /// be found.
    #[inline(always)]
    pub fn eight<const EQUAL: bool>(&self, number: usize) -> Eight<S> {
        let from = number * LANES;
        let slots = &self.list.as_chunks::<LANES>().0[number];
        let there = S::splat((self.length as i32 - from as i32) as f32).above(S::read(&NUMBERS));
        let base: *const [f32; 4] = self.places.base.as_ptr().cast();
        let moved: *const [f32; 4] = self.places.moved.as_ptr().cast();
        if EQUAL {
            // SAFETY: slots of lists are particles, and both arrays have a row for each.
            let rows = unsafe {
                [
                    self.row(base, moved, slots[0], slots[4]),
                    self.row(base, moved, slots[1], slots[5]),
                    self.row(base, moved, slots[2], slots[6]),
                    self.row(base, moved, slots[3], slots[7]),
                ]
            };
            let [x, y, z, last] = S::transpose(rows);
            return Eight {
                between: Vector { x, y, z },
                radius: self.x.spread::<3>(),
                last,
                there,
            };
        }
        // SAFETY: as above.
        let (at, to) =
            unsafe { (S::gather(base, slots.as_ptr()), S::gather(moved, slots.as_ptr())) };
        let x =
            Vector { x: self.x.spread::<0>(), y: self.x.spread::<1>(), z: self.x.spread::<2>() };
        let u =
            Vector { x: self.u.spread::<0>(), y: self.u.spread::<1>(), z: self.u.spread::<2>() };
        Eight {
            between: (x - place(at)) + (u - place(to)),
            radius: at[3],
            last: self.u.spread::<3>() - to[3],
            there,
        }
    }

    /// Between this particle and two others, a row each. Radii that are equal leave nothing of
    /// themselves in the last column.
    /// # Safety
    /// Both rows can be read in both arrays.
    #[inline(always)]
    unsafe fn row(&self, base: *const [f32; 4], moved: *const [f32; 4], low: u32, high: u32) -> S {
        let (low, high) = (low as usize, high as usize);
        // SAFETY: the caller's promise.
        unsafe {
            let at = S::load_pair(base.add(low), base.add(high));
            let to = S::load_pair(moved.add(low), moved.add(high));
            (self.x - at) + (self.u - to)
        }
    }
}
