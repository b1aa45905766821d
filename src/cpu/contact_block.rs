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

/// Rows of a colour: columns of equal length, but for [`LANES`] more behind each that may be read.
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
    /// Every index in the columns is a row of the arrays; those of the first `count` are all
    /// different, and for 'a nobody else accesses those rows.
    pub unsafe fn new(
        arrays: Arrays,
        (a, b, contact): (&'a [u32], &'a [u32], &'a [f32]),
        count: usize,
        solve: Solve,
        omega: f32,
    ) -> Self {
        let shortest = a.len().min(b.len()).min(contact.len());
        assert!(count + LANES <= shortest, "columns end with room for a vector");
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
        let Arrays { at, .. } = self.arrays;
        let (a, b, contact) = ([0; 2 * LANES], [0; 2 * LANES], [0.0; 2 * LANES]);
        let mut waiting = Touching { a, b, contact, count: 0 };
        let mut k = 0;
        while k < self.count {
            // SAFETY: rows up to `count` are there and LANES more can be read, with all that `new`
            // was promised. Fewer than LANES rows wait before a vector is added.
            unsafe {
                let pa = S::gather(at, self.a.add(k));
                let pb = S::gather(at, self.b.add(k));
                let contact = S::load(self.contact.add(k));
                let (dx, dy, dz) = (pa[0] - pb[0], pa[1] - pb[1], pa[2] - pb[2]);
                let mut mask = (dx * dx + dy * dy + dz * dz).at_most(contact * contact);
                mask &= (1u32 << (self.count - k).min(LANES)) - 1;
                let to = waiting.count;
                S::pick(mask, self.a.add(k), waiting.a.as_mut_ptr().add(to));
                S::pick(mask, self.b.add(k), waiting.b.as_mut_ptr().add(to));
                let contacts = waiting.contact.as_mut_ptr().add(to);
                S::pick(mask, self.contact.add(k).cast(), contacts.cast());
                waiting.count += mask.count_ones() as usize;
                if waiting.count >= LANES {
                    self.solve_vector::<S>(&waiting);
                    waiting.a.copy_within(LANES.., 0);
                    waiting.b.copy_within(LANES.., 0);
                    waiting.contact.copy_within(LANES.., 0);
                    waiting.count -= LANES;
                }
            }
            k += LANES;
        }
        for k in 0..waiting.count {
            // SAFETY: as above.
            unsafe { self.solve_one(waiting.a[k], waiting.b[k], waiting.contact[k]) };
        }
    }
}

impl ContactBlock<'_> {
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
