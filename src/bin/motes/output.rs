//! Outputs are looked at before a run, so that an hour's work does not end in "is a folder".

use crate::failure::Failure;
use std::path::Path;

/// Refuses a file that cannot come to be. What only the disk can tell is left to the writing.
pub fn check_file(flag: &str, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
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

/// Makes a folder, with those above it.
pub fn make_folder(flag: &str, path: &Path) -> Result<(), Failure> {
    if path.exists() && !path.is_dir() {
        return Err(Failure::Usage(format!(
            "{flag} {}: is a file; give the name of a folder",
            path.display()
        )));
    }
    std::fs::create_dir_all(path).map_err(|source| motes::Error::io(path, source).into())
}
