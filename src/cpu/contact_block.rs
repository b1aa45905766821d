//! Some contact rows of a colour, eight at a time. No two rows of a colour share a particle, so the
//! result depends neither on who runs which block nor on what a vector holds.
//!
//! Most listed pairs do not touch: rows are tested first, and those that touch are gathered until
//! there are eight to solve.

use super::contact::{Friction, Meeting, Party};
use crate::simd::{Kernel, LANES, Simd, Vector};
use std::marker::PhantomData;

/// Where the arrays are, by slot.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    /// [x, y, z, _] where overlap is evaluated; moved.
    pub at: *mut [f32; 4],
    /// The other of position and predicted: read where it gives the slip, or moved along.
    pub other: *mut [f32; 4],
    /// Inverse masses as contacts see them.
    pub weight: *const f32,
}

/// What is solved: overlap left from before moves both arrays, without friction; contacts of this
/// substep move one, against the slip since the other.
#[derive(Clone, Copy)]
pub(crate) enum Solve {
    Overlap,
    Contact(Friction),
}

/// Rows of a colour.
pub(crate) struct ContactBlock<'a> {
    arrays: Arrays,
    a: *const u32,
    b: *const u32,
    contact: *const f32,
    count: usize,
    solve: Solve,
    omega: f32,
    rows: PhantomData<&'a u32>,
}

impl<'a> ContactBlock<'a> {
    /// The first `count` rows of the columns.
    /// # Safety
    /// The first `count` indices of the columns are rows of the arrays and all different, and for
    /// 'a nobody else accesses those rows.
    pub unsafe fn new(
        arrays: Arrays,
        (a, b, contact): (&'a [u32], &'a [u32], &'a [f32]),
        count: usize,
        solve: Solve,
        omega: f32,
    ) -> Self {
        assert!(count <= a.len().min(b.len()).min(contact.len()));
        let (a, b, contact) = (a.as_ptr(), b.as_ptr(), contact.as_ptr());
        ContactBlock { arrays, a, b, contact, count, solve, omega, rows: PhantomData }
    }
}

/// Touching rows, not solved yet.
struct Touching {
    a: [u32; 2 * LANES],
    b: [u32; 2 * LANES],
    contact: [f32; 2 * LANES],
    count: usize,
}

impl Kernel for ContactBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let (a, b, contact) = ([0; 2 * LANES], [0; 2 * LANES], [0.0; 2 * LANES]);
        let mut waiting = Touching { a, b, contact, count: 0 };
        let whole = self.count - self.count % LANES;
        for k in (0..whole).step_by(LANES) {
            // SAFETY: these rows are there, with all that `new` was promised.
            unsafe {
                let (a, b, contact) = (self.a.add(k), self.b.add(k), self.contact.add(k));
                self.look_at::<S>(a, b, contact, LANES, &mut waiting);
            }
        }
        if whole < self.count {
            // A copy, filled up with the last row: those behind it are other workers'.
            // SAFETY: at least one row is there.
            unsafe {
                let last = self.count - 1;
                let mut a = [*self.a.add(last); LANES];
                let mut b = [*self.b.add(last); LANES];
                let mut contact = [*self.contact.add(last); LANES];
                for k in whole..self.count {
                    a[k - whole] = *self.a.add(k);
                    b[k - whole] = *self.b.add(k);
                    contact[k - whole] = *self.contact.add(k);
                }
                let (a, b, contact) = (a.as_ptr(), b.as_ptr(), contact.as_ptr());
                self.look_at::<S>(a, b, contact, self.count - whole, &mut waiting);
            }
        }
        for k in 0..waiting.count {
            // SAFETY: as above.
            unsafe { self.solve_one(waiting.a[k], waiting.b[k], waiting.contact[k]) };
        }
    }
}

impl ContactBlock<'_> {
    /// Lets those of the first `count` of eight rows that touch wait, and solves eight when there
    /// are.
    /// # Safety
    /// The rows are from this block, and fewer than [`LANES`] wait.
    #[inline(always)]
    unsafe fn look_at<S: Simd>(
        &self,
        a: *const u32,
        b: *const u32,
        contact: *const f32,
        count: usize,
        waiting: &mut Touching,
    ) {
        let Arrays { at, .. } = self.arrays;
        // SAFETY: the caller's promise.
        unsafe {
            let (pa, pb) = (S::gather(at, a), S::gather(at, b));
            let limit = S::load(contact);
            let (dx, dy, dz) = (pa[0] - pb[0], pa[1] - pb[1], pa[2] - pb[2]);
            let mut mask = (dx * dx + dy * dy + dz * dz).at_most(limit * limit);
            mask &= (1u32 << count) - 1;
            let to = waiting.count;
            S::pick(mask, a, waiting.a.as_mut_ptr().add(to));
            S::pick(mask, b, waiting.b.as_mut_ptr().add(to));
            S::pick(mask, contact.cast(), waiting.contact.as_mut_ptr().add(to).cast());
            waiting.count += mask.count_ones() as usize;
            if waiting.count >= LANES {
                self.solve_vector::<S>(waiting);
                waiting.a.copy_within(LANES.., 0);
                waiting.b.copy_within(LANES.., 0);
                waiting.contact.copy_within(LANES.., 0);
                waiting.count -= LANES;
            }
        }
    }

    /// Solves the first eight rows that wait.
    /// # Safety
    /// There are eight, from this block.
    #[inline(always)]
    unsafe fn solve_vector<S: Simd>(&self, rows: &Touching) {
        let Arrays { at, other, weight } = self.arrays;
        let (a, b) = (rows.a.as_ptr(), rows.b.as_ptr());
        // SAFETY: the block's promise.
        unsafe {
            let (at_a, at_b) = (S::gather(at, a), S::gather(at, b));
            let (other_a, other_b) = (S::gather(other, a), S::gather(other, b));
            let (weight_a, weight_b) = (S::gather_one(weight, a), S::gather_one(weight, b));
            let meeting = Meeting {
                a: Party { at: vector(at_a), start: vector(other_a), weight: weight_a },
                b: Party { at: vector(at_b), start: vector(other_b), weight: weight_b },
                contact: S::load(rows.contact.as_ptr()),
                lower: S::splat(1.0),
            };
            let (push, touching) = match self.solve {
                Solve::Overlap => meeting.without_friction(),
                Solve::Contact(friction) => meeting.with_friction(friction),
            };
            let (to_a, to_b, movable) = meeting.share(push, S::splat(self.omega));
            let valid = S::both(touching, movable);
            S::scatter(moved(at_a, to_a, valid), at, a);
            S::scatter(moved(at_b, to_b, valid), at, b);
            if matches!(self.solve, Solve::Overlap) {
                S::scatter(moved(other_a, to_a, valid), other, a);
                S::scatter(moved(other_b, to_b, valid), other, b);
            }
        }
    }

    /// Solves one row.
    /// # Safety
    /// It is from this block.
    #[inline(always)]
    unsafe fn solve_one(&self, a: u32, b: u32, contact: f32) {
        let Arrays { at, other, weight } = self.arrays;
        // SAFETY: the block's promise.
        unsafe {
            let [(at_a, other_a, weight_a), (at_b, other_b, weight_b)] = [a, b].map(|slot| {
                let slot = slot as usize;
                (&mut *at.add(slot), other.add(slot), *weight.add(slot))
            });
            let meeting = Meeting {
                a: Party { at: vector(*at_a), start: vector(*other_a), weight: weight_a },
                b: Party { at: vector(*at_b), start: vector(*other_b), weight: weight_b },
                contact,
                lower: 1.0,
            };
            let (push, touching) = match self.solve {
                Solve::Overlap => meeting.without_friction(),
                Solve::Contact(friction) => meeting.with_friction(friction),
            };
            let (to_a, to_b, movable) = meeting.share(push, self.omega);
            let valid = touching && movable;
            (*at_a, *at_b) = (moved(*at_a, to_a, valid), moved(*at_b, to_b, valid));
            if matches!(self.solve, Solve::Overlap) {
                *other_a = moved(*other_a, to_a, valid);
                *other_b = moved(*other_b, to_b, valid);
            }
        }
    }
}

#[inline(always)]
fn vector<L: Copy>([x, y, z, _]: [L; 4]) -> Vector<L> {
    Vector { x, y, z }
}

/// A row moved by `to` where the mask is set.
#[inline(always)]
fn moved<L: crate::simd::Number>(row: [L; 4], to: Vector<L>, mask: L::Mask) -> [L; 4] {
    let old = vector(row);
    let Vector { x, y, z } = Vector::select(mask, old + to, old);
    [x, y, z, row[3]]
}
