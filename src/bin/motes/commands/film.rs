//! Which steps of a run `motes render --every` paints, and what the files are called.

use crate::cli;
use crate::failure::Failure;
use std::fmt;
use std::path::{Path, PathBuf};

/// The pictures of a run, one every so many steps. Steps are counted as the world counts them, so
/// that a film that goes on from a snapshot continues the numbers.
pub struct Film {
    output: PathBuf,
    every: u64,
    pub from: u64,
    to: u64,
    /// Steps to run, from where the world is.
    pub steps: u32,
}

impl Film {
    /// None where one picture of the end is wanted. The world is at step `begin` and takes `steps`
    /// more where no end is given.
    pub fn new(
        args: &cli::Film,
        output: &Path,
        begin: u64,
        steps: u32,
    ) -> Result<Option<Film>, Failure> {
        let Some(every) = args.every else { return Ok(None) };
        let from = args.from.unwrap_or(begin);
        let to = args.to.unwrap_or(begin + u64::from(steps));
        if from < begin {
            let why = format!("--from {from}: the snapshot is at step {begin} already");
            return Err(Failure::Usage(why));
        }
        if to < from {
            let why = format!("--from {from}: the run ends at step {to}, before that");
            return Err(Failure::Usage(why));
        }
        let steps = u32::try_from(to - begin).map_err(|_| {
            Failure::Usage(format!("--to {to}: expected at most {} steps", u32::MAX))
        })?;
        Ok(Some(Film { output: output.into(), every: every.into(), from, to, steps }))
    }

    /// Whether a step is painted.
    pub fn shows(&self, step: u64) -> bool {
        (self.from..=self.to).contains(&step) && (step - self.from).is_multiple_of(self.every)
    }

    /// The file of a step: film.png becomes film_000120.png.
    pub fn picture_of(&self, step: u64) -> PathBuf {
        let mut name = self.output.file_stem().unwrap_or_default().to_os_string();
        name.push(format!("_{step:06}.png"));
        self.output.with_file_name(name)
    }

    /// Every file that may stand in the way of the film: the first and the last of its pictures, and
    /// whatever has the name of one already. A film may have millions, so its folder is asked.
    pub fn targets(&self) -> Vec<PathBuf> {
        let first = self.picture_of(self.from);
        let folder = match first.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let there = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut steps: Vec<u64> = there.filter_map(|entry| self.step_of(&entry.path())).collect();
        steps.extend([self.from, self.last()]);
        steps.sort_unstable();
        steps.dedup();
        steps.into_iter().map(|step| self.picture_of(step)).collect()
    }

    /// The step that a file of this name is the picture of.
    fn step_of(&self, path: &Path) -> Option<u64> {
        let number = path.file_stem()?.to_str()?.rsplit_once('_')?.1;
        let step = number.parse().ok().filter(|&step| self.shows(step))?;
        (self.picture_of(step).file_name() == path.file_name()).then_some(step)
    }

    /// The step of the last picture.
    fn last(&self) -> u64 {
        self.to - (self.to - self.from) % self.every
    }
}

/// How many pictures there are, and where.
impl fmt::Display for Film {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = (self.to - self.from) / self.every + 1;
        let [first, last] = [self.from, self.last()].map(|step| self.picture_of(step));
        match count {
            1 => write!(f, "1 picture, {}", first.display()),
            _ => write!(f, "{count} pictures, {} to {}", first.display(), last.display()),
        }
    }
}
