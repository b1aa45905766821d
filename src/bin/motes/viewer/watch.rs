//! Looks now and then whether the file of the running scene has changed on disk.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(400);

/// When a file was written, and its length.
type Stamp = (SystemTime, u64);

/// The file that is watched.
#[derive(Default)]
pub struct Watch {
    path: PathBuf,
    /// As it was when it was last read.
    read: Option<Stamp>,
    /// As it was at the last look: a file that is still being written changes from look to look.
    seen: Option<Stamp>,
    looked: Option<Instant>,
}

impl Watch {
    /// True once after the file was changed and has come to rest. Another path begins anew.
    pub fn changed(&mut self, path: &Path) -> bool {
        if self.path != path {
            let stamp = stamp(path);
            *self = Watch { path: path.into(), read: stamp, seen: stamp, looked: None };
            return false;
        }
        if self.looked.is_some_and(|at| at.elapsed() < EVERY) {
            return false;
        }
        self.looked = Some(Instant::now());
        self.look(stamp(path))
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
        let mut watch = Watch { read: at(1, 10), seen: at(1, 10), ..Watch::default() };
        assert!(!watch.look(at(1, 10)));
        // It is written in two parts, and away in between.
        assert!(!watch.look(at(2, 4)) && !watch.look(None) && !watch.look(None));
        assert!(!watch.look(at(3, 12)));
        assert!(watch.look(at(3, 12)) && !watch.look(at(3, 12)));
    }
}
