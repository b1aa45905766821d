//! Which particles of an object a scene means: words, indices, cells of a cloth.

use crate::error::{Error, Result};
use crate::scene::value::Pick;

/// How the particles of a kind of object are laid out. Each kind that takes picks has its own.
pub(super) trait Layout {
    /// How many particles there are.
    fn count(&self) -> usize;

    /// What a pick may be, for messages.
    fn known(&self) -> &'static str;

    /// The particles that a word names, rising; none when the word is unknown. Every layout knows
    /// `all`, which does not come here.
    fn word(&self, word: &str) -> Option<Vec<usize>>;

    /// The particle at `[column, row]`, or why there is none.
    fn cell(&self, _at: [i64; 2]) -> std::result::Result<usize, String> {
        Err("only a cloth has [column, row]".into())
    }
}

/// Indices of the picked particles, rising, each once. `field` names the list in messages.
pub(super) fn pick(picks: &[Pick], layout: &dyn Layout, field: &str) -> Result<Vec<usize>> {
    let count = layout.count();
    let mut found = Vec::new();
    for (i, pick) in picks.iter().enumerate() {
        let refuse = |message: String| Error::value(format!("{field}.{i}"), message);
        match pick {
            Pick::Word(word) if word == "all" => found.extend(0..count),
            Pick::Word(word) => found.extend(layout.word(word).ok_or_else(|| {
                refuse(format!("`{word}` is not known here; use {}", layout.known()))
            })?),
            Pick::Index(index) => found.push(from_end(*index, count).ok_or_else(|| {
                refuse(format!("there is no particle {index}; there are {count}"))
            })?),
            Pick::Cell(at) => found.push(layout.cell(*at).map_err(refuse)?),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// An index below `count`; negative ones count from the end.
pub(in crate::scene) fn from_end(index: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let index = if index < 0 { count.checked_add(index)? } else { index };
    (0..count).contains(&index).then_some(index as usize)
}
