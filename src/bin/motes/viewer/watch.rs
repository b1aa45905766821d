//! Looks now and then whether the files of the running scene have changed on disk: its own, and those
//! of its meshes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(400);

/// When a file was written, and its length.
type Stamp = (SystemTime, u64);

/// The files that are watched.
#[derive(Default)]
pub struct Watch {
    files: Vec<Watched>,
    looked: Option<Instant>,
}

/// One of them.
#[derive(Default)]
struct Watched {
    path: PathBuf,
    /// As it was when it was last read.
    read: Option<Stamp>,
    /// As it was at the last look: a file that is still being written changes from look to look.
    seen: Option<Stamp>,
}

impl Watch {
    /// A file that was changed and has come to rest. Each change is told once, whichever file is
    /// named; a file that was not among `paths` the last time begins anew.
    pub fn changed(&mut self, paths: &[PathBuf]) -> Option<&Path> {
        if !self.files.iter().map(|file| &file.path).eq(paths) {
            // Of a scene that was read again most files are known.
            let mut known = std::mem::take(&mut self.files);
            let file = |path: &PathBuf| match known.iter().position(|file| file.path == *path) {
                Some(at) => known.swap_remove(at),
                None => Watched::new(path),
            };
            self.files = paths.iter().map(file).collect();
        }
        if self.looked.is_some_and(|at| at.elapsed() < EVERY) {
            return None;
        }
        self.looked = Some(Instant::now());
        // All of them are looked at, so that files that changed together are read once.
        let mut changed = None;
        for file in &mut self.files {
            if file.look(stamp(&file.path)) {
                changed = Some(file.path.as_path());
            }
        }
        changed
    }
}

impl Watched {
    fn new(path: &Path) -> Self {
        let stamp = stamp(path);
        Watched { path: path.into(), read: stamp, seen: stamp }
    }

    fn look(&mut self, now: Option<Stamp>) -> bool {
        let still = now == self.seen;
        self.seen = now;
        // A file that is away for a moment, as while an editor replaces it, is waited for.
        let new = still && now.is_some() && now != self.read;
        if new {
            self.read = now;
        }
        new
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_and_when_it_is_whole() {
        let at = |seconds: u64, length: u64| {
            Some((SystemTime::UNIX_EPOCH + Duration::from_secs(seconds), length))
        };
        let mut file = Watched { read: at(1, 10), seen: at(1, 10), ..Watched::default() };
        assert!(!file.look(at(1, 10)));
        // It is written in two parts, and away in between.
        assert!(!file.look(at(2, 4)) && !file.look(None) && !file.look(None));
        assert!(!file.look(at(3, 12)));
        assert!(file.look(at(3, 12)) && !file.look(at(3, 12)));
    }

    #[test]
    fn every_file_is_watched_and_known_ones_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let [scene, mesh, other] =
            ["scene.toml", "mesh.obj", "other.obj"].map(|name| folder.path().join(name));
        [&scene, &mesh, &other].into_iter().for_each(|path| std::fs::write(path, "old").unwrap());
        let mut watch = Watch::default();
        // Without the time between two looks.
        let mut look = |paths: &[PathBuf]| {
            watch.looked = None;
            watch.changed(paths).map(Path::to_path_buf)
        };
        let both = [scene.clone(), mesh.clone()];
        assert_eq!((look(&both), look(&both)), (None, None));
        std::fs::write(&mesh, "longer").unwrap();
        assert_eq!((look(&both), look(&both), look(&both)), (None, Some(mesh.clone()), None));
        // The other mesh changes as well, before anyone has heard of it; the scene after that.
        std::fs::write(&other, "longer").unwrap();
        let all = [other.clone(), scene.clone(), mesh.clone()];
        assert_eq!((look(&all), look(&all)), (None, None));
        std::fs::write(&scene, "longer").unwrap();
        std::fs::write(&other, "longer still").unwrap();
        assert_eq!(look(&both), None, "the scene has just changed");
        assert_eq!((look(&both), look(&both)), (Some(scene.clone()), None));
        // Two that changed together are told of once.
        std::fs::write(&scene, "1").unwrap();
        std::fs::write(&mesh, "1").unwrap();
        assert!(look(&both).is_none() && look(&both).is_some() && look(&both).is_none());
    }
}
