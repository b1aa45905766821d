//! Rows of numbers in buffers. Nothing is reserved before the bytes are known to be there.

use std::borrow::Cow;
use std::cell::Cell;

use super::json;
use crate::{Error, Result};

/// Bytes that one file may become when it is read. A small file may name the same bytes over and over.
const MOST: u64 = 1 << 28;

pub struct Accessors<'a> {
    name: &'a str,
    root: &'a json::Root,
    buffers: &'a [Cow<'a, [u8]>],
    read: Cell<u64>,
}

/// The bytes of an accessor, checked.
struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    kind: u32,
    normalized: bool,
    width: usize,
}

impl<'a> Accessors<'a> {
    pub fn new(name: &'a str, root: &'a json::Root, buffers: &'a [Cow<'a, [u8]>]) -> Self {
        Accessors { name, root, buffers, read: Cell::new(0) }
    }

    /// The numbers of an accessor with `width` numbers a row, as f32; none of them is not finite.
    pub fn numbers(&self, index: u32, width: usize, field: &str) -> Result<Vec<f32>> {
        let rows = self.rows(index, width, field)?;
        let numbers: Vec<f32> = rows.each().map(|bytes| rows.number(bytes)).collect();
        match numbers.iter().position(|value| !value.is_finite()) {
            Some(k) => {
                let message = format!("row {} of accessor {index} is not finite", k / width);
                Err(Error::input(self.name, None, field, message))
            }
            None => Ok(numbers),
        }
    }

    /// The numbers of vertices.
    pub fn indices(&self, index: u32, field: &str) -> Result<Vec<u32>> {
        let rows = self.rows(index, 1, field)?;
        if !matches!(rows.kind, 5121 | 5123 | 5125) {
            let message = format!("component type {} is not that of an index", rows.kind);
            return Err(Error::input(self.name, None, field, message));
        }
        Ok(rows.each().map(whole).collect())
    }

    fn rows(&self, index: u32, width: usize, field: &str) -> Result<Rows<'_>> {
        let fail = |message: String| Err(Error::input(self.name, None, field, message));
        let Some(accessor) = self.root.accessors.get(index as usize) else {
            let count = self.root.accessors.len();
            return fail(format!("names accessor {index}, but there are {count}"));
        };
        let fail = |message: &str| fail(format!("accessor {index} {message}"));
        let has = match accessor.kind.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            _ => 0,
        };
        if has != width {
            let kind: String = accessor.kind.chars().take(40).collect();
            return fail(&format!("is of type {kind:?}, but {width} numbers a row are needed"));
        }
        let size = match accessor.component_type {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            other => return fail(&format!("has component type {other}, which glTF does not have")),
        };
        if accessor.sparse.is_some() {
            return fail("is sparse, which is not read; export it without sparse accessors");
        }
        let Some(view) = accessor.buffer_view else {
            return fail("has no bufferView, so it holds nothing");
        };
        let Some(view) = self.root.buffer_views.get(view as usize) else {
            return fail(&format!("names bufferView {view}, which is not there"));
        };
        let Some(buffer) = self.buffers.get(view.buffer as usize) else {
            return fail(&format!("leads to buffer {}, which is not there", view.buffer));
        };
        let row = (width * size) as u64;
        let stride = view.byte_stride.unwrap_or(row);
        if stride < row {
            return fail(&format!("has rows of {row} bytes, but a byteStride of {stride}"));
        }
        let needed = match accessor.count.checked_sub(1) {
            Some(before) => before.checked_mul(stride).and_then(|n| n.checked_add(row)),
            None => Some(0),
        };
        let end = needed.and_then(|n| n.checked_add(accessor.byte_offset));
        let view_end = view.byte_offset.checked_add(view.byte_length);
        let fits = end.is_some_and(|end| end <= view.byte_length)
            && view_end.is_some_and(|end| end <= buffer.len() as u64);
        if !fits {
            return fail(&format!(
                "has {} rows, which reach beyond the end of its buffer; it was cut short or \
                 damaged, export it again",
                accessor.count
            ));
        }
        // Both fit into the buffer, so into memory.
        let from = (view.byte_offset + accessor.byte_offset) as usize;
        let count = accessor.count as usize;
        self.read.set(self.read.get().saturating_add(4 * width as u64 * accessor.count));
        if self.read.get() > MOST {
            return Err(Error::TooLarge {
                what: self.name.into(),
                needed: format!("more than {} MiB when it is read", MOST >> 20),
                limit: "no more is taken of one file; give a coarser mesh or fewer clips".into(),
            });
        }
        Ok(Rows {
            bytes: &buffer[from..],
            stride: stride as usize,
            count,
            kind: accessor.component_type,
            normalized: accessor.normalized,
            width,
        })
    }
}

impl Rows<'_> {
    /// The bytes of each number, row by row.
    fn each(&self) -> impl Iterator<Item = &[u8]> {
        let size = match self.kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        (0..self.count).flat_map(move |row| {
            let row = &self.bytes[row * self.stride..];
            (0..self.width).map(move |k| &row[k * size..][..size])
        })
    }

    fn number(&self, bytes: &[u8]) -> f32 {
        let raw = whole(bytes);
        let share = |value: f32, most: f32| match self.normalized {
            true => (value / most).max(-1.0),
            false => value,
        };
        match self.kind {
            5120 => share(f32::from(raw as u8 as i8), 127.0),
            5121 => share(raw as f32, 255.0),
            5122 => share(f32::from(raw as u16 as i16), 32767.0),
            5123 => share(raw as f32, 65535.0),
            5125 => raw as f32,
            _ => f32::from_bits(raw),
        }
    }
}

/// One, two or four bytes, the low one first.
fn whole(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |whole, &byte| whole << 8 | u32::from(byte))
}
