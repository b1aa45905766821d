//! Output files that are either whole or not there: written under a temporary name in the same
//! folder, flushed to the disk, then renamed over the target.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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

/// Whether [`write_atomically`] could write `path` now, without touching what is there: a file is
/// made beside it and removed again. So a long run learns before its first step what would fail at
/// its end. Files that runs which died left in the folder are removed on the way.
pub fn check_target(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let beside = |target: &Path| {
        remove_leftovers(folder_of(target));
        Temporary::create(target).map(drop).map_err(|source| with_remedy(path, source))
    };
    match fs::metadata(path) {
        Ok(old) if old.is_dir() => {
            Err(refused(path, "is a folder; give the name of a file inside it"))
        }
        // A device or a pipe: opening it could wait for a reader.
        Ok(old) if !old.is_file() => Ok(()),
        Ok(old) if old.permissions().readonly() => {
            Err(refused(path, "is read-only; make it writable or choose another name"))
        }
        Ok(_) => beside(&fs::canonicalize(path).map_err(|source| Error::io(path, source))?),
        Err(missing) if missing.kind() == ErrorKind::NotFound => {
            check_new(path)?;
            beside(path)
        }
        Err(source) => Err(with_remedy(path, source)),
    }
}

/// How long nobody may have written to a temporary file before it is taken for left behind. A run on
/// another machine that shares the folder has a process number that means nothing here.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// Removes temporary files of processes that are no more.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(temporary_of);
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if process.is_some_and(is_gone) && age().is_some_and(|age| age > LEFT_BEHIND) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that a temporary file belongs to, by its name.
fn temporary_of(name: &str) -> Option<u32> {
    let inner = name.strip_prefix(".motes-")?.strip_suffix(".tmp")?;
    let (process, number) = inner.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Whether there is no such process, where the system tells (Linux).
fn is_gone(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
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
    fn what_dead_runs_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * LEFT_BEHIND;
        let own = format!(".motes-{}-0.tmp", std::process::id());
        // No process has this number: the largest that Linux gives is 2^22.
        let dead = ".motes-4294967295-3.tmp";
        let recent = ".motes-4294967295-4.tmp";
        let others =
            ["a.txt", ".motes-x-1.tmp", ".motes-4294967295-.tmp", "motes-4294967295-1.tmp"];
        for name in [own.as_str(), dead, recent].into_iter().chain(others) {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != recent {
                file.set_modified(long_ago).unwrap();
            }
        }
        check_target(folder.path().join("out")).unwrap();
        let mut left: Vec<String> = others.iter().map(|name| name.to_string()).collect();
        left.extend([own, recent.to_string()]);
        left.sort();
        assert_eq!(names(folder.path()), left);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_target_is_checked_without_being_touched() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        check_target(&file).unwrap();
        assert!(names(folder.path()).is_empty());
        fs::write(&file, "old").unwrap();
        check_target(&file).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        check_target("/dev/null").unwrap();
        for wrong in [folder.path(), &folder.path().join("none/a"), Path::new("/proc/none")] {
            assert!(check_target(wrong).is_err(), "{}", wrong.display());
        }
        assert_eq!(names(folder.path()), ["file"]);
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
