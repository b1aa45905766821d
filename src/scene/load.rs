//! From a name, a path or a text to a [`Scene`].

use super::document::Document;
use super::names::Names;
use super::{Scene, builtin, check, size};
use crate::error::{Error, Result};
use crate::suggest;
use crate::world::Params;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a scene was read from: enough to find the line of any field again.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub file: String,
    /// Where relative mesh paths start; none for built-in scenes, which use built-in meshes.
    pub folder: Option<PathBuf>,
    text: String,
    variant: Option<String>,
    sets: Vec<String>,
}

impl Source {
    /// The tree, with variant and `--set` applied. It is made again when an error needs a line,
    /// which costs less than carrying it along.
    pub fn document(&self) -> Result<Document<'_>> {
        let mut document = Document::parse(&self.file, &self.text)?;
        if let Some(variant) = &self.variant {
            document.overlay(variant)?;
        }
        for set in &self.sets {
            document.set(set)?;
        }
        Ok(document)
    }

    /// Gives an error its file and line.
    pub fn explain(&self, error: Error, path: &str) -> Error {
        match self.document() {
            Ok(document) => document.explain(error, path),
            Err(error) => error,
        }
    }
}

impl Scene {
    /// Loads a built-in scene (`cloth_hang`), a variant of one (`cloth_hang:100`) or a file
    /// (`my/scene.toml`, `my/scene.toml:variant`).
    pub fn load(spec: &str) -> Result<Scene> {
        Self::load_with(spec, &[])
    }

    /// [`Scene::load`] with `PATH=VALUE` overrides, such as `cloth.0.columns=100` or
    /// `iterations=20`.
    pub fn load_with(spec: &str, sets: &[String]) -> Result<Scene> {
        let (name, variant) = split(spec);
        let (text, folder, file) = match builtin::scene_text(name) {
            Some(text) => (text.to_string(), None, format!("{name}.toml")),
            None if is_path(name) => (read(Path::new(name))?, Some(folder_of(name)), name.into()),
            None => {
                return Err(Error::value(
                    "scene",
                    format!(
                        "there is no built-in scene `{name}`; {}; or give the path of a .toml file",
                        suggest::instead(name, Self::builtin_names())
                    ),
                ));
            }
        };
        Self::read(Source {
            file,
            folder,
            text,
            variant: variant.map(Into::into),
            sets: sets.into(),
        })
    }

    /// Reads a scene from text. `file_name` stands in messages, and relative mesh paths start in
    /// its folder; `sets` are `PATH=VALUE` overrides, applied after the variant.
    pub fn parse(
        file_name: &str,
        text: &str,
        variant: Option<&str>,
        sets: &[String],
    ) -> Result<Scene> {
        Self::read(Source {
            file: file_name.into(),
            folder: Some(folder_of(file_name)),
            text: text.into(),
            variant: variant.map(Into::into),
            sets: sets.into(),
        })
    }

    fn read(source: Source) -> Result<Scene> {
        let document = source.document()?;
        let file = document.read()?;
        let mut params = Params::default();
        for (name, value) in &file.params {
            params.set(name, value).map_err(|e| document.explain(e, "params"))?;
        }
        let need = size::total(&file, &document)?;
        let names = Names::read(&file, &document)?;
        let checks = check::read(&file, &names, &document)?;
        let variants = document.variants().map(Into::into).collect();
        let stem = Path::new(&source.file).file_stem().map(|s| s.to_string_lossy().into_owned());
        let mut name = file.name.clone().or(stem).unwrap_or_default();
        if let Some(variant) = &source.variant {
            name = format!("{name}:{variant}");
        }
        Ok(Scene { source, file, name, variants, params, checks, need })
    }
}

/// Name and variant. A colon inside a path (a drive letter, say) does not start a variant.
fn split(spec: &str) -> (&str, Option<&str>) {
    match spec.rsplit_once(':') {
        Some((name, variant)) if name.ends_with(".toml") || !is_path(spec) => (name, Some(variant)),
        _ => (spec, None),
    }
}

fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

fn folder_of(file: &str) -> PathBuf {
    Path::new(file).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn read(path: &Path) -> Result<String> {
    let io = |e| Error::io(path, e);
    // A device or a pipe might never end.
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        let name = path.display().to_string();
        return Err(Error::input(name, None, "scene", "is not a file; give a .toml file"));
    }
    let mut bytes = Vec::new();
    let most = super::document::MOST_BYTES as u64 + 1;
    std::fs::File::open(path).map_err(io)?.take(most).read_to_end(&mut bytes).map_err(io)?;
    String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n');
        Error::input(path.display().to_string(), Some(line.count() + 1), "scene", "is not UTF-8")
    })
}
