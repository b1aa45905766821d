//! Contacts of a tile, eight at a time. No two rows of a batch share a particle, and one worker
//! runs the batches of a tile one after the other.

use super::{Friction, Meeting, Party};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::world::material::MaterialPairs;
use glam::Vec4;
use std::marker::PhantomData;

/// Eight contact candidates that share no particle. One that is not full repeats its last row,
/// which then is solved twice to the same bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Batch {
    /// Slots, a < b.
    pub a: [u32; LANES],
    pub b: [u32; LANES],
    /// Distances of the centres at which they touch, m.
    pub contact: [f32; LANES],
}

impl Batch {
    /// Repeats the row before `lane` from there on.
    pub fn repeat_from(&mut self, lane: usize) {
        let last = lane - 1;
        let (a, b, contact) = (self.a[last], self.b[last], self.contact[last]);
        self.a[lane..].fill(a);
        self.b[lane..].fill(b);
        self.contact[lane..].fill(contact);
    }
    /// Its rows, each once: a, b, contact distance.
    pub fn rows(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        let again = |k: &usize| *k > 0 && self.a[*k] == self.a[k - 1];
        let new = (0..LANES).filter(move |k| !again(k));
        new.map(|k| (self.a[k], self.b[k], self.contact[k]))
    }
}

/// Where the arrays are, by slot.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    /// [x, y, z, inverse mass] as the solver moves it.
    pub predicted: *mut [f32; 4],
    /// [x, y, z, inverse mass as contacts see it] where the substep began.
    pub start: *mut [f32; 4],
}

/// What is solved: overlap left from before moves where the substep began, without friction;
/// contacts of this substep move the prediction, against the slip since the start.
#[derive(Clone, Copy)]
pub(crate) enum Solve<'a> {
    Overlap,
    Contact(Friction<f32>),
    /// Contacts whose friction depends on what the two particles are made of.
    Mixed(Mixed<'a>),
}

/// Where the friction of a pair is found.
#[derive(Clone, Copy)]
pub(crate) struct Mixed<'a> {
    pub pairs: &'a MaterialPairs,
    /// Of each particle, by slot.
    pub materials: &'a [u32],
}

/// Knows the friction of eight pairs.
trait FrictionOf {
    fn friction<S: Simd>(&self, batch: &Batch) -> Friction<S>;
}

impl FrictionOf for Friction<f32> {
    #[inline(always)]
    fn friction<S: Simd>(&self, _: &Batch) -> Friction<S> {
        self.splat()
    }
}

impl FrictionOf for Mixed<'_> {
    #[inline(always)]
    fn friction<S: Simd>(&self, batch: &Batch) -> Friction<S> {
        let rows = self.pairs.rows();
        let mut places = [0; LANES];
        for (k, place) in places.iter_mut().enumerate() {
            let material = |slot: u32| self.materials[slot as usize];
            *place = self.pairs.place(material(batch.a[k]), material(batch.b[k])) as u32;
            assert!((*place as usize) < rows.len());
        }
        // SAFETY: a row of pairs has four numbers, and there is one at every place, as asserted.
        let [fixed, kinetic, ..] = unsafe { S::gather(rows.as_ptr().cast(), places.as_ptr()) };
        Friction { fixed, kinetic }
    }
}

/// Batches to solve in order.
pub(crate) struct ContactBlock<'a> {
    arrays: Arrays,
    batches: &'a [Batch],
    solve: Solve<'a>,
    omega: f32,
    rows: PhantomData<&'a mut [f32; 4]>,
}

impl<'a> ContactBlock<'a> {
    /// # Safety
    /// The slots of the batches are rows of the arrays, those of a batch are different but for
    /// repeated rows, and for 'a nobody else accesses them.
    pub unsafe fn new(arrays: Arrays, batches: &'a [Batch], solve: Solve<'a>, omega: f32) -> Self {
        ContactBlock { arrays, batches, solve, omega, rows: PhantomData }
    }
}

impl Kernel for ContactBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let omega = S::splat(self.omega);
        for batch in self.batches {
            // SAFETY: what `new` was promised.
            unsafe {
                match self.solve {
                    Solve::Overlap => overlap::<S>(self.arrays.start, batch, omega),
                    Solve::Contact(friction) => {
                        contact::<S, _>(self.arrays, batch, friction, omega);
                    }
                    Solve::Mixed(mixed) => contact::<S, _>(self.arrays, batch, mixed, omega),
                }
            }
        }
    }
}

/// Counts the pairs that touch.
pub(crate) struct Touching<'a> {
    at: &'a [Vec4],
    batches: &'a [Batch],
}

impl<'a> Touching<'a> {
    /// # Safety
    /// The slots of the batches are rows of `at`.
    pub unsafe fn new(at: &'a [Vec4], batches: &'a [Batch]) -> Self {
        Touching { at, batches }
    }
}

impl Kernel for Touching<'_> {
    type Output = usize;
    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        let at = self.at.as_ptr().cast();
        let mut count = 0;
        for batch in self.batches {
            // SAFETY: what `new` was promised.
            let (a, b, contact) = unsafe {
                let a = S::gather(at, batch.a.as_ptr());
                (a, S::gather(at, batch.b.as_ptr()), S::load(batch.contact.as_ptr()))
            };
            let apart = (contact * contact).at_most((vector(a) - vector(b)).length_sq());
            let mut rows = 1;
            while rows < LANES && batch.a[rows] != batch.a[rows - 1] {
                rows += 1;
            }
            count += (!apart & ((1 << rows) - 1)).count_ones() as usize;
        }
        count
    }
}

/// Whether any of the pairs touches.
#[inline(always)]
fn any_touch<S: Simd>(a: &[S; 4], b: &[S; 4], contact: S) -> bool {
    let d = vector(*a) - vector(*b);
    d.length_sq().at_most(contact * contact) != 0
}

/// # Safety
/// The slots are rows of `start`, and nobody else accesses them.
#[inline(always)]
unsafe fn overlap<S: Simd>(start: *mut [f32; 4], batch: &Batch, omega: S) {
    let (a, b) = (batch.a.as_ptr(), batch.b.as_ptr());
    // SAFETY: the caller's promise.
    unsafe {
        let (at_a, at_b) = (S::gather(start, a), S::gather(start, b));
        let contact = S::load(batch.contact.as_ptr());
        if !any_touch(&at_a, &at_b, contact) {
            return;
        }
        let meeting = Meeting {
            a: Party { at: vector(at_a), start: vector(at_a), weight: at_a[3] },
            b: Party { at: vector(at_b), start: vector(at_b), weight: at_b[3] },
            contact,
            lower: S::splat(1.0),
        };
        let (push, touching) = meeting.without_friction();
        let (to_a, to_b, movable) = meeting.share(push, omega);
        let valid = S::both(touching, movable);
        S::scatter(moved(at_a, to_a, valid), start, a);
        S::scatter(moved(at_b, to_b, valid), start, b);
    }
}

/// # Safety
/// The slots are rows of the arrays, and nobody else accesses them.
#[inline(always)]
unsafe fn contact<S: Simd, F: FrictionOf>(arrays: Arrays, batch: &Batch, from: F, omega: S) {
    let Arrays { predicted, start } = arrays;
    let (a, b) = (batch.a.as_ptr(), batch.b.as_ptr());
    // SAFETY: the caller's promise.
    unsafe {
        let (at_a, at_b) = (S::gather(predicted, a), S::gather(predicted, b));
        let contact = S::load(batch.contact.as_ptr());
        if !any_touch(&at_a, &at_b, contact) {
            return;
        }
        let (start_a, start_b) = (S::gather(start, a), S::gather(start, b));
        let meeting = Meeting {
            a: Party { at: vector(at_a), start: vector(start_a), weight: start_a[3] },
            b: Party { at: vector(at_b), start: vector(start_b), weight: start_b[3] },
            contact,
            lower: S::splat(1.0),
        };
        let (push, touching) = meeting.with_friction(from.friction::<S>(batch));
        let (to_a, to_b, movable) = meeting.share(push, omega);
        let valid = S::both(touching, movable);
        S::scatter(moved(at_a, to_a, valid), predicted, a);
        S::scatter(moved(at_b, to_b, valid), predicted, b);
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
