//! How joints and checks refer to objects: by their name, or by their place such as `cloth.0`.

use super::document::Document;
use super::file::SceneFile;
use crate::error::Result;
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
        let names = Names::of(file);
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

    /// The names of a scene that has been read.
    pub fn of(file: &SceneFile) -> Names {
        fn paths<'a, T>(
            kind: &'a str,
            objects: &'a [T],
            name: impl Fn(&T) -> &Option<String> + 'a,
        ) -> impl Iterator<Item = (String, Option<String>)> + 'a {
            objects
                .iter()
                .enumerate()
                .map(move |(i, object)| (format!("{kind}.{i}"), name(object).clone()))
        }
        let objects = paths("cloth", &file.cloth, |o| &o.name)
            .chain(paths("box", &file.boxes, |o| &o.name))
            .chain(paths("granular", &file.granular, |o| &o.name))
            .chain(paths("particles", &file.particles, |o| &o.name))
            .collect::<Vec<_>>();
        let mut index = HashMap::new();
        let given =
            objects.iter().enumerate().filter_map(|(i, (_, name))| Some((name.as_ref()?, i)));
        for (name, i) in objects.iter().enumerate().map(|(i, (path, _))| (path, i)).chain(given) {
            // The first keeps the name; `read` refuses the second.
            index.entry(name.clone()).or_insert(i);
        }
        Names { objects, index }
    }

    /// The object called so.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Name of an object: the one given, else its path.
    pub fn name(&self, index: usize) -> &str {
        self.objects.get(index).map_or("", |(path, name)| name.as_deref().unwrap_or(path))
    }

    /// Every name, for messages.
    pub fn known(&self) -> String {
        if self.objects.is_empty() {
            return "the scene has no objects".into();
        }
        let names: Vec<&str> = (0..self.objects.len().min(20)).map(|i| self.name(i)).collect();
        format!("known: {}", names.join(", "))
    }
}
