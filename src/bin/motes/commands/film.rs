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
}

/// How many pictures there are, and where.
impl fmt::Display for Film {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = (self.to - self.from) / self.every + 1;
        let last = self.from + (count - 1) * self.every;
        let [first, last] = [self.from, last].map(|step| self.picture_of(step));
        match count {
            1 => write!(f, "1 picture, {}", first.display()),
            _ => write!(f, "{count} pictures, {} to {}", first.display(), last.display()),
        }
    }
}
