//! How joints and checks refer to objects: by their name, or by their place such as `cloth.0`.

use super::document::Document;
use super::file::SceneFile;
use crate::error::Result;

/// The objects in the order they are built, which is their order in the world.
pub(super) struct Names {
    /// (path, name given).
    objects: Vec<(String, Option<String>)>,
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
            let others = || names.objects.iter().enumerate().filter(|(j, _)| *j != i);
            if others().any(|(_, (path, n))| path == name || n.as_ref() == Some(name)) {
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
            .collect();
        Names { objects }
    }

    /// The object called so.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.objects.iter().position(|(path, n)| path == name || n.as_deref() == Some(name))
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
