//! Arrays that workers share, each its own part.

use std::marker::PhantomData;
use std::ops::Range;

/// Arrays of equal length that are cut into the same blocks.
pub(crate) trait Rows: Sync {
    type Part;
    fn len(&self) -> usize;
    /// # Safety
    /// No two parts that are alive at the same time may overlap.
    unsafe fn part(&self, range: Range<usize>) -> Self::Part;
}

/// A mutable slice whose elements several workers write, each its own.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: every access goes through an unsafe method whose caller promises disjoint elements, and
// T itself may move between threads.
unsafe impl<T: Send> Sync for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    pub fn new(slice: &'a mut [T]) -> Self {
        Shared { start: slice.as_mut_ptr(), len: slice.len(), lifetime: PhantomData }
    }
    pub fn len(&self) -> usize {
        self.len
    }
    /// Its first element, for kernels that promise by themselves what `at` asks for.
    pub fn start(&self) -> *mut T {
        self.start
    }
    /// # Safety
    /// `i` is in bounds, and no other worker accesses element `i` meanwhile.
    #[allow(clippy::mut_from_ref)] // disjointness is the caller's promise
    pub unsafe fn at(&self, i: usize) -> &'a mut T {
        debug_assert!(i < self.len);
        // SAFETY: in bounds and exclusive by the caller's promise.
        unsafe { &mut *self.start.add(i) }
    }
    /// # Safety
    /// `i` is in bounds, and no other worker writes element `i` meanwhile.
    pub unsafe fn read(&self, i: usize) -> T
    where
        T: Copy,
    {
        debug_assert!(i < self.len);
        // SAFETY: in bounds and not written by the caller's promise.
        unsafe { *self.start.add(i) }
    }
    /// # Safety
    /// `range` is in bounds, and no other worker accesses its elements meanwhile.
    #[allow(clippy::mut_from_ref)] // disjointness is the caller's promise
    pub unsafe fn slice(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds as asserted, exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

impl<'a, T: Send> Rows for Shared<'a, T> {
    type Part = &'a mut [T];
    fn len(&self) -> usize {
        self.len
    }
    unsafe fn part(&self, range: Range<usize>) -> Self::Part {
        // SAFETY: the same promise.
        unsafe { self.slice(range) }
    }
}

impl<'a, T: Sync> Rows for &'a [T] {
    type Part = &'a [T];
    fn len(&self) -> usize {
        <[T]>::len(self)
    }
    unsafe fn part(&self, range: Range<usize>) -> Self::Part {
        &self[range]
    }
}

macro_rules! rows_of_tuples {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<$($name: Rows),+> Rows for ($($name,)+) {
            type Part = ($($name::Part,)+);
            fn len(&self) -> usize {
                let len = self.0.len();
                $(assert_eq!(self.$index.len(), len, "arrays that belong together differ");)+
                len
            }
            unsafe fn part(&self, range: Range<usize>) -> Self::Part {
                // SAFETY: the same promise for each array.
                unsafe { ($(self.$index.part(range.clone()),)+) }
            }
        }
    )+};
}
rows_of_tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}
