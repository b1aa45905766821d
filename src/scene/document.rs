//! A scene's text as a tree that remembers where every value was written, through variants and
//! `--set`, so that any complaint about a field can name its line.

mod plain;
mod tree;

use super::file::SceneFile;
use crate::error::{Error, Result};
use crate::suggest;
use crate::world::is_parameter;
use plain::plain;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use tree::{Tree, deep_line, depth, merge, put, respan, set_value, visit, visit_values};

/// More text than this is no scene; 64 MiB hold about a million explicit particles.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// Tables nest at most this deep: the format needs half of it, and recursion must end.
const MOST_DEPTH: usize = 16;

/// The tree and what is needed to tell where a piece of it came from.
#[derive(Clone, Debug)]
pub(crate) struct Document<'i> {
    file: &'i str,
    text: &'i str,
    tree: Tree<'i>,
    /// The `--set` arguments. Their values carry spans behind the end of the text: argument k
    /// starts where argument k-1 ends.
    sets: Vec<&'i str>,
    variants: Vec<(String, Tree<'i>)>,
}

impl<'i> Document<'i> {
    /// Parses the text and puts the variants aside.
    pub fn parse(file: &'i str, text: &'i str) -> Result<Self> {
        let refuse = |line, message: String| Err(Error::input(file, line, "scene", message));
        if text.len() > MOST_BYTES {
            return refuse(None, format!("{} bytes is too long; at most {MOST_BYTES}", text.len()));
        }
        if let Some(line) = deep_line(text) {
            return refuse(Some(line), "a key has too many dots".into());
        }
        let mut document = Document {
            file,
            text,
            tree: Spanned::new(0..0, DeValue::Table(DeTable::new())),
            sets: Vec::new(),
            variants: Vec::new(),
        };
        let table = DeTable::parse(text).map_err(|e| document.toml_error(&e))?;
        document.tree = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
        if depth(&document.tree) > MOST_DEPTH {
            return refuse(None, format!("tables nest deeper than {MOST_DEPTH} levels"));
        }
        document.split_variants()?;
        Ok(document)
    }

    fn split_variants(&mut self) -> Result<()> {
        let DeValue::Table(root) = self.tree.get_mut() else { return Ok(()) };
        let Some(variants) = root.remove("variants") else { return Ok(()) };
        let span = variants.span();
        let DeValue::Table(variants) = variants.into_inner() else {
            return Err(self.error_in(span, "variants", "expected tables [variants.NAME]"));
        };
        for (name, overlay) in variants {
            let name = name.into_inner().into_owned();
            if !overlay.get_ref().is_table() {
                let field = format!("variants.{name}");
                return Err(self.error_in(overlay.span(), &field, "expected a table"));
            }
            self.variants.push((name, overlay));
        }
        Ok(())
    }

    /// Names of the variants.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|(name, _)| name.as_str())
    }

    /// Lays a variant over the tree.
    pub fn overlay(&mut self, variant: &str) -> Result<()> {
        let Some((_, over)) = self.variants.iter().find(|(name, _)| name == variant) else {
            let instead = suggest::instead(variant, self.variants());
            return Err(Error::input(
                self.file,
                None,
                format!("variants.{variant}"),
                format!("this scene has no such variant; {instead}"),
            ));
        };
        merge(&mut self.tree, over.clone());
        Ok(())
    }

    /// Applies one `PATH=VALUE`.
    pub fn set(&mut self, argument: &'i str) -> Result<()> {
        let shown = format!("--set {argument}");
        let Some((path, value)) = argument.split_once('=') else {
            return Err(Error::input(shown, None, argument, "expected PATH=VALUE"));
        };
        let (path, value) = (path.trim(), value.trim());
        let refuse = |message: String| Err(Error::input(&shown, None, path, message));
        let value = match set_value(value) {
            Ok(value) => value,
            Err(message) => return refuse(message),
        };
        let mut segments: Vec<&str> = path.split('.').collect();
        let deep = depth(&value) + segments.len() > MOST_DEPTH;
        if deep || segments.iter().any(|s| s.is_empty()) {
            return refuse("expected a path such as cloth.0.columns or iterations".into());
        }
        if let [name] = segments[..]
            && is_parameter(name)
        {
            segments.insert(0, "params");
        }
        let start = self.text.len() + self.sets.iter().map(|s| s.len() + 1).sum::<usize>();
        let span = start..start + argument.len();
        if let Err(message) = put(&mut self.tree, &segments, respan(value, &span), &span) {
            return refuse(message);
        }
        self.sets.push(argument);
        Ok(())
    }

    /// Reads the tree as a scene.
    pub fn read(&self) -> Result<SceneFile> {
        let from = ValueDeserializer::from(self.tree.clone());
        let mut file = SceneFile::deserialize(from).map_err(|e| self.toml_error(&e))?;
        let mut bodies = Vec::with_capacity(file.bodies.len());
        for (number, body) in std::mem::take(&mut file.bodies).into_iter().enumerate() {
            let repeated = body.repeated().map_err(|(key, message)| {
                let path = format!("body.{number}.{key}");
                self.error_at(&path, message)
            })?;
            bodies.extend(repeated);
        }
        file.bodies = bodies;
        Ok(file)
    }

    /// Calls `found(path, value)` for every number.
    pub fn visit_numbers(&self, found: &mut impl FnMut(&str, f64)) {
        visit_values(&self.tree, &mut String::new(), &mut |path, value| {
            let number = match value {
                DeValue::Integer(v) => {
                    i64::from_str_radix(v.as_str(), v.radix()).ok().map(|v| v as f64)
                }
                DeValue::Float(v) => v.as_str().parse().ok(),
                _ => None,
            };
            if let Some(number) = number {
                found(path, number);
            }
        });
    }

    /// An error about the field at `path`, with the line of the closest thing that was written.
    pub fn error_at(&self, path: &str, message: impl Into<String>) -> Error {
        self.error_in(self.span_of(path), path, message)
    }

    /// Gives an error of the library its place: `object` is the path of what was being built.
    pub fn explain(&self, error: Error, object: &str) -> Error {
        match error {
            Error::Value { field, message } => {
                let inside = field == object || field.starts_with(&format!("{object}."));
                let path = if inside { field } else { format!("{object}.{field}") };
                self.error_at(&path, message)
            }
            Error::TooLarge { what: _, needed, limit } => {
                let place = self.place(self.span_of(object).start);
                let line = place.line.map(|l| format!(":{l}")).unwrap_or_default();
                let what = format!("{}{line}: {object}", place.file);
                Error::TooLarge { what, needed, limit }
            }
            other => other,
        }
    }

    fn error_in(&self, span: Range<usize>, path: &str, message: impl Into<String>) -> Error {
        let place = self.place(span.start);
        let mut message = message.into();
        if let Some(column) = place.column {
            message = format!("{message} (column {column})");
        }
        Error::input(place.file, place.line, path, message)
    }

    fn toml_error(&self, error: &toml::de::Error) -> Error {
        let message = error.message().trim();
        match error.span() {
            Some(span) => {
                let path = self.path_of(&span);
                self.error_in(span, &path, plain(message, &path))
            }
            None => Error::input(self.file, None, "scene", plain(message, "scene")),
        }
    }

    /// File, line and column of a byte of the text or of a `--set`.
    fn place(&self, at: usize) -> Place {
        let mut start = self.text.len();
        for set in &self.sets {
            if at >= start && at < start + set.len() {
                return Place { file: format!("--set {set}"), line: None, column: None };
            }
            start += set.len() + 1;
        }
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Place {
            file: self.file.into(),
            line: Some(before.matches('\n').count() + 1),
            column: Some(before[line_start..].chars().count() + 1),
        }
    }

    /// Where the value at `path` was written, or the deepest part of the path that was.
    fn span_of(&self, path: &str) -> Range<usize> {
        let mut span = 0..0;
        let mut at = &self.tree;
        for segment in path.split('.') {
            let (found, value) = match at.get_ref() {
                DeValue::Table(table) => match table.get_key_value(segment) {
                    // A value may have come from `--set` under a key of the file.
                    Some((_, value)) if value.span().start >= self.text.len() => {
                        (value.span(), value)
                    }
                    Some((key, value)) => (key.span(), value),
                    None => break,
                },
                DeValue::Array(array) => {
                    match segment.parse().ok().and_then(|i: usize| array.get(i)) {
                        Some(value) => (value.span(), value),
                        None => break,
                    }
                }
                _ => break,
            };
            span = found;
            at = value;
        }
        span
    }

    /// The path of the smallest key or value around a span.
    fn path_of(&self, span: &Range<usize>) -> String {
        let mut best: Option<(usize, String)> = None;
        visit(&self.tree, &mut String::new(), &mut |found: Range<usize>, path: &str| {
            let around = found.start <= span.start && span.end <= found.end;
            if around && best.as_ref().is_none_or(|(len, _)| found.len() <= *len) {
                best = Some((found.len(), path.into()));
            }
        });
        match best {
            Some((_, path)) if !path.is_empty() => path,
            // No tree yet: the text itself, when it is a key.
            _ => match self.text.get(span.clone()) {
                Some(key) if is_key(key) => key.into(),
                _ => "scene".into(),
            },
        }
    }
}

fn is_key(text: &str) -> bool {
    (1..64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

struct Place {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
}
