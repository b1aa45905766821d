//! Trees of values with their places in the text: measured, merged, changed and walked.

use crate::suggest;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
pub(super) type Tree<'i> = Spanned<DeValue<'i>>;

/// The first line that may nest keys beyond reason. Looked for in the text, since a tree of a
/// million levels could not even be dropped; [`depth`] is exact, once that is ruled out.
pub(super) fn deep_line(text: &str) -> Option<usize> {
    const MOST_DOTS: usize = 32;
    let deep = |line: &str| {
        let (mut dots, mut previous) = (0, ' ');
        line.chars().any(|c| {
            match c {
                // Dots in a row are prose: between the dots of a key there is a name.
                '.' if previous != '.' => dots += 1,
                ',' => dots = 0,
                _ => {}
            }
            previous = c;
            dots > MOST_DOTS
        })
    };
    text.lines().position(deep).map(|i| i + 1)
}

/// Levels of tables and lists, at least 1.
pub(super) fn depth(at: &Tree<'_>) -> usize {
    let deepest = match at.get_ref() {
        DeValue::Table(table) => table.values().map(depth).max(),
        DeValue::Array(array) => array.iter().map(depth).max(),
        _ => None,
    };
    1 + deepest.unwrap_or(0)
}

/// Lays `over` on `base`: tables merge, arrays of tables merge by index, all else is replaced.
pub(super) fn merge<'i>(base: &mut Tree<'i>, over: Tree<'i>) {
    let span = over.span();
    match (base.get_mut(), over.into_inner()) {
        (DeValue::Table(base), DeValue::Table(over)) => {
            for (key, mut value) in over {
                // Taken out and put back, so that the key tells the overlay's line.
                if let Some(mut old) = base.remove(key.get_ref().as_ref()) {
                    merge(&mut old, value);
                    value = old;
                }
                base.insert(key, value);
            }
        }
        (DeValue::Array(base), DeValue::Array(over))
            if !over.is_empty()
                && base.iter().chain(over.iter()).all(|v| v.get_ref().is_table()) =>
        {
            for (i, value) in over.into_iter().enumerate() {
                match base.get_mut(i) {
                    Some(old) => merge(old, value),
                    None => base.push(value),
                }
            }
        }
        (_, over) => *base = Spanned::new(span, over),
    }
}

/// Reads the value of a `--set`: a TOML value, or a bare word as a string.
pub(super) fn set_value(text: &str) -> std::result::Result<Tree<'_>, String> {
    let error = match DeValue::parse(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let bare = |c: char| c.is_alphanumeric() || "_-./:\\".contains(c);
    if !text.is_empty() && text.chars().all(bare) {
        return Ok(Spanned::new(0..0, DeValue::String(text.into())));
    }
    Err(format!("`{text}` is not a TOML value: {}", error.message()))
}

/// Puts a value into the tree, making tables on the way where there are none.
pub(super) fn put<'i>(
    at: &mut Tree<'i>,
    path: &[&'i str],
    value: Tree<'i>,
    span: &Range<usize>,
) -> std::result::Result<(), String> {
    let Some((&first, rest)) = path.split_first() else {
        *at = value;
        return Ok(());
    };
    match at.get_mut() {
        DeValue::Table(table) => {
            if let Some(next) = table.get_mut(first) {
                return put(next, rest, value, span);
            }
            if rest.first().is_some_and(|s| s.parse::<usize>().is_ok()) {
                let known = table.keys().map(|key| key.get_ref().as_ref());
                return Err(format!(
                    "the scene has no `{first}`; {}",
                    suggest::instead(first, known)
                ));
            }
            let mut new = Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
            put(&mut new, rest, value, span)?;
            table.insert(Spanned::new(span.clone(), first.into()), new);
            Ok(())
        }
        DeValue::Array(array) => {
            let count = array.len();
            let next = first.parse().ok().and_then(|i: usize| array.get_mut(i));
            match next {
                Some(next) => put(next, rest, value, span),
                None => Err(format!("there is no `{first}` in a list of {count}, counted from 0")),
            }
        }
        other => Err(format!("`{first}` is looked for in a {}", other.type_str())),
    }
}

pub(super) fn respan<'i>(tree: Tree<'i>, span: &Range<usize>) -> Tree<'i> {
    let value = match tree.into_inner() {
        DeValue::Array(a) => DeValue::Array(a.into_iter().map(|v| respan(v, span)).collect()),
        DeValue::Table(t) => DeValue::Table(
            t.into_iter()
                .map(|(k, v)| (Spanned::new(span.clone(), k.into_inner()), respan(v, span)))
                .collect(),
        ),
        other => other,
    };
    Spanned::new(span.clone(), value)
}

/// Calls `found(path, value)` for every value.
pub(super) fn visit_values(
    at: &Tree<'_>,
    path: &mut String,
    found: &mut impl FnMut(&str, &DeValue<'_>),
) {
    found(path, at.get_ref());
    each_child(at, path, |child, path| visit_values(child, path, found));
}

/// Calls `inside(child, path)` for everything in a table or a list.
fn each_child(at: &Tree<'_>, path: &mut String, mut inside: impl FnMut(&Tree<'_>, &mut String)) {
    let length = path.len();
    let mut enter = |name: &str, child: &Tree<'_>| {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        inside(child, path);
        path.truncate(length);
    };
    match at.get_ref() {
        DeValue::Table(table) => table.iter().for_each(|(key, value)| enter(key.get_ref(), value)),
        DeValue::Array(array) => {
            array.iter().enumerate().for_each(|(i, value)| enter(&i.to_string(), value));
        }
        _ => {}
    }
}

/// Calls `found(span, path)` for every key and value.
pub(super) fn visit(at: &Tree<'_>, path: &mut String, found: &mut impl FnMut(Range<usize>, &str)) {
    found(at.span(), path);
    let keys: Vec<Range<usize>> = match at.get_ref() {
        DeValue::Table(table) => table.keys().map(|key| key.span()).collect(),
        _ => Vec::new(),
    };
    let mut keys = keys.into_iter();
    each_child(at, path, |child, path| {
        if let Some(key) = keys.next() {
            found(key, path);
        }
        visit(child, path, found);
    });
}
