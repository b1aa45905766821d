//! Which particles of an object a scene means: words, indices, cells of a cloth.

use crate::error::{Error, Result};
use crate::scene::value::Pick;
use glam::Vec3;

/// How an object's particles are laid out.
pub(super) enum Layout<'a> {
    /// Row by row.
    Cloth { columns: u64, rows: u64 },
    /// Places in the lattice's own frame, m.
    Lattice { local: &'a [Vec3], spacing: f32 },
    /// As they were listed.
    List { count: usize },
}

/// Indices of the picked particles, rising, each once. `field` names the list in messages.
pub(super) fn pick(picks: &[Pick], layout: &Layout, field: &str) -> Result<Vec<usize>> {
    let count = match layout {
        Layout::Cloth { columns, rows } => (columns * rows) as usize,
        Layout::Lattice { local, .. } => local.len(),
        Layout::List { count } => *count,
    };
    let mut found = Vec::new();
    for (i, pick) in picks.iter().enumerate() {
        let refuse = |message: String| Err(Error::value(format!("{field}.{i}"), message));
        match (pick, layout) {
            (Pick::Word(word), _) => match by_word(word, layout, count) {
                Ok(more) => found.extend(more),
                Err(known) => {
                    return refuse(format!("`{word}` is not known here; use {known}"));
                }
            },
            (Pick::Index(index), _) => match from_end(*index, count) {
                Some(index) => found.push(index),
                None => return refuse(format!("there is no particle {index}; there are {count}")),
            },
            (Pick::Cell(at), Layout::Cloth { columns, rows }) => match cell(*at, *columns, *rows) {
                Some(index) => found.push(index),
                None => {
                    return refuse(format!(
                        "{at:?} is outside; the cloth has {columns} columns and {rows} rows"
                    ));
                }
            },
            (Pick::Cell(_), _) => return refuse("only a cloth has [column, row]".into()),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// An index below `count`; negative ones count from the end.
pub(super) fn from_end(index: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let index = if index < 0 { count.checked_add(index)? } else { index };
    (0..count).contains(&index).then_some(index as usize)
}

/// The index of `[column, row]` on a cloth.
pub(super) fn cell([column, row]: [i64; 2], columns: u64, rows: u64) -> Option<usize> {
    let (column, row) = (from_end(column, columns as usize)?, from_end(row, rows as usize)?);
    Some(row * columns as usize + column)
}

/// The particles a word names, or the words that would be known.
fn by_word(
    word: &str,
    layout: &Layout,
    count: usize,
) -> std::result::Result<Vec<usize>, &'static str> {
    let all = |keep: &dyn Fn(usize) -> bool| Ok((0..count).filter(|&i| keep(i)).collect());
    if word == "all" {
        return all(&|_| true);
    }
    match *layout {
        Layout::Cloth { columns, rows } => {
            let (columns, rows) = (columns as usize, rows as usize);
            let top = |i: usize| i / columns == 0;
            let bottom = |i: usize| i / columns == rows - 1;
            let left = |i: usize| i.is_multiple_of(columns);
            let right = |i: usize| i % columns == columns - 1;
            match word {
                "top" => all(&top),
                "bottom" => all(&bottom),
                "left" => all(&left),
                "right" => all(&right),
                "top_left" => all(&|i| top(i) && left(i)),
                "top_right" => all(&|i| top(i) && right(i)),
                "bottom_left" => all(&|i| bottom(i) && left(i)),
                "bottom_right" => all(&|i| bottom(i) && right(i)),
                "corners" => all(&|i| (top(i) || bottom(i)) && (left(i) || right(i))),
                "border" => all(&|i| top(i) || bottom(i) || left(i) || right(i)),
                _ => Err("corners, border, top, bottom, left, right, top_left, top_right, \
                          bottom_left, bottom_right, all, or [column, row]"),
            }
        }
        Layout::Lattice { local, spacing } => {
            let face = |direction: Vec3| {
                let outermost =
                    local.iter().map(|p| p.dot(direction)).fold(f32::NEG_INFINITY, f32::max);
                all(&|i| local[i].dot(direction) > outermost - spacing * 0.25)
            };
            match word {
                "top" => face(Vec3::Y),
                "bottom" => face(Vec3::NEG_Y),
                "right" => face(Vec3::X),
                "left" => face(Vec3::NEG_X),
                "front" => face(Vec3::Z),
                "back" => face(Vec3::NEG_Z),
                _ => Err("top, bottom, left, right, front, back, all, or an index"),
            }
        }
        Layout::List { .. } => match word {
            "first" => all(&|i| i == 0),
            "last" => all(&|i| i + 1 == count),
            _ => Err("first, last, all, or an index"),
        },
    }
}
