//! The built-in scenes, as the panel lists them.

use motes::Scene;

/// A scene that can be opened.
pub struct Entry {
    pub name: &'static str,
    pub title: String,
    pub source: String,
    pub particles: u128,
    /// Names behind the colon.
    pub variants: Vec<String>,
}

/// All built-in scenes, by name.
pub struct Catalog {
    pub entries: Vec<Entry>,
}

impl Catalog {
    pub fn new() -> Self {
        let entry = |name: &'static str| {
            let scene = Scene::load(name).ok()?;
            Some(Entry {
                name,
                title: scene.title().into(),
                source: scene.source().into(),
                particles: scene.need().particles,
                variants: scene.variants().to_vec(),
            })
        };
        Catalog { entries: Scene::builtin_names().filter_map(entry).collect() }
    }

    /// The scene before or after one; the first when it is not built in.
    pub fn neighbour(spec: &str, by: isize) -> Option<&'static str> {
        let names: Vec<&'static str> = Scene::builtin_names().collect();
        let base = spec.split(':').next().unwrap_or(spec);
        let count = names.len() as isize;
        let at = names.iter().position(|name| *name == base).map_or(0, |k| k as isize + by);
        names.get(at.rem_euclid(count.max(1)) as usize).copied()
    }
}
