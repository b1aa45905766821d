//! Contacts of a tile, eight at a time. No two rows of a batch share a particle, and one worker
//! runs the batches of a tile one after the other.

use super::lift::Lift;
use super::{Began, Friction, Grip, Meeting};
use crate::simd::{Kernel, LANES, Simd, Vector};
use crate::world::Held;
use crate::world::material::MaterialPairs;
use glam::{Vec3, Vec4};
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
    /// From b to a where the step began, m.
    pub base: [[f32; LANES]; 3],
    /// How far they have pushed each other apart, see [`Held::pressed`].
    pub pressed: [f32; LANES],
}

/// What eight contacts hold beside `pressed`: looked at only where one of them touches.
#[derive(Clone, Copy, Default)]
pub(crate) struct Grips {
    pub given: [[f32; LANES]; 3],
    pub anchor: [[f32; LANES]; 3],
    /// Of a in what the pair moves, and the distance that is kept, see [`Held`].
    pub share: [f32; LANES],
    pub floor: [f32; LANES],
    /// The coefficient of friction in force, see [`Held::limit`].
    pub limit: [f32; LANES],
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
    /// Takes note of how the particles of each row lie to each other.
    pub fn take_bases(&mut self, position: &[Vec4]) {
        for k in 0..LANES {
            let apart = position[self.a[k] as usize] - position[self.b[k] as usize];
            for axis in 0..3 {
                self.base[axis][k] = apart[axis];
            }
        }
    }
    /// From b to a, where they have moved from there by these.
    #[inline(always)]
    fn apart<S: Simd>(&self, a: [S; 4], b: [S; 4]) -> Vector<S> {
        Vector::read(&self.base, 0) + (vector(a) - vector(b))
    }
    /// The lanes that hold each of its rows once.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..LANES).filter(|&k| k == 0 || self.a[k] != self.a[k - 1])
    }
    /// What the contact in a lane holds.
    pub fn held(&self, grips: &Grips, lane: usize) -> Held {
        let vector = |rows: &[[f32; LANES]; 3]| Vec3::from(rows.map(|row| row[lane]));
        Held {
            pressed: self.pressed[lane],
            given: vector(&grips.given),
            anchor: vector(&grips.anchor),
            floor: grips.floor[lane],
            limit: grips.limit[lane],
            share: grips.share[lane],
        }
    }
    /// The contact in a lane holds this.
    pub fn hold(&mut self, grips: &mut Grips, lane: usize, held: Held) {
        self.pressed[lane] = held.pressed;
        for axis in 0..3 {
            grips.given[axis][lane] = held.given[axis];
            grips.anchor[axis][lane] = held.anchor[axis];
        }
        (grips.floor[lane], grips.limit[lane]) = (held.floor, held.limit);
        grips.share[lane] = held.share;
    }
    /// Its rows, each once: a, b, contact distance.
    #[cfg(any(test, feature = "vulkan"))]
    pub fn rows(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        self.lanes().map(|k| (self.a[k], self.b[k], self.contact[k]))
    }
}

/// Where the arrays are, by slot.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    /// How far the solver has moved each: [x, y, z, inverse mass].
    pub predicted: *mut [f32; 4],
    /// The same where the substep began.
    pub start: *const [f32; 4],
}

/// Where friction comes from.
#[derive(Clone, Copy)]
pub(crate) enum Rubs<'a> {
    /// All pairs have the same.
    Alike(Friction<f32>),
    /// It depends on what the two particles are made of.
    Mixed(Mixed<'a>),
}

/// What is done with each batch.
#[derive(Clone, Copy)]
pub(crate) enum Work<'a> {
    /// A substep begins: contacts go on from what they held. Old overlap may be pushed out so far,
    /// m.
    Begin { push_out: f32, lift: Lift<'a> },
    /// One more solve.
    Solve { omega: f32, push_out: f32 },
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

/// Batches to work on in order.
pub(crate) struct ContactBlock<'a> {
    arrays: Arrays,
    batches: &'a mut [Batch],
    grips: &'a mut [Grips],
    rubs: Rubs<'a>,
    work: Work<'a>,
    rows: PhantomData<&'a mut [f32; 4]>,
}

impl<'a> ContactBlock<'a> {
    /// # Safety
    /// The slots of the batches are rows of the arrays, those of a batch are different but for
    /// repeated rows, and for 'a nobody else accesses them.
    pub unsafe fn new(
        arrays: Arrays,
        (batches, grips): (&'a mut [Batch], &'a mut [Grips]),
        rubs: Rubs<'a>,
        work: Work<'a>,
    ) -> Self {
        ContactBlock { arrays, batches, grips, rubs, work, rows: PhantomData }
    }

    #[inline(always)]
    fn each<S: Simd>(self, rubs: impl FrictionOf) {
        for (batch, grips) in self.batches.iter_mut().zip(self.grips) {
            // SAFETY: what `new` was promised.
            unsafe {
                match self.work {
                    Work::Begin { push_out, lift } => {
                        begin::<S>(self.arrays, batch, grips, &rubs, push_out, lift);
                    }
                    Work::Solve { omega, push_out } => {
                        solve::<S>(self.arrays, batch, grips, &rubs, omega, push_out);
                    }
                }
            }
        }
    }
}

impl Kernel for ContactBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        match self.rubs {
            Rubs::Alike(friction) => self.each::<S>(friction),
            Rubs::Mixed(mixed) => self.each::<S>(mixed),
        }
    }
}

/// Counts the pairs that touch.
pub(crate) struct Touching<'a> {
    /// How far each has moved.
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
            let apart = (contact * contact).at_most(batch.apart(a, b).length_sq());
            let mut rows = 1;
            while rows < LANES && batch.a[rows] != batch.a[rows - 1] {
                rows += 1;
            }
            count += (!apart & ((1 << rows) - 1)).count_ones() as usize;
        }
        count
    }
}

/// Where the eight pairs began, once that is asked for.
///
/// # Safety
/// The slots are rows of `start`.
#[inline(always)]
unsafe fn began<S: Simd>(start: *const [f32; 4], batch: &Batch, push_out: f32) -> Began<S> {
    // SAFETY: the caller's promise.
    let [a, b] =
        unsafe { [S::gather(start, batch.a.as_ptr()), S::gather(start, batch.b.as_ptr())] };
    Began {
        at: batch.apart(a, b),
        weights: [a[3], b[3]],
        contact: S::read(&batch.contact),
        push_out: S::splat(push_out),
    }
}

/// Pairs that press on each other go on with what they held; the others have not touched yet.
///
/// # Safety
/// The slots are rows of the arrays.
#[inline(always)]
unsafe fn begin<S: Simd>(
    arrays: Arrays,
    batch: &mut Batch,
    grips: &mut Grips,
    rubs: &impl FrictionOf,
    push_out: f32,
    lift: Lift<'_>,
) {
    let (pressed, apart) = (S::read(&batch.pressed), S::splat(Held::APART));
    let alive = pressed.above(S::splat(0.0));
    if !S::any(alive) {
        // Most have been apart for long: their memory is not written.
        if S::any(pressed.above(apart)) {
            apart.write(&mut batch.pressed);
        }
        return;
    }
    // SAFETY: the caller's promise.
    let began = unsafe { began::<S>(arrays.start, batch, push_out) };
    let floor = began.floor();
    let alive = S::both(alive, floor.above(S::splat(0.0)));
    let mut grip = grips.grip(pressed);
    let normal = began.normal(S::splat(1.0));
    grip.begin(normal, began.at, rubs.friction::<S>(batch));
    S::select(alive, grip.pressed, apart).write(&mut batch.pressed);
    let mut takes = [0.0; LANES];
    for (k, takes) in takes.iter_mut().enumerate() {
        *takes = lift.takes(batch.a[k] as usize, batch.b[k] as usize);
    }
    // Not in the substep after the one in which they met.
    let (zero, was) = (S::splat(0.0), S::read(&grips.share));
    let takes = S::select(was.above(zero), S::read(&takes), zero);
    let lift = lift.along(normal, takes);
    began.lifted_share(lift).write(&mut grips.share);
    floor.write(&mut grips.floor);
    grips.keep(&grip);
}

/// # Safety
/// The slots are rows of the arrays, and nobody else accesses them.
#[inline(always)]
unsafe fn solve<S: Simd>(
    arrays: Arrays,
    batch: &mut Batch,
    grips: &mut Grips,
    rubs: &impl FrictionOf,
    omega: f32,
    push_out: f32,
) {
    let (a, b) = (batch.a.as_ptr(), batch.b.as_ptr());
    // SAFETY: the caller's promise.
    let [at_a, at_b] = unsafe { [S::gather(arrays.predicted, a), S::gather(arrays.predicted, b)] };
    let (contact, pressed) = (S::read(&batch.contact), S::read(&batch.pressed));
    let at = batch.apart(at_a, at_b);
    let (zero, near) = (S::splat(0.0), (contact * contact).above(at.length_sq()));
    if !S::any(S::either(near, pressed.above(zero))) {
        return;
    }
    let mut grip = grips.grip(pressed);
    let [mut share, mut floor] = [S::read(&grips.share), S::read(&grips.floor)];
    let fresh = S::both(near, zero.above(pressed));
    if S::any(fresh) {
        // SAFETY: the caller's promise.
        let began = unsafe { began::<S>(arrays.start, batch, push_out) };
        grip.pressed = S::select(fresh, zero, grip.pressed);
        grip.anchor = Vector::select(fresh, began.at, grip.anchor);
        grip.given = Vector::select(fresh, Vector { x: zero, y: zero, z: zero }, grip.given);
        grip.limit = S::select(fresh, S::splat(Held::OPEN), grip.limit);
        share = S::select(fresh, -began.share(), share);
        floor = S::select(fresh, began.floor(), floor);
        share.write(&mut grips.share);
        floor.write(&mut grips.floor);
    }
    let meeting = Meeting { at, contact, floor, lower: S::splat(1.0) };
    let push = meeting.solve(&mut grip, rubs.friction::<S>(batch), S::splat(omega));
    grip.pressed.write(&mut batch.pressed);
    grips.keep(&grip);
    let share = share.abs();
    // SAFETY: the caller's promise.
    unsafe {
        S::scatter(moved(at_a, push * share), arrays.predicted, a);
        S::scatter(moved(at_b, push * (share - 1.0)), arrays.predicted, b);
    }
}

impl Grips {
    #[inline(always)]
    fn grip<S: Simd>(&self, pressed: S) -> Grip<S> {
        let (given, anchor) = (Vector::read(&self.given, 0), Vector::read(&self.anchor, 0));
        Grip { pressed, given, anchor, limit: S::read(&self.limit) }
    }
    #[inline(always)]
    fn keep<S: Simd>(&mut self, grip: &Grip<S>) {
        grip.given.write(&mut self.given, 0);
        grip.anchor.write(&mut self.anchor, 0);
        grip.limit.write(&mut self.limit);
    }
}

#[inline(always)]
fn vector<L: Copy>([x, y, z, _]: [L; 4]) -> Vector<L> {
    Vector { x, y, z }
}

/// A row moved by `to`.
#[inline(always)]
fn moved<L: crate::simd::Number>(row: [L; 4], to: Vector<L>) -> [L; 4] {
    let Vector { x, y, z } = vector(row) + to;
    [x, y, z, row[3]]
}
