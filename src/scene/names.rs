//! How joints and checks refer to objects: by their name, or by their place such as `cloth.0`.

use super::document::Document;
use super::file::SceneFile;
use super::objects::Entry;
use crate::error::Result;
use crate::suggest;
use std::collections::HashMap;

/// The objects in the order they are built, which is their order in the world.
pub(super) struct Names {
    /// (path, name given).
    objects: Vec<(String, Option<String>)>,
    /// Paths and names to places in `objects`.
    index: HashMap<String, usize>,
}

impl Names {
    /// Collects the names; the same name twice is an error.
    pub fn read(file: &SceneFile, document: &Document) -> Result<Names> {
        let names = Names::of(file.objects());
        for (i, (path, name)) in names.objects.iter().enumerate() {
            let Some(name) = name else { continue };
            let field = format!("{path}.name");
            if name.is_empty() || name.contains(':') {
                return Err(document.error_at(&field, "expected a name without `:`"));
            }
            if names.find(name) != Some(i) {
                let message = format!("two objects are called `{name}`");
                return Err(document.error_at(&field, message));
            }
        }
        Ok(names)
    }

    /// The names of objects that have been read.
    pub fn of<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Names {
        let objects: Vec<(String, Option<String>)> =
            entries.map(|entry| (entry.path, entry.object.common().name.map(Into::into))).collect();
        let mut index = HashMap::new();
        let given =
            objects.iter().enumerate().filter_map(|(i, (_, name))| Some((name.as_ref()?, i)));
        for (name, i) in objects.iter().enumerate().map(|(i, (path, _))| (path, i)).chain(given) {
            // The first keeps the name; `read` refuses the second.
            index.entry(name.clone()).or_insert(i);
        }
        Names { objects, index }
    }

    /// The place of the object that is called so.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Name of an object: the one given, else its path.
    pub fn name(&self, index: usize) -> &str {
        self.objects.get(index).map_or("", |(path, name)| name.as_deref().unwrap_or(path))
    }

    /// What to say about a name that no object has.
    pub fn instead_of(&self, name: &str) -> String {
        if self.objects.is_empty() {
            return format!("there is no object `{name}`; the scene has none");
        }
        let known = (0..self.objects.len()).map(|i| self.name(i));
        format!("there is no object `{name}`; {}", suggest::instead(name, known))
    }
}
