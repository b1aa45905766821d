//! Parallel arrays, declared once. Whatever must be done to every array of a table (append a row,
//! put rows in another order, drop rows, check lengths and values) follows from the declaration,
//! so that a new array is one line.

use glam::Vec4;

/// One of the parallel arrays of a table.
pub(crate) trait Column {
    /// What one row holds.
    type Item;
    /// Appends a row.
    fn put(&mut self, item: Self::Item);
    /// Puts row `order[k]` into place k.
    fn permute(&mut self, order: &[u32]);
    /// Keeps the marked rows and closes the gaps; the order stays.
    fn retain(&mut self, keep: &[bool]);
    /// Puts an item in place of another.
    fn replace(&mut self, row: usize, item: Self::Item);
    /// Copies an item to another row.
    fn copy(&mut self, from: usize, to: usize);
    /// Drops the rows from here on, and keeps their memory.
    fn cut(&mut self, count: usize);
    /// Makes room for so many rows in all.
    fn make_room(&mut self, count: usize);
    /// Whether there are this many rows.
    fn has_rows(&self, count: usize) -> bool;
    /// The first row whose item does not pass the test.
    fn first_failing(&self, test: fn(&Self::Item) -> bool) -> Option<usize>;
}

impl<T: Copy> Column for Vec<T> {
    type Item = T;
    fn put(&mut self, item: T) {
        self.push(item);
    }
    fn permute(&mut self, order: &[u32]) {
        *self = order.iter().map(|&row| self[row as usize]).collect();
    }
    fn retain(&mut self, keep: &[bool]) {
        let mut kept = keep.iter();
        Vec::retain(self, |_| kept.next() == Some(&true));
        give_back(self);
    }
    fn replace(&mut self, row: usize, item: T) {
        self[row] = item;
    }
    fn copy(&mut self, from: usize, to: usize) {
        self[to] = self[from];
    }
    fn cut(&mut self, count: usize) {
        self.truncate(count);
    }
    fn make_room(&mut self, count: usize) {
        self.reserve_exact(count.saturating_sub(self.len()));
    }
    fn has_rows(&self, count: usize) -> bool {
        self.len() == count
    }
    fn first_failing(&self, test: fn(&T) -> bool) -> Option<usize> {
        self.iter().position(|item| !test(item))
    }
}

/// Gives memory back once less than a quarter of it is in use, so that an array takes what it holds
/// and not the most that it ever held. The half that stays free keeps the next rows cheap.
pub(crate) fn give_back<T>(values: &mut Vec<T>) {
    const FEW: usize = 64;
    if values.capacity() / 4 > values.len().max(FEW) {
        values.shrink_to(2 * values.len());
    }
}

/// What an item of a column may be; a declaration names one of these tests for each column.
pub(crate) trait Item: Sized {
    /// No part of it is infinite or not a number.
    fn finite(&self) -> bool;
    /// No part of it is not a number; it may be infinite, as a threshold that is never reached.
    #[allow(dead_code)]
    fn number(&self) -> bool;
    /// Every value is legal.
    fn any(&self) -> bool {
        true
    }
}

macro_rules! items {
    ($($type:ty: $value:ident finite $finite:expr, number $number:expr;)+) => {
        $(impl Item for $type {
            fn finite(&self) -> bool {
                let $value = self;
                $finite
            }
            fn number(&self) -> bool {
                let $value = self;
                $number
            }
        })+
    };
}

items! {
    f32: x finite x.is_finite(), number !x.is_nan();
    Vec4: x finite x.is_finite(), number !x.is_nan();
    u8: _x finite true, number true;
    u32: _x finite true, number true;
    u64: _x finite true, number true;
}

/// Declares a table of parallel arrays.
///
/// ```ignore
/// columns! {
///     /// All balls of a game.
///     #[derive(Clone, Default)]
///     pub struct Balls, row Ball {
///         /// m.
///         radius: f32 [finite],
///         color: u32 [any],
///     } besides {
///         /// Who plays.
///         players: Vec<String>,
///     }
/// }
/// ```
///
/// makes a struct with a `Vec` for each column and with the fields `besides` them, and a struct for
/// one row. The word in brackets names the test of [`Item`] that every value must pass. The methods
/// are `push_row`, `replace_row`, `copy_row`, `cut_rows`, `make_room_for_rows`, `permute_rows`,
/// `retain_rows`, `columns_have_rows` and `first_illegal_row`.
macro_rules! columns {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<const $n:ident: usize>)?, row $row:ident {
            $($(#[$doc:meta])* $column:ident: $type:ty [$test:ident],)+
        } besides {
            $($(#[$field_doc:meta])* $field:ident: $field_type:ty,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name $(<const $n: usize>)? {
            $($(#[$doc])* pub(crate) $column: Vec<$type>,)+
            $($(#[$field_doc])* pub(crate) $field: $field_type,)*
        }

        /// What one row holds.
        pub(crate) struct $row {
            $(pub(crate) $column: $type,)+
        }

        #[allow(dead_code)] // not every table is put in another order, or changes row by row
        impl $(<const $n: usize>)? $name $(<$n>)? {
            /// Appends a row to every column.
            pub(crate) fn push_row(&mut self, row: $row) {
                $($crate::table::Column::put(&mut self.$column, row.$column);)+
            }
            /// Puts a row in place of another.
            pub(crate) fn replace_row(&mut self, at: usize, row: $row) {
                $($crate::table::Column::replace(&mut self.$column, at, row.$column);)+
            }
            /// Copies a row to another place.
            pub(crate) fn copy_row(&mut self, from: usize, to: usize) {
                $($crate::table::Column::copy(&mut self.$column, from, to);)+
            }
            /// Drops the rows from here on. Their memory is kept for the next ones.
            pub(crate) fn cut_rows(&mut self, count: usize) {
                $($crate::table::Column::cut(&mut self.$column, count);)+
            }
            /// Makes room for so many rows in all.
            pub(crate) fn make_room_for_rows(&mut self, count: usize) {
                $($crate::table::Column::make_room(&mut self.$column, count);)+
            }
            /// Puts row `order[k]` into place k in every column; `order` holds every row once.
            pub(crate) fn permute_rows(&mut self, order: &[u32]) {
                $($crate::table::Column::permute(&mut self.$column, order);)+
            }
            /// Keeps the marked rows of every column and closes the gaps.
            pub(crate) fn retain_rows(&mut self, keep: &[bool]) {
                $($crate::table::Column::retain(&mut self.$column, keep);)+
            }
            /// Whether every column has this many rows.
            pub(crate) fn columns_have_rows(&self, count: usize) -> bool {
                $($crate::table::Column::has_rows(&self.$column, count))&&+
            }
            /// The first row with a value that its column does not allow.
            pub(crate) fn first_illegal_row(&self) -> Option<usize> {
                use $crate::table::{Column, Item};
                [$(Column::first_failing(&self.$column, <$type as Item>::$test)),+]
                    .into_iter()
                    .flatten()
                    .min()
            }
        }
    };
}
pub(crate) use columns;

#[cfg(test)]
mod tests {
    columns! {
        #[derive(Default)]
        struct Things<const N: usize>, row Thing {
            weight: f32 [finite],
            limit: f32 [number],
            color: u32 [any],
        } besides {
            names: Vec<[u8; N]>,
        }
    }

    fn things() -> Things<2> {
        let mut things = Things { names: vec![*b"ab"], ..Things::default() };
        for k in 0..5 {
            things.push_row(Thing { weight: k as f32, limit: f32::INFINITY, color: 10 * k });
        }
        things
    }

    #[test]
    fn every_column_follows() {
        let mut things = things();
        things.permute_rows(&[4, 3, 2, 1, 0]);
        things.retain_rows(&[true, false, true, true, false]);
        assert_eq!(things.weight, [4.0, 2.0, 1.0]);
        assert_eq!(things.color, [40, 20, 10]);
        assert!(things.columns_have_rows(3) && things.limit.len() == 3);
        assert_eq!(things.names, [*b"ab"]);
    }

    #[test]
    fn rows_change_their_place_and_the_memory_stays() {
        let mut things = things();
        things.make_room_for_rows(9);
        let room = things.color.capacity();
        things.copy_row(4, 1);
        things.replace_row(2, Thing { weight: 7.0, limit: 0.0, color: 70 });
        things.cut_rows(3);
        assert_eq!(things.weight, [0.0, 4.0, 7.0]);
        assert_eq!(things.color, [0, 40, 70]);
        assert!(things.columns_have_rows(3) && room >= 9 && things.color.capacity() == room);
    }

    #[test]
    fn memory_follows_what_is_left() {
        let mut many: Vec<u32> = (0..100_000).collect();
        super::Column::retain(&mut many, &[true; 30_000]);
        assert!(many.len() == 30_000 && many.capacity() >= 100_000, "a third is in use");
        super::Column::retain(&mut many, &[true; 10_000]);
        assert!((10_000..=20_000).contains(&many.capacity()), "{}", many.capacity());
    }

    #[test]
    fn a_column_of_another_length_and_an_illegal_value_are_found() {
        let mut things = things();
        assert_eq!(things.first_illegal_row(), None);
        things.limit[3] = f32::NAN;
        assert_eq!(things.first_illegal_row(), Some(3));
        things.weight[1] = f32::INFINITY;
        assert_eq!(things.first_illegal_row(), Some(1));
        things.color.pop();
        assert!(!things.columns_have_rows(5) && !things.columns_have_rows(4));
    }
}
