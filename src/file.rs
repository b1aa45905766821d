//! Output files that are either whole or not there: written under a temporary name in the same
//! folder, flushed to the disk, then renamed over the target.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Error, Result};

/// Writes `path` through `write`, buffered, so that a reader sees the old file or the whole new
/// one, also when `write` fails or panics or the machine stops. A link is followed; a device or a
/// pipe (`/dev/stdout`) is written to directly, since renaming over it would replace it.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("report.json");
/// motes::file::write_atomically(&path, |out| writeln!(out, "{{}}"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "{}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    match fs::metadata(path) {
        Ok(old) if old.is_dir() => {
            Err(refused(path, "is a folder; give the name of a file inside it"))
        }
        Ok(old) if !old.is_file() => {
            write_through(path, write).map_err(|source| with_remedy(path, source))
        }
        Ok(old) if old.permissions().readonly() => {
            Err(refused(path, "is read-only; make it writable or choose another name"))
        }
        Ok(old) => {
            let target = fs::canonicalize(path).map_err(|source| Error::io(path, source))?;
            replace(&target, Some(old.permissions()), write)
                .map_err(|source| with_remedy(path, source))
        }
        Err(missing) if missing.kind() == ErrorKind::NotFound => {
            check_new(path)?;
            replace(path, None, write).map_err(|source| with_remedy(path, source))
        }
        Err(source) => Err(with_remedy(path, source)),
    }
}

fn refused(path: &Path, message: impl Into<String>) -> Error {
    Error::input(path.display().to_string(), None, "output", message)
}

/// Whether a file of this name can come to be at all.
fn check_new(path: &Path) -> Result<()> {
    let ends_in_separator = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    if path.file_name().is_none() || ends_in_separator {
        return Err(refused(path, "does not name a file; give the name of a file"));
    }
    if fs::symlink_metadata(path).is_ok() {
        return Err(refused(path, "is a link to nothing; remove it or choose another name"));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        let message = format!(
            "the folder {} does not exist; make it or choose another name",
            folder.display()
        );
        return Err(refused(path, message));
    }
    Ok(())
}

/// `Path::parent` of a bare name is empty, which no call accepts as a folder.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn with_remedy(path: &Path, source: io::Error) -> Error {
    let remedy = match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space or choose another disk; nothing was left behind"
        }
        ErrorKind::PermissionDenied => "choose a folder you may write to",
        ErrorKind::ReadOnlyFilesystem => "choose a disk that can be written to",
        _ => return Error::io(path, source),
    };
    Error::io(path, io::Error::new(source.kind(), format!("{source}; {remedy}")))
}

fn write_through(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    write(&mut out)?;
    out.flush()
}

fn replace(
    target: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let (file, temporary) = Temporary::create(target)?;
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()?;
    drop(file);
    temporary.rename(target)
}

/// A file that is removed again unless it gets its final name.
struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    fn create(target: &Path) -> io::Result<(File, Self)> {
        // Two threads of one process may write into the same folder, even the same file.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        const ATTEMPTS: usize = 100;
        let mut taken = io::Error::from(ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            // Not made from the target's name, which may already be as long as a name can be.
            let name = format!(".motes-{}-{number}.tmp", std::process::id());
            let path = folder_of(target).join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Self { path, renamed: false })),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = error,
                Err(error) => return Err(error),
            }
        }
        Err(taken)
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.renamed = true;
        // The new name reaches the disk with its folder. Some file systems cannot sync a folder,
        // and the data is safe either way, so a failure here is no failure of the write.
        #[cfg(unix)]
        if let Ok(folder) = File::open(folder_of(target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn writes_a_new_file_and_replaces_an_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, |out| out.write_all(b"one")).unwrap();
        write_atomically(&path, |out| out.write_all(b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_failing_writer_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let fail = |out: &mut dyn Write| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::Error::from(ErrorKind::StorageFull))
        };
        let error = write_atomically(&path, fail).unwrap_err();
        assert!(names(folder.path()).is_empty());
        assert!(!error.is_usage());
        let text = error.to_string();
        assert!(text.contains("a.txt") && text.contains("free some space"), "{text}");

        fs::write(&path, "old").unwrap();
        write_atomically(&path, fail).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_panicking_writer_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let run = || write_atomically(&path, |_| panic!("a bug in a writer"));
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn folders_and_missing_folders_are_refused_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let nothing = |_: &mut dyn Write| Ok(());
        let cases = [
            (folder.path().to_path_buf(), "is a folder"),
            (folder.path().join("none/a.txt"), "does not exist; make it"),
            (folder.path().join("a.txt/"), "does not name a file"),
            (PathBuf::new(), "does not name a file"),
        ];
        for (path, expected) in cases {
            let error = write_atomically(&path, nothing).unwrap_err();
            assert!(error.is_usage());
            let text = error.to_string();
            assert!(text.contains(expected), "{text}");
            assert!(text.starts_with(&path.display().to_string()), "{text}");
        }
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_and_stay_devices() {
        write_atomically("/dev/null", |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let error = write_atomically("/dev/full", |out| out.write_all(b"too much")).unwrap_err();
        assert!(error.to_string().contains("free some space"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);

        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        assert!(write_atomically(&link, |_| Ok(())).unwrap_err().to_string().contains("read-only"));
        fs::remove_file(&file).unwrap();
        assert!(write_atomically(&link, |_| Ok(())).unwrap_err().to_string().contains("link to"));
    }
}
