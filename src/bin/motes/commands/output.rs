//! Checks of output paths before a run starts, so that a long run does not fail at its end.

use crate::failure::Failure;
use motes::Scene;
use std::path::{Path, PathBuf};

/// A flag, and the path that was given with it.
pub type Named<'a> = (&'a str, Option<&'a Path>);

/// Refuses outputs that cannot be written, and those that are an input or another output: one of
/// the two would be lost.
pub fn check(outputs: &[Named], inputs: &[Named]) -> Result<(), Failure> {
    let given = |list: &[Named<'_>]| -> Vec<(String, PathBuf)> {
        let given = list.iter().filter_map(|&(flag, path)| Some((flag.to_string(), path?.into())));
        given.collect()
    };
    let mut taken: Vec<(String, PathBuf)> = given(inputs);
    for (flag, path) in given(outputs) {
        check_file(&flag, &path)?;
        if let Some((other, _)) = taken.iter().find(|(_, other)| is_same_file(&path, other)) {
            let message =
                format!("{flag} {}: is the file of {other}; choose another name", path.display());
            return Err(Failure::Usage(message));
        }
        motes::file::check_target(&path)?;
        taken.push((flag, path));
    }
    Ok(())
}

/// The files that a scene is read from, and what messages call them: its own, if it is one, and
/// those of its meshes. A scene that cannot be read is told of by whoever builds it.
pub fn scene_files(spec: &str, sets: &[String]) -> Vec<(&'static str, PathBuf)> {
    let scene = Scene::load_with(spec, sets).ok();
    let meshes = scene
        .iter()
        .flat_map(Scene::mesh_files)
        .map(|file| ("a mesh or a skeleton of the scene", file));
    own_file(spec).map(|path| ("the scene", path)).into_iter().chain(meshes).collect()
}

/// The file that a scene is read from, without its variant; none for one that is built in.
pub fn own_file(spec: &str) -> Option<PathBuf> {
    let without_variant = spec.rsplit_once(':').map(|(path, _)| path);
    let mut names = [Some(spec), without_variant].into_iter().flatten();
    let is_built_in = |name: &str| Scene::builtin_names().any(|other| other == name);
    names.find(|name| !is_built_in(name) && Path::new(name).is_file()).map(PathBuf::from)
}

/// Files with what messages call them, as [`check`] takes them.
pub fn named<'a>(files: &'a [(&'a str, PathBuf)]) -> impl Iterator<Item = Named<'a>> {
    files.iter().map(|(what, file)| (*what, Some(file.as_path())))
}

/// Whether two names are of one file; devices and pipes may be named twice.
fn is_same_file(a: &Path, b: &Path) -> bool {
    is_hard_link(a, b) || is_same_place(a, b)
}

/// Whether two names lead to the same file on the disk.
#[cfg(unix)]
fn is_hard_link(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |path: &Path| {
        let there = std::fs::metadata(path).ok().filter(|there| there.is_file())?;
        Some((there.dev(), there.ino()))
    };
    file(a).is_some_and(|a| Some(a) == file(b))
}

#[cfg(not(unix))]
fn is_hard_link(_: &Path, _: &Path) -> bool {
    false
}

fn is_same_place(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => None,
        Ok(_) => path.canonicalize().ok(),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        }
    };
    place(a).is_some_and(|a| Some(a) == place(b))
}

/// Refuses a path that cannot become a file.
fn check_file(flag: &str, path: &Path) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::Usage(format!("{flag} {}: {why}", path.display())));
    if path.is_dir() {
        return refuse("is a folder; give the name of a file inside it");
    }
    match path.parent() {
        _ if path.file_name().is_none() => refuse("does not name a file"),
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            refuse("its folder does not exist; make it or choose another name")
        }
        _ => Ok(()),
    }
}

/// Refuses a folder in which one of `others` has a name that will be written.
pub fn check_folder<'a>(
    flag: &str,
    folder: &Path,
    others: impl Iterator<Item = Named<'a>>,
    writes: impl Fn(&str) -> bool,
) -> Result<(), Failure> {
    for (what, other) in others.filter_map(|(what, other)| Some((what, other?))) {
        let name = other.file_name().and_then(|name| name.to_str()).filter(|name| writes(name));
        if name.is_some_and(|name| is_same_file(&folder.join(name), other)) {
            let message = format!(
                "{flag} {}: would write over {}, the file of {what}; choose another folder",
                folder.display(),
                other.display()
            );
            return Err(Failure::Usage(message));
        }
    }
    Ok(())
}

/// Refuses a picture whose name says that it is of another kind.
pub fn check_png(flag: &str, path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        None | Some("png") => Ok(()),
        Some(other) => Err(Failure::Usage(format!(
            "{flag} {}: pictures are PNG, not {other}; let the name end in .png",
            path.display()
        ))),
    }
}

/// Makes a folder, with those above it.
pub fn make_folder(flag: &str, path: &Path) -> Result<(), Failure> {
    if path.exists() && !path.is_dir() {
        return Err(Failure::Usage(format!(
            "{flag} {}: is a file; give the name of a folder",
            path.display()
        )));
    }
    std::fs::create_dir_all(path).map_err(|source| motes::Error::io(path, source))?;
    Ok(motes::file::check_target(path.join("frame"))?)
}
